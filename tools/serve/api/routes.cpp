// The table of all paths and their parameters. The server matches requests by it and openapi.cpp
// writes the API's document from it, so that the document cannot name a path that is not served.

#include "tools/serve/api/routes.hpp"

#include <array>
#include <charconv>
#include <limits>
#include <optional>

namespace muster::api {
namespace {

using Kind = Parameter::Kind;

/// One page: bounds the answer that is built in memory.
constexpr std::uint64_t kMaxLimit = 10'000;
/// One piece of a log, in bytes; a client asks for the next one by its offset.
constexpr std::uint64_t kMaxLogBytes = 1024 * 1024;
constexpr std::uint64_t kMaxUserBytes = 256;
/// A client that waits longer asks again; each such request holds a place while it waits.
constexpr std::uint64_t kMaxWaitS = 30;
/// Ten years: the log is not that long.
constexpr std::uint64_t kMaxWithinS = 315'360'000;
constexpr std::uint64_t kMaxCursorBytes = 40;
constexpr std::uint64_t kMaxIndex = std::numeric_limits<std::uint32_t>::max();
/// Ids stay within a signed 64-bit number, as many JSON libraries know no larger ones.
constexpr std::uint64_t kMaxSigned = std::numeric_limits<std::int64_t>::max();

constexpr std::array<std::string_view, 3> kStates{"active", "over", "all"};
constexpr std::array<std::string_view, 11> kPhases{"pending",  "held",    "capped",   "assigned",
                                                   "starting", "running", "stopping", "finished",
                                                   "failed",   "stopped", "not run"};
constexpr std::array<std::string_view, 2> kStreams{"out", "err"};
constexpr std::array<std::string_view, 3> kCostBy{"user", "job", "instance"};

constexpr std::array kJobsQuery{
    Parameter{"state", Kind::choice, "which jobs", 0, 0, "active", kStates},
    Parameter{"user", Kind::text, "only this user's jobs", 0, kMaxUserBytes},
    Parameter{"limit", Kind::number, "how many at most", 1, kMaxLimit, "100"},
    Parameter{"after", Kind::text, "`next` of the page before", 0, kMaxCursorBytes},
};
constexpr Parameter kTaskLimit{"limit", Kind::number, "how many tasks at most",
                               1,       kMaxLimit,    "1000"};
constexpr Parameter kTaskAfter{"after", Kind::number, "only tasks of higher indices", 0, kMaxIndex};
constexpr Parameter kTaskPhase{"phase", Kind::choice, "only tasks in this phase", 0, 0,
                               {},      kPhases};
constexpr std::array kJobQuery{
    kTaskLimit,
    kTaskAfter,
    kTaskPhase,
    Parameter{"wait_s", Kind::number, "seconds to wait for the job to be over; 0: none", 0,
              kMaxWaitS, "0"},
};
constexpr std::array kExplainQuery{kTaskLimit, kTaskAfter, kTaskPhase};
constexpr std::array kLogQuery{
    Parameter{"stream", Kind::choice, "which of the two outputs", 0, 0, "out", kStreams},
    Parameter{"offset", Kind::number, "bytes from the beginning", 0, kMaxSigned, "0"},
    Parameter{"max", Kind::number, "bytes at most", 1, kMaxLogBytes, "65536"},
    Parameter{"attempt", Kind::number, "which attempt; 0: the newest", 0,
              std::numeric_limits<std::uint32_t>::max(), "0"},
    // JSON has to replace bytes that are not UTF-8; `raw` is for those who want the file.
    Parameter{"raw", Kind::number, "1: the bytes as they are, with what else there is in headers",
              0, 1, "0"},
};
constexpr std::array kCostQuery{
    Parameter{"by", Kind::choice, "what it is split by", 0, 0, "user", kCostBy},
};
constexpr std::array kDecisionsQuery{
    Parameter{"limit", Kind::number, "how many at most", 1, kMaxLimit, "50"},
};

constexpr std::array kHistoryQuery{
    Parameter{"hours", Kind::number, "how far back", 1, 24, "24"},
};

constexpr std::array kAuditQuery{
    Parameter{"limit", Kind::number, "how many at most", 1, kMaxLimit, "100"},
    Parameter{"user", Kind::text, "only what was done for this user", 0, kMaxUserBytes},
    Parameter{"within_s", Kind::number, "only of so many last seconds; 0: of all", 0, kMaxWithinS,
              "0"},
};

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kJobRef = "JobRef";
constexpr std::string_view kInstanceRef = "InstanceRef";

// Open are the health check and the page's own files, which a browser loads before the user has
// typed a token.
constexpr std::array kRoutes{
    Route{Operation::submit,
          "POST",
          "/v1/jobs",
          "Submit a job or up to 1,000 of them",
          {},
          "Submission",
          201,
          "Submitted",
          kJson,
          Access::users},
    Route{Operation::resubmit,
          "POST",
          "/v1/jobs/{id}/resubmit",
          "Submit a job, or its tasks that did not finish, once more",
          {},
          "Resubmission",
          201,
          "Submitted",
          kJson,
          Access::owners},
    Route{Operation::jobs,
          "GET",
          "/v1/jobs",
          "List jobs, those that are not over first, the newest of each first",
          kJobsQuery,
          {},
          200,
          "Jobs",
          kJson,
          Access::all},
    Route{Operation::job,
          "GET",
          "/v1/jobs/{id}",
          "A job with its tasks, at once or when it is over",
          kJobQuery,
          {},
          200,
          "JobWithTasks",
          kJson,
          Access::all},
    Route{Operation::cancel,
          "POST",
          "/v1/jobs/{id}/cancel",
          "End a job",
          {},
          {},
          200,
          kJobRef,
          kJson,
          Access::owners,
          "CancelUnderWay"},
    Route{Operation::hold,
          "POST",
          "/v1/jobs/{id}/hold",
          "Start no more of a job's tasks",
          {},
          {},
          200,
          kJobRef,
          kJson,
          Access::owners},
    Route{Operation::release,
          "POST",
          "/v1/jobs/{id}/release",
          "Undo a hold",
          {},
          {},
          200,
          kJobRef,
          kJson,
          Access::owners},
    Route{Operation::explain,
          "GET",
          "/v1/jobs/{id}/explain",
          "Why a job's tasks wait or sit where they sit",
          kExplainQuery,
          {},
          200,
          "Explanation",
          kJson,
          Access::owners_and_readers},
    Route{Operation::log,
          "GET",
          "/v1/jobs/{id}/tasks/{index}/log",
          "A piece of a task's output",
          kLogQuery,
          {},
          200,
          "LogPiece",
          kJson,
          Access::owners},
    Route{Operation::instances,
          "GET",
          "/v1/instances",
          "The instances that are rented",
          {},
          {},
          200,
          "Instances",
          kJson,
          Access::all},
    Route{Operation::drain,
          "POST",
          "/v1/instances/{id}/drain",
          "Move the tasks off an instance and release it",
          {},
          {},
          200,
          kInstanceRef,
          kJson,
          Access::admins},
    Route{Operation::interrupt,
          "POST",
          "/v1/instances/{id}/interrupt",
          "Have the cloud interrupt a spot instance",
          {},
          {},
          200,
          kInstanceRef,
          kJson,
          Access::admins},
    Route{Operation::nodes,
          "GET",
          "/v1/nodes",
          "The cluster's nodes and their load",
          {},
          {},
          200,
          "Nodes",
          kJson,
          Access::all},
    Route{Operation::cost,
          "GET",
          "/v1/cost",
          "What was spent, and on what",
          kCostQuery,
          {},
          200,
          "Cost",
          kJson,
          Access::all},
    Route{Operation::plan,
          "POST",
          "/v1/plan",
          "What would be done if the job came now",
          {},
          "JobRequest",
          200,
          "Plan",
          kJson,
          Access::users},
    Route{Operation::status,
          "GET",
          "/v1/status",
          "The cluster at a glance",
          {},
          {},
          200,
          "Status",
          kJson,
          Access::all},
    Route{Operation::decisions,
          "GET",
          "/v1/decisions",
          "What the masters decided, newest first",
          kDecisionsQuery,
          {},
          200,
          "Decisions",
          kJson,
          Access::all},
    Route{Operation::history,
          "GET",
          "/v1/history",
          "What the cluster spent and did, minute by minute",
          kHistoryQuery,
          {},
          200,
          "History",
          kJson,
          Access::all},
    Route{Operation::me,
          "GET",
          "/v1/me",
          "Who the token says that the caller is",
          {},
          {},
          200,
          "Me",
          kJson,
          Access::all},
    Route{Operation::tokens,
          "GET",
          "/v1/tokens",
          "The tokens that open the API, without their secrets",
          {},
          {},
          200,
          "Tokens",
          kJson,
          Access::admins},
    Route{Operation::create_token,
          "POST",
          "/v1/tokens",
          "Make a token",
          {},
          "TokenRequest",
          201,
          "IssuedToken",
          kJson,
          Access::admins},
    Route{Operation::revoke_token,
          "POST",
          "/v1/tokens/{name}/revoke",
          "Let a token open the API no more",
          {},
          {},
          200,
          "Token",
          kJson,
          Access::admins},
    Route{Operation::rotate_token,
          "POST",
          "/v1/tokens/{name}/rotate",
          "Give a token a new secret",
          {},
          "Rotation",
          200,
          "IssuedToken",
          kJson,
          Access::admins},
    Route{Operation::audit,
          "GET",
          "/v1/audit",
          "Who has changed what, and who was refused, newest first",
          kAuditQuery,
          {},
          200,
          "Audit",
          kJson,
          Access::admins},
    Route{Operation::openapi,
          "GET",
          "/v1/openapi.json",
          "This document",
          {},
          {},
          200,
          "OpenApi",
          kJson,
          Access::all},
    Route{Operation::metrics,
          "GET",
          "/metrics",
          "The figures, for Prometheus",
          {},
          {},
          200,
          {},
          "text/plain; version=0.0.4; charset=utf-8",
          Access::all},
    Route{Operation::health,
          "GET",
          "/healthz",
          "Whether the server answers",
          {},
          {},
          200,
          "Health",
          kJson,
          Access::open},
    Route{Operation::page,
          "GET",
          "/",
          "The dashboard",
          {},
          {},
          200,
          {},
          "text/html; charset=utf-8",
          Access::open},
    Route{Operation::script,
          "GET",
          "/app.js",
          "The dashboard's script",
          {},
          {},
          200,
          {},
          "text/javascript; charset=utf-8",
          Access::open},
    Route{Operation::plot,
          "GET",
          "/plot.js",
          "The dashboard's script for its plot",
          {},
          {},
          200,
          {},
          "text/javascript; charset=utf-8",
          Access::open},
    Route{Operation::text,
          "GET",
          "/text.js",
          "The dashboard's words and tables",
          {},
          {},
          200,
          {},
          "text/javascript; charset=utf-8",
          Access::open},
    Route{Operation::views,
          "GET",
          "/views.js",
          "The dashboard's script for its parts",
          {},
          {},
          200,
          {},
          "text/javascript; charset=utf-8",
          Access::open},
    Route{Operation::style,
          "GET",
          "/style.css",
          "The dashboard's style",
          {},
          {},
          200,
          {},
          "text/css; charset=utf-8",
          Access::open},
    Route{Operation::chart,
          "GET",
          "/chart.js",
          "The library that draws the dashboard's plots",
          {},
          {},
          200,
          {},
          "text/javascript; charset=utf-8",
          Access::open},
};

/// Takes the text up to the next slash off the front.
std::string_view next_segment(std::string_view& path) {
  const std::size_t slash = path.find('/');
  const std::string_view segment = path.substr(0, slash);
  path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  return segment;
}

/// Parameters in a path are numbers, {id} and {index}, or {name}.
bool is_parameter(std::string_view segment) {
  return segment.starts_with('{');
}

// The whole segment has to be a number: "12x" must not reach job 12.
std::optional<std::uint64_t> number_in_path(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && number <= kMaxSigned ? std::optional(number) : std::nullopt;
}

/// What the path says in the places of the pattern's parameters.
struct Fit {
  std::vector<std::uint64_t> numbers{};
  std::string name{};
};

/// Nothing when the path does not fit the pattern.
std::optional<Fit> fit(std::string_view pattern, std::string_view path) {
  Fit said;
  // A trailing slash makes another path: next_segment() alone would not see the difference.
  if (path.ends_with('/') != pattern.ends_with('/')) {
    return std::nullopt;
  }
  while (!pattern.empty() && !path.empty()) {
    const std::string_view wanted = next_segment(pattern);
    const std::string_view given = next_segment(path);
    if (!is_parameter(wanted)) {
      if (wanted != given) {
        return std::nullopt;
      }
      continue;
    }
    if (wanted == "{name}") {
      said.name = given;
      // Names need no escapes: what has one is none.
      if (said.name.empty()) return std::nullopt;
      continue;
    }
    const std::optional<std::uint64_t> number = number_in_path(given);
    if (!number) {
      return std::nullopt;
    }
    said.numbers.push_back(*number);
  }
  // Both have to be used up, or one is only the beginning of the other.
  return pattern.empty() && path.empty() ? std::optional(std::move(said)) : std::nullopt;
}

}  // namespace

bool changes(const Route& route) {
  return route.method == "POST" && route.operation != Operation::plan;
}

std::span<const Route> routes() {
  return kRoutes;
}

/// O(routes): two dozen patterns, compared a segment at a time. Several routes share a path and
/// differ in their methods, so the search goes on after the first.
Match match(std::string_view path) {
  Match found;
  for (const Route& route : kRoutes) {
    if (auto said = fit(route.pattern, path)) {
      found.routes.push_back(&route);
      found.numbers = std::move(said->numbers);
      found.name = std::move(said->name);
    }
  }
  return found;
}

std::vector<std::string_view> path_parameters(std::string_view pattern) {
  std::vector<std::string_view> names;
  while (!pattern.empty()) {
    const std::string_view segment = next_segment(pattern);
    if (is_parameter(segment)) {
      names.push_back(segment.substr(1, segment.size() - 2));
    }
  }
  return names;
}

}  // namespace muster::api
