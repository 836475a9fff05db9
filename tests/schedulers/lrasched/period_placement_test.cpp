#include "schedulers/lrasched/period_placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "schedulers/lrasched/first_fit.hpp"
#include "tests/schedulers/draw.hpp"
#include "tests/schedulers/lrasched/placement_data.hpp"

namespace muster::lrasched {
namespace {

using test::Sample;
using test::used_share;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PlaceSample : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Samples, PlaceSample,
                         ::testing::Values("hand", "small-3", "small-6", "middle-4", "paper-3"));

TEST_P(PlaceSample, algorithm_3_places_what_an_independent_program_does) {
  Sample sample(GetParam());
  NodeRooms rooms = sample.rooms;
  const auto placement = place_period(rooms, sample.services, sample.demand, kPaperRules);
  const auto& expected = sample.expected["phase_1"];
  EXPECT_EQ(placement.placed(), expected["placed"]);
  EXPECT_NEAR(used_share(sample.rooms, rooms), expected["utilisation"], 1e-9);
  EXPECT_TRUE(test::is_sound(sample, placement, rooms));
  nlohmann::json at = nlohmann::json::object();
  nlohmann::json placed = nlohmann::json::array();
  for (std::size_t i = 0; i < sample.services.size(); ++i) {
    if (placement.whole[i] == 0) continue;
    placed.push_back(i);
    for (const Spot& spot : placement.spots[i]) {
      at[std::to_string(i)].push_back({spot.node, spot.count});
    }
  }
  if (expected.contains("at")) {
    EXPECT_EQ(at, expected["at"]);
  } else {
    EXPECT_EQ(placed, expected["placed_services"]);
  }
}

TEST_P(PlaceSample, first_fit_places_what_an_independent_program_does) {
  Sample sample(GetParam());
  for (const FirstFit kind : {FirstFit::number, FirstFit::dot}) {
    NodeRooms rooms = sample.rooms;
    const auto placement = place_first_fit(rooms, sample.services, sample.demand, kind);
    const auto& expected = sample.expected[kind == FirstFit::dot ? "ffd_dot" : "ffd"];
    EXPECT_EQ(placement.placed(), expected["placed"]);
    EXPECT_NEAR(used_share(sample.rooms, rooms), expected["utilisation"], 1e-9);
    EXPECT_TRUE(test::is_sound(sample, placement, rooms));
  }
}

TEST_P(PlaceSample, periods_of_25_weigh_by_the_demand_of_the_period) {
  Sample sample(GetParam());
  if (!sample.expected.contains("periods_of_25")) return;
  NodeRooms rooms = sample.rooms;
  std::uint32_t placed = 0;
  const std::span<const Service> all(sample.services);
  for (std::size_t first = 0; first < all.size(); first += 25) {
    const auto some = all.subspan(first, std::min<std::size_t>(25, all.size() - first));
    placed += place_period(rooms, some, Demand(some), kPaperRules).placed();
  }
  EXPECT_EQ(placed, sample.expected["periods_of_25"]["placed"]);
  EXPECT_NEAR(used_share(sample.rooms, rooms), sample.expected["periods_of_25"]["utilisation"],
              1e-9);
}

TEST_P(PlaceSample, balanced_fit_places_as_many_as_an_independent_program) {
  Sample sample(GetParam());
  NodeRooms rooms = sample.rooms;
  const auto placement = place_period(rooms, sample.services, sample.demand, {});
  EXPECT_GE(placement.placed(), sample.expected["balanced_increasing"]["placed"]);
  EXPECT_TRUE(test::is_sound(sample, placement, rooms));
}

Service service_of(double size, std::uint32_t replicas, std::uint32_t most_a_node = 10) {
  return {{size, size}, replicas, most_a_node};
}

NodeRooms rooms_of(std::vector<Amounts> nodes) {
  return NodeRooms(2, nodes);
}

TEST(PlacePeriod, WorksTheExampleByHand) {
  Sample sample("hand");
  EXPECT_NEAR(measure_of(sample.services[0], sample.demand.total()), 0.753247, 1e-6);
  EXPECT_NEAR(measure_of(sample.services[1], sample.demand.total()), 1.246753, 1e-6);
  EXPECT_THAT(placing_order(sample.services, sample.demand, kPaperRules), ElementsAre(1, 0));
  const Fitness second(Fit::dot, sample.services[1].size, scale_of(sample.demand, sample.rooms));
  EXPECT_NEAR(second.of(sample.rooms.free(0)), 0.129870, 1e-6);
  EXPECT_NEAR(second.of(sample.rooms.free(1)), 0.180195, 1e-6);
  EXPECT_EQ(second.of(sample.rooms.free(2)), Fitness::kNoRoom);
}

TEST(PlacePeriod, KeepsToTheLimitWithWhatStands) {
  NodeRooms rooms = rooms_of({{10, 10}, {1, 1}});
  const std::vector<Service> services{service_of(0.1, 2, 3)};
  const Demand demand(services);
  const auto placement = place_period(rooms, services, demand, {}, {{{0, 2}}});
  EXPECT_THAT(placement.spots[0], ElementsAre(Spot{0, 3}, Spot{1, 1}));
}

TEST(PlacePeriod, TakesNothingForAServiceThatDoesNotFitWhole) {
  NodeRooms rooms = rooms_of({{1, 1}, {1, 1}});
  const std::vector<Service> services{service_of(0.6, 3), service_of(0.5, 4)};
  const auto placement = place_period(rooms, services, Demand(services), kPaperRules);
  EXPECT_THAT(placement.whole, ElementsAre(0, 1));
  EXPECT_THAT(placement.spots[0], IsEmpty());
  EXPECT_NEAR(rooms.total()[0], 0, 1e-12);
}

TEST(PlacePeriod, BeginsWithPriorityThenWithLongWaits) {
  std::vector<Service> services{service_of(0.1, 1), service_of(0.4, 1), service_of(0.3, 1),
                                service_of(0.2, 1)};
  services[1].waited = 4;
  services[2].waited = 5;
  services[3].priority = -1;
  const Demand demand(services);
  EXPECT_THAT(placing_order(services, demand, {}), ElementsAre(2, 1, 0, 3));
  PlacementRules rules;
  rules.patience = 5;
  EXPECT_THAT(placing_order(services, demand, rules), ElementsAre(0, 2, 1, 3));
}

TEST(PlacePeriod, BalancedFitTakesTheNodeThatLooksLikeTheReplica) {
  NodeRooms rooms(2, std::vector<Amounts>{{1, 1}, {1, 0.3}, {0.3, 1}});
  const std::vector<Service> services{{{0.2, 0.05}, 1, 1}, {{0.05, 0.2}, 1, 1}};
  const auto placement = place_period(rooms, services, Demand(services), {});
  EXPECT_THAT(placement.spots, ElementsAre(ElementsAre(Spot{1, 1}), ElementsAre(Spot{2, 1})));
}

/// Looks at all nodes anew for each replica.
Spots placed_by_trying(NodeRooms& rooms, const Service& service, const Fitness& fitness) {
  Spots spots;
  for (std::uint32_t replica = 0; replica < service.replicas; ++replica) {
    double most = Fitness::kNoRoom;
    std::uint32_t best = 0;
    for (std::uint32_t node = 0; node < rooms.count(); ++node) {
      if (count_at(spots, node) >= service.most_a_node) continue;
      const double value = fitness.of(rooms.free(node));
      if (value <= most) continue;
      most = value;
      best = node;
    }
    if (most == Fitness::kNoRoom) return {};
    rooms.take(best, service.size);
    put_at(spots, best);
  }
  return spots;
}

RC_GTEST_PROP(PlaceProperty, one_pass_and_a_heap_choose_what_looking_anew_does, ()) {
  const auto nodes = testing::draw<std::uint32_t>(1, 700);
  const bool balanced = testing::draw(0, 2) == 1;
  NodeRooms rooms(3);
  for (std::uint32_t n = 0; n < nodes; ++n) {
    rooms.add(
        {testing::draw(0, 20) / 10.0, testing::draw(0, 20) / 10.0, testing::draw(0, 20) / 10.0});
  }
  const std::vector<Service> services{{{testing::draw(0, 9) / 10.0, testing::draw(1, 9) / 10.0, 0},
                                       testing::draw<std::uint32_t>(1, 40),
                                       testing::draw<std::uint32_t>(1, 5)}};
  const Demand demand(services);
  const PlacementRules rules{balanced ? Fit::balanced : Fit::dot, ServiceOrder::arrival};
  const Fitness fitness(rules.fit, services[0].size, scale_of(demand, rooms));
  NodeRooms tried = rooms;
  const Spots expected = placed_by_trying(tried, services[0], fitness);
  const auto placement = place_period(rooms, services, demand, rules);
  RC_ASSERT(placement.spots[0] == expected);
}

}  // namespace
}  // namespace muster::lrasched
