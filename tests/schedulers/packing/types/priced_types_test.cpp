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

/// "both" has a counted number of instances left.
OfferingTable counted_table(const Catalog& catalog) {
  OfferingTable table(catalog);
  for (const Market market : {Market::on_demand, Market::spot}) {
    Offering offering{"both", market, "", Price::from_usd_h(0.1)};
    offering.free = 3;
    table.apply({market == Market::spot ? 2U : 1U, Instant{}, offering}, catalog, 0);
  }
  return table;
}

TEST(PricedTypes, a_type_is_counted_where_another_one_is_not) {
  const Catalog catalog = two_types();
  OfferingTable table = counted_table(catalog);
  PricedTypes types(catalog, MarketChoice::any);
  EXPECT_FALSE(types.counted(kBoth)) << "nothing was told";
  EXPECT_TRUE(types.learn(table));
  EXPECT_TRUE(types.counted(kBoth));
  EXPECT_FALSE(types.counted(kDemand));
  EXPECT_EQ(types.by_descending_price(), (std::vector<TypeId>{kBoth, kDemand})) << "used first";
  Offering demand{"demand", Market::on_demand, "", Price::from_usd_h(0.6)};
  demand.free = 0;
  table.apply({3, Instant{}, demand}, catalog, 0);
  EXPECT_TRUE(types.learn(table));
  EXPECT_FALSE(types.counted(kBoth)) << "all are counted";
}

TEST(PricedTypes, how_many_are_free_is_no_change_of_prices) {
  const Catalog catalog = two_types();
  OfferingTable table = counted_table(catalog);
  PricedTypes types(catalog, MarketChoice::any);
  types.learn(table);
  Offering offering{"both", Market::on_demand, "", Price::from_usd_h(0.1)};
  offering.free = 0;
  table.apply({3, Instant{}, offering}, catalog, 0);
  EXPECT_FALSE(types.learn(table));
}

TEST(ReservationPrices, counted_types_set_no_price_where_another_type_holds_the_task) {
  const Catalog catalog = two_types();
  ReservationPrices prices(catalog, MarketChoice::any);
  ClusterState state(catalog);
  for (const Market market : {Market::on_demand, Market::spot}) {
    OfferingChange change{
        market == Market::spot ? 2U : 1U, Instant{}, {"both", market, "", Price::from_usd_h(0.1)}};
    change.offering.free = 3;
    state.apply({Instant{}, OfferingChanged{change}});
  }
  prices.learn(state);
  const ShapeId small = prices.add({Demands(Resources::of(0, 4, 16))});
  EXPECT_EQ(prices.of(small).type, kDemand);
  EXPECT_EQ(prices.of(small).usd_h, 0.6);
  EXPECT_TRUE(prices.on(small, kBoth).fits);
  const ShapeId large = prices.add({Demands(Resources::of(0, 8, 32))});
  EXPECT_EQ(prices.of(large).type, kBoth) << "nothing else holds it";
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
