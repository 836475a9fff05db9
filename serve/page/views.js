"use strict";
// The cluster as a whole: each function shows one answer of the API. Whatever comes from the
// cluster is put in as text, never as markup.

const MAX_ENDPOINTS = 8;
const MAX_USERS = 100;
const MAX_MACHINES = 200;

// ---- who may do what ----

const mayChange = (job) => state.me.role === "admin"
  || (state.me.role === "user" && job.user === state.me.user);
const mayDrain = () => state.me.role === "admin";

function showMe() {
  const { token, role, user, join_port } = state.me;
  const may = { admin: "may change everything", user: `may change the jobs of ${user}`,
    read_only: "may only look" }[role] ?? role;
  const as = user && role !== "user" ? `, as ${user}` : "";
  setName(by_id("me"), token ? `${token} ${may}${as}` : "");
  for (const drain of document.querySelectorAll("#instances button")) drain.hidden = !mayDrain();
  for (const id of ["machines-section", "machines-link"]) by_id(id).hidden = !join_port;
  state.asked_ms.machines = undefined;  // their buttons, too
}

// ---- status ----

function showStatus(status) {
  const count = status.instances.reduce((sum, entry) => sum + entry.count, 0);
  const silent = status.silent ?? [];
  const least = silent.length ? "at least " : "";  // totals lack the parts of those
  const totals = { "jobs-waiting": status.jobs.waiting, "jobs-running": status.jobs.running,
    "tasks-pending": status.tasks.pending, "tasks-running": status.tasks.running,
    "instance-count": count, "usd-h": usd(status.usd_h) + "/h",
    "today-usd": usd(status.today_usd), "total-usd": usd(status.total_usd) };
  for (const [id, total] of Object.entries(totals)) setText(by_id(id), least + total);
  document.title = `Muster: ${least}${status.tasks.running} running, `
    + `${status.tasks.pending} waiting, ${usd(status.usd_h)}/h`;
  state.silent = silent;
  showTrouble(silent.map(silence).concat(status.trouble));
  const { waiting, running, held, over, handing_over: coming } = status.jobs;
  by_id("empty").hidden = silent.length > 0 || waiting + running + held + over + (coming ?? 0) > 0;
  showRoom(status, count, least);
  showShares(status.instances, count);
  showNodes(status.nodes);
  addSample(status);
}

function showTrouble(sentences) {
  const list = by_id("trouble");
  list.hidden = sentences.length === 0;
  setNodes(list, sentences.join("\n"), () => sentences.map((sentence) => {
    const node = document.createElement("li");
    node.textContent = sentence;
    return node;
  }));
}

// ---- room ----

// The caps of all masters together; null: one of them has none.
function capOf(caps, key) {
  if (caps.length === 0 || caps.some((cap) => cap[key] === null)) return null;
  return caps.reduce((sum, cap) => sum + cap[key], 0);
}

// How much of a cap is used, as a bar and in words.
function showGauge(id, { used, cap, least, text }) {
  const bar = by_id(id);
  bar.hidden = cap === null;
  if (cap !== null) {
    bar.max = Math.max(cap, 1e-9);
    bar.high = bar.max * 0.999;
    bar.value = Math.min(used, cap);
  }
  const full = cap !== null && used >= cap * 0.999 ? ": full" : "";
  setText(by_id(id + "-text"), cap === null ? `${least}${text(used)}, no cap`
    : `${least}${text(used)} of ${text(cap)}${full}`);
}

function showRoom(status, count, least) {
  const { caps, usd_h, today_usd } = status;
  showGauge("room-instances", { used: count, cap: capOf(caps, "max_instances"), least,
    text: String });
  showGauge("room-usd-h", { used: usd_h, cap: capOf(caps, "max_usd_h"), least,
    text: (amount) => `${cents(amount)}/h` });
  showGauge("room-usd-day", { used: today_usd, cap: capOf(caps, "max_usd_day"), least,
    text: cents });
  setText(by_id("caps"), caps.map((cap) => {
    const limits = [];
    if (cap.max_instances !== null) limits.push(plural(cap.max_instances, "instance"));
    if (cap.max_usd_h !== null) limits.push(`${cents(cap.max_usd_h)}/h`);
    if (cap.max_usd_day !== null) limits.push(`${cents(cap.max_usd_day)} a day`);
    return limits.length ? `${cap.master} has at most ${limits.join(", ")}.` : "";
  }).filter(Boolean).join(" "));
  setText(by_id("room-masters"), caps.length < 2 ? "" : roomOfMasters(status));
}

