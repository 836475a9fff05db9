#include "schedulers/muster/free_machines.hpp"

namespace muster::own {

FreeMachines::FreeMachines(const RoundParts& parts, double horizon_h) {
  const PricedTypes& types = parts.prices.types();
  for (std::uint32_t i = 0; i < types.size(); ++i) {
    const TypeId type{i};
    if (!types.counted(type) || parts.view.rests(type, Market::on_demand)) continue;
    const std::uint32_t left = parts.input.left(type).value_or(0);
    if (left > 0) free_[type] = {to_rent(types, type, Market::on_demand, horizon_h), left};
  }
}

std::vector<TypeId> FreeMachines::types() const {
  std::vector<TypeId> all;
  for (const auto& [type, free] : free_) all.push_back(type);
  return all;
}

std::optional<Host> FreeMachines::take(TypeId type) {
  const auto found = free_.find(type);
  if (found == free_.end() || found->second.left == 0) return std::nullopt;
  --found->second.left;
  return found->second.host;
}

}  // namespace muster::own
