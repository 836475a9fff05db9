#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/job_cursor.hpp"
#include "model/resources.hpp"
#include "model/usage.hpp"
#include "model/view_fields.hpp"

// Running tasks with what they take of their instances, as `muster top` shows them.

namespace muster {

/// A place in the list of running tasks of one master.
struct UsagePlace {
  JobPlace job{};              ///< the job that is looked at next, or the first one behind it
  std::uint64_t position = 0;  ///< of the task in that job that is looked at next
};

void fields(auto& a, Like<UsagePlace> auto& v) {
  a("job", v.job);
  a("position", v.position);
}

/// Asks a master for its running tasks and what they take. Their workers are asked by it.
struct UsageQuestion {
  static constexpr std::uint32_t kUnlessAsked = 100;
  static constexpr std::uint32_t kMost = 250;
  /// How long a master waits for workers, before it answers without those that have said nothing.
  static constexpr Duration kWait = std::chrono::milliseconds{1500};

  JobId job{};                           ///< only its tasks; none: those of all jobs
  std::optional<std::uint32_t> index{};  ///< only the task of that index
  std::string user{};                    ///< only those of that user; empty: of anybody
  UsagePlace from{};
  std::uint32_t most = kUnlessAsked;

  std::size_t bound() const { return std::clamp<std::size_t>(most, 1, kMost); }
};

void fields(auto& a, Like<UsageQuestion> auto& v) {
  a("job", v.job);
  a("index", v.index);
  a("user", v.user);
  a("from", v.from);
  a("most", v.most);
}

/// A running task, what it has asked for and what it takes.
struct TaskUsageView {
  static constexpr std::string_view kSchema = "TaskUsage";

  JobId job;
  std::uint32_t index = 0;
  Attempt attempt = 0;
  std::string name;
  std::string user;
  InstanceId instance{};
  std::string instance_type{};
  Resources asked;
  std::optional<double> running_s{};
  std::optional<double> cores{};
  std::optional<double> cpu_s{};
  std::optional<double> memory_mib{};
  std::optional<double> peak_mib{};
  std::optional<double> disk_mib{};
};

void fields(auto& a, Like<TaskUsageView> auto& v) {
  a(always("job", "id of its job"), v.job);
  a(always("task", "its index in the job"), v.index);
  a(always("attempt", "number of the attempt that runs"), v.attempt);
  a(always("name", "name of its job"), v.name);
  a(always("user", "user of its job"), v.user);
  a(always("instance", "id of its instance"), v.instance);
  a(or_null("instance_type", "type of its instance"), v.instance_type);
  a(always("asked", "amounts that are reserved for it there"), v.asked);
  a(always("running_s", "how long the attempt runs, by the clock; null: not known"), v.running_s);
  a(always("cores", "processors that it keeps busy at present; null: not known"), v.cores);
  a(always("cpu_s", "processor time of the attempt so far; null: not known"), v.cpu_s);
  a(always("memory_mib", "memory that it holds at present; null: not known"), v.memory_mib);
  a(always("peak_mib", "the most memory that the attempt has held; null: not known"), v.peak_mib);
  a(always("disk_mib", "disk that its folder took when the worker measured that; null: not known"),
    v.disk_mib);
}

/// A page of the running tasks of a master.
struct UsageView {
  static constexpr std::string_view kSchema = "Usage";

  std::vector<TaskUsageView> tasks;
  std::optional<UsagePlace> place{};  ///< more may run, from there on
  std::string next{};                 ///< that place and its master, as users get it
};

void fields(auto& a, Like<UsageView> auto& v) {
  a(always("tasks", "running tasks of the page; a page may be empty though others follow"),
    v.tasks);
  a(inside("place"), v.place);
  a(or_null("next", "value of after for the next page; null: this is the last one"), v.next);
}

}  // namespace muster
