"use strict";
// The list of jobs, and a job with its tasks.

const JOBS_OVER = new Set(["completed", "failed", "refused", "cancelled", "replaced", "skipped",
  "expired"]);

// Which tasks a button shows: those of `phase`, before them on the first page those of `before`,
// and how many there are by the job's figures.
const PHASES = [
  { name: "all", count: (job) => job.tasks_total, before: "failed" },
  { name: "failed", phase: "failed", count: (job) => job.failed },
  { name: "running", phase: "running", count: (job) => job.running, before: "stopping" },
  { name: "starting", phase: "starting", count: (job) => job.starting },
  { name: "waiting", phase: "pending", count: (job) => job.waiting, before: "assigned" },
  { name: "capped", phase: "capped", count: (job) => job.capped },
  { name: "held", phase: "held", count: (job) => job.held },
  { name: "finished", phase: "finished", count: (job) => job.finished },
  { name: "not finished", phase: "not run", before: "stopped", count: (job) =>
    (JOBS_OVER.has(job.state) ? job.tasks_total - job.finished - job.failed : 0) },
];
const phaseChosen = () => PHASES.find((each) => each.name === state.phase) ?? PHASES[0];

// ---- the list ----

// How wide an elastic job is and may be, and how far it has come.
function widthText({ least, most, width, done, whole, unit }) {
  const wide = `${width ?? "no"} of ${least}-${most} workers`;
  if (width === null || done === 0) return wide;
  return `${wide}, ${done}${whole === null ? "" : " of " + whole} ${unit ?? ""}`.trim();
}

