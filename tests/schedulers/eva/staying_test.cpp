#include <gtest/gtest.h>

#include "tests/schedulers/cluster.hpp"

// What every policy owes to tasks that are to stay where they are.

namespace muster {
namespace {

using test::JobBuilder;
using testing::Cluster;
using testing::figure;
using testing::job_of_table_3;
using testing::table_3;
using testing::type_of;

constexpr Duration kRound = std::chrono::seconds{300};

Job small(std::uint64_t id) {
  return JobBuilder(id).demand(Resources::of(0, 4, 12)).workload_class("s").build();
}

bool changes_nothing(const Plan& plan) {
  return plan.launches.empty() && plan.places.empty() && plan.releases.empty();
}

TEST(Stay, two_tasks_that_would_share_an_instance_stay_and_nothing_is_rented_for_them) {
  Cluster cluster(table_3(), "eva,rp,full-only");
  cluster.set_min_stay(3 * kRound);
  cluster.submit(small(1));
  cluster.round();
  cluster.submit(small(2));
  cluster.round();
  ASSERT_EQ(cluster.layout(), "it4(1) it4(2)");
  EXPECT_TRUE(changes_nothing(cluster.round()));
  EXPECT_FALSE(cluster.policy().settled(cluster.view())) << "the time comes";
  cluster.round();
  cluster.round();
  EXPECT_EQ(cluster.layout(), "it3(1 2)");
}

TEST(Stay, an_instance_that_keeps_a_task_takes_others_meanwhile) {
  Cluster cluster(table_3(), "eva,rp,full-only");
  cluster.set_min_stay(std::chrono::hours{1});
  cluster.submit(job_of_table_3(1));
  cluster.round();
  ASSERT_EQ(cluster.layout(), "it1(1)");
  cluster.submit(small(2));
  cluster.round();
  EXPECT_EQ(cluster.layout(), "it1(1 2)");
}

TEST(Stay, what_is_not_movable_is_kept_by_full_and_partial) {
  for (const std::string choice : {"partial-only", "full-only", "artifact"}) {
    Cluster cluster(table_3(), "eva,rp," + choice);
    cluster.submit(job_of_table_3(1));
    Job fixed = job_of_table_3(4);
    fixed.movable = false;
    cluster.submit(fixed);
    cluster.round();
    ASSERT_EQ(cluster.layout(), "it1(1 4)") << choice;
    cluster.finish(1);
    EXPECT_TRUE(changes_nothing(cluster.round())) << choice;
    EXPECT_EQ(cluster.layout(), "it1(4)") << choice;
  }
}

TEST(Stay, what_a_task_has_run_is_a_cost_of_its_move_unless_it_keeps_checkpoints) {
  // Three share a big instance for $0.9. When one has ended two small ones for $0.8 would do.
  const Catalog catalog({type_of("big", "c", Resources::of(0, 12, 48), 0.9),
                         type_of("small", "c", Resources::of(0, 4, 16), 0.4)});
  for (const bool checkpoints : {true, false}) {
    Cluster cluster(catalog, "eva,rp,partial-only");
    for (std::uint64_t id : {1, 2, 3}) {
      Job job = small(id);
      job.checkpoints = checkpoints;
      cluster.submit(job);
    }
    cluster.round();
    ASSERT_EQ(cluster.layout(), "big(1 2 3)");
    cluster.finish(1);
    cluster.round();
    EXPECT_EQ(cluster.layout(), checkpoints ? "small(2) small(3)" : "big(2 3)");
  }
}

TEST(Stay, the_figures_of_a_round_count_what_would_be_lost) {
  double cost_usd[2] = {0, 0};
  for (const bool checkpoints : {true, false}) {
    Cluster cluster(table_3(), "eva,rp");
    Job first = small(1);
    first.checkpoints = checkpoints;
    cluster.submit(first);
    cluster.round();
    cluster.let_pass(std::chrono::hours{1} - kRound);
    cluster.submit(small(2));
    cost_usd[checkpoints ? 1 : 0] = figure(cluster.ask(), "M_F");
  }
  EXPECT_NEAR(cost_usd[0] - cost_usd[1], 0.4, 1e-9) << "an hour of a task of $0.4";
}

}  // namespace
}  // namespace muster
