#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include "model/views.hpp"
#include "serve/api/backend.hpp"

// For the table of routes alone: the parameters of their queries.

namespace muster::api::queries {

using Kind = Parameter::Kind;

/// One page: bounds the answer that is built in memory.
inline constexpr std::uint64_t kMaxLimit = 10'000;
/// One piece of a log, in bytes; a client asks for the next one by its offset.
inline constexpr std::uint64_t kMaxLogBytes = 1024 * 1024;
inline constexpr std::uint64_t kMaxUserBytes = 256;
/// A client that waits longer asks again; each such request holds a place while it waits.
inline constexpr std::uint64_t kMaxWaitS = 30;
/// Ten years: the log is not that long.
inline constexpr std::uint64_t kMaxWithinS = 315'360'000;
/// The year 2200: nanoseconds of it are within a signed 64-bit number.
inline constexpr std::uint64_t kMaxTimeS = 7'258'118'400;
inline constexpr std::uint64_t kMaxCursorBytes = 60;
inline constexpr std::uint64_t kMaxIndex = std::numeric_limits<std::uint32_t>::max();
/// Ids stay within a signed 64-bit number, as many JSON libraries know no larger ones.
inline constexpr std::uint64_t kMaxSigned = std::numeric_limits<std::int64_t>::max();

inline constexpr std::array<std::string_view, 2> kStreams{"out", "err"};

inline constexpr std::array kJobsQuery{
    Parameter{"state", Kind::choice, "state of the jobs to list", 0, 0, "active", kWords<JobState>},
    Parameter{"user", Kind::text, "only this user's jobs", 0, kMaxUserBytes},
    Parameter{"limit", Kind::number, "most entries of the answer", 1, kMaxLimit, "100"},
    Parameter{"after", Kind::text, "`next` of the page before", 0, kMaxCursorBytes},
    Parameter{"name", Kind::text,
              "only jobs with this in their names or, with * (any text) or ? (one character), with "
              "such a name",
              0, kMaxUserBytes},
    Parameter{"since_s", Kind::number, "only jobs submitted then or later, in seconds since 1970",
              0, kMaxTimeS},
    Parameter{"until_s", Kind::number, "only jobs submitted before, in seconds since 1970", 0,
              kMaxTimeS},
    Parameter{"failed", Kind::number,
              "1: only jobs that have failed or of which a task has failed for good", 0, 1, "0"},
    Parameter{"outcome",
              Kind::choice,
              "only jobs that are over and ended so",
              0,
              0,
              {},
              kWords<JobOutcome>},
    Parameter{"exit_code", Kind::number, "only jobs that are over and have this exit code", 0, 255},
    Parameter{
        "sort", Kind::choice,
        "order of the answer; but for `submitted` of the newest 10,000 jobs that match, in one "
        "page",
        0, 0, "submitted", kWords<JobSort>},
};
inline constexpr Parameter kTaskLimit{"limit", Kind::number, "most tasks of the answer",
                                      1,       kMaxLimit,    "1000"};
inline constexpr Parameter kTaskAfter{"after", Kind::number, "only tasks of higher indices", 0,
                                      kMaxIndex};
inline constexpr Parameter kTaskPhase{"phase", Kind::choice, "only tasks in this phase", 0,
                                      0,       {},           kWords<ShownPhase>};
inline constexpr Parameter kAttempts{
    "attempts", Kind::number, "1: with the attempts of each task", 0, 1, "0"};
inline constexpr std::array kJobQuery{
    kTaskLimit,
    kTaskAfter,
    kTaskPhase,
    kAttempts,
    Parameter{"wait_s", Kind::number, "seconds to wait for the end of the job; 0: answer at once",
              0, kMaxWaitS, "0"},
};
inline constexpr std::array kExplainQuery{
    kTaskLimit, kTaskAfter, kTaskPhase,
    Parameter{"attempts", Kind::number, "1: with the attempts of each task", 0, 1, "1"}};
inline constexpr std::array kExecQuery{
    Parameter{"wait_s", Kind::number, "seconds to wait for something new; 0: answer at once", 0,
              kMostExecWait / std::chrono::seconds{1}, "0"}};
inline constexpr std::array kLogQuery{
    Parameter{"stream", Kind::choice, "output stream", 0, 0, "out", kStreams},
    Parameter{"offset", Kind::number, "bytes from the beginning", 0, kMaxSigned, "0"},
    Parameter{"max", Kind::number, "bytes at most", 1, kMaxLogBytes, "65536"},
    Parameter{"attempt", Kind::number, "number of the attempt; 0: the newest", 0,
              std::numeric_limits<std::uint32_t>::max(), "0"},
    // JSON has to replace bytes that are not UTF-8; `raw` is for those who want the file.
    Parameter{"raw", Kind::number, "1: the bytes as they are; the other members in headers", 0, 1,
              "0"},
};
inline constexpr std::array kUsageQuery{
    Parameter{"job", Kind::number, "only tasks of this job", 1, kMaxSigned},
    Parameter{"task", Kind::number, "only the task of this index", 0, kMaxIndex},
    Parameter{"user", Kind::text, "only this user's tasks", 0, kMaxUserBytes},
    Parameter{"limit", Kind::number, "most entries of the answer", 1, UsageQuestion::kMost, "100"},
    Parameter{"after", Kind::text, "`next` of the page before", 0, kMaxCursorBytes},
};
inline constexpr std::array<Parameter, 0> kNoQuery{};
inline constexpr std::array kCostQuery{
    Parameter{"by", Kind::choice, "key that the cost is split by", 0, 0, "user", kWords<CostBy>},
};
inline constexpr std::array kDecisionsQuery{
    Parameter{"limit", Kind::number, "most entries of the answer", 1, kMaxLimit, "50"},
    Parameter{"job", Kind::number, "only decisions that did something with the job", 0, kMaxSigned},
    Parameter{"instance", Kind::number, "only decisions that did something with the instance", 0,
              kMaxSigned},
    Parameter{"master", Kind::text, "only decisions of this master", 0, kMaxUserBytes},
    Parameter{"within_s", Kind::number, "only decisions of the last seconds, this many; 0: all", 0,
              kMaxWithinS, "0"},
};

inline constexpr std::array kHistoryQuery{
    Parameter{"hours", Kind::number, "hours to look back", 1, 24, "24"},
};

inline constexpr std::array kServicesQuery{
    Parameter{"user", Kind::text, "only this user's services", 0, kMaxUserBytes},
};
inline constexpr std::array kEndpointsQuery{
    Parameter{"user", Kind::text, "only this user's services", 0, kMaxUserBytes},
    Parameter{"revision", Kind::text,
              "`revision` of the answer before: with `wait_s`, wait for another", 0,
              kMaxCursorBytes},
    Parameter{"wait_s", Kind::number, "seconds to wait for another list; 0: answer at once", 0,
              kMaxWaitS, "0"},
};

inline constexpr std::array kAuditQuery{
    Parameter{"limit", Kind::number, "most entries of the answer", 1, kMaxLimit, "100"},
    Parameter{"user", Kind::text, "only requests for this user", 0, kMaxUserBytes},
    Parameter{"within_s", Kind::number, "only requests of the last seconds, this many; 0: all", 0,
              kMaxWithinS, "0"},
};

}  // namespace muster::api::queries
