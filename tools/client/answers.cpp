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

JobView read_job(const Fields& fields) {
  JobView job = read_view<JobView>(fields);
  // As it is: the code that shows it quotes it.
  job.command = fields.raw_texts("command");
  return job;
}

/// Of a document with the job's command.
JobPage page_of(JobDocument document, const Fields& fields, const Fields& job) {
  JobPage page{std::move(document)};
  page.job.command = job.raw_texts("command");
  if (fields.has("complete")) page.complete = fields.truth("complete");
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
         job.state == ShownState::refused || job.state == ShownState::cancelled ||
         job.state == ShownState::replaced || job.state == ShownState::skipped ||
         job.state == ShownState::expired;
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

Parsed<std::vector<std::string>> warnings_in(const Answer& answer) {
  return parsed(answer, [](const Fields& fields) {
    return fields.has("warnings") ? fields.texts("warnings") : std::vector<std::string>{};
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
  return parsed(answer, [](const Fields& fields) {
    return page_of(read_view<JobDocument>(fields), fields, fields);
  });
}

Parsed<JobPage> explanation(const Answer& answer) {
  return parsed(answer, [](const Fields& fields) {
    auto told = read_view<ExplainedDocument>(fields);
    JobDocument document{std::move(told.job), {}, {}, told.next, told.tasks_behind};
    for (ExplainedTask& each : told.tasks) document.tasks.push_back(std::move(each.task));
    return page_of(std::move(document), fields, fields.object("job"));
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

Parsed<TodayAnswer> today_of(const Answer& answer) {
  return whole_of<TodayAnswer, DayCostsView>(answer);
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
template Parsed<InstanceLife> view_of<InstanceLife>(const Answer& answer);
template Parsed<DecisionsView> view_of<DecisionsView>(const Answer& answer);
template Parsed<PlanView> view_of<PlanView>(const Answer& answer);
template Parsed<ServicesView> view_of<ServicesView>(const Answer& answer);
template Parsed<EndpointsView> view_of<EndpointsView>(const Answer& answer);
template Parsed<UsageView> view_of<UsageView>(const Answer& answer);

}  // namespace muster::client
