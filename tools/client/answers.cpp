// Turns the JSON of the API into plain structs for the commands. Unknown members are passed over
// and members of later versions are optional, so that a client and a server of neighbouring
// versions understand each other. Texts lose their control characters here, before any of them
// reaches a terminal.

#include "tools/client/answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "tools/client/fields.hpp"
#include "tools/client/printable.hpp"

namespace muster::client {
namespace {

SilentAnswer read_silent(const Fields& fields) {
  SilentAnswer silent;
  // Each entry names its role by its one key: cloud, site or master.
  silent.who = fields.has("cloud")  ? "the cloud of node " + fields.text("cloud")
               : fields.has("site") ? "site " + fields.text("site")
                                    : "master " + fields.text("master");
  if (fields.has("since_s")) silent.since_s = fields.number("since_s");
  if (!fields.has("last")) return silent;
  const Fields last = fields.object("last");
  silent.last = {last.number("usd_h"), last.number("today_usd"), last.number("total_usd"),
                 last.count("instances"), last.count("pending_tasks")};
  return silent;
}

/// An answer of an earlier version says nothing of it.
std::vector<SilentAnswer> read_all_silent(const Fields& fields) {
  if (!fields.has("silent")) return {};
  return fields.list("silent", read_silent);
}

ElasticAnswer read_elastic(const Fields& fields) {
  ElasticAnswer elastic;
  elastic.least = fields.count("least");
  elastic.most = fields.count("most");
  elastic.width = fields.count_or_null("width");
  elastic.done = fields.number("done");
  elastic.whole = fields.number_or_null("whole");
  elastic.unit = fields.text_or_null("unit");
  return elastic;
}

SubmissionAnswer read_submission(const Fields& fields) {
  // What has a member of its own, and what a job is shown with anyhow.
  constexpr std::array<std::string_view, 21> kKnown = {
      "cpus",           "memory_gib",   "gpus",    "market",      "priority",
      "tasks",          "max_running",  "array",   "work_dir",    "time_limit_s",
      "runtime_hint_s", "stop_grace_s", "retries", "max_fails",   "env_names",
      "class",          "gang",         "movable", "checkpoints", "distinct_instances",
      "elastic"};
  SubmissionAnswer said;
  said.cpus = fields.number("cpus");
  said.memory_gib = fields.number("memory_gib");
  said.gpus = fields.number("gpus");
  said.market = fields.text("market");
  said.priority = fields.whole("priority");
  said.tasks = fields.count("tasks");
  said.max_running = fields.count("max_running");
  said.array = fields.text_or_null("array");
  said.work_dir = fields.text_or_null("work_dir");
  said.time_limit_s = fields.number_or_null("time_limit_s");
  said.runtime_hint_s = fields.number_or_null("runtime_hint_s");
  said.stop_grace_s = fields.number_or_null("stop_grace_s");
  said.retries = fields.count_or_null("retries");
  said.max_fails = fields.count_or_null("max_fails");
  said.env_names = fields.texts("env_names");
  for (const auto& [key, value] : fields.members().items()) {
    if (std::find(kKnown.begin(), kKnown.end(), key) != kKnown.end()) continue;
    said.others.emplace_back(
        printable(key),
        printable(value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
  }
  return said;
}

JobAnswer read_job(const Fields& fields) {
  JobAnswer job;
  job.job = fields.count("job");
  job.name = fields.text("name");
  job.user = fields.text("user");
  job.state = fields.text("state");
  // A job that a site still has is with no master yet.
  job.master = fields.text_or_null("master");
  job.tasks_total = fields.count("tasks_total");
  job.waiting = fields.count("waiting");
  job.held = fields.count("held");
  job.capped = fields.count("capped");
  job.starting = fields.count("starting");
  job.running = fields.count("running");
  job.finished = fields.count("finished");
  job.failed = fields.count("failed");
  job.failed_attempts = fields.count("failed_attempts");
  job.submitted_s = fields.number_or_null("submitted_s");
  job.over_s = fields.number_or_null("over_s");
  job.usd = fields.number("usd");
  job.exit_code = fields.whole_or_null("exit_code");
  job.command = fields.raw_texts("command");
  // `has` before a key means that servers of earlier versions do not send it.
  if (fields.has("movable")) job.movable = fields.truth("movable");
  if (fields.has("checkpoints")) job.checkpoints = fields.truth("checkpoints");
  if (fields.has("distinct_instances")) {
    job.distinct_instances = fields.truth("distinct_instances");
  }
  if (fields.has("reason")) job.reason = fields.text_or_null("reason");
  if (fields.has("complete")) job.complete = fields.truth("complete");
  if (fields.has("elastic") && !fields.null("elastic")) {
    job.elastic = read_elastic(fields.object("elastic"));
  }
  if (fields.has("failed_task")) job.failed_task = fields.count_or_null("failed_task");
  if (fields.has("submission") && !fields.null("submission")) {
    job.submission = read_submission(fields.object("submission"));
  }
  return job;
}

std::vector<std::pair<std::string, double>> read_metrics(const Fields& fields) {
  std::vector<std::pair<std::string, double>> metrics;
  for (const auto& [name, value] : fields.members().items()) {
    metrics.emplace_back(printable(name), fields.number(name.c_str()));
  }
  return metrics;
}

TaskAnswer read_task(const Fields& fields) {
  TaskAnswer task;
  task.task = fields.count("task");
  task.phase = fields.text("phase");
  task.attempt = fields.count("attempt");
  task.instance = fields.count_or_null("instance");
  task.instance_type = fields.text_or_null("instance_type");
  task.usd = fields.number("usd");
  task.exit_code = fields.whole_or_null("exit_code");
  task.moves = fields.count("moves");
  if (!fields.null("reason")) task.reason = fields.object("reason").text("text");
  if (fields.has("last_failure") && !fields.null("last_failure")) {
    task.failure = fields.object("last_failure").text("text");
  }
  if (fields.has("ran_s")) task.ran_s = fields.number_or_null("ran_s");
  if (fields.has("metrics")) task.metrics = read_metrics(fields.object("metrics"));
  if (fields.has("why") && !fields.null("why")) task.why = fields.text("why");
  return task;
}

/// An answer of an earlier version has all the tasks.
JobDetails read_page(const Fields& fields, JobAnswer job) {
  JobDetails page{std::move(job), fields.list("tasks", read_task)};
  if (fields.has("next")) page.next = fields.count_or_null("next");
  if (fields.has("tasks_behind")) page.tasks_behind = fields.count("tasks_behind");
  return page;
}

InstanceAnswer read_instance(const Fields& fields) {
  InstanceAnswer instance;
  instance.instance = fields.count("instance");
  instance.type = fields.text("type");
  instance.market = fields.text("market");
  instance.phase = fields.text("phase");
  instance.released = fields.truth("released");
  instance.connected = fields.truth("connected");
  instance.usd_h = fields.number("usd_h");
  instance.up_s = fields.number_or_null("up_s");
  instance.master = fields.text("master");
  instance.tasks = fields.list(
      "tasks", [](const Fields& task) { return std::pair(task.count("job"), task.count("task")); });
  if (fields.has("more_tasks")) instance.more_tasks = fields.count("more_tasks");
  const Fields used = fields.object("used");
  instance.used_cpu = used.number("cpu");
  instance.used_memory = used.number("memory");
  instance.used_gpu = used.number("gpu");
  const Fields capacity = fields.object("capacity");
  instance.cpu = capacity.number("cpu");
  instance.memory = capacity.number("memory");
  instance.gpu = capacity.number("gpu");
  return instance;
}

NodeAnswer read_node(const Fields& fields) {
  NodeAnswer node;
  node.node = fields.text("node");
  node.roles = fields.texts("roles");
  node.connected = fields.truth("connected");
  if (!fields.has("load") || fields.null("load")) return node;
  const Fields load = fields.object("load");
  // A node says what its roles know: a site has no instances.
  const auto if_there = [&](const char* key) {
    return load.has(key) && !load.null(key) ? load.count(key) : 0;
  };
  node.jobs = if_there("jobs");
  node.pending_tasks = if_there("pending_tasks");
  node.instances = if_there("instances");
  if (load.has("policy") && !load.null("policy")) node.policy = load.text("policy");
  return node;
}

StatusAnswer read_status(const Fields& fields) {
  StatusAnswer status;
  status.now_s = fields.number("now_s");
  const Fields jobs = fields.object("jobs");
  status.jobs_waiting = jobs.count("waiting");
  status.jobs_running = jobs.count("running");
  status.jobs_held = jobs.count("held");
  status.jobs_over = jobs.count("over");
  const Fields tasks = fields.object("tasks");
  status.tasks_pending = tasks.count("pending");
  status.tasks_running = tasks.count("running");
  if (fields.has("elastic")) {
    const Fields elastic = fields.object("elastic");
    status.elastic_jobs = elastic.count("jobs");
    status.elastic_workers = elastic.count("workers");
  }
  status.instances = fields.list("instances", [](const Fields& kind) {
    return StatusAnswer::Kind{kind.text("type"), kind.text("market"), kind.count("count")};
  });
  status.usd_h = fields.number("usd_h");
  status.total_usd = fields.number("total_usd");
  status.today_usd = fields.number("today_usd");
  status.nodes = fields.list("nodes", read_node);
  status.caps = fields.list("caps", [](const Fields& cap) {
    return StatusAnswer::Cap{cap.text("master"), cap.number_or_null("max_instances").value_or(0),
                             cap.number_or_null("max_usd_h").value_or(0),
                             cap.number_or_null("max_usd_day").value_or(0)};
  });
  status.trouble = fields.texts("trouble");
  status.silent = read_all_silent(fields);
  return status;
}

}  // namespace

bool JobAnswer::over() const {
  // The API has no member that says whether a job is over; its state does.
  constexpr std::array<std::string_view, 4> kEnds = {"completed", "failed", "refused", "cancelled"};
  return std::find(kEnds.begin(), kEnds.end(), state) != kEnds.end();
}

Parsed<std::vector<std::uint64_t>> submitted_jobs(const Answer& answer) {
  return parsed(answer, [](const Fields& fields) {
    return fields.list("jobs", [](const Fields& job) { return job.count("job"); });
  });
}

Parsed<std::vector<std::string>> unconfirmed_by(const Answer& answer) {
  return parsed(answer, [](const Fields& fields) {
    return fields.has("unconfirmed") ? fields.texts("unconfirmed") : std::vector<std::string>{};
  });
}

Parsed<std::vector<SilentAnswer>> silent_in(const Answer& answer) {
  return parsed(answer, read_all_silent);
}

Parsed<std::vector<JobAnswer>> job_list(const Answer& answer) {
  return parsed(answer, [](const Fields& fields) { return fields.list("jobs", read_job); });
}

Parsed<JobAnswer> job_only(const Answer& answer) {
  return parsed(answer, read_job);
}

Parsed<JobDetails> job_details(const Answer& answer) {
  return parsed(answer, [](const Fields& fields) { return read_page(fields, read_job(fields)); });
}

Parsed<JobDetails> explanation(const Answer& answer) {
  return parsed(answer, [](const Fields& fields) {
    return read_page(fields, read_job(fields.object("job")));
  });
}

Parsed<std::vector<InstanceAnswer>> instance_list(const Answer& answer) {
  return parsed(answer,
                [](const Fields& fields) { return fields.list("instances", read_instance); });
}

Parsed<std::vector<NodeAnswer>> node_list(const Answer& answer) {
  return parsed(answer, [](const Fields& fields) { return fields.list("nodes", read_node); });
}

Parsed<std::vector<DecisionAnswer>> decision_list(const Answer& answer) {
  return parsed(answer, [](const Fields& fields) {
    return fields.list("decisions", [](const Fields& one) {
      return DecisionAnswer{one.number("at_s"), one.text("master"), one.count("round"),
                            one.text("sentence")};
    });
  });
}

Parsed<StatusAnswer> status_of(const Answer& answer) {
  return parsed(answer, read_status);
}

Parsed<CostAnswer> cost_of(const Answer& answer) {
  return parsed(answer, [](const Fields& fields) {
    CostAnswer cost;
    cost.total_usd = fields.number("total_usd");
    const Fields idle = fields.object("idle_usd");
    for (const char* cause : {"boot", "idle", "drain", "fragmentation"}) {
      cost.idle.emplace_back(cause, idle.number(cause));
    }
    cost.by = fields.list(
        "by", [](const Fields& part) { return std::pair(part.text("name"), part.number("usd")); });
    cost.silent = read_all_silent(fields);
    return cost;
  });
}

Parsed<PlanAnswer> plan_of(const Answer& answer) {
  return parsed(answer, [](const Fields& fields) {
    PlanAnswer plan;
    plan.launches = fields.list("launches", [](const Fields& launch) {
      return PlanAnswer::Launch{launch.text("type"), launch.text("market"), launch.number("usd_h")};
    });
    plan.places = fields.list("places", [](const Fields& place) {
      return std::pair(place.count("task"), place.text("to"));
    });
    plan.refusals = fields.list("refusals", [](const Fields& refusal) {
      return PlanAnswer::Refused{refusal.count("task"), refusal.text("kind") == "never",
                                 refusal.text("why")};
    });
    if (fields.has("left_out")) plan.left_out = fields.count("left_out");
    plan.moves = fields.count("moves");
    plan.usd_h = fields.number("usd_h");
    plan.usd_h_now = fields.number("usd_h_now");
    return plan;
  });
}

Parsed<LogAnswer> log_part(const Answer& answer) {
  return parsed(answer, [](const Fields& fields) {
    LogAnswer part;
    part.attempt = fields.count("attempt");
    part.offset = fields.count("offset");
    part.next = fields.count("next_offset");
    part.size = fields.has("size") ? fields.count_or_null("size") : std::nullopt;
    part.text = fields.raw_text("text");
    part.more = fields.truth("more");
    if (fields.truth("lost")) part.lost = fields.text("lost_reason");
    return part;
  });
}

Parsed<LogAnswer> raw_log_part(BytesAnswer answer) {
  std::string missing;
  // A header is a number as a whole, or missing: "12x" must not be read as 12.
  const auto number = [&](const char* name) -> std::optional<std::uint64_t> {
    const auto found = answer.headers.find(name);
    if (found == answer.headers.end()) return std::nullopt;
    std::uint64_t value = 0;
    const char* end = found->second.data() + found->second.size();
    const auto [rest, error] = std::from_chars(found->second.data(), end, value);
    return error == std::errc{} && rest == end ? std::optional(value) : std::nullopt;
  };
  const auto needed = [&](const char* name) {
    const auto value = number(name);
    if (!value && missing.empty()) missing = name;
    // Goes on with 0: all headers are looked up, and the first that is missing is named below.
    return value.value_or(0);
  };
  LogAnswer part;
  part.attempt = needed("muster-attempt");
  part.offset = needed("muster-offset");
  part.next = needed("muster-next-offset");
  part.more = needed("muster-more") != 0;
  part.size = number("muster-size");
  const auto lost = answer.headers.find("muster-lost");
  if (lost != answer.headers.end()) part.lost = printable(lost->second);
  if (!missing.empty()) {
    return Failure<ClientError>{ClientError::malformed,
                                "the answer has no number in its header " + missing};
  }
  part.text = std::move(answer.bytes);
  return part;
}

}  // namespace muster::client
