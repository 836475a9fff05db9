"use strict";
// A task of the open job: where it ran, and its output.

const LOG_PIECE = 65536;
const MAX_LOG_CHARS = 200000;
const NOT_OVER = new Set(["running", "starting", "assigned", "stopping"]);

const taskOpen = () => state.shown_tasks.get(state.log?.task);
const streamName = (stream) => (stream === "err" ? "stderr" : "stdout");

// ---- its attempts ----

function attemptRow(row, first) {
  const output = button(row.appendChild(cell("keep")), () =>
    openLog(state.log.task, { attempt: first.attempt, by_hand: true }));
  const where = row.appendChild(cell("text"));
  const rest = ["keep", "keep", "number", "number"].map((kind) => row.appendChild(cell(kind)));
  const why = row.appendChild(cell("text"));
  return (attempt) => {
    setText(output, "attempt " + attempt.attempt);
    const market = attempt.market ? `, ${attempt.market}` : "";
    setNodes(where, String(attempt.instance), () => (attempt.instance === null ? ["-"]
      : [linkTo("instance", attempt.instance, `instance ${attempt.instance}`),
        attempt.instance_type ? ` (${attempt.instance_type}${market})` : ""]));
    [moment(attempt.started_s ?? attempt.sent_s), moment(attempt.ended_s), ran(attempt.ran_s),
      usd(attempt.usd)].forEach((text, i) => setText(rest[i], text));
    setLinked(why, attempt.why);
    row.classList.toggle("chosen", state.log?.attempt === attempt.attempt);
  };
}

// Its attempts, where the cluster tells them, and how it stands.
function showTask() {
  const task = taskOpen();
  if (!task) return;
  const failed = task.phase === "failed" && task.last_failure ? task.last_failure.text : "";
  const place = placeNodes(task);
  const facts = [["Phase", task.phase], ["Where", wrapped(place)]];
  if (task.started_s) facts.push(["Started, UTC", moment(task.started_s)]);
  if (task.ended_s && !NOT_OVER.has(task.phase)) facts.push(["Ended, UTC", moment(task.ended_s)]);
  facts.push(["Ran", wallTime(task)], ["Cost", usd(task.usd)]);
  // Of attempts that have ended; a server of an earlier version does not say it.
  const used = [];
  if (task.cpu_s) used.push(`${task.cpu_s.toFixed(1)} s of processor time`);
  if (task.peak_mib) used.push(`at most ${Math.ceil(task.peak_mib)} MiB of memory`);
  if (used.length > 0) facts.push(["Used", used.join(", ")]);
  if (failed) facts.push(["Failure", failed]);
  showFacts(by_id("task-facts"), facts);
  const attempts = task.attempts ?? [];
  by_id("attempts-part").hidden = attempts.length === 0;
  showRows(by_id("attempts"), attempts, (attempt) => attempt.attempt, attemptRow);
  const out = task.attempts_left_out ?? 0;
  setText(by_id("attempts-note"), out > 0
    ? `${plural(out, "attempt")} between the first and these ${out === 1 ? "is" : "are"} not kept.`
    : "");
}

function wrapped(nodes) {
  const span = document.createElement("span");
  span.append(...nodes);
  return span;
}

// ---- its output ----

// A click on the task's number opens it, a second one closes it.
function chooseTask(task) {
  if (state.log?.task === task) return closeTask();
  openLog(task);
  by_id("log-title").focus();
  by_id("log").scrollIntoView({ block: "nearest" });
}

// The last piece of an output, and from then on what is added. `by_hand`: its stream was chosen,
// so it is not left for the other one.
function openLog(task, { whole = false, attempt = 0, stream = "out", by_hand = false } = {}) {
  state.log = { task, attempt, stream, by_hand: by_hand || whole, offset: whole ? 0 : null,
    more: false, sizes: {} };
  by_id("log-stream").value = stream;
  setText(by_id("log-title"), `Task ${task}`);
  setText(by_id("log-of"), attempt ? `Output of attempt ${attempt}` : "Output");
  by_id("log-text").textContent = "";
  by_id("log-text").hidden = true;
  for (const id of ["log-note", "log-lost"]) setText(by_id(id), "");
  by_id("log-whole").hidden = true;
  for (const id of ["log", "log-output"]) by_id(id).hidden = false;
  showTask();
  pollNow();
}

function closeLog() {
  state.log = null;
  by_id("log").hidden = true;
}