function jobRow(row, first) {
  const number = row.appendChild(cell("keep"));
  const name = row.appendChild(cell("text")).appendChild(linkTo("job", first.job, ""));
  const phase = row.appendChild(cell());
  const user = row.appendChild(cell("user"));
  const done = row.appendChild(cell());
  const bar = done.appendChild(document.createElement("progress"));
  const count = done.appendChild(document.createElement("span"));
  const rest = ["number", "number", "number", "keep", "keep"]
    .map((kind) => row.appendChild(cell(kind)));
  return (job) => {
    setText(number, job.job);
    setName(name, job.name || "(no name)");
    setText(phase, job.state);
    phase.className = "keep state-" + job.state.replaceAll(" ", "-");
    setName(user, job.user);
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

// The instance where the task is, or was last, as a link.
function placeNodes({ instance, instance_type: type, attempts, phase }) {
  const last = attempts?.at(-1);
  const id = instance ?? last?.instance ?? null;
  if (id === null) return ["-"];
  const of = (instance === null ? last.instance_type : type) ?? "";
  const there = ["running", "starting", "assigned", "stopping"].includes(phase);
  return [there ? "" : "was on ", linkTo("instance", id, `instance ${id}`), of ? ` (${of})` : ""];
}

// How long it ran by the clock. Of an attempt whose work was lost the cluster may count nothing.
function wallTime(task) {
  if (task.wall_s !== undefined && task.wall_s !== null) return ran(task.wall_s);
  const known = task.attempt <= 1 && (task.started_s ?? null) !== null
    && (task.ended_s ?? null) !== null;
  return ran(known ? task.ended_s - task.started_s : task.ran_s);
}

function whyText(task) {
  const why = task.why ?? task.last_failure?.text ?? "";
  const known = !task.exit_code || why.includes(`exit code ${task.exit_code}`);
  const exit = known ? "" : ` (exit code ${task.exit_code})`;
  const metrics = Object.entries(task.metrics ?? {}).map(([name, value]) => `${name} ${value}`);
  return why + exit + (metrics.length ? `; reports ${metrics.join(", ")}` : "");
}

function taskRow(row, first) {
  const number = button(row.appendChild(cell("keep")), () => chooseTask(first.task));
  const phase = row.appendChild(cell());
  const where = row.appendChild(cell("text"));
  const rest = ["number", "number", "number", "number"].map((kind) =>
    row.appendChild(cell(kind)));
  const why = row.appendChild(cell("text"));
  return (task) => {
    setText(number, "task " + task.task);
    setText(phase, task.phase);
    phase.className = "keep state-" + task.phase.replaceAll(" ", "-");
    const place = placeNodes(task);
    setNodes(where, place.map((node) => node.textContent ?? node).join(""), () => place);
    [task.attempt, wallTime(task), task.attempt > 0 ? task.moves : "-", usd(task.usd)]
      .forEach((text, i) => setText(rest[i], text));
    setLinked(why, whyText(task));
    const chosen = state.log !== null && task.task === state.log.task;
    row.classList.toggle("chosen", chosen);
    number.setAttribute("aria-expanded", String(chosen));
  };
}

function jobSummary(job) {
  const parts = [`of ${job.user}`, `submitted ${moment(job.submitted_s)} UTC`];
  if (job.over_s !== null) parts.push(`over ${moment(job.over_s)} UTC`);
  if (job.master) parts.push(`with ${job.master}`);
  if (JOBS_OVER.has(job.state) && job.exit_code) parts.push(`exit code ${job.exit_code}`);
  parts.push(`${job.finished} of ${plural(job.tasks_total, "task")} finished`);
  return parts.join(", ");
}

// A button for each phase in which tasks are; it shows these alone.
function showPhases(job) {
  const buttons = by_id("job-phases");
  for (const each of PHASES) {
    let node = buttons.querySelector(`[data-phase="${each.name}"]`);
    if (!node) {
      node = buttons.appendChild(document.createElement("button"));
      node.type = "button";
      node.dataset.phase = each.name;
      node.addEventListener("click", () => choosePhase(each.name));
    }
    const count = each.count(job);
    node.hidden = count === 0 && state.phase !== each.name;
    setText(node, `${each.name} ${count}`);
    node.setAttribute("aria-pressed", String(state.phase === each.name));
  }
}

// Those that failed come first; the others by their index.
function failedFirst(tasks) {
  const failed = (task) => (task.phase === "failed" ? 0 : 1);
  return [...tasks].sort((a, b) => failed(a) - failed(b) || a.task - b.task);
}

function showChanges(job) {
  const mine = mayChange(job);
  const over = JOBS_OVER.has(job.state);
  const undone = over && job.finished < job.tasks_total;
  by_id("job-cancel").hidden = !mine || over || job.state === "stopping";
  by_id("job-hold").hidden = !mine || over
    || ["held", "stopping", "handing over"].includes(job.state);
  by_id("job-release").hidden = !mine || over || job.held === 0;
  by_id("job-again").hidden = !mine || !over;
  by_id("job-again-failed").hidden = !mine || !(job.failed > 0 || undone);
}

// The task whose output most want to see: the only one, or the first that failed.
function taskToOpen(job, tasks) {
  if (job.tasks_total === 1 && tasks[0]?.attempt > 0) return tasks[0];
  return tasks.find((task) => task.phase === "failed" && task.attempt > 0);
}

// `ahead`: tasks that are shown before the page's own.
function showJob(explained, ahead = []) {
  const { job, next, tasks_behind: behind, silent } = explained;
  const before = new Set(ahead.map((task) => task.task));
  const own = explained.tasks.filter((task) => !before.has(task.task));
  const tasks = ahead.concat(state.phase === "all" ? failedFirst(own) : own);
  const least = silent?.length ? "at least " : "";
  state.shown_job = job;
  state.shown_tasks = new Map(tasks.map((task) => [task.task, task]));
  setNodes(by_id("job-title"), `${job.job} ${job.state} ${job.name}`, () =>
    [`Job ${job.job}: `, named(job.name || "(no name)"), `, ${job.state}`]);
  setName(by_id("job-summary"), `${jobSummary(job)}, ${least}${usd(job.usd)}`);
  setLinked(by_id("job-reason"), job.reason ?? "");
  setText(by_id("job-command"), shellLine(job.command));
  showPhases(job);
  showRows(by_id("tasks"), tasks, (task) => task.task, taskRow);
  setText(by_id("tasks-note"), [
    tasks.length ? "" : "No task is in this phase.",
    behind ? `${behind} more of ${job.tasks_total} tasks follow.` : "",
    lacks(silent, "tasks")].filter(Boolean).join(" "));
  showPages("tasks", "more", state.tasks, next);
  showChanges(job);
  loadPipeline();
  const first = taskToOpen(job, tasks);
  if (state.log === null && !state.log_closed && first && mayChange(job)) openLog(first.task);
  else showTask();
}
