// Turns the JSON of the API into views for the commands. Unknown members are passed over
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
#include "tools/client/view_reader.hpp"

namespace muster::client {
namespace {

/// An answer of an earlier version says nothing of it.
Silent read_silent(const Fields& fields) {
  return fields.has("silent") ? fields.list("silent", read_view<SilentView>) : Silent{};
}

SubmissionAnswer read_submission(const Fields& fields) {
  // Keys that have a member of their own, and those that a job is shown with anyhow.
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

JobView read_job(const Fields& fields) {
  JobView job = read_view<JobView>(fields);
  // As it is: the code that shows it quotes it.
  job.command = fields.raw_texts("command");
  return job;
}

TaskView read_task(const Fields& fields) {
  TaskView task = read_view<TaskView>(fields);
  if (fields.has("why") && !fields.null("why")) task.why = fields.text("why");
  return task;
}

/// An answer of an earlier version has all the tasks.
JobPage read_page(const Fields& fields, JobView job) {
  JobPage page{std::move(job), fields.list("tasks", read_task)};
  if (fields.has("submission") && !fields.null("submission")) {
    page.submission = read_submission(fields.object("submission"));
  }
  if (fields.has("complete")) page.complete = fields.truth("complete");
  if (fields.has("next")) page.next = fields.count_or_null("next");
  if (fields.has("tasks_behind")) page.tasks_behind = fields.count("tasks_behind");
  return page;
}

/// A view with whose part is missing in it.
template <class Whole, class View>
Parsed<Whole> whole_of(const Answer& answer) {
  return parsed(answer, [](const Fields& fields) {
    return Whole{{read_view<View>(fields)}, read_silent(fields)};
  });
}

}  // namespace

bool is_over(const JobView& job) {
  // The API has no member that says whether a job is over; its state does.
  return job.state == ShownState::completed || job.state == ShownState::failed ||
         job.state == ShownState::refused || job.state == ShownState::cancelled;
}

bool is_over(const TaskView& task) {
  return task.phase == ShownPhase::finished || task.phase == ShownPhase::failed ||
         task.phase == ShownPhase::stopped || task.phase == ShownPhase::not_run;
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

Parsed<Silent> silent_in(const Answer& answer) {
  return parsed(answer, read_silent);
}

Parsed<std::vector<JobView>> job_list(const Answer& answer) {
  return parsed(answer, [](const Fields& fields) { return fields.list("jobs", read_job); });
}

Parsed<JobView> job_only(const Answer& answer) {
  return parsed(answer, read_job);
}

Parsed<JobPage> job_page(const Answer& answer) {
  return parsed(answer, [](const Fields& fields) { return read_page(fields, read_job(fields)); });
}

Parsed<JobPage> explanation(const Answer& answer) {
  return parsed(answer, [](const Fields& fields) {
    return read_page(fields, read_job(fields.object("job")));
  });
}

template <class View>
Parsed<View> view_of(const Answer& answer) {
  return parsed(answer, read_view<View>);
}

Parsed<StatusAnswer> status_of(const Answer& answer) {
  return whole_of<StatusAnswer, StatusView>(answer);
}

Parsed<CostAnswer> cost_of(const Answer& answer) {
  return whole_of<CostAnswer, CostView>(answer);
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

template Parsed<InstancesView> view_of<InstancesView>(const Answer& answer);
template Parsed<NodesView> view_of<NodesView>(const Answer& answer);
template Parsed<DecisionsView> view_of<DecisionsView>(const Answer& answer);
template Parsed<PlanView> view_of<PlanView>(const Answer& answer);

}  // namespace muster::client
