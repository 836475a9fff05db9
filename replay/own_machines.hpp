#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "actors/cloud/machine_backend.hpp"
#include "actors/cloud/providers.hpp"

namespace muster::replay {

/// Machines of one's own in a run: as many of each type as there are, over the machines of the run.
/// Says how many are free, as the connector of joined machines does.
class CountedMachines final : public MachineBackend {
 public:
  /// `machines` has to outlive this; of a type that is not in `has` there is no machine.
  CountedMachines(MachineBackend& machines, std::map<std::string, std::uint32_t> has)
      : machines_(machines), has_(std::move(has)) {}

  Expected<std::string, MachineError> boot(const MachineOrder& order) override;
  bool halt(InstanceId instance, const std::string& machine, Duration grace,
            std::function<void()> done) override {
    return machines_.halt(instance, machine, grace, std::move(done));
  }
  bool reserve(const MachineOrder& order, std::size_t rented) override;
  void release(InstanceId instance) override;
  std::optional<std::map<std::string, std::uint32_t>> free_machines() const override;
  bool adopt(const RentedRecord& record) override { return machines_.adopt(record); }
  /// Machines of other instances come free.
  void keep_only(const std::set<InstanceId>& rented) override;
  void watch(std::function<void(const MachineEvent&)> tell) override { tell_ = std::move(tell); }

 private:
  void tell_room() const;

  MachineBackend& machines_;
  std::map<std::string, std::uint32_t> has_;
  std::map<std::string, std::uint32_t> used_;
  std::map<InstanceId, std::string> types_;  ///< of those in use
  std::function<void(const MachineEvent&)> tell_;
};

/// Fault of a config that names a family of machines of one's own and no machine of it; empty: no
/// fault.
std::string count_fault(const CloudConfig& config, const Catalog& catalog);

/// The cloud of a run: instances of the provider, and machines of one's own beside them where the
/// config names their families. `cloud.max_by_type` says how many of these there are.
class RunCloud {
 public:
  /// All have to outlive this.
  RunCloud(const CloudConfig& config, const Catalog& catalog, MachineBackend& machines)
      : config_(config),
        catalog_(catalog),
        parts_(parts_of(catalog, config)),
        machines_(machines) {}

  /// Makes the provider, which stays here. Catalog and machines of the options are set. Called
  /// once.
  CloudProvider* make(const ProviderMaker& make, LoopbackOptions options);

 private:
  const CloudConfig& config_;
  const Catalog& catalog_;
  CatalogParts parts_;
  MachineBackend& machines_;
  std::unique_ptr<CountedMachines> own_;
  std::unique_ptr<CloudProvider> provider_;
};

}  // namespace muster::replay