// With several masters each has caps of its own: one may be full while others have room.
function roomOfMasters({ caps, nodes }) {
  return caps.map((cap) => {
    const load = nodes.find((node) => node.roles.includes("master " + cap.master))?.load;
    if (!load || cap.max_instances === null) return "";
    return `${cap.master} uses ${load.instances} of ${plural(cap.max_instances, "instance")}.`;
  }).filter(Boolean).join(" ");
}

// ---- costs of users ----

function userRow(row) {
  const name = row.appendChild(cell("text"));
  const act = button(name, () => {
    by_id("job-user").value = act.user;
    by_id("job-user").dispatchEvent(new Event("input"));
    goTo("jobs-section");
  });
  const today = row.appendChild(cell("number today"));
  const all = row.appendChild(cell("number"));
  const bar = row.appendChild(cell()).appendChild(document.createElement("progress"));
  bar.className = "share";
  return (part) => {
    act.user = part.name;
    setName(act, part.name);
    setText(today, usd(part.today));
    setText(all, usd(part.usd));
    bar.max = Math.max(part.of, 1e-9);
    bar.value = Math.max(0, part.usd);
    bar.setAttribute("aria-label", `${Math.round(100 * bar.value / bar.max)}% of all`);
  };
}

// Since when a day's costs are counted, where that is not its beginning.
function sinceText(since_s) {
  return since_s % 86400 === 0 ? "Today is the day by UTC."
    : `Today is counted since ${moment(since_s)} UTC.`;
}

// `today`: what they have cost on this day, where the cluster tells it.
function showUsers({ by, tasks_usd: of, idle_usd: idle, silent }, today) {
  const of_day = new Map((today?.by ?? []).map((part) => [part.name, part.usd]));
  const parts = by.slice(0, MAX_USERS).map((part) => ({ ...part, of,
    today: of_day.get(part.name) ?? 0 }));
  showRows(by_id("users"), parts, (part) => part.name, userRow);
  by_id("users-table").classList.toggle("no-today", today === null);
  const empty = Object.values(idle ?? {}).reduce((sum, part) => sum + part, 0);
  const more = by.length - parts.length;
  setText(by_id("users-note"), [
    by.length ? "" : "No task has cost anything yet.",
    more > 0 ? `${more} more are not shown; muster cost --by user lists all.` : "",
    today ? sinceText(today.since_s) : "",
    empty > 0 ? `Instances without tasks have cost ${usd(empty)} besides.` : "",
    lacks(silent, "costs")].filter(Boolean).join(" "));
}

// ---- instances by type, nodes, services ----

function showShares(entries, count) {
  showRows(by_id("shares"), entries, (entry) => entry.type + " " + entry.market, (row) => {
    const type = row.appendChild(cell("text"));
    const market = row.appendChild(cell("keep"));
    const number = row.appendChild(cell("number"));
    const share = row.appendChild(cell()).appendChild(document.createElement("progress"));
    share.className = "share";
    return (entry) => {
      setName(type, entry.type);
      setText(market, entry.market);
      setText(number, entry.count);
      share.max = Math.max(count, 1);
      share.value = entry.count;
      share.setAttribute("aria-label", `${entry.count} of ${count}`);
    };
  });
  setText(by_id("shares-note"), entries.length ? "" : "No instance is rented at present.");
}

function nodeRow(row) {
  const name = row.appendChild(cell("keep"));
  const link = row.appendChild(cell());
  const kinds = ["text", "number", "number", "number", "text"];
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
      .forEach((text, i) => setName(rest[i], String(text)));
  };
}

function showNodes(nodes) {
  showRows(by_id("nodes"), nodes, (node) => node.node, nodeRow);
}

// ---- machines of one's own ----

// A drained one takes nothing more, whatever else it is.
function stateOfMachine({ state: standing, drained, instance }) {
  if (!drained) return standing;
  return standing === "ready" ? (instance === null ? "drained" : "draining")
    : `${standing}, drained`;
}

// Until when what runs there may run on without a further word of the cluster; a machine that is
// free has nothing to end.
function leaseOf({ instance, heard_s }, lease_s) {
  if (instance === null) return "-";
  if (!lease_s) return "without end";
  return heard_s === null ? "not heard of yet" : moment(heard_s + lease_s);
}

