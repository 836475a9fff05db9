"use strict";
// The dashboard: asks the API every second and shows what it says. Whatever comes from the cluster
// is shown as text, never as markup.

const PERIOD_MS = 1000;
const LOG_PERIOD_MS = 100;  // while there is more of an output than was read
const HIDDEN_PERIOD_MS = 15000;
const MAX_PERIOD_MS = 15000;
const REQUEST_LIMIT_MS = 8000;
const MAX_SAMPLES = 3600;
const MAX_JOBS = 200;
const MAX_TASKS = 500;
const MAX_DECISIONS = 40;
const LOG_PIECE = 65536;
const MAX_LOG_CHARS = 200000;
const TOKEN_KEY = "muster.token";

const by_id = (id) => document.getElementById(id);

const state = {
  token: takeToken(),
  failures: 0,
  timer: 0,
  turn: 0,       // which round of questions counts
  job: null,     // the number of the job that is open
  log: null,     // {task, offset, more, stream}: how far its output has been read
  jobs: { after: null, next: null },   // where the page that is shown begins, and the one behind it
  tasks: { after: null, next: null },  // the same of the open job's tasks
  samples: [],   // {x: seconds, y: $/h}
};

// A token in the address' fragment never reaches a server; it leaves the address bar, too.
function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem(TOKEN_KEY, given);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem(TOKEN_KEY) || "";
}

class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function ask(path) {
  const answer = await fetch(path, {
    headers: { Authorization: "Bearer " + state.token },
    cache: "no-store",
    signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
  });
  const document = await answer.json();
  if (!answer.ok) throw new Refused(answer.status, document.error ? document.error.message : "");
  return document;
}

// ---- text ----

function usd(amount) {
  const digits = Math.abs(amount) >= 100 ? 0 : Math.abs(amount) >= 0.1 || amount === 0 ? 2 : 4;
  return "$" + amount.toFixed(digits);
}

const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString();
const moment = (seconds) => seconds === null ? "" : new Date(seconds * 1000).toLocaleString();

function figures(values) {
  return Object.entries(values).map(([name, value]) => {
    const rounded = typeof value === "number" ? Number(value.toPrecision(4)) : value;
    return name.replaceAll("_", " ") + " " + rounded;
  }).join(", ");
}

function setText(node, text) {
  const wanted = String(text);
  if (node.textContent !== wanted) node.textContent = wanted;
}

// ---- tables: rows keep their place and focus while their text changes ----

function cell(kind) {
  const node = document.createElement("td");
  if (kind) node.className = kind;
  return node;
}

// Makes the body's rows those of `items`; `make` fills a new row and returns what updates it.
function showRows(body, items, key, make) {
  const known = body.known || (body.known = new Map());
  const present = new Set();
  items.forEach((item, place) => {
    const name = String(key(item));
    present.add(name);
    let entry = known.get(name);
    if (!entry) {
      const row = document.createElement("tr");
      entry = { row, update: make(row, item) };
      known.set(name, entry);
    }
    entry.update(item);
    const there = body.children[place];
    if (there !== entry.row) body.insertBefore(entry.row, there || null);
  });
  for (const [name, entry] of known) {
    if (!present.has(name)) {
      entry.row.remove();
      known.delete(name);
    }
  }
}

// A row of plain cells: `columns` are [class, text of an item].
function textRow(columns) {
  return (row) => {
    const cells = columns.map(([kind]) => row.appendChild(cell(kind)));
    return (item) => cells.forEach((node, i) => setText(node, columns[i][1](item)));
  };
}

function button(parent, action) {
  const node = document.createElement("button");
  node.type = "button";
  node.className = "plain";
  node.addEventListener("click", action);
  parent.appendChild(node);
  return node;
}

// ---- the parts of the page ----

function showStatus(status) {
  const count = status.instances.reduce((sum, entry) => sum + entry.count, 0);
  const silent = status.silent ?? [];
  const least = silent.length ? "at least " : "";  // totals lack the parts of those
  const totals = { "jobs-waiting": status.jobs.waiting, "jobs-running": status.jobs.running,
    "tasks-pending": status.tasks.pending, "tasks-running": status.tasks.running,
    "instance-count": count, "usd-h": usd(status.usd_h) + "/h",
    "today-usd": usd(status.today_usd), "total-usd": usd(status.total_usd) };
  for (const [id, total] of Object.entries(totals)) setText(by_id(id), least + total);
  document.title = `Muster: ${least}${status.jobs.running} running, ${usd(status.usd_h)}/h`;
  showTrouble(silent.map(silence).concat(status.trouble));
  showInstances(status.instances, count);
  showNodes(status.nodes, status.caps);
  addSample(status.now_s, status.usd_h);
}

