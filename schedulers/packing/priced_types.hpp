#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/offering_table.hpp"

namespace muster {

/// The types of a catalog, and what each costs now on one market.
class PricedTypes {
 public:
  /// At the catalog's own prices, until others are learnt. The catalog has to outlive this.
  explicit PricedTypes(const Catalog& catalog, Market market = Market::on_demand);

  /// Takes in the present prices. True: some are others than before, or a type is on offer that was
  /// not.
  bool learn(const OfferingTable& offerings);

  Market market() const { return market_; }
  std::size_t size() const { return priced_.size(); }
  const InstanceType& operator[](TypeId type) const { return (*catalog_)[type]; }
  const std::vector<InstanceType>& all() const { return catalog_->types(); }
  /// Of a type that is not on offer: its price on demand.
  Price price(TypeId type) const { return priced_[type.value].price; }
  double usd_h(TypeId type) const { return price(type).usd_h(); }
  bool offered(TypeId type) const { return priced_[type.value].offered; }
  /// Those on offer, the dearest first, ties in the order of the catalog.
  const std::vector<TypeId>& by_descending_price() const { return by_descending_price_; }

 private:
  struct Priced {
    Price price;
    bool offered = false;

    friend bool operator==(const Priced&, const Priced&) = default;
  };

  const Catalog* catalog_;
  Market market_;
  std::optional<std::uint64_t> known_;  ///< the newest change of an offering that is taken in
  std::vector<Priced> priced_;          ///< of each type
  std::vector<TypeId> by_descending_price_;
};

}  // namespace muster
