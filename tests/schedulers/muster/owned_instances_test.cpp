#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/schedulers/cluster.hpp"

// A fleet beyond which more is rented. it4 holds one of the tasks and costs $0.4 an hour, it3 holds
// two and costs $0.8.

namespace muster::testing {
namespace {

using test::JobBuilder;

class OwnedInstances : public ::testing::Test {
 protected:
  void own(const std::string& type, std::size_t count = 1) {
    cluster.add_to_fleet(type, count);
    cluster.rent_beyond_fleet();
  }
  void submit(std::uint64_t id) {
    cluster.submit(JobBuilder(id).demand(Resources::of(0, 4, 12)).build());
  }

  Cluster cluster{table_3(), "muster"};
};

TEST_F(OwnedInstances, that_are_empty_are_nothing_to_come_back_to) {
  own("it3", 2);
  submit(1);
  cluster.round();
  cluster.finish(1);
  cluster.round();
  const Plan plan = cluster.round();
  EXPECT_TRUE(plan.releases.empty());
  EXPECT_TRUE(cluster.policy().settled(cluster.view())) << "else a round would be held each period";
}

TEST_F(OwnedInstances, are_filled_before_anything_is_rented) {
  own("it3");
  submit(1);
  EXPECT_TRUE(cluster.round().launches.empty());
  EXPECT_EQ(cluster.layout(), "it3(1)") << "an it4 would do, and would cost something";
  submit(2);
  EXPECT_TRUE(cluster.round().launches.empty());
  submit(3);
  cluster.round();
  EXPECT_EQ(cluster.layout(), "it3(1 2) it4(3)");
}

TEST_F(OwnedInstances, take_back_what_was_rented_when_they_have_room_again) {
  own("it4");
  submit(1);
  submit(2);
  cluster.round();
  ASSERT_EQ(cluster.layout(), "it4(1) it4(2)");
  cluster.finish(1);
  const Plan plan = cluster.round();
  EXPECT_EQ(cluster.layout(), "it4(2)");
  ASSERT_EQ(plan.releases.size(), 1u);
  EXPECT_EQ(plan.releases[0].instance, InstanceId{2});
}

TEST_F(OwnedInstances, stay_though_they_are_empty) {
  own("it3", 2);
  submit(1);
  cluster.round();
  cluster.finish(1);
  EXPECT_TRUE(cluster.round().releases.empty());
  EXPECT_TRUE(cluster.round().releases.empty());
  EXPECT_EQ(cluster.layout(), "it3() it3()");
}

TEST_F(OwnedInstances, that_are_too_small_leave_a_task_to_be_rented_for) {
  own("it4");
  cluster.submit(JobBuilder(1).demand(Resources::of(2, 8, 24)).build());
  cluster.round();
  EXPECT_EQ(cluster.layout(), "it4() it1(1)");
  cluster.finish(1);
  EXPECT_EQ(cluster.round().releases.size(), 1u);
  EXPECT_EQ(cluster.layout(), "it4()");
}

TEST_F(OwnedInstances, are_those_of_the_fleet_and_no_others_of_their_type) {
  submit(1);
  cluster.round();
  ASSERT_EQ(cluster.layout(), "it4(1)");
  own("it4");
  cluster.finish(1);
  cluster.round();
  EXPECT_EQ(cluster.state().instances().size(), 1u);
  EXPECT_EQ(cluster.state().find(InstanceId{1}), nullptr);
}

/// What packs by price leaves owned instances alone or uses them; it never gives them back.
class AnyPolicy : public ::testing::TestWithParam<std::string> {};

TEST_P(AnyPolicy, gives_back_what_is_rented_and_never_what_is_owned) {
  Cluster cluster{table_3(), GetParam()};
  cluster.add_to_fleet("it3");
  cluster.rent_beyond_fleet();
  for (std::uint64_t id = 1; id <= 5; ++id) {
    cluster.submit(JobBuilder(id).demand(Resources::of(0, 4, 12)).build());
  }
  for (int i = 0; i < 3; ++i) cluster.round();
  EXPECT_EQ(cluster.state().pending().size(), 0u) << "what does not fit is rented";
  for (std::uint64_t id = 1; id <= 5; ++id) cluster.finish(id);
  for (int i = 0; i < 9; ++i) cluster.round();
  EXPECT_EQ(cluster.layout(), "it3()");
}

TEST_P(AnyPolicy, uses_what_is_owned_before_it_rents) {
  Cluster cluster{table_3(), GetParam()};
  cluster.add_to_fleet("it3");
  cluster.rent_beyond_fleet();
  cluster.submit(JobBuilder(1).demand(Resources::of(0, 4, 12)).build());
  cluster.round();
  // These rent for who comes, whatever there is.
  const std::set<std::string> always_rent{"eva,artifact", "hotspot", "supercloud"};
  EXPECT_EQ(cluster.layout(), always_rent.contains(GetParam()) ? "it3() it4(1)" : "it3(1)");
}

INSTANTIATE_TEST_SUITE_P(Policies, AnyPolicy,
                         ::testing::Values("muster", "no-packing", "eva", "eva,paper",
                                           "eva,artifact", "hcoop", "stratus", "hotspot",
                                           "spot-fleet", "supercloud", "synergy", "owl", "pollux",
                                           "lrasched"));

TEST(FreeType, that_cannot_be_had_leaves_no_work_undone) {
  const Catalog types({type_of("dear", "cpu", Resources::of(0, 8, 32), 4),
                       type_of("free", "cpu", Resources::of(0, 8, 32), 0)});
  Cluster cluster(types, "muster,free_wait_s=0");
  const auto offer = [&](const std::string& type, double usd_h, bool available) {
    cluster.change({type, Market::on_demand, {}, Price::from_usd_h(usd_h), available});
  };
  const auto submit = [&](std::uint64_t id) {
    cluster.submit(JobBuilder(id).demand(Resources::of(0, 4, 12)).build());
  };
  offer("free", 0, false);
  for (std::uint64_t id = 1; id <= 3; ++id) submit(id);
  cluster.round();
  EXPECT_TRUE(cluster.state().pending().empty()) << cluster.layout();
  offer("dear", 4, false);
  submit(4);
  cluster.round();
  EXPECT_TRUE(cluster.state().pending().empty())
      << "nobody leaves for nowhere: " << cluster.layout();
  offer("free", 0, true);
  submit(5);
  cluster.round();
  EXPECT_NE(cluster.layout().find("free("), std::string::npos) << cluster.layout();
}

}  // namespace
}  // namespace muster::testing