function silence({ master, site, cloud, since_s, last }) {
  const name = master ?? (cloud === undefined ? "site " + site : "the cloud of node " + cloud);
  const who = `${name} does not answer${since_s >= 0 ? ` since ${Math.round(since_s)} s` : ""}`;
  return last ? `${who}; it last said ${usd(last.usd_h)}/h, ${last.instances} instances` : who;
}

function showTrouble(sentences) {
  const list = by_id("trouble");
  list.hidden = sentences.length === 0;
  const text = sentences.join("\n");
  if (list.shown === text) return;
  list.shown = text;
  list.replaceChildren(...sentences.map((sentence) => {
    const node = document.createElement("li");
    node.textContent = sentence;
    return node;
  }));
}

function showInstances(entries, count) {
  showRows(by_id("instances"), entries, (entry) => entry.type + " " + entry.market, (row) => {
    const type = row.appendChild(cell("text"));
    const market = row.appendChild(cell("keep"));
    const number = row.appendChild(cell("number"));
    const share = row.appendChild(cell()).appendChild(document.createElement("progress"));
    share.className = "share";
    return (entry) => {
      setText(type, entry.type);
      setText(market, entry.market);
      setText(number, entry.count);
      share.max = Math.max(count, 1);
      share.value = entry.count;
      share.setAttribute("aria-label", `${entry.count} of ${count}`);
    };
  });
  setText(by_id("instances-note"), entries.length ? "" : "None is rented at present.");
}

function nodeRow(row) {
  const name = row.appendChild(cell("keep"));
  const link = row.appendChild(cell());
  const kinds = ["text", "number", "number", "number", "keep"];
  const rest = kinds.map((kind) => row.appendChild(cell(kind)));
  return (node) => {
    const load = node.load || {};
    setText(name, node.node);
    setText(link, node.connected ? "connected" : "lost");
    link.className = node.connected ? "keep" : "keep state-lost";
    [node.roles.join(", "), load.jobs ?? "", load.pending_tasks ?? "", load.instances ?? "",
      load.policy ?? ""].forEach((text, i) => setText(rest[i], text));
  };
}

function showNodes(nodes, caps) {
  showRows(by_id("nodes"), nodes, (node) => node.node, nodeRow);
  setText(by_id("caps"), caps.map((cap) => {
    const limits = [];
    if (cap.max_instances !== null) limits.push(`${cap.max_instances} instances`);
    if (cap.max_usd_h !== null) limits.push(`${usd(cap.max_usd_h)}/h`);
    if (cap.max_usd_day !== null) limits.push(`${usd(cap.max_usd_day)} a day`);
    return limits.length ? `${cap.master} has at most ${limits.join(", ")}.` : "";
  }).filter(Boolean).join(" "));
}

// How wide an elastic job is and may be, and how far it has come.
function widthText({ least, most, width, done, whole, unit }) {
  const wide = `${width ?? "no"} of ${least}-${most} workers`;
  if (width === null || done === 0) return wide;
  return `${wide}, ${done}${whole === null ? "" : " of " + whole} ${unit ?? ""}`.trim();
}

function jobRow(row, first) {
  const number = row.appendChild(cell("keep"));
  const name = button(row.appendChild(cell("text")), () => openJob(first.job));
  const phase = row.appendChild(cell());
  const user = row.appendChild(cell("wide keep"));
  const done = row.appendChild(cell("keep"));
  const bar = done.appendChild(document.createElement("progress"));
  const count = done.appendChild(document.createElement("span"));
  const rest = ["wide number", "wide number", "number", "wide keep", "wide keep"]
    .map((kind) => row.appendChild(cell(kind)));
  return (job) => {
    setText(number, job.job);
    setText(name, job.name);
    setText(phase, job.state);
    phase.className = "keep state-" + job.state.replaceAll(" ", "-");
    setText(user, job.user);
    const { elastic } = job;
    const [part, whole] = elastic?.whole && elastic.width !== null
      ? [elastic.done, elastic.whole] : [job.finished, elastic?.width ?? job.tasks_total];
    bar.max = Math.max(whole, 1e-9);
    bar.value = part;
    bar.setAttribute("aria-hidden", "true");
    setText(count, elastic ? widthText(elastic) : `${part} of ${whole}`);
    [job.running, job.failed_attempts, usd(job.usd), job.master ?? "", moment(job.submitted_s)]
      .forEach((text, i) => setText(rest[i], text));
    row.classList.toggle("chosen", job.job === state.job);
  };
}

