"use strict";
// The parts of the page: each function shows one answer of the API. Whatever comes from the cluster
// is put in as text, never as markup.

const JOBS_OVER = new Set(["completed", "failed", "refused", "cancelled", "replaced"]);
const MAX_INSTANCES = 200;
const MAX_ENDPOINTS = 8;

// ---- who may do what ----

const mayChange = (job) => state.me.role === "admin"
  || (state.me.role === "user" && job.user === state.me.user);
const mayDrain = () => state.me.role === "admin";

function showMe() {
  const { token, role, user } = state.me;
  const may = { admin: "may change everything", user: `may change the jobs of ${user}`,
    read_only: "may only look" }[role] ?? role;
  const as = user && role !== "user" ? `, as ${user}` : "";
  setText(by_id("me"), token ? `${token} ${may}${as}` : "");
  for (const drain of document.querySelectorAll("#instances button")) drain.hidden = !mayDrain();
}

// ---- the cluster ----

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
  state.silent = silent;
  showTrouble(silent.map(silence).concat(status.trouble));
  const { waiting, running, held, over, handing_over: coming } = status.jobs;
  by_id("empty").hidden = silent.length > 0 || waiting + running + held + over + (coming ?? 0) > 0;
  showShares(status.instances, count);
  showNodes(status.nodes, status.caps);
  addSample(status);
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

