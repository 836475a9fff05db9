#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/enum_words.hpp"
#include "tools/client/answers.hpp"
#include "tools/client/text_table.hpp"

// The answers as people read them: whole lines of plain text.

namespace muster::client {

/// The value's word; a value of a later version of the API has no word here.
template <Worded E>
std::string_view shown_word(E value) {
  const bool is_known = static_cast<std::size_t>(value) < kEnumerators<E>;
  return is_known ? name_of(value) : std::string_view("unknown (a later version)");
}

/// "at least ", before a figure that lacks the part of one who does not answer; else nothing.
std::string_view least(bool complete);

/// A table of jobs, page by page.
class JobTable {
 public:
  /// `of_past`: of jobs that are over, with how long they took and when they ended.
  explicit JobTable(bool of_past = false);
  std::string next(const std::vector<JobView>& jobs);

 private:
  bool of_past_;
  TextTable table_;
};

/// A job and a table of its tasks, page by page.
class TaskTable {
 public:
  std::string next(const JobPage& page);

 private:
  std::optional<TextTable> table_{};  ///< made with the first page
  bool measured_ = false;             ///< the usage of some task is known
};

/// A job, and where its tasks are, and why: a line for tasks that are alike; page by page. Below a
/// task its attempts, where they say more.
class WhyLines {
 public:
  std::string next(const JobPage& page);

 private:
  bool begun_ = false;
};

/// A table of instances.
std::string view(const InstancesView& shown);
/// A table of nodes.
std::string view(const NodesView& shown);
/// A line for each kind of thing, then caps and trouble.
std::string view(const StatusAnswer& status);
/// The masters and sites that do not answer, since when, and their last figures.
std::string silence_text(const SilentView& silent);
/// A table of parts, idleness and the total. `by`: the key of the parts, as it was asked for.
std::string view(const CostAnswer& cost, const std::string& by);
/// A table of users and of what their tasks have cost today, and since when that is counted.
std::string view(const TodayAnswer& today);
/// The launches, the places of the tasks or why they would wait, and the cost.
std::string view(const PlanView& plan);
/// Of these lines those on tasks that can never run; empty: each of them may run.
std::string never_text(const PlanView& plan);

/// "3 waiting, 4 running, 9 of 16 finished": how far the jobs' tasks are.
std::string progress_line(const std::vector<JobView>& jobs);

/// A job's figures and its request, without its tasks.
std::string job_head(const JobPage& page);

/// "42s", "3m07s", "2h05m"; "-": not known.
std::string ran_text(const std::optional<double>& seconds);

/// Times in sentences of the API, "2026-07-01 12:34:56 UTC", as all others are shown here.
std::string in_local_time(std::string text);

/// "$0.0123": with enough digits that small amounts are seen.
std::string usd_text(double usd);

/// "2026-07-01 12:34:56" from seconds since 1970, in the time zone of TZ or else the machine's.
std::string time_text(double seconds);
std::string time_text(Instant at);
/// "-" where it is not known, as in the tables.
inline std::string time_or_dash(const std::optional<Instant>& at) {
  return at ? time_text(*at) : "-";
}
/// Likewise.
template <class Number>
std::string number_or_dash(const std::optional<Number>& number) {
  return number ? std::to_string(*number) : "-";
}

}  // namespace muster::client
