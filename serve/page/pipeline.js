"use strict";
// The pipeline of the open job: the jobs that it waits for, or waited for, and those that wait for
// it. Which these are is said by those jobs alone, so that it is found in lists, when it is asked
// for.

const PIPELINE_PAGE = 1000;
const PIPELINE_PAGES = 5;       // of each list
const PIPELINE_PERIOD_MS = 15000;
const MAX_DRAWN = 120;          // jobs; more are in the table alone
const BOX = { width: 168, height: 38, across: 56, down: 14, margin: 6 };

// The jobs that are connected with one, in whichever direction.
function connectedJobs(jobs, root) {
  const known = new Map(jobs.map((job) => [job.job, job]));
  const followers = new Map();
  for (const job of jobs) {
    for (const { job: other } of job.after) {
      if (!followers.has(other)) followers.set(other, []);
      followers.get(other).push(job.job);
    }
  }
  const found = new Set([root]);
  for (const number of found) {
    const after = known.get(number)?.after.map((each) => each.job) ?? [];
    after.concat(followers.get(number) ?? []).forEach((other) => found.add(other));
  }
  return [...found].filter((number) => known.has(number)).map((number) => known.get(number));
}

// Each with its column: one behind those of all that it waits for. The first column first.
function inColumns(jobs) {
  const column = new Map(jobs.map((job) => [job.job, 0]));
  const open = new Map(jobs.map((job) =>
    [job.job, job.after.filter((each) => column.has(each.job)).length]));
  const followers = new Map(jobs.map((job) => [job.job, []]));
  for (const job of jobs) {
    for (const { job: other } of job.after) followers.get(other)?.push(job.job);
  }
  const next = jobs.filter((job) => open.get(job.job) === 0).map((job) => job.job);
  for (const number of next) {
    for (const follower of followers.get(number)) {
      column.set(follower, Math.max(column.get(follower), column.get(number) + 1));
      open.set(follower, open.get(follower) - 1);
      if (open.get(follower) === 0) next.push(follower);
    }
  }
  return jobs.map((job) => ({ ...job, column: column.get(job.job) }))
    .sort((a, b) => a.column - b.column || a.job - b.job);
}

