"use strict";
// The plots: what the cluster spends, and what it does. They begin with the history that the
// masters keep (/v1/history), asked for once a minute, and end with what the page itself has seen.

const HISTORY_PERIOD_S = 60;
const MAX_SAMPLES = 3600;
const GAP_S = 100;  // without a sample, although there is one a minute
const NAME_PX = 14;  // height of a line's name
const TICK_STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 14400,
  21600];

// What is plotted of a sample: on which canvas and axis, and how a value reads. A line is told from
// the others by its dashes and its name at its end, too. Those that come first are drawn first, as
// the wider ones, so that none is hidden: what lies below shows in the gaps of what lies above.
const LINES = {
  cost: [
    { key: "usd_h", label: "rate", colour: "--accent", axis: "y", dash: [], width: 3,
      text: (v) => usd(v) + "/h" },
    { key: "spent_usd", label: "spent in all", colour: "--good", axis: "right", dash: [7, 4],
      width: 2, text: usd },
  ],
  work: [
    { key: "tasks_running", label: "tasks running", colour: "--good", dash: [], width: 4 },
    { key: "tasks_pending", label: "tasks waiting", colour: "--bad", dash: [12, 5], width: 3 },
    { key: "instances", label: "instances", colour: "--accent", dash: [6, 4], width: 2 },
    { key: "jobs_waiting", label: "jobs waiting", colour: "--faint", dash: [2, 3], width: 2 },
  ].map((line) => ({ ...line, axis: "y", text: String })),
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
  chart.options.plugins.legend.labels.color = colour("--ink");
}

// Times for the ticks of an axis: at most `most` round ones, so that no two read alike.
function tickTimes(min, max, most) {
  const step = TICK_STEPS_S.find((each) => (max - min) / each <= most) ?? 86400;
  const times = [];
  for (let at = Math.ceil(min / step) * step; at <= max; at += step) times.push(at);
  return { step, times };
}

// How a tick reads: with seconds where the ticks are close, and with the day where a new one
// begins.
function tickText(step, before, at) {
  const time = clock(at).slice(0, step < 60 ? 8 : 5);
  const day = moment(at).slice(0, 10);
  const same = before !== undefined && moment(before).slice(0, 10) === day;
  return same ? time : [time, day];
}

function setTicks(axis) {
  const { step, times } = tickTimes(axis.min, axis.max, axis.width < 420 ? 3 : 6);
  const one_day = moment(axis.min).slice(0, 10) === moment(axis.max).slice(0, 10);
  axis.ticks = times.map((at, i) => ({ value: at,
    label: tickText(step, one_day ? at : times[i - 1], at) }));
}

// Moves the names' heights apart, so that each can be read, between `top` and `bottom`.
function placeApart(names, top, bottom) {
  names.sort((a, b) => a.y - b.y);
  let least = top;
  for (const name of names) {
    name.y = Math.max(name.y, least);
    least = name.y + NAME_PX;
  }
  let most = bottom;
  for (const name of names.reverse()) {
    name.y = Math.min(name.y, most);
    most = name.y - NAME_PX;
  }
}

// Writes each line's name at its end, inside of the plot: two that end at one height do not hide
// each other's name.
const lineNames = {
  id: "lineNames",
  afterDatasetsDraw(chart) {
    const { ctx, chartArea: { top, bottom, right } } = chart;
    const names = chart.data.datasets.map((set, i) => {
      const end = chart.getDatasetMeta(i).data.at(-1);
      return end && Number.isFinite(end.y) ? { text: set.label, y: end.y - 9, set } : null;
    }).filter(Boolean);
    placeApart(names, top + 6, bottom - 8);
    ctx.save();
    Object.assign(ctx, { font: "600 11px system-ui, sans-serif", textAlign: "right",
      textBaseline: "middle", lineWidth: 4, lineJoin: "round", strokeStyle: colour("--card") });
    for (const { text, y } of names) ctx.strokeText(text, right - 4, y);
    for (const { text, y, set } of names) {
      ctx.fillStyle = set.borderColor;
      ctx.fillText(text, right - 4, y);
    }
    ctx.restore();
  },
};