function showShares(entries, count) {
  showRows(by_id("shares"), entries, (entry) => entry.type + " " + entry.market, (row) => {
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
  setText(by_id("shares-note"), entries.length ? "" : "None is rented at present.");
}

function instanceRow(row, first) {
  const kinds = ["keep", "text", "keep", "keep", "wide keep", "number", "wide number",
    "wide number", "wide number"];
  const cells = kinds.map((kind) => row.appendChild(cell(kind)));
  const labels = row.appendChild(cell("wide text"));
  const tasks = row.appendChild(cell("text"));
  const end = row.appendChild(cell("keep"));
  const drain = end.appendChild(document.createElement("button"));
  drain.type = "button";
  confirmed(drain, "Drain", () =>
    change(`/v1/instances/${first.instance}/drain`, by_id("instances-said"),
      `Instance ${first.instance} takes no more tasks and is given back.`));
  const of = (one, kind) => `${rounded(one.used[kind] ?? 0)}/${rounded(one.capacity[kind] ?? 0)}`;
  return (one) => {
    const lost = one.phase === "ready" && !one.connected ? ", lost" : "";
    [one.instance, one.type, one.market, one.phase + (one.released ? ", released" : "") + lost,
      one.master, one.usd_h.toFixed(4), of(one, "cpu"), of(one, "memory"), of(one, "gpu")]
      .forEach((text, i) => setText(cells[i], text));
    cells[3].className = lost ? "keep state-lost" : "keep";
    const pairs = Object.entries(one.labels ?? {}).map(([key, value]) => `${key}=${value}`);
    setText(labels, pairs.join(" "));
    const names = one.tasks.map(({ job, task }) => `${job}.${task}`).join(" ");
    if (tasks.shown !== names) {
      tasks.shown = names;
      tasks.replaceChildren();
      for (const { job, task } of one.tasks) {
        setText(jobLink(tasks, job), `${job}.${task}`);
        tasks.append(" ");
      }
    }
    drain.hidden = !mayDrain() || one.released;
  };
}

function showInstances({ instances, silent }) {
  showRows(by_id("instances"), instances.slice(0, MAX_INSTANCES), (one) => one.instance,
    instanceRow);
  const more = instances.length - MAX_INSTANCES;
  setText(by_id("instances-note"), [
    instances.length ? "" : "None is rented at present.",
    more > 0 ? `${more} more are not shown; muster instances lists all.` : "",
    lacks(silent, "instances")].filter(Boolean).join(" "));
}

function nodeRow(row) {
  const name = row.appendChild(cell("keep"));
  const link = row.appendChild(cell());
  const kinds = ["text", "number", "number", "number", "keep"];
  const rest = kinds.map((kind) => row.appendChild(cell(kind)));
  return (node) => {
    const load = node.load || {};
    const roles = node.roles.join(", ");
    const mute = state.silent.some(({ master, site }) =>
      node.roles.includes("master " + master) || node.roles.includes("site " + site));
    setText(name, node.node);
    setText(link, node.connected ? (mute ? "does not answer" : "connected") : "lost");
    link.className = node.connected && !mute ? "keep" : "keep state-lost";
    [roles, load.jobs ?? "", load.pending_tasks ?? "", load.instances ?? "", load.policy ?? ""]
      .forEach((text, i) => setText(rest[i], text));
  };
}

function showNodes(nodes, caps) {
  showRows(by_id("nodes"), nodes, (node) => node.node, nodeRow);
  setText(by_id("caps"), caps.map((cap) => {
    const limits = [];
    if (cap.max_instances !== null) limits.push(plural(cap.max_instances, "instance"));
    if (cap.max_usd_h !== null) limits.push(`${usd(cap.max_usd_h)}/h`);
    if (cap.max_usd_day !== null) limits.push(`${usd(cap.max_usd_day)} a day`);
    return limits.length ? `${cap.master} has at most ${limits.join(", ")}.` : "";
  }).filter(Boolean).join(" "));
}

// Of a service with many replicas the first endpoints, and how many more there are.
function endpointsText({ replicas }) {
  const places = replicas.filter((replica) => replica.ready).flatMap((replica) =>
    replica.ports.map((port) => `${port.name} ${replica.address}:${port.number}`));
  const more = places.length - MAX_ENDPOINTS;
  return places.slice(0, MAX_ENDPOINTS).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

function showServices({ services }) {
  by_id("services-section").hidden = services.length === 0;
  showRows(by_id("services"), services, (service) => service.job, textRow([
    ["text", (service) => service.name],
    ["keep", (service) => service.user],
    ["number", (service) => service.job],
    ["number", (service) => service.revision],
    ["keep", (service) => service.standing],
    ["number", (service) => service.ready],
    ["number", (service) => service.wanted],
    ["text", endpointsText],
    ["text", (service) => service.replicas.find((replica) => replica.trouble)?.trouble ?? ""],
  ]));
}

function showDecisions({ decisions, silent }) {
  const key = (entry) => `${entry.master} ${entry.round} ${entry.at_s}`;
  showRows(by_id("decisions"), decisions, key, textRow([
    ["keep", (entry) => moment(entry.at_s)],
    ["keep", (entry) => entry.master],
    ["number", (entry) => entry.round],
    ["text", (entry) => entry.sentence],
  ]));
  setText(by_id("decisions-note"), [
    decisions.length ? "" : "None has been made yet.",
    lacks(silent, "decisions")].filter(Boolean).join(" "));
}

// ---- jobs ----

// How wide an elastic job is and may be, and how far it has come.
function widthText({ least, most, width, done, whole, unit }) {
  const wide = `${width ?? "no"} of ${least}-${most} workers`;
  if (width === null || done === 0) return wide;
  return `${wide}, ${done}${whole === null ? "" : " of " + whole} ${unit ?? ""}`.trim();
}

function jobRow(row, first) {
  const number = row.appendChild(cell("keep"));
  const name = jobLink(row.appendChild(cell("text")), first.job);
  const phase = row.appendChild(cell());
  const user = row.appendChild(cell("wide keep"));
  const done = row.appendChild(cell("keep"));
  const bar = done.appendChild(document.createElement("progress"));
  const count = done.appendChild(document.createElement("span"));
  const rest = ["wide number", "wide number", "number", "wide keep", "wide keep"]
    .map((kind) => row.appendChild(cell(kind)));
  return (job) => {
    setText(number, job.job);
    setText(name, job.name || "(no name)");
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
    [job.running, job.failed_attempts, usd(job.usd), job.master ?? "-", moment(job.submitted_s)]
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

const SORT_KEYS = {
  job: (job) => job.job, name: (job) => job.name, state: (job) => job.state,
  user: (job) => job.user, done: (job) => job.finished / Math.max(job.tasks_total, 1),
  running: (job) => job.running, failed: (job) => job.failed_attempts, cost: (job) => job.usd,
  master: (job) => job.master ?? "", submitted: (job) => job.submitted_s ?? Infinity };

// The jobs of the page in the order that was chosen; without one in that of the answer.
function sorted(jobs) {
  const { by, falling } = state.sort;
  if (!by) return jobs;
  const key = SORT_KEYS[by];
  const order = (a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : b.job - a.job);
  return [...jobs].sort((a, b) => (falling ? order(b, a) : order(a, b)));
}

// Whether every word that is searched for is in something that the job is known by.
function isWanted(job, words) {
  const text = [job.job, job.name, job.user, job.state, job.class, job.master ?? "",
    job.command.join(" ")].join("\n").toLowerCase();
  return words.every((word) => text.includes(word));
}

function showJobs({ jobs, next, silent }) {
  const words = by_id("job-search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = sorted(words.length ? jobs.filter((job) => isWanted(job, words)) : jobs);
  showRows(by_id("jobs"), wanted.slice(0, MAX_JOBS), (job) => job.job, jobRow);
  const notes = [lacks(silent, "jobs")];
  if (words.length) {
    const found = `${wanted.length} of ${plural(jobs.length, "job")} searched`;
    notes.unshift(found + (next ? "; Older searches those before them." : "."));
  } else if (jobs.length === 0 && !next) {
    const elsewhere = by_id("job-state").value === "active"
      ? "No job is active; choose the state \"over\" or \"all\" to see others." : "No such jobs.";
    notes.unshift(state.jobs.after === null ? elsewhere : "No more jobs.");
  }
  if (wanted.length > MAX_JOBS) notes.push(`The first ${MAX_JOBS} are shown.`);
  setText(by_id("jobs-note"), notes.filter(Boolean).join(" "));
  showPages("jobs", "older", state.jobs, next);
}

// ---- a job ----

function taskRow(row, first) {
  const number = button(row.appendChild(cell("keep")), () => openLog(first.task));
  const phase = row.appendChild(cell());
  const rest = ["keep", "wide number", "wide number", "wide number", "number", "text"]
    .map((kind) => row.appendChild(cell(kind)));
  return (task) => {
    setText(number, "task " + task.task);
    setText(phase, task.phase);
    phase.className = "keep state-" + task.phase.replaceAll(" ", "-");
    const where = task.instance === null ? "-"
      : `instance ${task.instance}${task.instance_type ? ` (${task.instance_type})` : ""}`;
    const exit = task.exit_code ? ` (exit code ${task.exit_code})` : "";
    const metrics = Object.entries(task.metrics ?? {}).map(([name, value]) => `${name} ${value}`);
    const reports = metrics.length ? `; reports ${metrics.join(", ")}` : "";
    [where, task.attempt, ran(task.ran_s), task.attempt > 0 ? task.moves : "-", usd(task.usd),
      (task.why ?? "") + exit + reports].forEach((text, i) => setText(rest[i], text));
    row.classList.toggle("chosen", state.log !== null && task.task === state.log.task);
  };
}

function jobSummary(job) {
  const parts = [`of ${job.user}`, `submitted ${moment(job.submitted_s)} UTC`];
  if (job.over_s !== null) parts.push(`over ${moment(job.over_s)} UTC`);
  if (job.master) parts.push(`with ${job.master}`);
  if (JOBS_OVER.has(job.state) && job.exit_code) parts.push(`exit code ${job.exit_code}`);
  parts.push(`${job.finished} of ${plural(job.tasks_total, "task")} finished`,
    `${job.running} running`, `${job.waiting} waiting`, `${job.failed} failed`);
  return parts.join(", ");
}

function showJob(explained) {
  const { job, tasks, next, tasks_behind: behind, silent } = explained;
  const least = silent?.length ? "at least " : "";
  setText(by_id("job-title"), `Job ${job.job}: ${job.name}, ${job.state}`);
  setText(by_id("job-summary"), `${jobSummary(job)}, ${least}${usd(job.usd)}`);
  setText(by_id("job-reason"), job.reason ?? "");
  setText(by_id("job-command"), shellLine(job.command));
  showRows(by_id("tasks"), tasks, (task) => task.task, taskRow);
  setText(by_id("tasks-note"), [
    behind ? `${behind} more of ${job.tasks_total} tasks follow.` : "",
    lacks(silent, "tasks")].filter(Boolean).join(" "));
  showPages("tasks", "more", state.tasks, next);
  const open = !JOBS_OVER.has(job.state) && mayChange(job);
  by_id("job-cancel").hidden = !open || job.state === "stopping";
  by_id("job-hold").hidden = !open || ["held", "stopping", "handing over"].includes(job.state);
  by_id("job-release").hidden = !open || job.held === 0;
  // The first task's output is what most want to see of a job of one task.
  if (state.log === null && job.tasks_total === 1 && tasks[0]?.attempt > 0 && !state.log_closed
    && mayChange(job)) {
    openLog(tasks[0].task);
  }
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
