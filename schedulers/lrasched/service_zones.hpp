#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedulers/policy.hpp"

namespace muster::lrasched {

/// An offering of a single zone.
struct ZoneOffer {
  std::string name;
  std::uint32_t zone = 0;  ///< its number
  Price price;
};

/// The zones over which the replicas of services are spread, by number. A zone is that of an
/// offering, or else the label of a type. Zone 0 stands for those that are not told apart: unknown
/// ones, and offerings that cost more than the cheapest zone of their type and market by more than
/// the bound. All is zone 0 where there are no two zones.
class ServiceZones {
 public:
  /// `spread`: the bound, as a share of the price; 0: no zones are told apart. Takes
  /// O(offerings and types). The view outlives this.
  ServiceZones(const ClusterView& view, double spread);

  bool any() const { return !names_.empty(); }
  /// That of the instance. O(log of zones).
  std::uint32_t of(const InstanceRow& row) const;
  /// That of the type where offerings have no zones: of its label.
  std::uint32_t of(TypeId type) const;
  /// By which the type is rented on the market, by rising zones: those within the bound that the
  /// cloud has now. Nothing: by the offering without a zone.
  std::vector<ZoneOffer> offers(TypeId type, Market market) const;

 private:
  void find_names();
  std::uint32_t number(const std::string& name) const;
  bool is_had(const OfferingRow& row) const;

  const ClusterView& view_;
  double spread_;
  std::vector<std::string> names_;            ///< sorted; empty: zones are not told apart
  std::vector<std::optional<Price>> most_{};  ///< within the bound, of each type and market
};

}  // namespace muster::lrasched