function closeTask() {
  state.log_closed = true;
  closeLog();
  by_id("job-title").focus();
  pollNow();  // an answer that is under way has nowhere to go
}

function logPath({ task, attempt, stream }) {
  const which = attempt ? `&attempt=${attempt}` : "";
  return `/v1/jobs/${state.job}/tasks/${task}/log?stream=${stream}${which}`;
}

// Where a task ran is told to more people than what it wrote.
function noOutput(why) {
  setLinked(by_id("job-said"), `No output is shown: ${why}.`);
  if (state.log) state.log.denied = true;
  by_id("log-output").hidden = true;
}

// What is asked of an output: first the sizes of both streams, then the last piece and what is
// added.
function askLog(turn) {
  const log = state.log;
  if (log.denied) return [];
  const path = logPath(log);
  if (log.offset !== null) {
    return [refresh(turn, `${path}&offset=${log.offset}&max=${LOG_PIECE}`, showLog, () => {},
      noOutput)];
  }
  const other = logPath({ ...log, stream: log.stream === "out" ? "err" : "out" });
  const nothing = (why) => setText(by_id("log-note"), `There is no output: ${why}.`);
  const noted = (which) => (piece) => {
    if (state.log !== log) return;
    log.sizes[which] = piece.size ?? 0;
    if ("own" in log.sizes && "other" in log.sizes) showLogEnd();
  };
  return [
    refresh(turn, `${path}&offset=0&max=1`, noted("own"), nothing, noOutput),
    refresh(turn, `${other}&offset=0&max=1`, noted("other"), () => {}, () => {})];
}

// Where the last piece begins. A task that failed and wrote to its standard error alone is shown
// that.
function showLogEnd() {
  const log = state.log;
  const { own, other } = log.sizes;
  if (own === 0 && other > 0 && !log.by_hand && taskOpen()?.phase === "failed") {
    openLog(log.task, { attempt: log.attempt, stream: "err", by_hand: true });
    setText(by_id("log-note"), "Nothing was written to stdout; this is stderr.");
    return;
  }
  log.offset = Math.max(0, own - LOG_PIECE);
  log.more = true;
  by_id("log-whole").hidden = log.offset === 0;
}

// Says in words when there is nothing to read here, or something to read on the other stream.
function showLogNote() {
  const { stream, sizes } = state.log;
  const [name, other] = [stream, stream === "err" ? "out" : "err"].map(streamName);
  const empty = by_id("log-text").textContent === "";
  by_id("log-text").hidden = empty;
  const there = sizes.other > 0 ? `${other} has ${plural(sizes.other, "byte")}` : "";
  if (!empty) {
    if (there && name === "stdout") setText(by_id("log-note"), there + ".");
    return;
  }
  const so_far = NOT_OVER.has(taskOpen()?.phase) ? " so far" : "";
  const also = there ? `; ${there}` : sizes.other === 0 ? ` or ${other}` : "";
  setText(by_id("log-note"), `Nothing was written to ${name}${also}${so_far}.`);
}

function showLog(piece) {
  // Of a task that runs more may come at any time; only what is there is hurried for.
  Object.assign(state.log, { more: piece.more && piece.text !== "",
    offset: piece.next_offset });
  setText(by_id("log-lost"), piece.lost ? `Output is lost: ${piece.lost_reason}.` : "");
  if (piece.text) {
    const node = by_id("log-text");
    node.hidden = false;
    const follows = node.scrollTop + node.clientHeight >= node.scrollHeight - 20;
    const text = node.textContent + piece.text;
    node.textContent = text.slice(-MAX_LOG_CHARS);
    if (follows) node.scrollTop = node.scrollHeight;
  }
  showLogNote();
}

async function downloadLog() {
  const log = state.log;
  const job = state.job;
  setText(by_id("log-note"), "The output is read …");
  try {
    const { pieces, cut } = await outputBytes(logPath(log));
    const attempt = log.attempt ? `-attempt-${log.attempt}` : "";
    saveAs(`job-${job}-task-${log.task}${attempt}-${streamName(log.stream)}.txt`, pieces);
    setText(by_id("log-note"), cut
      ? `The first 64 MiB were saved; muster logs ${job} --task ${log.task} has all.` : "Saved.");
  } catch (error) {
    const why = error instanceof Refused ? error.message : "the connection was lost";
    setText(by_id("log-note"), `Not saved: ${why}.`);
  }
}
