"use strict";
// The page asks the API every second and shows what it says (views.js, jobs.js, task.js,
// instances.js). What is open, which page of a list, and how its rows are sorted is in `state`; a
// job or an instance that is open stands in the address.

const PERIOD_MS = 1000;
const LOG_PERIOD_MS = 100;  // while there is more of an output than was read
const HIDDEN_PERIOD_MS = 15000;
const MAX_PERIOD_MS = 15000;
const TYPING_MS = 250;  // after the last letter, before the cluster is asked
const SLOW_MS = 2000;  // a master that hangs is waited for longer; until then nothing new is shown
const USERS_PERIOD_MS = 15000;  // sums that change slowly
const LIFE_PERIOD_MS = 5000;
const MACHINES_PERIOD_MS = 5000;
const OVER_PERIOD_MS = 5000;  // of a job that is over, of which nothing changes
const MAX_JOBS = 200;
const MAX_SEARCHED = 2000;
const MAX_TASKS = 200;
const MAX_AHEAD = 50;
const MAX_DECISIONS = 40;
const MAX_FILTERED = 1000;
const FOLDED_KEY = "muster.folded";

const state = {
  token: takeToken(),
  me: { token: "", role: "admin", user: "" },  // whose token it is, and what that may do
  known: false,  // whose token it is has been asked
  failures: 0,
  timer: 0,
  turn: 0,       // which round of questions counts
  silent: [],    // who did not answer the last one
  job: null,     // the number of the job that is open
  instance: null,  // or of the instance
  rented: undefined,  // what the list of instances says of that; null: nothing
  life: undefined,    // what is known of its life; null: nothing
  used: new Map(),    // the instances as they were listed last, by their numbers
  machines: null,     // the machines likewise; null: not asked for
  plain: null,   // the job of which the token may not hear why its tasks wait
  phase: "all",  // which of the open job's tasks are shown
  shown_job: null,         // the open job, as it was shown last
  shown_tasks: new Map(),  // its tasks, by their index
  log: null,     // {task, attempt, offset, more, stream, ...}: how far its output has been read
  log_closed: false,  // by hand
  asked_ms: {},  // when what is not asked each time was asked last, by its name
  calm: [],      // they take back a click that only asked whether it is meant
  sort: { by: null, falling: false },
  jobs: { after: null, next: null },   // where the page that is shown begins, and the one behind it
  tasks: { after: null, next: null },  // the same of the open job's tasks
};

// ---- what is open ----

// The job or instance whose number stands in the address, "#/job/12".
function openInAddress() {
  const found = /^#\/(job|instance)\/(\d{1,18})$/.exec(location.hash);
  return found ? { [found[1]]: Number(found[2]) } : {};
}

// Makes what is open what the address says.
function followAddress() {
  const token = takeToken();
  if (token && token !== state.token) useToken(token);
  showOffer();
  const { job = null, instance = null } = openInAddress();
  if (job === state.job && instance === state.instance) return;
  state.calm.forEach((calm) => calm());
  openJob(job);
  openInstance(instance);
  pollNow();
}

function openJob(number) {
  closeLog();
  Object.assign(state, { job: number, log_closed: false, phase: "all", shown_job: null,
    shown_tasks: new Map(), tasks: { after: null, next: null } });
  by_id("job").hidden = number === null;
  if (number === null) return;
  for (const id of ["job-summary", "job-command", "tasks-note"]) setText(by_id(id), "");
  for (const id of ["job-summary", "job-reason", "job-said"]) setLinked(by_id(id), "");
  for (const id of ["tasks-pages", "job-cancel", "job-hold", "job-release", "job-again",
    "job-again-failed"]) {
    by_id(id).hidden = true;
  }
  by_id("job-phases").replaceChildren();
  closePipeline();
  setNodes(by_id("job-title"), `${number}`, () => [`Job ${number}`]);
  showRows(by_id("tasks"), [], (task) => task.task, taskRow);
  bringToSight("job", "job-title");
}

function openInstance(number) {
  Object.assign(state, { instance: number, rented: undefined, life: undefined });
  by_id("instance").hidden = number === null;
  if (number === null) return;
  setText(by_id("instance-title"), `Instance ${number}`);
  setLinked(by_id("instance-said"), "");
  by_id("instance-body").hidden = true;
  by_id("instance-drain").hidden = true;
  bringToSight("instance", "instance-title");
}

function bringToSight(section, title) {
  by_id(title).focus({ preventScroll: true });
  by_id(section).scrollIntoView({ block: "start" });
}

