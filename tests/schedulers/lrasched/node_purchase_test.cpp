#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedulers/lrasched/new_nodes.hpp"
#include "tests/schedulers/lrasched/placement_data.hpp"

namespace muster::lrasched {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Services on old nodes of one dimension, and offers.
struct Market {
  NodeRooms rooms{1};
  std::vector<Service> services;
  std::vector<NodeOffer> offers;
  std::uint32_t most_nodes = 100;
  PeriodPlacement placement{};

  Purchases buy() {
    const Demand demand(services);
    placement = place_period(rooms, services, demand, {});
    return buy_nodes(rooms, services, demand, {offers, most_nodes}, placement);
  }
};

TEST(BuyNodes, UsesOldRoomFirst) {
  Market market;
  market.rooms.add({1});
  market.services = {{{1}, 2, 1}};
  market.offers = {{{1}, 1}};
  EXPECT_THAT(market.buy().offers, ElementsAre(0));
  EXPECT_THAT(market.placement.spots[0], ElementsAre(Spot{0, 1}, Spot{1, 1}));
  EXPECT_THAT(market.placement.whole, ElementsAre(1));
}

TEST(BuyNodes, TakesTheOfferOfTheLeastPriceForWhatItHolds) {
  Market market;
  market.services = {{{1}, 8, 8}};
  market.offers = {{{4}, 5}, {{8}, 9}, {{1}, 1.5}};
  EXPECT_THAT(market.buy().offers, ElementsAre(1));
}

TEST(BuyNodes, PaysForNoRoomThatALimitForbidsToUse) {
  Market market;
  market.services = {{{1}, 3, 1}};
  market.offers = {{{8}, 4}, {{1}, 1.5}};
  EXPECT_THAT(market.buy().offers, ElementsAre(1, 1, 1));
}

TEST(BuyNodes, NamesTheDimensionThatNoOfferHas) {
  Market market;
  market.rooms = NodeRooms(2);
  market.services = {{{1, 9}, 1, 1}, {{1, 1}, 1, 1}};
  market.offers = {{{2, 4}, 1}, {{8, 1}, 1}};
  const Purchases purchases = market.buy();
  EXPECT_THAT(purchases.refused, ElementsAre(ServiceRefusal{0, RefusalCause::dimension, 1}));
  EXPECT_THAT(market.placement.whole, ElementsAre(0, 1));
  EXPECT_THAT(market.placement.spots[0], IsEmpty());
}

TEST(BuyNodes, SaysWhetherTheLimitOrTheNodesAreTooFew) {
  Market market;
  market.most_nodes = 2;
  market.services = {{{1}, 4, 1}};
  market.offers = {{{4}, 1}};
  EXPECT_THAT(market.buy().refused, ElementsAre(ServiceRefusal{0, RefusalCause::limit, 0}));
  EXPECT_EQ(market.rooms.count(), 0U);
  market.services = {{{1}, 9, 9}};
  EXPECT_THAT(market.buy().refused, ElementsAre(ServiceRefusal{0, RefusalCause::nodes, 0}));
}

TEST(BuyNodes, PlacesWholeServicesWhereNodesComeToAnEnd) {
  Market market;
  market.services = {{{1}, 3, 3}, {{1}, 2, 2}, {{1}, 2, 2}};
  market.offers = {{{2}, 1, 2}};
  const Purchases purchases = market.buy();
  EXPECT_THAT(purchases.offers, SizeIs(2));
  EXPECT_THAT(market.placement.whole, ElementsAre(0, 1, 1));
  EXPECT_THAT(purchases.refused, ElementsAre(ServiceRefusal{0, RefusalCause::nodes, 0}));
}

class BuySample : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Samples, BuySample, ::testing::Values("small-3", "small-6", "middle-4"));

TEST_P(BuySample, NeedsNoMoreNodesThanThePrintedPhaseDoes) {
  test::Sample sample(GetParam());
  const std::vector<NodeOffer> offers{{{1, 1, 1, 1, 1, 1}, 1}};
  NodeRooms rooms = sample.rooms;
  auto placement = place_period(rooms, sample.services, sample.demand, kPaperRules);
  NodeRooms printed_rooms = rooms;
  auto printed = placement;
  const Purchases purchases =
      buy_nodes(rooms, sample.services, sample.demand, {offers, 100}, placement);
  EXPECT_THAT(placement.whole, Each(1));
  EXPECT_THAT(purchases.refused, IsEmpty());
  const std::vector<Amounts> nodes(100, {1, 1, 1, 1, 1, 1});
  EXPECT_LE(purchases.offers.size(),
            fill_new_nodes(printed_rooms, sample.services, sample.demand, {nodes}, printed));
}

}  // namespace
}  // namespace muster::lrasched
