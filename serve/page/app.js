"use strict";
// The page asks the API every second and shows what it says (views.js). What is open, which page of
// a list, and how its rows are sorted is in `state`; a job that is open stands in the address.

const PERIOD_MS = 1000;
const LOG_PERIOD_MS = 100;  // while there is more of an output than was read
const HIDDEN_PERIOD_MS = 15000;
const MAX_PERIOD_MS = 15000;
const TYPING_MS = 250;  // after the last letter, before the cluster is asked
const REQUEST_LIMIT_MS = 8000;
const SLOW_MS = 2000;  // a master that hangs is waited for longer; until then nothing new is shown
const MAX_JOBS = 200;
const MAX_SEARCHED = 2000;
const MAX_TASKS = 500;
const MAX_DECISIONS = 40;
const LOG_PIECE = 65536;
const MAX_LOG_CHARS = 200000;
const TOKEN_KEY = "muster.token";

let offered = "";  // a link's token, where the tab has another one already
const state = {
  token: takeToken(),
  me: { token: "", role: "admin", user: "" },  // whose token it is, and what that may do
  known: false,  // whose token it is has been asked
  failures: 0,
  timer: 0,
  turn: 0,       // which round of questions counts
  silent: [],    // who did not answer the last one
  job: null,     // the number of the job that is open
  plain: null,   // the job of which the token may not hear why its tasks wait
  log: null,     // {task, offset, more, stream}: how far its output has been read
  log_closed: false,  // by hand
  calm: () => {},     // takes back a click that only asked whether to cancel
  sort: { by: null, falling: false },
  jobs: { after: null, next: null },   // where the page that is shown begins, and the one behind it
  tasks: { after: null, next: null },  // the same of the open job's tasks
};

// A token in the address' fragment never reaches a server; it leaves the address bar, too. A tab
// that has a token keeps it until its user says otherwise: whoever sends a link would else have
// what is done next done as the user of the sender's token.
function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1));
  const token = given.get("token");
  const before = sessionStorage.getItem(TOKEN_KEY) || "";
  if (!token) return before;
  const job = given.get("job");
  history.replaceState(null, "", location.pathname + (job ? "#/job/" + job : ""));
  offered = before && before !== token ? token : "";
  if (offered) return before;
  sessionStorage.setItem(TOKEN_KEY, token);
  return token;
}

// From now on everything is asked with this token.
function useToken(token) {
  sessionStorage.setItem(TOKEN_KEY, token);
  state.token = token;
  state.known = false;
  state.plain = null;
  closeOffer();
  pollNow();
}

function closeOffer() {
  offered = "";
  by_id("offer").hidden = true;
}

// Asks whether the link's token is to be used, and says whose it is.
async function showOffer() {
  if (!offered) return;
  const token = offered;
  let whose = "that the cluster does not know";
  let known = true;
  try {
    const me = await ask("/v1/me", "GET", token);
    whose = `'${me.token}'` + (me.user ? `, which acts for ${me.user}` : "");
  } catch (error) {
    known = !(error instanceof Refused && error.status === 401);
    if (known) whose = "of which the cluster does not tell whose it is";
  }
  if (token !== offered) return;
  setText(by_id("offer-text"), `A link wants this tab to use the token ${whose}. ` +
    (known ? "All that you do from then on is done as its user." : "The one in use stays."));
  by_id("offer-take").hidden = !known;
  by_id("offer").hidden = false;
}

class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function ask(path, method = "GET", token = state.token) {
  const answer = await fetch(path, {
    method,
    headers: { Authorization: "Bearer " + token },
    cache: "no-store",
    signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
  });
  const document = await answer.json();
  if (!answer.ok) throw new Refused(answer.status, document.error ? document.error.message : "");
  return document;
}

// Whose token this is. A cluster that does not tell leaves everything to the token.
async function askMe() {
  try {
    state.me = await ask("/v1/me");
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 404) throw error;
    state.me = { token: "", role: "admin", user: "" };
  }
  showMe();
}

