#include "tools/client/usage_views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/rounded_text.hpp"
#include "tools/client/printable.hpp"
#include "tools/client/text_table.hpp"
#include "tools/client/views.hpp"

// Running tasks with what they take of their instances, as `muster top` shows them.

namespace muster::client {
namespace {

constexpr double kMibAGib = 1024;

/// To hundredths, with no more digits than it needs.
std::string plain(double number) {
  return fmt::format("{:g}", std::round(number * 100) / 100);
}

std::string seat_of(const TaskUsageView& task) {
  const std::string type = task.instance_type.empty() ? "" : " (" + task.instance_type + ")";
  return fmt::format("instance {}{}", task.instance.value, type);
}

/// "0.98/2": the processors that it keeps busy, of those that are reserved.
std::string cores_text(const TaskUsageView& task) {
  const std::string now = task.cores ? fmt::format("{:.2f}", *task.cores) : "-";
  return now + "/" + plain(task.asked[Resource::cpu]);
}

std::string memory_text(const TaskUsageView& task) {
  return fmt::format("{}/{:.0f}", mib_text(task.memory_mib),
                     task.asked[Resource::memory] * kMibAGib);
}

std::optional<double> figure_of(const TaskUsageView& task, UsageSort by) {
  return by == UsageSort::cpu ? task.cores : task.memory_mib;
}

}  // namespace

void sort_usage(std::vector<TaskUsageView>& tasks, UsageSort by) {
  std::stable_sort(tasks.begin(), tasks.end(), [by](const auto& a, const auto& b) {
    return figure_of(a, by).value_or(-1) > figure_of(b, by).value_or(-1);
  });
}

std::string usage_table(const std::vector<TaskUsageView>& tasks, std::size_t most) {
  const bool has_gpus = std::any_of(tasks.begin(), tasks.end(), [](const TaskUsageView& task) {
    return task.asked[Resource::gpu] > 0;
  });
  const bool has_disk = std::any_of(tasks.begin(), tasks.end(), [](const TaskUsageView& task) {
    return task.disk_mib.has_value();
  });
  std::vector<TextTable::Column> columns{{"TASK"},      {"USER"},      {"NAME"},      {"WHERE"},
                                         {"CPU", true}, {"MIB", true}, {"PEAK", true}};
  if (has_disk) columns.push_back({"DISK", true});
  if (has_gpus) columns.push_back({"GPUS", true});
  columns.insert(columns.end(), {{"CPU TIME", true}, {"RAN", true}});
  TextTable table(std::move(columns));
  for (std::size_t i = 0; i < std::min(most, tasks.size()); ++i) {
    const TaskUsageView& task = tasks[i];
    std::vector<std::string> row{fmt::format("{}:{}", task.job.value, task.index),
                                 task.user,
                                 task.name,
                                 seat_of(task),
                                 cores_text(task),
                                 memory_text(task),
                                 mib_text(task.peak_mib)};
    if (has_disk) row.push_back(mib_text(task.disk_mib));
    if (has_gpus) row.push_back(plain(task.asked[Resource::gpu]));
    row.push_back(cpu_text(task.cpu_s));
    row.push_back(ran_text(task.running_s));
    table.add_row(std::move(row));
  }
  return table.text();
}

std::string usage_line(const std::vector<TaskUsageView>& tasks) {
  double cores = 0;
  double cpus = 0;
  double mib = 0;
  double asked_mib = 0;
  for (const TaskUsageView& task : tasks) {
    cores += task.cores.value_or(0);
    cpus += task.asked[Resource::cpu];
    mib += task.memory_mib.value_or(0);
    asked_mib += task.asked[Resource::memory] * kMibAGib;
  }
  return fmt::format("{}: {:.2f} of {} cpus, {:.0f} of {:.0f} MiB",
                     count_text(tasks.size(), "running task"), cores, plain(cpus), mib, asked_mib);
}

std::string used_text(const JobView& job, double asked_gib) {
  /// A peak below this part of the memory asked for, and by kWorthMib at least, is worth a hint.
  constexpr double kFarBelow = 0.5;
  constexpr double kWorthMib = 256;
  std::string text = "processor time " + cpu_text(job.cpu_s);
  if (!job.peak_mib) return text;
  text += fmt::format("; memory peak {} MiB", mib_text(job.peak_mib));
  const double asked = asked_gib * kMibAGib;
  if (!(asked > 0)) return text;
  text += fmt::format(" of the {:.0f} MiB that a task asks for", asked);
  const bool is_far = *job.peak_mib < asked * kFarBelow && asked - *job.peak_mib >= kWorthMib;
  // One that failed may have done so before it took anything.
  return is_far && job.state == ShownState::completed ? text + ": much less would do" : text;
}

std::string cpu_text(const std::optional<double>& seconds) {
  constexpr double kShort = 10;
  if (!seconds || !(*seconds >= 0)) return "-";
  return *seconds < kShort ? fmt::format("{:.2f}s", *seconds) : ran_text(seconds);
}

std::string mib_text(const std::optional<double>& mib) {
  if (!mib || !(*mib >= 0)) return "-";
  return fmt::format("{:.0f}", std::ceil(*mib));
}

}  // namespace muster::client
