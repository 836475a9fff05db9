#include "serve/api/view_request.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace muster::api {
namespace {

/// Which jobs a list is to have.
JobFilter filter_of(const Query& query) {
  JobFilter filter;
  filter.user = query.text("user");
  filter.name = query.text("name");
  const auto time = [&](std::string_view name) -> std::optional<Instant> {
    if (query.text(name).empty()) return std::nullopt;
    return Instant{std::chrono::seconds{query.number(name)}};
  };
  filter.since = time("since_s");
  filter.until = time("until_s");
  filter.failed = query.number("failed") == 1;
  filter.outcome = named<JobOutcome>(query.text("outcome"));
  if (!query.text("exit_code").empty()) {
    filter.exit_code = static_cast<std::int32_t>(query.number("exit_code"));
  }
  return filter;
}

/// Which jobs are asked for; why they cannot be listed, or an empty text.
std::string put_list(const Query& query, View& what) {
  what.state = named<JobState>(query.text("state")).value_or(JobState::active);
  what.filter = filter_of(query);
  if (what.state > JobState::all) {
    what.filter.state = named<ShownState>(query.text("state"));
    what.state = JobState::active;
  }
  what.sort = named<JobSort>(query.text("sort")).value_or(JobSort::submitted);
  if (!NamePattern::is_valid(what.filter.name)) {
    return fmt::format("name: has at most {} bytes besides its stars", NamePattern::kMostBytes);
  }
  const std::string& after = query.text("after");
  if (after.empty()) return {};
  if (what.sort != JobSort::submitted) {
    return "after: goes with sort=submitted alone; in another order all jobs are in one page";
  }
  if (is_earlier_cursor(after)) {
    return fmt::format(
        "after: {} is a place in a list of an earlier version; leave it out to begin anew", after);
  }
  what.after = job_cursor_from(after);
  // A cursor of active jobs means nothing among those that are over, and the other way round.
  const bool fits = what.after && (what.state == JobState::all ||
                                   what.after->over == (what.state == JobState::over));
  return fits
             ? std::string()
             : "after: has to be the 'next' of an answer to the same question before, which begins "
               "with active: or, when jobs that are over are asked for, with over:";
}

/// Which decisions are asked for.
void put_filters(const Query& query, View& what) {
  if (!query.text("job").empty()) what.job = JobId{query.number("job")};
  if (!query.text("instance").empty()) what.instance = InstanceId{query.number("instance")};
  what.master = query.text("master");
  what.within = std::chrono::seconds{query.number("within_s")};
}

/// Which running tasks are asked for; why they cannot be listed, or an empty text.
std::string put_running(const Query& query, View& what) {
  if (!query.text("job").empty()) what.job = JobId{query.number("job")};
  if (!query.text("task").empty()) what.index = static_cast<std::uint32_t>(query.number("task"));
  if (what.index && !what.job.valid()) return "task: goes with job";
  const std::string& after = query.text("after");
  if (after.empty()) return {};
  const auto from = usage_cursor_from(after);
  if (!from) return "after: has to be the 'next' of an answer to the same question before";
  what.from = *from;
  return {};
}

}  // namespace

Expected<View, int> view_from(const ViewRequest& request) {
  const auto& [of, found, query] = request;
  View what{.of = of};
  if (!found.numbers.empty()) what.job = JobId{found.numbers.front()};
  if (of == Operation::instance) what.instance = InstanceId{what.job.value};
  what.name = found.name;
  if (query.has("user")) what.user = query.text("user");
  if (query.has("revision")) what.revision = query.text("revision");
  if (query.has("wait_s")) what.wait = std::chrono::seconds{query.number("wait_s")};
  constexpr int kNotAllowed = 422;
  if (of == Operation::jobs) {
    std::string fault = put_list(query, what);
    if (!fault.empty()) return Failure<int>{kNotAllowed, std::move(fault)};
  }
  if (of == Operation::usage) {
    std::string fault = put_running(query, what);
    if (!fault.empty()) return Failure<int>{kNotAllowed, std::move(fault)};
  }
  if (of == Operation::job || of == Operation::explain) {
    what.phase = query.text("phase");
    if (!query.text("after").empty()) {
      what.after_task = static_cast<std::uint32_t>(query.number("after"));
    }
    what.attempts = query.number("attempts") == 1;
  }
  if (of == Operation::decisions) put_filters(query, what);
  if (query.has("limit")) what.limit = static_cast<std::uint32_t>(query.number("limit"));
  if (of == Operation::history) what.hours = static_cast<std::uint32_t>(query.number("hours"));
  if (of == Operation::cost) {
    what.by = named<CostBy>(query.text("by")).value_or(CostBy::user);
  }
  return what;
}

}  // namespace muster::api
