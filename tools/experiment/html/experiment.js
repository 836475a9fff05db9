"use strict";
(() => {
  const { figures, points, shown } = JSON.parse(document.getElementById("data").textContent);
  const palette = ["#3f83d8", "#e07f36", "#2fa073", "#cb5588", "#8d72d6", "#b5971f", "#45a9c2",
                   "#d5535f", "#7d9138", "#a0714f"];
  const color = (i) => palette[i % palette.length];
  const choice = (id) => document.getElementById(id);
  const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const number = (value) => new Intl.NumberFormat("en", {
    maximumSignificantDigits: 6,
  }).format(value);
  let chart = null;

  function fill(select, options) {
    const before = select.value;
    select.replaceChildren(...options.map(([value, text]) => {
      const option = document.createElement("option");
      option.value = value;
      option.textContent = text;
      return option;
    }));
    if (options.some(([value]) => value === before)) select.value = before;
  }

  const unique = (values) => [...new Set(values)];
  const pointsOfGrid = () => points.filter((p) => p.grid === choice("grid").value);
  const isNumber = (text) => text.trim() !== "" && Number.isFinite(Number(text));

  /// The mean and half the width of its interval, of what is to be shown.
  function valueOf(point) {
    const found = point.figures[choice("figure").value];
    if (!found) return null;
    const [mean, half] = found[choice("show").value] || [];
    return mean === undefined ? null : { mean, half };
  }

  function fillAxes() {
    const axes = unique(pointsOfGrid().flatMap((p) => Object.keys(p.axes)));
    const numeric = axes.find((axis) => pointsOfGrid().every((p) => isNumber(p.axes[axis] || "")));
    const over = choice("over");
    const first = over.options.length === 0;
    fill(over, [["policy", "policy"], ...axes.map((axis) => [axis, axis])]);
    // A grid over a number is looked at as a line.
    if (first && numeric) over.value = numeric;
  }

  /// Whiskers over the means; drawn here, as the library has none.
  const whiskers = {
    id: "whiskers",
    afterDatasetsDraw(of) {
      const ctx = of.ctx;
      ctx.save();
      ctx.lineWidth = 1.5;
      of.data.datasets.forEach((set, i) => {
        const meta = of.getDatasetMeta(i);
        if (meta.hidden) return;
        ctx.strokeStyle = of.config.type === "bar" ? ink("--ink") : set.borderColor;
        set.data.forEach((datum, k) => {
          if (!datum || datum.half === null || datum.half === undefined || !meta.data[k]) return;
          const x = meta.data[k].x;
          const low = of.scales.y.getPixelForValue(datum.y - datum.half);
          const high = of.scales.y.getPixelForValue(datum.y + datum.half);
          ctx.beginPath();
          ctx.moveTo(x, low);
          ctx.lineTo(x, high);
          for (const y of [low, high]) {
            ctx.moveTo(x - 5, y);
            ctx.lineTo(x + 5, y);
          }
          ctx.stroke();
        });
      });
      ctx.restore();
    },
  };

  function datasets(over, labels, numeric) {
    const rest = (p) => [...(over === "policy" ? [] : [p.family]),
                         ...Object.entries(p.axes).filter(([axis]) => axis !== over)
                           .map(([axis, value]) => `${axis}=${value}`)].join(", ");
    const at = (p) => (over === "policy" ? p.policy : p.axes[over]);
    return unique(pointsOfGrid().map(rest)).map((name, i) => {
      const own = pointsOfGrid().filter((p) => rest(p) === name);
      const data = labels.map((label) => {
        const point = own.find((p) => at(p) === label);
        const value = point && valueOf(point);
        const x = numeric ? Number(label) : label;
        return value ? { x, y: value.mean, half: value.half, runs: point.runs } : { x, y: null };
      });
      return {
        label: name || "mean",
        data,
        borderColor: color(i),
        backgroundColor: numeric ? color(i) : `${color(i)}b8`,
        maxBarThickness: 60,
      };
    });
  }

  /// Room for the whiskers, which the library does not count.
  function bounds(sets, bars) {
    const values = sets.flatMap((set) => set.data).filter((d) => d.y !== null)
      .flatMap((d) => [d.y - (d.half || 0), d.y + (d.half || 0)]);
    if (!values.length) return {};
    const low = Math.min(...values);
    const high = Math.max(...values);
    const room = (high - low || Math.abs(high) || 1) * 0.06;
    if (bars) return { suggestedMin: Math.min(0, low), suggestedMax: Math.max(0, high) };
    return { suggestedMin: low - room, suggestedMax: high + room };
  }

  function draw() {
    const over = choice("over").value;
    const figure = figures.find((f) => f.key === choice("figure").value);
    const show = choice("show").value;
    const labels = unique(pointsOfGrid().map((p) => (over === "policy" ? p.policy : p.axes[over])));
    const numeric = over !== "policy" && labels.every((label) => isNumber(label || ""));
    if (numeric) labels.sort((a, b) => Number(a) - Number(b));
    const sets = datasets(over, labels, numeric);
    const axis = (title, more) => ({
      title: { display: true, text: title, color: ink("--faint") },
      grid: { color: ink("--line") },
      ticks: { color: ink("--faint") },
      ...more,
    });
    if (chart) chart.destroy();
    chart = new Chart(document.querySelector("#plot canvas"), {
      type: numeric ? "line" : "bar",
      data: { labels: numeric ? undefined : labels, datasets: sets },
      plugins: [whiskers],
      options: {
        animation: false,
        responsive: true,
        maintainAspectRatio: false,
        scales: {
          x: axis(over, numeric ? { type: "linear" } : {}),
          y: axis(show === "ratio" ? `${figure.key}, of 1` : `${figure.key}, ${figure.unit}`,
                  bounds(sets, !numeric)),
        },
        plugins: {
          legend: { labels: { color: ink("--ink") } },
          tooltip: {
            callbacks: {
              label: (item) => ` ${item.dataset.label}: ${number(item.parsed.y)}`
                + (item.raw.half ? ` ± ${number(item.raw.half)}` : "")
                + ` (${item.raw.runs} runs)`,
            },
          },
        },
      },
    });
  }

  fill(choice("grid"), unique(points.map((p) => p.grid)).map((grid) => [grid, grid]));
  fill(choice("figure"), figures.map((f) => [f.key, `${f.key} [${f.unit}]`]));
  if (figures.some((f) => f.key === shown[0])) choice("figure").value = shown[0];
  fillAxes();
  choice("grid").addEventListener("change", () => { fillAxes(); draw(); });
  for (const id of ["figure", "over", "show"]) choice(id).addEventListener("change", draw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
})();
