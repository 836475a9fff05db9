#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/job.hpp"
#include "model/offering_table.hpp"

namespace muster {

/// The types of a catalog, and what each costs now on one market, or on the cheaper one of both.
class PricedTypes {
 public:
  /// At the catalog's own prices, until others are learnt. The catalog has to outlive this.
  explicit PricedTypes(const Catalog& catalog, MarketChoice markets = MarketChoice::on_demand);

  /// Takes in the present prices, each with the surcharge. True: some are others than before, or a
  /// type is on offer that was not.
  bool learn(const OfferingTable& offerings, Price surcharge = {});
  Price surcharge() const { return surcharge_; }

  /// Which markets it looks at.
  MarketChoice markets() const { return markets_; }
  /// The market that a type is rented on for policies that look at one; the cheaper one of both,
  /// and on demand where they cost equally much.
  Market market_of(TypeId type) const { return priced_[type.value].market; }
  std::size_t size() const { return priced_.size(); }
  const InstanceType& operator[](TypeId type) const { return (*catalog_)[type]; }
  const std::vector<InstanceType>& all() const { return catalog_->types(); }
  /// Of a type that is not on offer: its price on demand.
  Price price(TypeId type) const { return priced_[type.value].price; }
  double usd_h(TypeId type) const { return price(type).usd_h(); }
  bool offered(TypeId type) const { return priced_[type.value].offered; }
  /// The cloud counts how many instances of it are left, as of machines of one's own, and does not
  /// of some other type. Such a type is used first and sets no price: when all of its machines are
  /// in use, work costs what the others cost.
  bool counted(TypeId type) const { return any_uncounted_ && priced_[type.value].counted; }
  /// Price of the type on a market; nothing when it is not on offer there, or that market is not
  /// looked at.
  std::optional<Price> price(TypeId type, Market market) const;
  /// The least that it costs on the markets of the choice that are looked at; one that looks at a
  /// single market takes every choice for that.
  std::optional<Price> price(TypeId type, MarketChoice choice) const;
  /// Those on offer, the counted ones first, of each the dearest first, ties in the order of the
  /// catalog.
  const std::vector<TypeId>& by_descending_price() const { return by_descending_price_; }

 private:
  struct Priced {
    Price price;
    bool offered = false;
    bool counted = false;  ///< on all markets that are looked at
    Market market = Market::on_demand;
    std::array<std::optional<Price>, 2> on{};  ///< each market

    friend bool operator==(const Priced&, const Priced&) = default;
  };

  const Catalog* catalog_;
  MarketChoice markets_;
  std::optional<std::uint64_t> known_;  ///< the newest change of an offering that is taken in
  Price surcharge_;
  std::vector<Priced> priced_;  ///< of each type
  bool any_uncounted_ = false;  ///< of those on offer
  std::vector<TypeId> by_descending_price_;
};

}  // namespace muster
