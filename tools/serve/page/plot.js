"use strict";
// The dashboard's plot of what the cluster spends, of the samples that app.js keeps in its state.

let chart = null;

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function styleChart() {
  const data = chart.data.datasets[0];
  data.borderColor = colour("--accent");
  data.backgroundColor = colour("--accent") + "22";
  for (const axis of [chart.options.scales.x, chart.options.scales.y]) {
    axis.ticks.color = colour("--faint");
    axis.grid.color = colour("--line");
  }
}

function makeChart() {
  const line = { stepped: true, fill: "origin", pointRadius: 0, borderWidth: 2 };
  const title = (items) => clock(items[0].parsed.x);
  const label = (item) => usd(item.parsed.y) + "/h";
  const times = { maxTicksLimit: 5, maxRotation: 0, callback: (value) => clock(value) };
  const rates = { maxTicksLimit: 5, callback: (value) => usd(value) };
  chart = new Chart(by_id("cost"), {
    type: "line",
    data: { datasets: [{ data: state.samples, ...line }] },
    options: {
      animation: false, parsing: false, normalized: true, maintainAspectRatio: false,
      interaction: { mode: "nearest", axis: "x", intersect: false },
      plugins: { legend: { display: false }, tooltip: { callbacks: { title, label } } },
      scales: {
        x: { type: "linear", grid: {}, ticks: times },
        y: { beginAtZero: true, grid: {}, ticks: rates },
      },
    },
  });
  styleChart();
}

function addSample(now_s, usd_h) {
  const samples = state.samples;
  const last = samples[samples.length - 1];
  if (last && now_s <= last.x) return;
  samples.push({ x: now_s, y: usd_h });
  if (samples.length > MAX_SAMPLES) samples.shift();
  if (!chart) makeChart();
  chart.options.scales.x.min = samples[0].x;
  chart.options.scales.x.max = Math.max(now_s, samples[0].x + 30);
  if (!document.hidden) chart.update("none");
}
