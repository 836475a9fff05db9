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

  /// Means and whiskers; drawn here, as the library has no whiskers, and bars are intervals.
  const marks = {
    id: "marks",
    afterDatasetsDraw(of) {
      const ctx = of.ctx;
      const bars = of.config.type === "bar";
      ctx.save();
      of.data.datasets.forEach((set, i) => {
        const meta = of.getDatasetMeta(i);
        if (meta.hidden) return;
        set.data.forEach((datum, k) => {
          if (!datum || datum.mean === undefined || !meta.data[k]) return;
          const { x, width } = meta.data[k].getProps(["x", "width"], true);
          const at = (value) => of.scales.y.getPixelForValue(value);
          const mark = (value, half) => {
            ctx.moveTo(x - half, at(value));
            ctx.lineTo(x + half, at(value));
          };
          ctx.strokeStyle = set.borderColor;
          ctx.lineWidth = bars ? 3 : 1.5;
          ctx.beginPath();
          if (bars) {
            mark(datum.mean, width / 2);
          } else if (datum.half) {
            mark(datum.mean - datum.half, 5);
            mark(datum.mean + datum.half, 5);
            ctx.moveTo(x, at(datum.mean - datum.half));
            ctx.lineTo(x, at(datum.mean + datum.half));
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
        if (!value) return { x, y: null };
        const { mean, half } = value;
        const y = numeric ? mean : [mean - (half || 0), mean + (half || 0)];
        return { x, y, mean, half, runs: point.runs };
      });
      return {
        label: name || "mean",
        data,
        borderColor: color(i),
        backgroundColor: numeric ? color(i) : `${color(i)}60`,
        maxBarThickness: 60,
      };
    });
  }

  /// From the lowest to the highest value, with room for the whiskers, so that small differences
  /// are seen; nothing is drawn down to the axis, so that it need not begin at zero.
  function bounds(sets) {
    const values = sets.flatMap((set) => set.data).filter((d) => d.mean !== undefined)
      .flatMap((d) => [d.mean - (d.half || 0), d.mean + (d.half || 0)]);
    if (!values.length) return {};
    const low = Math.min(...values);
    const high = Math.max(...values);
    const room = (high - low || Math.abs(high) || 1) * 0.1;
    const zero = choice("axis").value === "zero";
    return {
      beginAtZero: zero,
      suggestedMin: zero ? Math.min(0, low) : low - room,
      suggestedMax: zero ? Math.max(0, high) : high + room,
    };
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
    choice("how").textContent = figure.how
      ? `${figure.key}: ${figure.how.replaceAll("`", "")}.` : figure.key;
    if (chart) chart.destroy();
    chart = new Chart(document.querySelector("#plot canvas"), {
      type: numeric ? "line" : "bar",
      data: { labels: numeric ? undefined : labels, datasets: sets },
      plugins: [marks],
      options: {
        animation: false,
        responsive: true,
        maintainAspectRatio: false,
        scales: {
          x: axis(over, numeric ? { type: "linear" } : {}),
          y: axis(show === "ratio" ? `${figure.name}, of the baseline's`
            : `${show === "own" ? "" : "difference in "}${figure.name}, ${figure.unit}`,
          bounds(sets)),
        },
        plugins: {
          legend: { labels: { color: ink("--ink") } },
          tooltip: {
            callbacks: {
              label: (item) => ` ${item.dataset.label}: ${number(item.raw.mean)}`
                + (item.raw.half ? ` ± ${number(item.raw.half)}` : "")
                + ` (${item.raw.runs} runs)`,
            },
          },
        },
      },
    });
  }

  fill(choice("grid"), unique(points.map((p) => p.grid)).map((grid) => [grid, grid]));
  fill(choice("figure"), figures.map((f) => [f.key, `${f.name} (${f.unit})`]));
  if (figures.some((f) => f.key === shown[0])) choice("figure").value = shown[0];
  fillAxes();
  choice("grid").addEventListener("change", () => { fillAxes(); draw(); });
  for (const id of ["figure", "over", "show", "axis"]) choice(id).addEventListener("change", draw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
})();
