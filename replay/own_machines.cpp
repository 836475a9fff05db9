#include "replay/own_machines.hpp"

#include <fmt/format.h>

namespace muster::replay {

Expected<std::string, MachineError> CountedMachines::boot(const MachineOrder& order) {
  // A connector that ended between an order's record and the order finds the record, whether or not
  // a machine is left for it.
  if (reserve(order, 0)) return machines_.boot(order);
  return Failure<MachineError>{MachineError::refused,
                               "waits: no machine of the type " + order.type.name + " is free"};
}

bool CountedMachines::reserve(const MachineOrder& order, std::size_t /*rented*/) {
  if (types_.contains(order.instance)) return true;
  const auto has = has_.find(order.type.name);
  std::uint32_t& used = used_[order.type.name];
  if (has == has_.end() || used >= has->second) return false;
  ++used;
  types_[order.instance] = order.type.name;
  tell_room();
  return true;
}

void CountedMachines::release(InstanceId instance) {
  const auto type = types_.extract(instance);
  if (type.empty()) return;
  --used_[type.mapped()];
  tell_room();
}

void CountedMachines::keep_only(const std::set<InstanceId>& rented) {
  std::erase_if(types_, [&](const auto& each) {
    const auto& [instance, type] = each;
    if (rented.contains(instance)) return false;
    --used_[type];
    return true;
  });
  machines_.keep_only(rented);
}

std::optional<std::map<std::string, std::uint32_t>> CountedMachines::free_machines() const {
  std::map<std::string, std::uint32_t> free = has_;
  for (const auto& [type, count] : used_) free[type] -= count;
  return free;
}

void CountedMachines::tell_room() const {
  MachineEvent event;
  event.room = true;
  if (tell_) tell_(event);
}

std::string count_fault(const CloudConfig& config, const Catalog& catalog) {
  for (const std::string& family : config.own_families) {
    const InstanceType* first = nullptr;
    bool any = false;
    for (const InstanceType& type : catalog.types()) {
      if (type.family != family) continue;
      if (first == nullptr) first = &type;
      const auto count = config.max_by_type.find(type.name);
      any |= count != config.max_by_type.end() && count->second > 0;
    }
    if (any || first == nullptr) continue;
    return fmt::format(
        "cloud.own_families: in a replay cloud.max_by_type says how many machines there are, as "
        "{{ \"{}\" = 3 }}; it names no type of the family '{}'",
        first->name, family);
  }
  return {};
}

CloudProvider* RunCloud::make(const ProviderMaker& make, LoopbackOptions options) {
  options.machines = &machines_;
  if (config_.own_families.empty()) {
    options.catalog = &catalog_;
    provider_ = make(std::move(options));
    return provider_.get();
  }
  own_ = std::make_unique<CountedMachines>(machines_, config_.max_by_type);
  auto own = own_cloud(options, parts_.own, *own_, false);
  options.catalog = &parts_.rented;
  provider_ = beside_each_other(std::move(own), make(std::move(options)), parts_.own);
  return provider_.get();
}

}  // namespace muster::replay