// Closes what is open, and goes back to the list that it is in.
function closeOpen() {
  const list = state.job !== null ? "jobs-section" : "instances-section";
  history.pushState(null, "", location.pathname);
  followAddress();
  goTo(list);
}

function turnTo(page, after) {
  page.after = after;
  page.next = null;
  pollNow();
}

function choosePhase(name) {
  state.phase = state.phase === name ? "all" : name;
  turnTo(state.tasks, null);
}

function sortBy(by) {
  const { by: before, falling } = state.sort;
  // Once: rising; twice: falling; a third time: the API's own order.
  state.sort = before !== by ? { by, falling: false }
    : falling ? { by: null, falling: false } : { by, falling: true };
  for (const head of document.querySelectorAll("th[data-sort]")) {
    const chosen = head.dataset.sort === state.sort.by;
    head.setAttribute("aria-sort",
      chosen ? (state.sort.falling ? "descending" : "ascending") : "none");
  }
  pollNow();
}

// ---- sections ----

const foldedBefore = () => {
  try {
    const ids = JSON.parse(localStorage.getItem(FOLDED_KEY) ?? "[]");
    return new Set(Array.isArray(ids) ? ids : []);
  } catch {
    return new Set();  // somebody else's, or none may be kept
  }
};

// Folds a section to its heading or unfolds it, and keeps that for the next time.
function fold(section, folded) {
  section.classList.toggle("folded", folded);
  section.querySelector("h2 button").setAttribute("aria-expanded", String(!folded));
  const all = foldedBefore();
  if (folded) all.add(section.id);
  else all.delete(section.id);
  try {
    localStorage.setItem(FOLDED_KEY, JSON.stringify([...all]));
  } catch {
    // A browser that keeps nothing unfolds them the next time.
  }
}

function startSections() {
  const folded = foldedBefore();
  for (const section of document.querySelectorAll("section[data-fold]")) {
    if (folded.has(section.id)) fold(section, true);
    section.querySelector("h2 button").addEventListener("click", () => {
      fold(section, !section.classList.contains("folded"));
      pollNow();
    });
  }
  for (const link of document.querySelectorAll("a[data-go]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();  // the address is that of what is open
      goTo(link.dataset.go);
    });
  }
  // Narrow screens lay tables out as cards; by their roles they stay tables.
  const roles = { table: "table", thead: "rowgroup", tbody: "rowgroup", "thead tr": "row",
    th: "columnheader" };
  for (const [kind, role] of Object.entries(roles)) {
    document.querySelectorAll(kind).forEach((node) => node.setAttribute("role", role));
  }
}

// Shows a section, unfolded, and gives its heading the focus.
function goTo(id) {
  const section = by_id(id);
  if (by_id("board").hidden) return by_id("token").focus();
  if (section.classList.contains("folded")) fold(section, false);
  const head = section.matches("section") ? section.querySelector("h2 button") : section;
  section.scrollIntoView({ block: "start" });
  head.focus({ preventScroll: true });
}

// ---- asking, again and again ----

function inSight(node) {
  const place = node.getBoundingClientRect();
  return !node.hidden && place.bottom >= 0 && place.top <= innerHeight;
}

const isFolded = (id) => by_id(id).classList.contains("folded");

// Whether a section is to be kept up to date: it is in sight, or has not been filled yet.
const isWatched = (name) => !isFolded(name + "-section")
  && (inSight(by_id(name + "-section")) || !by_id(name).hasChildNodes());

// Whether it is time to ask for what is not asked each time.
function isDue(name, period_ms) {
  const now = performance.now();
  if (state.asked_ms[name] !== undefined && now - state.asked_ms[name] < period_ms) return false;
  state.asked_ms[name] = now;
  return true;
}

// The questions for the open job's tasks: the page of those that are shown, and on the first page
// those that come before it.
function taskQuestions() {
  const { phase, before } = phaseChosen();
  const page = new URLSearchParams({ limit: MAX_TASKS });
  if (state.tasks.after !== null) page.set("after", state.tasks.after);
  if (phase) page.set("phase", phase);
  // Where all tasks are on one page those that failed are among them.
  const job = state.shown_job;
  const has = state.phase !== "all" || (job?.failed > 0 && job.tasks_total > MAX_TASKS);
  const ahead = before && has && state.tasks.after === null
    ? new URLSearchParams({ limit: MAX_AHEAD, phase: before }) : null;
  return { page, ahead };
}

