#pragma once

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "schedulers/packing/types/priced_types.hpp"
#include "schedulers/policy.hpp"

namespace muster {

/// Type and market that an instance is rented as.
struct RentedAs {
  TypeId type;
  Market market = Market::on_demand;
  Price price;
};

/// Offerings that a policy that looks at both markets can rent now.
class MarketOffers {
 public:
  using Rests = std::function<bool(TypeId, Market)>;

  /// `rests`: the cloud does not have the type there now. The types have to outlive this.
  MarketOffers(const PricedTypes& types, const Rests& rests);
  MarketOffers(const PricedTypes& types, const ClusterView& view)
      : MarketOffers(types, [&](TypeId type, Market on) { return view.rests(type, on); }) {}

  const PricedTypes& types() const { return *types_; }
  bool rests(TypeId type, Market market) const {
    return rests_[type.value][static_cast<std::size_t>(market)];
  }
  /// Of each type on each market: the cloud does not have it there now.
  const std::vector<std::array<bool, 2>>& rests() const { return rests_; }
  /// The type on the market of the choice on which it costs least, on demand when both cost equally
  /// much. `resting`: also what the cloud does not have now. Nothing: it cannot be rented.
  std::optional<RentedAs> of(TypeId type, MarketChoice markets, bool resting = false) const;

 private:
  const PricedTypes* types_;
  std::vector<std::array<bool, 2>> rests_;  ///< of each type on each market
};

}  // namespace muster
