#pragma once

#include <set>
#include <utility>

#include "replay/own_machines.hpp"
#include "tests/simulation/machines.hpp"

namespace muster::ring {

/// The machines of a park as one of two clouds knows them: of one type, or of all others.
class SharedPark final : public MachineBackend {
 public:
  SharedPark(MachinePark& park, TypeId own, bool has_own)
      : park_(park), own_(own), has_own_(has_own) {}

  Expected<std::string, MachineError> boot(const MachineOrder& order) override {
    return park_.boot(order);
  }
  bool halt(InstanceId instance, const std::string& machine, Duration grace,
            std::function<void()> done) override {
    return park_.halt(instance, machine, grace, std::move(done));
  }
  bool adopt(const RentedRecord& record) override { return park_.adopt(record); }
  void keep_only(const std::set<InstanceId>& rented) override {
    park_.keep_only(rented, [this](TypeId type) { return (type == own_) == has_own_; });
  }

 private:
  MachinePark& park_;
  TypeId own_;
  bool has_own_;
};

/// Machines of one's own of the type "own" beside those that the simulated cloud rents out.
struct OwnPark {
  OwnPark(MachinePark& park, const Catalog& catalog, std::uint32_t count)
      : config(config_of(count)),
        catalogs(parts_of(catalog, config)),
        own_share(park, *catalog.find("own"), true),
        rented(park, *catalog.find("own"), false),
        machines(own_share, config.max_by_type) {}
  OwnPark(const OwnPark&) = delete;
  OwnPark& operator=(const OwnPark&) = delete;

  static CloudConfig config_of(std::uint32_t count) {
    CloudConfig config;
    config.own_families = {"own"};
    config.max_by_type = {{"own", count}};
    return config;
  }

  CloudConfig config;
  CatalogParts catalogs;
  SharedPark own_share, rented;
  replay::CountedMachines machines;
};

}  // namespace muster::ring