function scalesOf(lines) {
  const amounts = (line) => ({ maxTicksLimit: 5, precision: line.text === String ? 0 : undefined,
    callback: (value) => line.text(value) });
  const scales = {
    x: { type: "linear", grid: {}, ticks: { maxRotation: 0, autoSkip: false, callback: (value,
      index, ticks) => ticks[index].label }, afterBuildTicks: setTicks },
    y: { beginAtZero: true, grace: "10%", grid: {},
      suggestedMax: lines[0].text === String ? 4 : undefined, ticks: amounts(lines[0]) },
  };
  const right = lines.find((line) => line.axis === "right");
  if (right) {
    scales.right = { position: "right", beginAtZero: true, grace: "10%",
      grid: { drawOnChartArea: false }, ticks: amounts(right) };
  }
  return scales;
}

// Each line's sample in the legend, with its dashes.
const legendLabels = {
  usePointStyle: true, pointStyle: "line", pointStyleWidth: 36,
  generateLabels: (chart) => Chart.defaults.plugins.legend.labels.generateLabels(chart)
    .map((label) => ({ ...label,
      lineDash: chart.data.datasets[label.datasetIndex].borderDash })),
};

function makeChart(id) {
  const lines = LINES[id];
  const title = (items) => moment(items[0].parsed.x);
  const label = (item) => `${item.dataset.label} ${lines[item.datasetIndex].text(item.parsed.y)}`;
  plots.charts[id] = new Chart(by_id(id), {
    type: "line",
    data: { datasets: lines.map((line, i) => ({ label: line.label, yAxisID: line.axis, data: [],
      borderDash: line.dash, stepped: line.axis === "y", pointRadius: 0, order: -i,
      borderWidth: line.width, spanGaps: false })) },
    options: {
      animation: false, parsing: false, normalized: true, maintainAspectRatio: false,
      interaction: { mode: "nearest", axis: "x", intersect: false },
      plugins: { legend: { labels: legendLabels, reverse: true },
        tooltip: { callbacks: { title, label } } },
      scales: scalesOf(lines),
    },
    plugins: [lineNames],
  });
  styleChart(id);
}

// The points of a line; where no sample was taken for longer than there should be, it is broken.
function pointsOf(samples, key) {
  const points = [];
  samples.forEach((sample, i) => {
    const before = samples[i - 1];
    if (before && sample.at_s - before.at_s > GAP_S) points.push({ x: before.at_s + 1, y: NaN });
    points.push({ x: sample.at_s, y: sample[key] });
  });
  return points;
}

// In words, where the lines are broken.
function gapsText(samples) {
  const gaps = samples.flatMap((sample, i) => (i > 0 && sample.at_s - samples[i - 1].at_s > GAP_S
    ? [`${clock(samples[i - 1].at_s)} to ${clock(sample.at_s)}`] : []));
  if (gaps.length === 0) return "";
  const more = gaps.length > 3 ? ` and ${gaps.length - 3} more times` : "";
  return `Nothing is known of ${gaps.slice(-3).join(", ")}${more}: the lines are broken there.`;
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
  const last = samples.at(-1);
  for (const id of Object.keys(LINES)) {
    if (!plots.charts[id]) makeChart(id);
    const chart = plots.charts[id];
    LINES[id].forEach((line, i) => {
      chart.data.datasets[i].data = pointsOf(samples, line.key);
    });
    const first = samples.length ? samples[0].at_s : now_s;
    chart.options.scales.x.min = first;
    chart.options.scales.x.max = Math.max(now_s, first + 30);
    if (!document.hidden && inSight(by_id(id).closest("section"))) chart.update("none");
    const now = last ? LINES[id].map((line) => `${line.label} ${line.text(last[line.key])}`) : [];
    by_id(id).setAttribute("aria-label", `Plot over time; now: ${now.join(", ")}`);
  }
  setText(by_id("gaps-note"), gapsText(samples));
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