// Why its tasks wait is told of a job to whom it belongs; what it is, to everybody.
async function refreshJob(turn) {
  const { page, ahead } = taskQuestions();
  const path = `/v1/jobs/${state.job}`;
  const gone = () => setNodes(by_id("job-title"), "", () => [`There is no job ${state.job}`]);
  const plain = () => refresh(turn, `${path}?${page}`, (job) => showJob({ ...job, job }), gone);
  if (state.plain === state.job) return plain();
  const first = ahead ? ask(`${path}/explain?${ahead}`).then(({ tasks }) => tasks, () => []) : [];
  return refresh(turn, `${path}/explain?${page}`, async (explained) => {
    const tasks = await first;
    if (turn === state.turn) showJob(explained, tasks);
  }, gone, () => {
    state.plain = state.job;
    return plain();
  });
}

function questionsOfOpen(turn) {
  const asked = [];
  const over = JOBS_OVER.has(state.shown_job?.state);
  if (state.job !== null && (!over || isDue("job", OVER_PERIOD_MS))) asked.push(refreshJob(turn));
  if (state.log !== null) asked.push(...askLog(turn));
  if (state.instance !== null && isDue("life", LIFE_PERIOD_MS)) asked.push(askLife(turn));
  return asked;
}

// Which jobs are asked for; the cluster looks for them, wherever in the list they are.
function jobsQuestion() {
  const limit = by_id("job-search").value.trim() ? MAX_SEARCHED : MAX_JOBS;
  const shown = by_id("job-state").value;
  const failed = shown === "failed";
  const jobs = new URLSearchParams({ state: failed ? "all" : shown, limit });
  if (failed) jobs.set("failed", "1");
  for (const key of ["user", "name"]) {
    const text = by_id("job-" + key).value.trim();
    if (text) jobs.set(key, text);
  }
  const within = Number(by_id("job-since").value);
  if (within > 0) jobs.set("since_s", Math.floor(Date.now() / 1000) - within);
  if (state.jobs.after !== null) jobs.set("after", state.jobs.after);
  return jobs;
}

function questions(turn) {
  const jobs = jobsQuestion();
  const asked = questionsOfOpen(turn);
  if (!isFolded("jobs-section")) asked.push(refresh(turn, "/v1/jobs?" + jobs, showJobs));
  if (isWatched("decisions")) {
    const limit = hasDecisionFilter() ? MAX_FILTERED : MAX_DECISIONS;
    asked.push(refresh(turn, "/v1/decisions?limit=" + limit, showDecisions));
  }
  const has_machines = state.machines?.hosts.length > 0 && isWatched("machines");
  if (state.instance !== null || isWatched("instances") || has_machines) {
    asked.push(refresh(turn, "/v1/instances", showInstances));
  }
  if (isWatched("users") && isDue("users", USERS_PERIOD_MS)) {
    const today = ask("/v1/cost/today").catch(() => null);
    asked.push(refresh(turn, "/v1/cost?by=user", async (cost) => showUsers(cost, await today)));
  }
  if (state.me?.join_port && isWatched("machines") && isDue("machines", MACHINES_PERIOD_MS)) {
    asked.push(refresh(turn, "/v1/hosts", showMachines));
  }
  asked.push(refresh(turn, "/v1/services", showServices));
  return asked;
}

async function poll() {
  const turn = ++state.turn;
  clearTimeout(state.timer);
  const slow = setTimeout(() => {
    if (turn !== state.turn) return;
    showLink("partial", "a part of the cluster takes long to answer");
  }, SLOW_MS);
  try {
    if (!state.known) {
      await askMe();
      state.known = true;
    }
    const status = await ask("/v1/status");
    if (turn !== state.turn) return;
    for (const id of ["board", "sections"]) by_id(id).hidden = false;
    by_id("sign-in").hidden = true;
    showStatus(status);
    await Promise.all(questions(turn));
    if (turn === state.turn) succeeded();
  } catch (error) {
    if (turn === state.turn) failed(error);
  } finally {
    clearTimeout(slow);
  }
}

// What is not asked each time is asked now, too.
function pollNow() {
  state.failures = 0;
  state.asked_ms = {};
  poll();
}

function showLink(kind, text) {
  by_id("link").dataset.state = kind;
  setText(by_id("link"), text);
  document.body.classList.toggle("stale", kind === "lost");
}