// What can be turned to from the page that is shown; `name` is that of its buttons.
function showPages(name, onward, page, next) {
  page.next = next ?? null;
  by_id(name + "-pages").hidden = page.after === null && page.next === null;
  by_id(name + "-first").disabled = page.after === null;
  by_id(name + "-" + onward).disabled = page.next === null;
}

function turnTo(page, after) {
  page.after = after;
  page.next = null;
  pollNow();
}

function showJobs({ jobs, next }) {
  showRows(by_id("jobs"), jobs, (job) => job.job, jobRow);
  const there = state.jobs.after === null ? "No such jobs." : "No more jobs.";
  setText(by_id("jobs-note"), jobs.length === 0 && !next ? there : "");
  showPages("jobs", "older", state.jobs, next);
}

function taskRow(row, first) {
  const number = button(row.appendChild(cell("keep")), () => openLog(first.task));
  const phase = row.appendChild(cell());
  const rest = ["keep", "wide number", "wide number", "number", "text"]
    .map((kind) => row.appendChild(cell(kind)));
  return (task) => {
    setText(number, "task " + task.task);
    setText(phase, task.phase);
    phase.className = "keep state-" + task.phase.replaceAll(" ", "-");
    const where = task.instance === null ? "" : `${task.instance_type ?? ""} (${task.instance})`;
    const exit = task.exit_code ? ` (exit code ${task.exit_code})` : "";
    [where, task.attempt, task.moves, usd(task.usd), (task.why ?? "") + exit]
      .forEach((text, i) => setText(rest[i], text));
    row.classList.toggle("chosen", state.log !== null && task.task === state.log.task);
  };
}

function showJob(explained) {
  const { job, tasks, next, tasks_behind: behind } = explained;
  setText(by_id("job-title"), `Job ${job.job}: ${job.name}, ${job.state}`);
  setText(by_id("job-command"), job.command.join(" "));
  showRows(by_id("tasks"), tasks, (task) => task.task, taskRow);
  setText(by_id("tasks-note"), behind ? `${behind} more of ${job.tasks_total} tasks follow.` : "");
  showPages("tasks", "more", state.tasks, next);
}

function showLog(piece) {
  Object.assign(state.log, { more: piece.more, offset: piece.next_offset });
  setText(by_id("log-lost"), piece.lost ? `Output is lost: ${piece.lost_reason}.` : "");
  if (!piece.text) return;
  const node = by_id("log-text");
  const follows = node.scrollTop + node.clientHeight >= node.scrollHeight - 20;
  const text = node.textContent + piece.text;
  node.textContent = text.slice(-MAX_LOG_CHARS);
  if (follows) node.scrollTop = node.scrollHeight;
}

function showDecisions(decisions) {
  const key = (entry) => `${entry.master} ${entry.round} ${entry.at_s}`;
  showRows(by_id("decisions"), decisions, key, textRow([
    ["keep", (entry) => clock(entry.at_s)],
    ["keep", (entry) => entry.master],
    ["number", (entry) => entry.round],
    ["keep", (entry) => entry.choice],
    ["number", (entry) => entry.launches],
    ["number", (entry) => entry.moves],
    ["text", (entry) => figures(entry.figures)],
  ]));
  setText(by_id("decisions-note"), decisions.length ? "" : "None has been made yet.");
}

// ---- what is open ----

function openJob(number) {
  state.job = number;
  state.tasks = { after: null, next: null };
  by_id("tasks-pages").hidden = true;
  closeLog();
  setText(by_id("job-title"), `Job ${number}`);
  setText(by_id("job-command"), "");
  showRows(by_id("tasks"), [], (task) => task.task, taskRow);
  by_id("job").hidden = false;
  by_id("job-title").focus();
  pollNow();
}

function closeJob() {
  state.job = null;
  by_id("job").hidden = true;
  closeLog();
  by_id("job-state").focus();
  pollNow();
}

function openLog(task) {
  state.log = { task, offset: 0, more: false, stream: by_id("log-stream").value };
  setText(by_id("log-title"), `Output of task ${task}`);
  by_id("log-text").textContent = "";
  by_id("log").hidden = false;
  pollNow();
}

function closeLog() {
  state.log = null;
  by_id("log").hidden = true;
}

// ---- asking, again and again ----

function inSight(node) {
  const place = node.getBoundingClientRect();
  return place.bottom >= 0 && place.top <= innerHeight;
}

