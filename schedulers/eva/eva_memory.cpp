// Eva's memory in words: the co-location table, and how often Full Reconfiguration was adopted.

#include <nlohmann/json.hpp>

#include "schedulers/eva/eva_policy.hpp"

namespace muster::eva {

using nlohmann::json;

std::string EvaPolicy::save_state(const ClusterState& state) const {
  const EventRate& events = lifetime_.events();
  return json{{"colocation", memory_.words(state)},
              {"events",
               {events.count(), events.first().time_since_epoch().count(),
                events.last().time_since_epoch().count()}},
              {"full", lifetime_.full_count()}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

bool EvaPolicy::load_state(std::string_view text, const ClusterView& view) {
  const json all = json::parse(text, nullptr, false);
  if (!all.is_object() || !all.contains("colocation") || !all.contains("events")) return false;
  if (!all.contains("full") || !all["full"].is_number_unsigned()) return false;
  const json& events = all["events"];
  if (!events.is_array() || events.size() != 3 || !events[0].is_number_unsigned() ||
      !events[1].is_number_integer() || !events[2].is_number_integer()) {
    return false;
  }
  // The table last, so that refused text leaves the policy as it was.
  if (!memory_.restore(all["colocation"], view.state)) return false;
  lifetime_.restore(
      {events[0].get<std::uint64_t>(), Instant{Duration{events[1].get<std::int64_t>()}},
       Instant{Duration{events[2].get<std::int64_t>()}}},
      all["full"].get<std::uint64_t>());
  return true;
}

}  // namespace muster::eva
