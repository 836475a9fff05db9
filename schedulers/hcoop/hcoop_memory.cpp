// What HCoop remembers over a restart: how often spot instances were taken from under a task. All
// else follows from the state.

#include <map>
#include <nlohmann/json.hpp>

#include "schedulers/hcoop/hcoop_policy.hpp"

namespace muster::hcoop {

using nlohmann::json;

std::string HcoopPolicy::learnt(const ClusterState&) const {
  json lines = json::array();
  for (const auto& [task, count] : waiting_.interruptions()) {
    lines.push_back({task.value, count});
  }
  return json{{"interruptions", lines}}.dump();
}

bool HcoopPolicy::recall(std::string_view text, const ClusterState& state) {
  built_ = false;
  std::map<TaskId, std::uint32_t>& known = waiting_.interruptions();
  known.clear();
  if (text.empty()) return true;
  const json learnt = json::parse(text, nullptr, false);
  if (!learnt.is_object() || !learnt.contains("interruptions")) return false;
  for (const json& line : learnt["interruptions"]) {
    if (!line.is_array() || line.size() != 2) return false;
    if (!line[0].is_number_unsigned() || !line[1].is_number_unsigned()) return false;
    const TaskId task{line[0].get<std::uint64_t>()};
    if (state.find(task) != nullptr) known[task] = line[1].get<std::uint32_t>();
  }
  return true;
}

}  // namespace muster::hcoop
