"use strict";
(() => {
  const policies = JSON.parse(document.getElementById("data").textContent);
  const palette = ["#3f83d8", "#e07f36", "#2fa073", "#cb5588", "#8d72d6", "#b5971f", "#45a9c2",
                   "#d5535f", "#7d9138", "#a0714f"];
  const grey = "#8b93a1";
  const color = (i) => palette[i % palette.length];
  const dash = (i) => (i < palette.length ? [] : [6, 4]);
  const charts = [];

  const lastHour = Math.max(1, ...policies.map((p) => (p.cost.length ? p.cost.at(-1)[0] : 0)));
  const inDays = lastHour > 72;
  const hoursPerTick = inDays ? 24 : 1;
  const timeTitle = inDays ? "days since the start" : "hours since the start";
  const lengthTitle = "hours (log scale)";

  const short = (value) => new Intl.NumberFormat("en", {
    notation: "compact", maximumSignificantDigits: 3,
  }).format(value);
  const number = (value, digits) => new Intl.NumberFormat("en", {
    maximumFractionDigits: digits,
  }).format(value);
  const over = (points) => points.map(([h, y]) => ({ x: h / hoursPerTick, y }));

  function ink(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  function axis(title, more = {}) {
    return {
      title: { display: true, text: title, color: ink("--faint") },
      grid: { color: ink("--line") },
      ...more,
      ticks: { color: ink("--faint"), maxRotation: 0, ...(more.ticks || {}) },
    };
  }
  const timeAxis = () => axis(timeTitle, {
    type: "linear", min: 0, max: lastHour / hoursPerTick, ticks: { includeBounds: false },
  });
  const logAxis = () => axis(lengthTitle, {
    type: "logarithmic",
    ticks: {
      callback: (value) => (/^[125](\.0+)?e/.test(value.toExponential()) ? number(value, 4) : ""),
      autoSkip: false,
    },
  });
  const percentAxis = (title, more = {}) => axis(title, {
    min: 0, ...more, ticks: { callback: (value) => `${Math.round(value * 100)}%` },
  });

  function lineOptions(x, y, label) {
    return {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      interaction: { mode: "nearest", axis: "x", intersect: false },
      elements: { point: { radius: 0, hitRadius: 6 }, line: { borderWidth: 1.8 } },
      scales: { x, y },
      plugins: {
        legend: { labels: { color: ink("--ink"), boxWidth: 14, boxHeight: 2 } },
        tooltip: { callbacks: { label } },
      },
    };
  }

  function line(i, points, more = {}) {
    return {
      label: policies[i].policy,
      data: points,
      borderColor: color(i),
      backgroundColor: color(i),
      borderDash: dash(i),
      ...more,
    };
  }

  function canvas(section) {
    return document.querySelector(`#${section} canvas`);
  }

  function draw(section, config) {
    charts.push(new Chart(canvas(section), config));
  }

  function drawCost() {
    draw("cost-over-time", {
      type: "line",
      data: { datasets: policies.map((p, i) => line(i, over(p.cost))) },
      options: lineOptions(timeAxis(), axis("$ spent so far", {
        min: 0, ticks: { callback: (value) => `$${short(value)}` },
      }), (item) => ` ${item.dataset.label}: $${number(item.parsed.y, 2)}`),
    });
  }

  function drawInstances() {
    const chosen = Number(document.querySelector("#instances-over-time select").value || 0);
    const types = policies.length ? policies[chosen].instances : [];
    const options = lineOptions(timeAxis(), axis("instances up", {
      min: 0, stacked: true, ticks: { precision: 0 },
    }), (item) => ` ${item.dataset.label}: ${number(item.parsed.y, 0)}`);
    options.interaction.mode = "index";
    options.elements.line.borderWidth = 0.5;
    options.plugins.legend.labels.boxHeight = 10;
    options.plugins.legend.reverse = true;
    draw("instances-over-time", {
      type: "line",
      data: {
        datasets: types.map((t, i) => {
          const shade = t.type === "others" ? grey : color(i);
          return {
            label: t.type,
            data: over(t.points),
            stepped: true,
            fill: i === 0 ? "origin" : "-1",
            borderColor: shade,
            backgroundColor: `${shade}b8`,
          };
        }),
      },
      options,
    });
  }

  function drawDistribution(section, key, what) {
    draw(section, {
      type: "line",
      data: {
        datasets: policies.map((p, i) => line(i,
          p[key].map(([x, y]) => ({ x: Math.max(x, 0.001), y })), { stepped: "before" })),
      },
      options: lineOptions(logAxis(), percentAxis(`share of ${what}`, { max: 1 }),
        (item) => ` ${item.dataset.label}: ${number(item.parsed.y * 100, 1)}% within `
          + `${number(item.parsed.x, 2)} h`),
    });
  }

  /// The time within which the share of the jobs completes.
  function within(points, share) {
    const found = points.find(([, reached]) => reached >= share);
    return found ? found[0] : NaN;
  }

  // Distributions that lie on one another differ by less than a line's width on a log scale.
  function drawRatio() {
    const first = policies.length ? policies[0].jct : [];
    const others = policies.slice(1).filter((p) => p.jct.length);
    const section = document.getElementById("jct-ratio");
    section.hidden = !first.length || !others.length;
    if (section.hidden) return;
    const shares = Array.from({ length: 199 }, (_, i) => (i + 1) / 200);
    const ratio = (p, x) => ({ x, y: within(p.jct, x) / within(first, x) });
    const options = lineOptions(percentAxis("share of completed jobs", {
      type: "linear", max: 1,
    }), axis(`completion time over ${policies[0].policy}'s`),
    (item) => ` ${item.dataset.label}: ${number(item.parsed.y, 3)}`);
    draw("jct-ratio", {
      type: "line",
      data: {
        datasets: [
          ...others.map((p) => line(policies.indexOf(p), shares.map((x) => ratio(p, x))
            .filter(({ y }) => Number.isFinite(y)))),
          line(0, [{ x: 0, y: 1 }, { x: 1, y: 1 }], { borderWidth: 1 }),
        ],
      },
      options,
    });
  }

  function drawAllocation() {
    const kind = Number(document.querySelector("#allocation select").value);
    draw("allocation", {
      type: "line",
      data: {
        datasets: policies.map((p, i) => line(i, over(p.allocation[kind]), { borderWidth: 1.2 })),
      },
      options: lineOptions(timeAxis(), percentAxis("of the rented capacity", { max: 1 }),
        (item) => ` ${item.dataset.label}: ${number(item.parsed.y * 100, 1)}%`),
    });
  }

  // A section that no policy has anything for is not shown.
  function drawOverTime(section, pointsOf, y, label) {
    const some = policies.some((p) => pointsOf(p).some(([, value]) => value > 0));
    document.getElementById(section).hidden = !some;
    if (!some) return;
    draw(section, {
      type: "line",
      data: {
        datasets: policies.map((p, i) => line(i, over(pointsOf(p)),
          { borderWidth: 1.2, stepped: true })),
      },
      options: lineOptions(timeAxis(), y, label),
    });
  }

  function drawGpus() {
    const kind = Number(document.querySelector("#gpus-over-time select").value);
    drawOverTime("gpus-over-time", (p) => p.gpus[kind], axis("GPUs", { min: 0 }),
      (item) => ` ${item.dataset.label}: ${number(item.parsed.y, 0)}`);
    const percent = (item) => ` ${item.dataset.label}: ${number(item.parsed.y * 100, 1)}%`;
    drawOverTime("efficiency", (p) => p.efficiency, percentAxis("speedups over GPUs"), percent);
    drawOverTime("width-error", (p) => p.width_error, percentAxis("of the width"), percent);
  }

  function drawPurposes() {
    const names = [...new Set(policies.flatMap((p) => p.purposes.map(([name]) => name)))];
    const options = lineOptions(axis("$", {
      stacked: true, ticks: { callback: (value) => `$${short(value)}` },
    }), axis("policy", { stacked: true, grid: { display: false } }),
    (item) => ` ${item.dataset.label}: $${number(item.parsed.x, 2)}`);
    options.indexAxis = "y";
    options.interaction = { mode: "index", axis: "y", intersect: false };
    options.plugins.legend.labels.boxHeight = 10;
    draw("cost-by-purpose", {
      type: "bar",
      data: {
        labels: policies.map((p) => p.policy),
        datasets: names.map((name, i) => ({
          label: name,
          data: policies.map((p) => (p.purposes.find(([n]) => n === name) || [name, 0])[1]),
          backgroundColor: color(i),
          maxBarThickness: 46,
        })),
      },
      options,
    });
  }

  function drawAll() {
    while (charts.length) charts.pop().destroy();
    drawCost();
    drawInstances();
    drawDistribution("jct", "jct", "completed jobs");
    drawDistribution("uptime", "uptime", "instances");
    drawRatio();
    drawAllocation();
    drawGpus();
    drawPurposes();
  }

  const selector = document.querySelector("#instances-over-time select");
  policies.forEach((p, i) => {
    const option = document.createElement("option");
    option.value = i;
    option.textContent = p.policy;
    selector.append(option);
  });
  for (const choice of document.querySelectorAll("select")) {
    choice.addEventListener("change", drawAll);
  }
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  drawAll();
})();