// Asks for a change and says beside its button what came of it.
async function change(path, said, done) {
  setText(said, "…");
  try {
    const answer = await ask(path, "POST");
    const open = answer.unconfirmed ?? [];
    setText(said, open.length ? `Under way; not confirmed yet by ${open.join(", ")}.` : done);
  } catch (error) {
    const why = error instanceof Refused ? error.message : "the connection was lost";
    setText(said, `Not done: ${why}.`);
  }
  pollNow();
}

// ---- what is open ----

// The job whose number stands in the address, "#/job/12".
function jobInAddress() {
  const found = /^#\/job\/(\d{1,18})$/.exec(location.hash);
  return found ? Number(found[1]) : null;
}

// Makes what is open what the address says.
function followAddress() {
  const token = takeToken();
  if (token && token !== state.token) useToken(token);
  showOffer();
  const number = jobInAddress();
  if (number === state.job) return;
  closeLog();
  state.calm();
  state.job = number;
  state.log_closed = false;
  state.tasks = { after: null, next: null };
  by_id("job").hidden = number === null;
  if (number === null) return pollNow();
  for (const id of ["job-summary", "job-reason", "job-command", "job-said", "tasks-note"]) {
    setText(by_id(id), "");
  }
  for (const id of ["tasks-pages", "job-cancel", "job-hold", "job-release"]) {
    by_id(id).hidden = true;
  }
  setText(by_id("job-title"), `Job ${number}`);
  showRows(by_id("tasks"), [], (task) => task.task, taskRow);
  by_id("job-title").focus();
  pollNow();
}

function closeJob() {
  history.pushState(null, "", location.pathname);
  followAddress();
  by_id("job-state").focus();
}

