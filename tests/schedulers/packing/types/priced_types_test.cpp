#include "schedulers/packing/types/priced_types.hpp"

#include <gtest/gtest.h>

#include "schedulers/packing/types/reservation_price.hpp"
#include "tests/schedulers/catalogs.hpp"

namespace muster::testing {
namespace {

/// "both" costs less on the spot market, "demand" is not on offer there.
Catalog two_types() {
  std::vector<InstanceType> types{type_of("both", "c", Resources::of(0, 8, 32), 1),
                                  type_of("demand", "c", Resources::of(0, 4, 16), 0.6)};
  types[0].spot = Price::from_usd_h(0.5);
  return Catalog(std::move(types));
}
constexpr TypeId kBoth{0}, kDemand{1};

TEST(PricedTypes, who_looks_at_both_markets_sees_the_cheaper_one_of_each_type) {
  const Catalog catalog = two_types();
  const PricedTypes types(catalog, MarketChoice::any);
  EXPECT_EQ(types.usd_h(kBoth), 0.5);
  EXPECT_EQ(types.market_of(kBoth), Market::spot);
  EXPECT_EQ(types.usd_h(kDemand), 0.6);
  EXPECT_EQ(types.market_of(kDemand), Market::on_demand);
  EXPECT_EQ(types.price(kBoth, Market::on_demand)->usd_h(), 1);
  EXPECT_EQ(types.price(kBoth, MarketChoice::on_demand)->usd_h(), 1);
  EXPECT_FALSE(types.price(kDemand, Market::spot));
}

TEST(PricedTypes, who_looks_at_one_market_takes_everybody_for_its_own) {
  const Catalog catalog = two_types();
  const PricedTypes types(catalog, MarketChoice::on_demand);
  EXPECT_EQ(types.price(kBoth, MarketChoice::spot)->usd_h(), 1);
  EXPECT_FALSE(types.price(kBoth, Market::spot));
}

TEST(PricedTypes, of_equal_prices_it_is_on_demand) {
  const Catalog catalog = two_types();
  OfferingTable table(catalog);
  table.apply({1, Instant{}, {"both", Market::spot, "", Price::from_usd_h(1)}}, catalog, 0);
  PricedTypes types(catalog, MarketChoice::any);
  EXPECT_TRUE(types.learn(table));
  EXPECT_EQ(types.market_of(kBoth), Market::on_demand);
}

TEST(ReservationPrices, each_choice_of_markets_has_its_own) {
  const Catalog catalog = two_types();
  ReservationPrices prices(catalog, MarketChoice::any);
  const ShapeId shape = prices.add({Demands(Resources::of(0, 4, 16))});
  EXPECT_EQ(prices.of(shape).type, kBoth);
  EXPECT_EQ(prices.of(shape, MarketChoice::on_demand).type, kDemand);
  EXPECT_EQ(prices.of(shape, MarketChoice::spot).usd_h, 0.5);
}

}  // namespace
}  // namespace muster::testing
