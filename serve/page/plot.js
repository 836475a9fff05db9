"use strict";
// The plots: what the cluster spends, and what it does. They begin with the history that the
// masters keep (/v1/history), asked for once a minute, and end with what the page itself has seen.

const HISTORY_PERIOD_S = 60;
const MAX_SAMPLES = 3600;

// What is plotted of a sample: on which canvas and axis, and how a value reads.
const LINES = {
  cost: [
    { key: "usd_h", label: "rate", colour: "--accent", axis: "y", text: (v) => usd(v) + "/h" },
    { key: "spent_usd", label: "spent in all", colour: "--good", axis: "right", text: usd },
  ],
  work: [
    { key: "tasks_running", label: "tasks running", colour: "--good", axis: "y", text: String },
    { key: "tasks_pending", label: "tasks pending", colour: "--bad", axis: "y", text: String },
    { key: "jobs_waiting", label: "jobs waiting", colour: "--faint", axis: "y", text: String },
    { key: "instances", label: "instances", colour: "--accent", axis: "y", text: String },
  ],
};

const plots = {
  charts: {},
  past: [],      // samples of the masters
  seen: [],      // samples that this page took
  asked_s: null, // when the history was asked for last, by the cluster's clock
};

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function styleChart(id) {
  const chart = plots.charts[id];
  LINES[id].forEach((line, i) => {
    chart.data.datasets[i].borderColor = colour(line.colour);
  });
  for (const axis of Object.values(chart.options.scales)) {
    axis.ticks.color = colour("--faint");
    axis.grid.color = colour("--line");
  }
  chart.options.plugins.legend.labels.color = colour("--faint");
}

function makeChart(id) {
  const lines = LINES[id];
  const title = (items) => moment(items[0].parsed.x);
  const label = (item) => `${item.dataset.label} ${lines[item.datasetIndex].text(item.parsed.y)}`;
  const times = { maxTicksLimit: 6, maxRotation: 0, callback: (value) => clock(value) };
  const amounts = (line) => ({ maxTicksLimit: 5, callback: (value) => line.text(value) });
  const scales = {
    x: { type: "linear", grid: {}, ticks: times },
    y: { beginAtZero: true, grid: {}, ticks: amounts(lines[0]) },
  };
  const right = lines.find((line) => line.axis === "right");
  if (right) {
    scales.right = { position: "right", grid: { drawOnChartArea: false }, ticks: amounts(right) };
  }
  plots.charts[id] = new Chart(by_id(id), {
    type: "line",
    data: { datasets: lines.map((line) => ({ label: line.label, yAxisID: line.axis, data: [],
      stepped: line.axis === "y", pointRadius: 0, borderWidth: 2 })) },
    options: {
      animation: false, parsing: false, normalized: true, maintainAspectRatio: false,
      interaction: { mode: "nearest", axis: "x", intersect: false },
      plugins: { legend: { labels: { boxWidth: 12 } }, tooltip: { callbacks: { title, label } } },
      scales,
    },
  });
  styleChart(id);
}

function restyleCharts() {
  for (const id of Object.keys(plots.charts)) {
    styleChart(id);
    plots.charts[id].update("none");
  }
}

const hoursShown = () => Number(by_id("hours").value);

function drawCharts(now_s) {
  const from = now_s - hoursShown() * 3600;
  const samples = plots.past.concat(plots.seen).filter((sample) => sample.at_s >= from);
  for (const id of Object.keys(LINES)) {
    if (!plots.charts[id]) makeChart(id);
    const chart = plots.charts[id];
    LINES[id].forEach((line, i) => {
      chart.data.datasets[i].data = samples.map((sample) => ({ x: sample.at_s,
        y: sample[line.key] }));
    });
    const first = samples.length ? samples[0].at_s : now_s;
    chart.options.scales.x.min = first;
    chart.options.scales.x.max = Math.max(now_s, first + 30);
    if (!document.hidden) chart.update("none");
  }
}

// Notes what the status says, behind what is known of the past.
function addSample(status) {
  const { now_s, silent } = status;
  const last = plots.seen[plots.seen.length - 1];
  // With a master silent the sums would fall although nothing has changed.
  if ((silent?.length ?? 0) === 0 && !(last && now_s <= last.at_s)) {
    plots.seen.push({ at_s: now_s, usd_h: status.usd_h, spent_usd: status.total_usd,
      instances: status.instances.reduce((sum, entry) => sum + entry.count, 0),
      tasks_running: status.tasks.running, tasks_pending: status.tasks.pending,
      jobs_waiting: status.jobs.waiting });
    if (plots.seen.length > MAX_SAMPLES) plots.seen.shift();
  }
  drawCharts(now_s);
  if (plots.asked_s === null || now_s - plots.asked_s >= HISTORY_PERIOD_S) askHistory(now_s);
}

// A failure leaves the plots as they are; the next minute asks again.
async function askHistory(now_s) {
  plots.asked_s = now_s;
  try {
    const { samples, silent } = await ask("/v1/history?hours=" + hoursShown());
    plots.past = samples;
    const end = samples.length ? samples[samples.length - 1].at_s : -Infinity;
    plots.seen = plots.seen.filter((sample) => sample.at_s > end);
    setText(by_id("history-note"), lacks(silent, "a part of the past"));
    drawCharts(now_s);
  } catch (error) {
    if (!(error instanceof Refused)) plots.asked_s = null;
  }
}
