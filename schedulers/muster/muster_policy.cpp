#include "schedulers/muster/muster_policy.hpp"

#include <nlohmann/json.hpp>

namespace muster::own {
namespace {

using nlohmann::json;

/// The words under the name; empty when they are absent.
std::string words_in(const json& all, const char* name) {
  return all.is_object() && all.contains(name) && all[name].is_string()
             ? all[name].get<std::string>()
             : std::string();
}

}  // namespace

MusterPolicy::MusterPolicy(const Catalog& catalog, const MusterParams& params)
    : rented_(catalog, params), fleet_([&](Market market) {
        return std::make_unique<FleetPolicy>(catalog, market, params);
      }) {}

std::string MusterPolicy::save_state(const ClusterState& state) const {
  const json both{{"rented", rented_.save_state(state)}, {"fleet", fleet_.save_state(state)}};
  return both.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool MusterPolicy::load_state(std::string_view text, const ClusterView& view) {
  const json all = json::parse(text, nullptr, false);
  if (!words_in(all, "rented").empty()) {
    return rented_.load_state(words_in(all, "rented"), view) &&
           fleet_.load_state(words_in(all, "fleet"), view);
  }
  // Earlier versions kept a policy for each market, which both knew the waits of all tasks, and in
  // its words those of the fleet.
  const std::string on_demand = words_in(all, "on_demand");
  if (view.rents()) return rented_.load_state(on_demand, view);
  const auto fleet_of = [&](const char* market) {
    return words_in(json::parse(words_in(all, market), nullptr, false), "fleet");
  };
  json split{{"on_demand", fleet_of("on_demand")}};
  if (all.is_object() && all.contains("spot")) split["spot"] = fleet_of("spot");
  return !on_demand.empty() && fleet_.load_state(split.dump(), view);
}

}  // namespace muster::own