// How much of it is used: nothing of a free one, and of another what the list of instances says of
// the one on it.
function loadOf(machine) {
  const one = state.used.get(machine.instance);
  const used = (kind, all) => one ? usedOf(one, kind)
    : `${machine.instance === null ? 0 : "?"}/${all}`;
  const parts = [`${used("cpu", machine.cpus)} CPUs`,
    `${used("memory", machine.memory_gib)} GiB`];
  if (machine.gpus > 0) parts.push(`${used("gpu", machine.gpus)} GPUs`);
  return parts.join(", ");
}

function machineRow(row, { machine: { host } }) {
  let used = null;  // the instance on it
  const kinds = ["number", "text", "keep", "text", "keep", "text", "text", "text", "text"];
  const cells = kinds.map((kind) => row.appendChild(cell(kind)));
  const act = row.appendChild(cell("keep")).appendChild(document.createElement("button"));
  const back = act.parentNode.appendChild(document.createElement("button"));
  for (const node of [act, back]) node.type = "button";
  const order = (path, done) =>
    change(`/v1/${path}`, by_id("machines-said"), `Machine ${host} ${done}`);
  // Its instance too, as `muster hosts drain` does: what runs on it moves.
  confirmed(act, "Drain", async () => {
    const done = "is taken into use no more, and empties.";
    const is_drained = await order(`hosts/${host}/drain`, done);
    if (is_drained && used !== null) await order(`instances/${used}/drain`, done);
  });
  setText(back, "Resume");
  back.addEventListener("click", () =>
    order(`hosts/${host}/resume`, "may be taken into use again."));
  act.setAttribute("aria-label", `Drain machine ${host}`);
  back.setAttribute("aria-label", `Resume machine ${host}`);
  return ({ machine, lease_s }) => {
    used = machine.instance;
    act.hidden = !mayDrain() || machine.drained;
    back.hidden = !mayDrain() || !machine.drained;
    const gone = machine.state === "silent" || machine.state === "lost";
    cells[2].className = gone ? "keep state-lost" : "keep";
    setText(cells[0], host);
    setName(cells[1], machine.name);
    setText(cells[2], stateOfMachine(machine));
    setName(cells[3], machine.type);
    setNodes(cells[4], String(machine.instance), () =>
      [machine.instance === null ? "free" : linkTo("instance", machine.instance,
        machine.instance)]);
    setText(cells[5], loadOf(machine));
    setText(cells[6], leaseOf(machine, lease_s));
    setName(cells[7], pairsOf(machine.labels).join(" "));
    setText(cells[8], machine.trouble);
  };
}

function showMachines(answer) {
  state.machines = answer;
  const { hosts, lease_s, silent } = answer;
  const shown = hosts.slice(0, MAX_MACHINES).map((machine) => ({ machine, lease_s }));
  showRows(by_id("machines"), shown, ({ machine }) => machine.host, machineRow);
  const more = hosts.length - shown.length;
  setText(by_id("machines-note"), [
    hosts.length ? "" : "No machine has joined yet: muster join-token create says how one does.",
    more > 0 ? `${more} more are not shown; muster hosts lists all.` : "",
    lacks(silent, "machines")].filter(Boolean).join(" "));
}

// Of a service with many replicas the first endpoints, and how many more there are.
function endpointsText({ replicas }) {
  const places = replicas.filter((replica) => replica.ready).flatMap((replica) =>
    replica.ports.map((port) => `${port.name} ${replica.address}:${port.number}`));
  const more = places.length - MAX_ENDPOINTS;
  return places.slice(0, MAX_ENDPOINTS).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

function serviceRow(row) {
  const name = row.appendChild(cell("text"));
  const user = row.appendChild(cell("keep"));
  const job = row.appendChild(cell("number"));
  const kinds = ["number", "keep", "number", "number", "text", "text"];
  const rest = kinds.map((kind) => row.appendChild(cell(kind)));
  return (service) => {
    setName(name, service.name);
    setName(user, service.user);
    setNodes(job, String(service.job), () => [linkTo("job", service.job, service.job)]);
    [service.revision, service.standing, service.ready, service.wanted, endpointsText(service),
      service.replicas.find((replica) => replica.trouble)?.trouble ?? ""]
      .forEach((text, i) => setText(rest[i], text));
  };
}

function showServices({ services }) {
  by_id("services-section").hidden = services.length === 0;
  showRows(by_id("services"), services, (service) => service.job, serviceRow);
}
