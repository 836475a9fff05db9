#include "schedulers/lrasched/service_moves.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/schedulers/lrasched/placement_data.hpp"

namespace muster::lrasched {
namespace {

using test::Sample;
using ::testing::ElementsAre;

class MoveSample : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Samples, MoveSample,
                         ::testing::Values("hand", "small-3", "small-6", "middle-4"));

TEST_P(MoveSample, stays_within_5_percent_of_the_best_that_a_solver_found) {
  Sample sample(GetParam());
  const double best = sample.expected["cbc_60_cpu_s"]["best"];
  const double bound = sample.expected["lp_bound"];
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    NodeRooms rooms = sample.rooms;
    Rng rng(seed);
    const auto placement = place_with_moves({rooms, sample.services, sample.demand, {}}, {}, rng);
    EXPECT_GE(placement.placed(), 0.95 * best);
    EXPECT_LE(placement.placed(), bound + 1e-6);
    EXPECT_TRUE(test::is_sound(sample, placement, rooms));
  }
}

TEST(MoveServices, EqualSeedsGiveEqualPlacements) {
  Sample sample("small-6");
  const auto placed = [&] {
    NodeRooms rooms = sample.rooms;
    Rng rng(7);
    return place_with_moves({rooms, sample.services, sample.demand, {}}, {}, rng).spots;
  };
  EXPECT_EQ(placed(), placed());
}

/// Two nodes; the small service sits where alone the large one fits.
struct InTheWay {
  NodeRooms rooms{1};
  std::vector<Service> services{{{2}, 1, 1}, {{1}, 1, 1}};
  PeriodPlacement placement{{{}, {{0, 1}}}, {0, 1}};

  InTheWay() {
    rooms.add({1});  // two, of which the small service has one
    rooms.add({1});
  }
  void move(std::span<const Spots> standing) {
    const Demand demand(services);
    Rng rng(1);
    ServiceMoves({rooms, services, demand, {}}, placement, standing).run({}, rng);
  }
};

TEST(MoveServices, OneMakesWayForAnother) {
  InTheWay world;
  world.move({});
  EXPECT_THAT(world.placement.whole, ElementsAre(1, 1));
  EXPECT_THAT(world.placement.spots, ElementsAre(ElementsAre(Spot{0, 1}), ElementsAre(Spot{1, 1})));
}

TEST(MoveServices, StandingReplicasStay) {
  InTheWay world;
  world.move(std::vector<Spots>{{}, {{0, 1}}});
  EXPECT_THAT(world.placement.whole, ElementsAre(0, 1));
  EXPECT_THAT(world.placement.spots[1], ElementsAre(Spot{0, 1}));
  EXPECT_EQ(world.rooms.free(0)[0], 1);
}

}  // namespace
}  // namespace muster::lrasched
