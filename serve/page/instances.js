"use strict";
// The list of instances, an instance with its life, and the decisions of the masters.

const MAX_INSTANCES = 200;

// ---- the list ----

const pairsOf = (labels) => Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`);
const isLost = (one) => one.phase === "ready" && !one.connected;
const phaseOf = (one) => one.phase + (one.released ? ", released" : "") + (isLost(one) ? ", lost"
  : "");
const usedOf = (one, kind) =>
  `${rounded(one.used[kind] ?? 0)}/${rounded(one.capacity[kind] ?? 0)}`;

function drainButton(node, number, said) {
  node.type = "button";
  return confirmed(node, "Drain", () => change(`/v1/instances/${number()}/drain`, by_id(said),
    () => `Instance ${number()} takes no more tasks and is given back.`));
}

function instanceRow(row, first) {
  const link = row.appendChild(cell("keep")).appendChild(linkTo("instance", first.instance,
    first.instance));
  link.setAttribute("aria-label", `instance ${first.instance}`);
  const kinds = ["text", "keep", "keep", "keep", "number", "number", "number", "number"];
  const cells = kinds.map((kind) => row.appendChild(cell(kind)));
  const labels = row.appendChild(cell("text"));
  const tasks = row.appendChild(cell("text"));
  const drain = row.appendChild(cell("keep")).appendChild(document.createElement("button"));
  drainButton(drain, () => first.instance, "instances-said");
  return (one) => {
    setName(cells[0], one.type);
    [one.market, phaseOf(one), one.master, one.usd_h.toFixed(4), usedOf(one, "cpu"),
      usedOf(one, "memory"), usedOf(one, "gpu")].forEach((text, i) => setText(cells[i + 1], text));
    cells[2].className = isLost(one) ? "keep state-lost" : "keep";
    setName(labels, pairsOf(one.labels).join(" "));
    setNodes(tasks, JSON.stringify(one.tasks), () => one.tasks.flatMap(({ job, task }) =>
      [linkTo("job", job, `${job}.${task}`), " "]));
    drain.hidden = !mayDrain() || one.released;
    row.classList.toggle("chosen", one.instance === state.instance);
  };
}

function showInstances({ instances, silent }) {
  state.used = new Map(instances.map((one) => [one.instance, one]));
  if (state.machines) showMachines(state.machines);
  showRows(by_id("instances"), instances.slice(0, MAX_INSTANCES), (one) => one.instance,
    instanceRow);
  const more = instances.length - MAX_INSTANCES;
  setText(by_id("instances-note"), [
    instances.length ? "" : "No instance is rented at present.",
    more > 0 ? `${more} more are not shown; muster instances lists all.` : "",
    lacks(silent, "instances")].filter(Boolean).join(" "));
  if (state.instance === null) return;
  state.rented = instances.find((one) => one.instance === state.instance) ?? null;
  showInstance();
}

// ---- an instance ----

function visitRow(row, first) {
  const task = row.appendChild(cell("keep"));
  task.append(linkTo("job", first.job, `job ${first.job}, task ${first.task}`));
  const rest = ["number", "keep", "keep", "keep"].map((kind) => row.appendChild(cell(kind)));
  return (visit) => [visit.attempt ?? "-", moment(visit.sent_s), moment(visit.ended_s),
    visit.ended_s ? visit.end : "is there"].forEach((text, i) => setText(rest[i], text));
}

// Its tasks, the newest first: those that the master's record of its life names, else those that
// are on it now.
function visitsOf(rented, life) {
  if (life) return [...life.tasks].reverse();
  return rented ? rented.tasks : [];
}

function timesOf(rented, life) {
  if (!life) {
    return [["Asked for, UTC", moment(rented.requested_s)], ["Up since, UTC", moment(rented.up_s)]];
  }
  const times = [["Asked for, UTC", life.requested_s], ["Up, UTC", life.up_s],
    ["Ready, UTC", life.ready_s], ["Given up, UTC", life.released_s], ["Ended, UTC", life.ended_s]];
  return times.filter(([, at]) => at !== null).map(([name, at]) => [name, moment(at)]);
}

function instanceFacts(rented, life) {
  const one = { ...life, ...rented };
  const facts = [["Type", one.type ?? "not known any more"], ["Market", one.market],
    ["Price", `${usd(one.usd_h)}/h`], ["Master", one.master], ...timesOf(rented, life)];
  if (life) facts.push(["Bill so far", usd(life.usd)]);
  if (life?.why_rented) facts.push(["Why it was rented", life.why_rented]);
  if (life?.why_ended) facts.push(["Why it ends", life.why_ended]);
  if (rented) {
    facts.push(["CPUs used", usedOf(rented, "cpu")], ["GiB used", usedOf(rented, "memory")],
      ["GPUs used", usedOf(rented, "gpu")]);
    if (pairsOf(rented.labels).length) facts.push(["Labels", pairsOf(rented.labels).join(" ")]);
    if (rented.isolation) facts.push(["Isolation of tasks", rented.isolation]);
  }
  return facts;
}

function showInstance() {
  const { rented, life } = state;
  const number = state.instance;
  if (rented === undefined || life === undefined) return;  // an answer is still to come
  const phase = rented ? phaseOf(rented) : life?.stage;
  setText(by_id("instance-title"), phase ? `Instance ${number}: ${phase}`
    : `There is no instance ${number}, or it is gone`);
  by_id("instance-body").hidden = !phase;
  by_id("instance-drain").hidden = !rented || !mayDrain() || rented.released;
  if (!phase) return;
  showFacts(by_id("instance-facts"), instanceFacts(rented, life));
  const visits = visitsOf(rented, life);
  showRows(by_id("visits"), visits, (visit) => `${visit.job} ${visit.task} ${visit.attempt}`,
    visitRow);
  const before = life?.tasks_before ?? 0;
  setText(by_id("visits-note"), [
    visits.length ? "" : "No task is on it.",
    before > 0 ? `${plural(before, "attempt")} were there before these.` : "",
    !life && rented?.more_tasks > 0 ? `${rented.more_tasks} more tasks are on it.` : ""]
    .filter(Boolean).join(" "));
}

// The life of the open instance. A cluster that keeps none is shown without.
async function askLife(turn) {
  let life = null;
  try {
    life = await ask(`/v1/instances/${state.instance}`);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (![404, 405, 503].includes(error.status)) throw error;
  }
  if (turn !== state.turn) return;
  state.life = life;
  showInstance();
}

// ---- decisions ----

function decisionRow(row) {
  const cells = ["keep", "keep", "number", "text"].map((kind) => row.appendChild(cell(kind)));
  return (entry) => {
    [moment(entry.at_s), entry.master, entry.round].forEach((text, i) => setText(cells[i], text));
    setNodes(cells[3], `${entry.sentence}\n${entry.details ?? ""}`, () => {
      const nodes = linked(entry.sentence);
      if (!entry.details) return nodes;
      const more = document.createElement("details");
      const head = more.appendChild(document.createElement("summary"));
      setText(head, "Figures of the policy");
      more.append(readable(entry.details));
      return [...nodes, more];
    });
  };
}

// Whether a decision is about the job or instance; its changes say so, or else its sentence.
function isAbout(entry, kind, number) {
  if (number === "") return true;
  const wanted = Number(number);
  if (entry.changes?.length) {
    return entry.changes.some((change) => (kind === "job" ? change.job === wanted
      : change.instance === wanted || change.from === wanted));
  }
  return new RegExp(`\\b${kind} ${wanted}\\b`).test(entry.sentence);
}

const decisionFilter = () => ({ job: by_id("decision-job").value.trim(),
  instance: by_id("decision-instance").value.trim(),
  text: by_id("decision-text").value.trim().toLowerCase() });
const hasDecisionFilter = () => Object.values(decisionFilter()).some((value) => value !== "");

function showDecisions({ decisions, silent }) {
  const { job, instance, text } = decisionFilter();
  const wanted = decisions.filter((entry) => isAbout(entry, "job", job)
    && isAbout(entry, "instance", instance) && entry.sentence.toLowerCase().includes(text));
  const shown = wanted.slice(0, MAX_DECISIONS);
  showRows(by_id("decisions"), shown, (entry) => `${entry.master} ${entry.round} ${entry.at_s}`,
    decisionRow);
  const more = wanted.length - shown.length;
  setText(by_id("decisions-note"), [
    decisions.length ? "" : "No decision has been made yet.",
    decisions.length && !wanted.length
      ? `No decision among the last ${decisions.length} is like that.` : "",
    more > 0 ? `${more} earlier ones are not shown.` : "",
    lacks(silent, "decisions")].filter(Boolean).join(" "));
}

// Shows the decisions about a job or an instance alone.
function showDecisionsOf(kind, number) {
  for (const each of ["job", "instance", "text"]) by_id("decision-" + each).value = "";
  by_id("decision-" + kind).value = number;
  goTo("decisions-section");
  pollNow();
}
