#include "storage/task_filter.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace muster {

using nlohmann::json;

TaskFilter::TaskFilter(const std::string& text, std::uint32_t limit) {
  if (limit > 0) most = std::min(limit, kMost);
  const json wanted = json::parse(text, nullptr, false);
  if (!wanted.is_object()) return;
  const json from = wanted.value("after_task", json());
  if (from.is_number_unsigned()) {
    const std::uint64_t highest = std::numeric_limits<std::uint32_t>::max();
    after = static_cast<std::uint32_t>(std::min(from.get<std::uint64_t>(), highest));
  }
  const json word = wanted.value("phase", json());
  if (word.is_string()) phase = word.get<std::string>();
  tasks_only = wanted.value("tasks_only", json()) == true;
}

std::string TaskFilter::text() const {
  json wanted = json::object();
  if (after) wanted["after_task"] = *after;
  if (!phase.empty()) wanted["phase"] = phase;
  if (tasks_only) wanted["tasks_only"] = true;
  return wanted.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace muster