function turnTo(page, after) {
  page.after = after;
  page.next = null;
  pollNow();
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

// The last piece of the output, and from then on what is added.
function openLog(task, whole = false) {
  state.log = { task, offset: whole ? 0 : null, more: false, stream: by_id("log-stream").value };
  setText(by_id("log-title"), `Output of task ${task}`);
  by_id("log-text").textContent = "";
  by_id("log-whole").hidden = true;
  by_id("log").hidden = false;
  pollNow();
}

function closeLog() {
  state.log = null;
  by_id("log").hidden = true;
}

// Where the last piece begins; only its size is asked for.
function showLogEnd({ size }) {
  const begin = Math.max(0, (size ?? 0) - LOG_PIECE);
  state.log.offset = begin;
  state.log.more = true;
  by_id("log-whole").hidden = begin === 0;
}

// ---- asking, again and again ----

function inSight(node) {
  const place = node.getBoundingClientRect();
  return place.bottom >= 0 && place.top <= innerHeight;
}

// Shows what the answer to `path` is. One that came too late changes nothing, nor does one that
// there is no such thing (any more), or that the token may not see it.
async function refresh(turn, path, show, gone = () => {}, closed = gone) {
  try {
    const document = await ask(path);
    if (turn === state.turn) show(document);
  } catch (error) {
    const after = error instanceof Refused ? { 403: closed, 404: gone }[error.status] : undefined;
    if (!after) throw error;
    if (turn === state.turn) await after(error.message);
  }
}

// Why its tasks wait is told of a job to whom it belongs; what it is, to everybody.
function refreshJob(turn) {
  const tasks = new URLSearchParams({ limit: MAX_TASKS });
  if (state.tasks.after !== null) tasks.set("after", state.tasks.after);
  const path = `/v1/jobs/${state.job}`;
  const gone = () => setText(by_id("job-title"), `There is no job ${state.job}`);
  const plain = () => refresh(turn, `${path}?${tasks}`, (job) => showJob({ ...job, job }), gone);
  if (state.plain === state.job) return plain();
  return refresh(turn, `${path}/explain?${tasks}`, showJob, gone, () => {
    state.plain = state.job;
    return plain();
  });
}

function questions(turn) {
  const limit = by_id("job-search").value.trim() ? MAX_SEARCHED : MAX_JOBS;
  const jobs = new URLSearchParams({ state: by_id("job-state").value, limit });
  const user = by_id("job-user").value.trim();
  if (user) jobs.set("user", user);
  if (state.jobs.after !== null) jobs.set("after", state.jobs.after);
  const asked = [refresh(turn, "/v1/jobs?" + jobs, showJobs)];
  if (inSight(by_id("decisions-section")) || !by_id("decisions").hasChildNodes()) {
    const path = "/v1/decisions?limit=" + MAX_DECISIONS;
    asked.push(refresh(turn, path, showDecisions));
  }
  if (inSight(by_id("instances-section")) || !by_id("instances").hasChildNodes()) {
    asked.push(refresh(turn, "/v1/instances", showInstances));
  }
  asked.push(refresh(turn, "/v1/services", showServices));
  if (state.job !== null) {
    asked.push(refreshJob(turn));
  }
  if (state.log !== null) {
    const { task, offset, stream } = state.log;
    const [show, piece] = offset === null ? [showLogEnd, "offset=0&max=1"]
      : [showLog, `offset=${offset}&max=${LOG_PIECE}`];
    const path = `/v1/jobs/${state.job}/tasks/${task}/log?stream=${stream}&${piece}`;
    asked.push(refresh(turn, path, show, () => {}, (why) => {
      setText(by_id("job-said"), `No output is shown: ${why}.`);
      state.log_closed = true;
      closeLog();
    }));
  }
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
    by_id("board").hidden = false;
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
  by_id("board").hidden = true;
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

function start() {
  by_id("sign-in").addEventListener("submit", (event) => {
    event.preventDefault();
    state.token = by_id("token").value.trim();
    sessionStorage.setItem(TOKEN_KEY, state.token);
    by_id("token").value = "";
    pollNow();
  });
  by_id("offer-take").addEventListener("click", () => useToken(offered));
  by_id("offer-leave").addEventListener("click", closeOffer);
  by_id("job-state").addEventListener("change", () => turnTo(state.jobs, null));
  for (const id of ["job-user", "job-search"]) {
    by_id(id).addEventListener("input", whenTyped(() => turnTo(state.jobs, null)));
  }
  for (const head of document.querySelectorAll("th[data-sort]")) {
    head.querySelector("button").addEventListener("click", () => sortBy(head.dataset.sort));
  }
  by_id("jobs-first").addEventListener("click", () => turnTo(state.jobs, null));
  by_id("jobs-older").addEventListener("click", () => turnTo(state.jobs, state.jobs.next));
  by_id("tasks-first").addEventListener("click", () => turnTo(state.tasks, null));
  by_id("tasks-more").addEventListener("click", () => turnTo(state.tasks, state.tasks.next));
  by_id("job-close").addEventListener("click", closeJob);
  by_id("log-stream").addEventListener("change", () => openLog(state.log.task));
  by_id("log-whole").addEventListener("click", () => openLog(state.log.task, true));
  by_id("log-close").addEventListener("click", () => {
    state.log_closed = true;
    closeLog();
    pollNow();  // an answer that is under way has nowhere to go
  });
  const act = (what, done) => () =>
    change(`/v1/jobs/${state.job}/${what}`, by_id("job-said"), done);
  state.calm = confirmed(by_id("job-cancel"), "Cancel", act("cancel", "It is cancelled."));
  by_id("job-hold").addEventListener("click", act("hold", "No more of its tasks are started."));
  by_id("job-release").addEventListener("click", act("release", "Its tasks may start again."));
  by_id("hours").addEventListener("change", () => {
    plots.asked_s = null;
    pollNow();
  });
  addEventListener("hashchange", followAddress);
  addEventListener("popstate", followAddress);
  document.addEventListener("visibilitychange", () => document.hidden || !state.token || pollNow());
  document.addEventListener("keydown", (event) =>
    event.key === "Escape" && state.job !== null && closeJob());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    restyleCharts();
  });
  followAddress();
  if (state.token) pollNow();
  else askForToken();
}

start();
