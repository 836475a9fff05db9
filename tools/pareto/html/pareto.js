"use strict";
(() => {
  const points = JSON.parse(document.getElementById("data").textContent);
  const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const number = (value, digits) => new Intl.NumberFormat("en", {
    maximumFractionDigits: digits,
  }).format(value);
  const charts = [];

  /// What there is of one kind, by one figure of its cost.
  function series(kind, x) {
    return points.filter((p) => p[kind])
      .map((p) => ({ x: p[kind][x], y: p[kind].mean_jct_s, budget: p.budget_gpus }));
  }

  function axis(title, more = {}) {
    return {
      type: "linear",
      title: { display: true, text: title, color: ink("--faint") },
      grid: { color: ink("--line") },
      ticks: { color: ink("--faint"), maxRotation: 0 },
      ...more,
    };
  }

  function draw(section, title, predicted, rented) {
    const shade = ["#3f83d8", "#3a9d6e", "#e07f36"];
    const sets = [
      { label: "predicted", data: series("predicted", predicted), pointRadius: 2 },
      { label: "in nodes", data: series("in_nodes", rented), pointRadius: 2 },
      { label: "replayed", data: series("replayed", rented), pointRadius: 5, showLine: false },
    ].map((set, i) => ({ ...set, borderColor: shade[i], backgroundColor: shade[i] }));
    charts.push(new Chart(document.querySelector(`#${section} canvas`), {
      type: "line",
      data: { datasets: sets.filter((set) => set.data.length) },
      options: {
        animation: false,
        responsive: true,
        maintainAspectRatio: false,
        interaction: { mode: "nearest", intersect: false },
        elements: { line: { borderWidth: 1.8 } },
        scales: { x: axis(title), y: axis("mean JCT, s", { min: 0 }) },
        plugins: {
          legend: { labels: { color: ink("--ink"), boxWidth: 14, boxHeight: 2 } },
          tooltip: {
            callbacks: {
              title: () => "",
              label: (item) => ` ${item.dataset.label} at ${number(item.raw.budget, 3)} GPUs: `
                + `${number(item.parsed.y, 1)} s for ${number(item.parsed.x, 1)}`,
            },
          },
        },
      },
    }));
  }

  function drawAll() {
    while (charts.length) charts.pop().destroy();
    draw("gpu-hours", "GPU-hours", "gpu_h", "rented_gpu_h");
    draw("dollars", "$", "usd", "usd");
  }
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  drawAll();
})();