function succeeded() {
  state.failures = 0;
  const mute = state.silent.map(({ master, site, cloud }) => master ?? site ?? cloud);
  const do_not = mute.length > 1 ? "do not" : "does not";
  if (mute.length) showLink("partial", `live, but ${mute.join(", ")} ${do_not} answer`);
  else showLink("live", "live");
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
  // A link's token waits for its user's word all the same: whoever sent the link may have known
  // that this one ends.
  if (offered) showOffer();
  if (state.token) setText(by_id("sign-in-note"), "The cluster does not know this token.");
  sessionStorage.removeItem(TOKEN_KEY);
  state.token = "";
  state.known = false;
  state.plain = null;
  for (const id of ["board", "sections"]) by_id(id).hidden = true;
  by_id("sign-in").hidden = false;
  by_id("token").focus();
  showLink("waiting", "a token is needed");
}

// An action that waits until nobody has typed for a moment: each asks the cluster.
function whenTyped(act) {
  let timer = null;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, TYPING_MS);
  };
}

// The buttons of the open job.
function startJob() {
  by_id("tasks-first").addEventListener("click", () => turnTo(state.tasks, null));
  by_id("tasks-more").addEventListener("click", () => turnTo(state.tasks, state.tasks.next));
  by_id("job-close").addEventListener("click", closeOpen);
  by_id("pipeline").addEventListener("toggle", loadPipeline);
  by_id("job-decisions").addEventListener("click", () => showDecisionsOf("job", state.job));
  const act = (what, done, body) => () =>
    change(`/v1/jobs/${state.job}/${what}`, by_id("job-said"), done, body);
  const again = ({ jobs }) => `It is submitted again, as job ${jobs[0].job}.`;
  state.calm.push(confirmed(by_id("job-cancel"), "Cancel", act("cancel", "It is cancelled.")),
    confirmed(by_id("job-again"), "Resubmit", act("resubmit", again, { failed: false })),
    confirmed(by_id("job-again-failed"), "Resubmit failed tasks",
      act("resubmit", again, { failed: true })));
  by_id("job-hold").addEventListener("click", act("hold", "No more of its tasks are started."));
  by_id("job-release").addEventListener("click", act("release", "Its tasks may start again."));
  by_id("log-stream").addEventListener("change", () => reopenLog({}));
  by_id("log-whole").addEventListener("click", () => reopenLog({ whole: true }));
  by_id("log-download").addEventListener("click", downloadLog);
  by_id("log-close").addEventListener("click", closeTask);
}

// The output that is open, by another stream or from its beginning.
function reopenLog(how) {
  const { task, attempt } = state.log;
  openLog(task, { attempt, stream: by_id("log-stream").value, by_hand: true, ...how });
}

function startLists() {
  for (const id of ["job-state", "job-since"]) {
    by_id(id).addEventListener("change", () => turnTo(state.jobs, null));
  }
  for (const id of ["job-user", "job-name", "job-search"]) {
    by_id(id).addEventListener("input", whenTyped(() => turnTo(state.jobs, null)));
  }
  for (const id of ["decision-job", "decision-instance", "decision-text"]) {
    by_id(id).addEventListener("input", whenTyped(pollNow));
  }
  for (const head of document.querySelectorAll("th[data-sort]")) {
    head.querySelector("button").addEventListener("click", () => sortBy(head.dataset.sort));
  }
  by_id("jobs-first").addEventListener("click", () => turnTo(state.jobs, null));
  by_id("jobs-older").addEventListener("click", () => turnTo(state.jobs, state.jobs.next));
  state.calm.push(drainButton(by_id("instance-drain"), () => state.instance, "instance-said"));
  by_id("instance-close").addEventListener("click", closeOpen);
  by_id("instance-decisions").addEventListener("click", () =>
    showDecisionsOf("instance", state.instance));
  by_id("hours").addEventListener("change", () => {
    plots.asked_s = null;
    pollNow();
  });
}

function startToken() {
  by_id("sign-in").addEventListener("submit", (event) => {
    event.preventDefault();
    state.token = by_id("token").value.trim();
    sessionStorage.setItem(TOKEN_KEY, state.token);
    by_id("token").value = "";
    pollNow();
  });
  by_id("offer-take").addEventListener("click", () => useToken(offered));
  by_id("offer-leave").addEventListener("click", closeOffer);
}

function start() {
  startSections();
  startToken();
  startLists();
  startJob();
  addEventListener("hashchange", followAddress);
  addEventListener("popstate", followAddress);
  document.addEventListener("visibilitychange", () => document.hidden || !state.token || pollNow());
  document.addEventListener("keydown", (event) =>
    event.key === "Escape" && (state.job ?? state.instance) !== null && closeOpen());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    restyleCharts();
  });
  followAddress();
  if (state.token) pollNow();
  else askForToken();
}

start();