// Shows what the answer to `path` is. One that came too late changes nothing, nor does one that
// there is no such thing (any more).
async function refresh(turn, path, show) {
  try {
    const document = await ask(path);
    if (turn === state.turn) show(document);
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 404) throw error;
  }
}

function questions(turn) {
  const jobs = new URLSearchParams({ state: by_id("job-state").value, limit: MAX_JOBS });
  const user = by_id("job-user").value.trim();
  if (user) jobs.set("user", user);
  if (state.jobs.after !== null) jobs.set("after", state.jobs.after);
  const asked = [refresh(turn, "/v1/jobs?" + jobs, showJobs)];
  if (inSight(by_id("decisions-section")) || !by_id("decisions").hasChildNodes()) {
    const path = "/v1/decisions?limit=" + MAX_DECISIONS;
    asked.push(refresh(turn, path, (answer) => showDecisions(answer.decisions)));
  }
  if (state.job !== null) {
    const tasks = new URLSearchParams({ limit: MAX_TASKS });
    if (state.tasks.after !== null) tasks.set("after", state.tasks.after);
    asked.push(refresh(turn, `/v1/jobs/${state.job}/explain?` + tasks, showJob));
  }
  if (state.log !== null) {
    const { task, offset, stream } = state.log;
    const part = `stream=${stream}&offset=${offset}&max=${LOG_PIECE}`;
    asked.push(refresh(turn, `/v1/jobs/${state.job}/tasks/${task}/log?${part}`, showLog));
  }
  return asked;
}

async function poll() {
  const turn = ++state.turn;
  clearTimeout(state.timer);
  try {
    const status = await ask("/v1/status");
    if (turn !== state.turn) return;
    by_id("board").hidden = false;
    by_id("sign-in").hidden = true;
    showStatus(status);
    await Promise.all(questions(turn));
    if (turn === state.turn) succeeded();
  } catch (error) {
    if (turn === state.turn) failed(error);
  }
}

function pollNow() {
  state.failures = 0;
  poll();
}

function showLink(kind, text) {
  by_id("link").dataset.state = kind;
  setText(by_id("link"), text);
  document.body.classList.toggle("stale", kind === "lost");
}

function succeeded() {
  state.failures = 0;
  showLink("live", "live");
  later(state.log !== null && state.log.more ? LOG_PERIOD_MS : PERIOD_MS);
}

function failed(error) {
  if (error instanceof Refused && error.status === 401) return askForToken();
  state.failures += 1;
  const wait = Math.min(PERIOD_MS * 2 ** (state.failures - 1), MAX_PERIOD_MS);
  const why = error instanceof Refused ? error.message : "connection lost";
  showLink("lost", `${why}; trying again every ${Math.round(wait / 1000)} s`);
  later(wait);
}

function later(wait) {
  clearTimeout(state.timer);
  state.timer = setTimeout(poll, document.hidden ? Math.max(wait, HIDDEN_PERIOD_MS) : wait);
}

function askForToken() {
  clearTimeout(state.timer);
  if (state.token) setText(by_id("sign-in-note"), "The cluster does not know this token.");
  sessionStorage.removeItem(TOKEN_KEY);
  state.token = "";
  by_id("board").hidden = true;
  by_id("sign-in").hidden = false;
  by_id("token").focus();
  showLink("waiting", "a token is needed");
}

function start() {
  by_id("sign-in").addEventListener("submit", (event) => {
    event.preventDefault();
    state.token = by_id("token").value.trim();
    sessionStorage.setItem(TOKEN_KEY, state.token);
    by_id("token").value = "";
    pollNow();
  });
  by_id("job-state").addEventListener("change", () => turnTo(state.jobs, null));
  by_id("job-user").addEventListener("input", () => turnTo(state.jobs, null));
  by_id("jobs-first").addEventListener("click", () => turnTo(state.jobs, null));
  by_id("jobs-older").addEventListener("click", () => turnTo(state.jobs, state.jobs.next));
  by_id("tasks-first").addEventListener("click", () => turnTo(state.tasks, null));
  by_id("tasks-more").addEventListener("click", () => turnTo(state.tasks, state.tasks.next));
  by_id("job-close").addEventListener("click", closeJob);
  by_id("log-stream").addEventListener("change", () => openLog(state.log.task));
  document.addEventListener("visibilitychange", () => document.hidden || !state.token || pollNow());
  document.addEventListener("keydown", (event) =>
    event.key === "Escape" && state.job !== null && closeJob());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    if (chart) {
      styleChart();
      chart.update("none");
    }
  });
  if (state.token) poll();
  else askForToken();
}

start();
