#include "tools/client/task_groups.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace muster::client {
namespace {

/// "0-3, 7", of numbers that rise; beyond some ranges only how many there are.
std::string ranges_text(const std::vector<std::uint64_t>& tasks, int most_ranges) {
  std::string text;
  int ranges = 0;
  for (std::size_t from = 0; from < tasks.size();) {
    std::size_t to = from;
    while (to + 1 < tasks.size() && tasks[to + 1] == tasks[to] + 1) ++to;
    if (++ranges > most_ranges) return fmt::format("{}, ... ({} tasks)", text, tasks.size());
    text += fmt::format("{}{}", from == 0 ? "" : ", ", tasks[from]);
    if (to > from) text += fmt::format("-{}", tasks[to]);
    from = to + 1;
  }
  return text;
}

}  // namespace

void TaskGroups::add(std::uint64_t task, const std::string& what) {
  const auto [at, is_new] = known_.try_emplace(what, groups_.size());
  if (is_new) groups_.emplace_back(what, std::vector<std::uint64_t>{});
  groups_[at->second].second.push_back(task);
}

std::string TaskGroups::text(const std::function<std::string(const std::string&, bool)>& words,
                             int most_ranges) {
  std::string lines;
  for (auto& [what, tasks] : groups_) {
    std::sort(tasks.begin(), tasks.end());
    const bool one = tasks.size() == 1;
    lines += fmt::format("task{} {}{}\n", one ? "" : "s", ranges_text(tasks, most_ranges),
                         words(what, one));
  }
  return lines;
}

}  // namespace muster::client
