#include "schedulers/lrasched/new_nodes.hpp"

#include <gtest/gtest.h>

#include "tests/schedulers/lrasched/placement_data.hpp"

namespace muster::lrasched {
namespace {

using test::Sample;

class FillSample : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Samples, FillSample,
                         ::testing::Values("hand", "small-3", "small-6", "middle-4", "paper-3"));

TEST_P(FillSample, phase_2_adds_as_many_nodes_as_an_independent_program) {
  Sample sample(GetParam());
  NodeRooms rooms = sample.rooms;
  auto placement = place_period(rooms, sample.services, sample.demand, kPaperRules);
  const std::uint32_t added =
      fill_new_nodes(rooms, sample.services, sample.demand, {sample.new_nodes}, placement);
  EXPECT_EQ(added, sample.expected["phase_2"]["nodes_added"]);
  EXPECT_EQ(placement.placed(), sample.services.size());
  EXPECT_TRUE(test::is_sound(sample, placement, rooms));
}

TEST(FillNewNodes, EndsWhereNoNodeHoldsWhatIsLeft) {
  NodeRooms rooms(1);
  const std::vector<Service> services{{{2}, 1, 1}};
  const Demand demand(services);
  auto placement = place_period(rooms, services, demand, kPaperRules);
  const std::vector<Amounts> nodes{{1}, {1}};
  EXPECT_EQ(fill_new_nodes(rooms, services, demand, {nodes}, placement), 2U);
  EXPECT_EQ(placement.placed(), 0U);
}

}  // namespace
}  // namespace muster::lrasched