function svgNode(kind, attributes) {
  const node = document.createElementNS(by_id("pipeline-svg").namespaceURI, kind);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

// Where each box stands: [left, top] by the job's number, and the size of all.
function boxPlaces(jobs) {
  const rows = new Map();
  const places = new Map();
  const size = { width: 0, height: 0 };
  for (const job of jobs) {
    const row = rows.get(job.column) ?? 0;
    rows.set(job.column, row + 1);
    const left = BOX.margin + job.column * (BOX.width + BOX.across);
    const top = BOX.margin + row * (BOX.height + BOX.down);
    places.set(job.job, [left, top]);
    size.width = Math.max(size.width, left + BOX.width + BOX.margin);
    size.height = Math.max(size.height, top + BOX.height + BOX.margin);
  }
  return { places, size };
}

function jobBox(job, [left, top]) {
  const link = svgNode("a", { href: `#/job/${job.job}` });
  const box = svgNode("rect", { x: left, y: top, width: BOX.width, height: BOX.height, rx: 5 });
  link.classList.toggle("chosen", job.job === state.job);
  const line = (y, text, kind) => {
    const node = svgNode("text", { x: left + 8, y: top + y, class: kind });
    node.textContent = text;
    return node;
  };
  const name = readable(job.name);
  const short = name.length > 18 ? name.slice(0, 17) + "…" : name;
  link.append(box, line(16, `${job.job} ${short}`, ""),
    line(31, job.state, "state-" + job.state.replaceAll(" ", "-")));
  const title = svgNode("title", {});
  title.textContent = `job ${job.job}: ${name}, ${job.state}`;
  link.append(title);
  return link;
}

function drawPipeline(jobs) {
  const { places, size } = boxPlaces(jobs);
  const nodes = [];
  by_id("pipeline-svg").setAttribute("width", size.width);
  by_id("pipeline-svg").setAttribute("height", size.height);
  for (const job of jobs) {
    const [left, top] = places.get(job.job);
    for (const { job: other, when } of job.after) {
      if (!places.has(other)) continue;
      const [from, above] = places.get(other);
      const x = from + BOX.width, y = above + BOX.height / 2, to = top + BOX.height / 2;
      const half = (x + left) / 2;
      nodes.push(svgNode("path", { class: "when-" + when,
        d: `M${x} ${y} C${half} ${y} ${half} ${to} ${left} ${to}` }));
    }
  }
  return nodes.concat(jobs.map((job) => jobBox(job, places.get(job.job))));
}

function pipelineRow(row) {
  const number = row.appendChild(cell("keep"));
  const name = row.appendChild(cell("text"));
  const phase = row.appendChild(cell());
  const after = row.appendChild(cell("text"));
  return (job) => {
    setNodes(number, String(job.job), () => [linkTo("job", job.job, String(job.job))]);
    setName(name, job.name || "(no name)");
    setText(phase, job.state);
    phase.className = "keep state-" + job.state.replaceAll(" ", "-");
    setLinked(after, job.after.map(({ job: other, when, by_index }) =>
      `job ${other}${when === "ok" ? "" : ":" + when}${by_index ? ":index" : ""}`)
      .join(", ") || "-");
  };
}

function showPipeline(jobs, cut) {
  const drawn = jobs.length > MAX_DRAWN ? [] : jobs;
  const key = JSON.stringify(drawn.map((job) => [job.job, job.state, state.job]));
  by_id("pipeline-picture").hidden = drawn.length < 2;
  setNodes(by_id("pipeline-svg"), key, () => (drawn.length > 1 ? drawPipeline(drawn) : []));
  showRows(by_id("pipeline-jobs"), jobs, (job) => job.job, pipelineRow);
  const alone = jobs.length === 1 ? "It waits for no job, and no job waits for it." : "";
  setText(by_id("pipeline-note"), [alone, cut
    ? `Only the newest ${PIPELINE_PAGE * PIPELINE_PAGES} jobs of the user that are over, and as `
      + "many others, were looked at." : ""]
    .filter(Boolean).join(" "));
  by_id("pipeline-table").hidden = jobs.length === 1;
}

// The jobs of a list, the newest first, and whether there are more.
async function pipelineList(user, which) {
  const question = new URLSearchParams({ state: which, user, limit: PIPELINE_PAGE });
  const jobs = [];
  for (let page = 0; page < PIPELINE_PAGES; page += 1) {
    const answer = await ask("/v1/jobs?" + question);
    jobs.push(...answer.jobs);
    if (!answer.next) return { jobs, cut: false };
    question.set("after", answer.next);
  }
  return { jobs, cut: true };
}

// While it is open it is asked for anew now and then.
async function loadPipeline() {
  const opened = state.job;
  const { shown_job: job } = state;
  if (!by_id("pipeline").open || !job || !isDue("pipeline", PIPELINE_PERIOD_MS)) return;
  if (by_id("pipeline-table").hidden) setText(by_id("pipeline-note"), "…");
  try {
    const lists = await Promise.all(["active", "over"].map((which) =>
      pipelineList(job.user, which)));
    if (state.job !== opened) return;
    const all = [job, ...lists.flatMap((list) => list.jobs)];
    const known = [...new Map(all.map((each) => [each.job, each])).values()];
    showPipeline(inColumns(connectedJobs(known, job.job)), lists.some((list) => list.cut));
  } catch (error) {
    if (state.job === opened) setText(by_id("pipeline-note"), error.message);
  }
}

// Of another job nothing is known yet.
function closePipeline() {
  delete state.asked_ms.pipeline;
  by_id("pipeline").open = false;
  by_id("pipeline-table").hidden = true;
  by_id("pipeline-picture").hidden = true;
  showRows(by_id("pipeline-jobs"), [], (job) => job.job, pipelineRow);
  setText(by_id("pipeline-note"), "");
}
