#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/replay/replay_setup.hpp"
#include "tests/support/golden.hpp"

// Services in replays: they are placed, started again and ended as services of a live cluster are,
// beside batch jobs, whose figures they do not change.

namespace muster::replay {
namespace {

using muster::test::IsGolden;
using test::SmallReplay;
using testing::IsEmpty;

constexpr double kHour = 3600;
const Resources kSmall = Resources::of(0, 2, 4);

template <class Body>
std::size_t count(const Run& run) {
  return static_cast<std::size_t>(
      std::count_if(run.events.begin(), run.events.end(),
                    [](const Event& event) { return std::holds_alternative<Body>(event.body); }));
}

metrics::ServiceFigures services_of(const Run& run) {
  return run.result.services.value_or(metrics::ServiceFigures{});
}

TEST(ServiceReplay, a_service_runs_until_its_user_ends_it_under_any_policy) {
  SmallReplay replay;
  replay.service(0, 10 * kHour, kSmall, 2).job(600, kHour, kSmall);
  for (const char* policy : {"no-packing", "eva", "hcoop", "stratus", "muster"}) {
    const auto run = replay.run(policy);
    ASSERT_TRUE(run) << policy << ": " << run.error().message;
    const metrics::ServiceFigures services = services_of(run.value());
    EXPECT_EQ(services.submitted, 1U) << policy;
    EXPECT_EQ(services.ended, 1U) << policy;
    EXPECT_DOUBLE_EQ(services.wanted_h, 20) << policy;
    // Instance, fetch, image and start take some minutes of it.
    EXPECT_GT(services.ready_h, 20 * 0.97) << policy;
    EXPECT_LT(services.ready_h, 20) << policy;
    EXPECT_GT(services.goal_h, 0.95 * services.ready_h) << policy;
    EXPECT_EQ(count<TaskFinished>(run.value()), 1U) << policy;
    EXPECT_GE(count<ReplicaChanged>(run.value()), 2U) << policy;
    EXPECT_GT(services.cost_usd, 0) << policy;
    EXPECT_LT(services.cost_usd, run->result.total_cost_usd) << policy;
  }
}

TEST(ServiceReplay, the_figures_of_jobs_are_of_batch_jobs_alone) {
  SmallReplay batch, both;
  for (SmallReplay* replay : {&batch, &both}) replay->job(0, kHour, kSmall).job(60, kHour, kSmall);
  both.service(90, 50 * kHour, kSmall, 3);
  const auto alone = batch.run("no-packing").value();
  const auto beside = both.run("no-packing").value();
  EXPECT_FALSE(alone.result.services);
  EXPECT_EQ(beside.result.jobs_submitted, 2U);
  EXPECT_EQ(beside.result.jobs_completed, 2U);
  EXPECT_EQ(beside.result.mean_jct_h, alone.result.mean_jct_h);
  EXPECT_EQ(beside.result.mean_idle_h, alone.result.mean_idle_h);
  EXPECT_EQ(beside.result.makespan_s, alone.result.makespan_s);
  EXPECT_EQ(beside.result.migrations_per_task, alone.result.migrations_per_task);
  EXPECT_THAT(beside.result.not_completed, IsEmpty());
}

TEST(ServiceReplay, a_replica_whose_instance_is_lost_is_started_again) {
  SmallReplay replay;
  replay.service(0, 100 * kHour, kSmall, 2);
  replay.workload().jobs[0].job.markets = MarketChoice::spot;
  Catalog spot(muster::test::table3_catalog());
  std::vector<InstanceType> types(spot.types().begin(), spot.types().end());
  for (InstanceType& type : types) type.spot = type.on_demand;
  replay.use(Catalog(std::move(types)));
  replay.config().cloud.interruptions_per_h = 0.1;
  const auto run = replay.run("no-packing");
  ASSERT_TRUE(run) << run.error().message;
  const metrics::ServiceFigures services = services_of(run.value());
  EXPECT_GT(run->result.interruptions, 0U);
  EXPECT_GT(services.restarts, 0U);
  EXPECT_EQ(services.ended, 1U);
  EXPECT_GT(services.ready_h, 0.9 * services.wanted_h);
  EXPECT_EQ(count<TaskFinished>(run.value()), 0U);
}

TEST(ServiceReplay, replicas_that_are_ready_cost_no_events) {
  const auto events = [](double lasts_h) {
    SmallReplay replay;
    replay.service(0, lasts_h * kHour, kSmall, 3);
    return replay.run("no-packing").value().result.events;
  };
  EXPECT_EQ(events(10), events(1000));
}

TEST(ServiceReplay, a_service_that_fits_nothing_is_no_service_that_ran) {
  SmallReplay replay;
  replay.service(0, kHour, Resources::of(0, 100, 4)).job(0, kHour, kSmall);
  const auto run = replay.run("no-packing");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(services_of(run.value()).ended, 0U);
  ASSERT_EQ(run->result.not_completed.size(), 1U);
  EXPECT_EQ(run->result.not_completed[0].first, "0");
  EXPECT_EQ(run->result.jobs_completed, 1U);
}

TEST(ServiceReplay, a_service_that_waits_all_its_life_ends_and_was_never_ready) {
  SmallReplay replay;
  replay.service(0, 100 * kHour, kSmall);
  replay.config().master.caps.max_usd_h = 1e-6;
  const auto run = replay.run("no-packing");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(services_of(run.value()).ended, 1U);
  EXPECT_EQ(services_of(run.value()).ready_h, 0);
  EXPECT_THAT(run->result.not_completed, IsEmpty());
}

TEST(ServiceReplay, jobs_that_wait_beside_a_service_are_not_given_up) {
  SmallReplay replay;
  replay.service(0, 60 * kHour, Resources::of(0, 8, 32)).job(60, kHour, Resources::of(0, 8, 32));
  replay.config().cloud.max_instances = 1;
  const auto run = replay.run("no-packing");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->result.jobs_completed, 1U);
  EXPECT_GT(run->result.mean_jct_h, 50);
}

TEST(ServiceReplay, equal_seeds_give_equal_runs_and_others_other_performances) {
  SmallReplay replay;
  replay.service(0, 10 * kHour, kSmall, 4).job(600, kHour, kSmall, 2);
  const auto one = replay.run("eva", 1).value();
  const auto again = replay.run("eva", 1).value();
  const auto other = replay.run("eva", 2).value();
  EXPECT_EQ(one.events, again.events);
  EXPECT_EQ(services_of(one).performance_h, services_of(again).performance_h);
  EXPECT_NE(services_of(one).performance_h, services_of(other).performance_h);
}

TEST(ServiceReplay, groups_of_samplers_refuse_services) {
  SmallReplay replay;
  replay.service(0, kHour, kSmall);
  replay.config().fleet.parts = {{4, "it3", Market::on_demand}};
  const auto run = replay.run("sparrow");
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ReplayError::bad_input);
  EXPECT_THAT(run.error().message, IsGolden());
}

}  // namespace
}  // namespace muster::replay
