#include "schedulers/hcoop/hcoop_policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/schedulers/cluster.hpp"

namespace muster {
namespace {

using testing::Cluster;
using testing::figure;

/// Two types of 8 and 16 cores, with spot prices at a third.
Catalog two_sizes() {
  std::vector<InstanceType> types{testing::type_of("small", "c", Resources::of(0, 8, 32), 0.4),
                                  testing::type_of("large", "c", Resources::of(0, 16, 64), 0.9)};
  types[0].spot = Price::from_usd_h(0.13);
  types[1].spot = Price::from_usd_h(0.3);
  return Catalog(std::move(types));
}

Job job(std::uint64_t number, double cpu, double memory_gib,
        JobLength length = JobLength::long_run) {
  Job job = test::JobBuilder(number).demand(Resources::of(0, cpu, memory_gib)).build();
  job.prediction.length = length;
  return job;
}

/// A short job that SORS lets onto spot instances.
Job safe_job(std::uint64_t number, double cpu, double memory_gib) {
  Job safe = job(number, cpu, memory_gib, JobLength::short_run);
  safe.prediction.spot_safe = true;
  return safe;
}

Market market_of(const Cluster& cluster, std::uint64_t task) {
  const TaskRow& row = *cluster.state().find(TaskId{task});
  return cluster.state().instance(row.target).market;
}

std::uint64_t instance_of(const Cluster& cluster, std::uint64_t task) {
  const TaskRow& row = *cluster.state().find(TaskId{task});
  return row.target == kNoSlot ? 0 : cluster.state().instance(row.target).id.value;
}

TEST(Hcoop, puts_tasks_that_complement_each_other_onto_one_instance) {
  Cluster cluster(two_sizes(), "hcoop");
  cluster.add_to_fleet("small", 3);
  // Shares of the reference (8 cores, 32 GiB): 1 (3/4, 1/8), 2 (1/2, 1/8), 3 (1/8, 3/4).
  cluster.submit(job(1, 6, 4));
  cluster.submit(job(2, 4, 4));
  cluster.submit(job(3, 1, 24));
  const Plan plan = cluster.round();
  EXPECT_EQ(instance_of(cluster, 1), instance_of(cluster, 3));
  EXPECT_NE(instance_of(cluster, 1), instance_of(cluster, 2));
  EXPECT_EQ(plan.places[0].cause.code, CauseCode::complementary);
  EXPECT_EQ(plan.places[2].cause.code, CauseCode::best_fit);
  EXPECT_EQ(figure(plan, "entities"), 2);
  EXPECT_NEAR(figure(plan, "packed"), 2.0 / 3, 1e-12);
  EXPECT_DOUBLE_EQ(figure(plan, "mean_DV"), 25.0 / 64);  // (5/8)^2 twice, halved
}

TEST(Hcoop, rents_what_is_cheapest_at_the_present_prices) {
  Cluster cluster(two_sizes(), "hcoop");
  cluster.submit(job(1, 6, 4));
  cluster.begin(cluster.ask());
  EXPECT_EQ(cluster.layout(), "small(1)");
  cluster.reprice("small", 2);
  cluster.submit(job(2, 6, 28));
  cluster.begin(cluster.ask());
  EXPECT_EQ(cluster.layout(), "small(1) large(2)");
}

TEST(Hcoop, rents_what_the_cloud_did_not_offer_before) {
  std::vector<InstanceType> types = two_sizes().types();
  types[0].spot.reset();
  types[1].spot.reset();
  Cluster cluster(Catalog(types), "hcoop");
  cluster.reprice("large", 0.01, Market::spot);
  Job spot_only = safe_job(1, 6, 4);
  spot_only.markets = MarketChoice::spot;
  cluster.submit(spot_only);
  cluster.begin(cluster.ask());
  EXPECT_EQ(cluster.layout(), "large(1)");
  EXPECT_EQ(market_of(cluster, 1), Market::spot);
}

TEST(Hcoop, without_packing_places_every_task_by_itself) {
  Cluster cluster(two_sizes(), "hcoop-no-packing");
  cluster.add_to_fleet("small", 1);
  cluster.submit(job(1, 6, 4));
  cluster.submit(job(3, 1, 24));
  const Plan plan = cluster.round();
  EXPECT_EQ(cluster.layout(), "small(1 3)");
  EXPECT_EQ(figure(plan, "entities"), 2);
  EXPECT_EQ(figure(plan, "packed"), 0);
}

TEST(Hcoop, packs_three_when_told_to) {
  Cluster cluster(Catalog({testing::type_of("m", "m", Resources::of(4, 16, 64), 3)}),
                  "hcoop,group=3");
  cluster.add_to_fleet("m", 3);
  cluster.submit(job(1, 8, 4));
  cluster.submit(job(2, 1, 32));
  cluster.submit(test::JobBuilder(3).demand(Resources::of(2, 1, 4)).build());
  cluster.round();
  EXPECT_EQ(cluster.layout(), "m(1 2 3) m() m()");
}

TEST(Hcoop, pairs_exactly_when_told_to) {
  const auto layout = [](const std::string& policy) {
    Cluster cluster(Catalog({testing::type_of("m", "m", Resources::of(4, 16, 64), 3)}), policy);
    cluster.add_to_fleet("m", 3);
    cluster.submit(job(1, 8, 0));
    cluster.submit(test::JobBuilder(2).demand(Resources::of(2, 0, 0)).build());
    cluster.submit(job(3, 0, 38.4));
    cluster.submit(test::JobBuilder(4).demand(Resources::of(2.4, 4, 0)).build());
    cluster.round();
    return cluster.layout();
  };
  EXPECT_EQ(layout("hcoop,pairing=exact"), "m(1 2) m(3 4) m()");
  EXPECT_EQ(layout("hcoop"), "m(1 2 3) m(4) m()") << "2 joins 1 and 3, where it fits best";
}

TEST(Hcoop, chooses_the_instance_with_the_least_room_left) {
  Cluster cluster(two_sizes(), "hcoop-no-packing");
  cluster.add_to_fleet("large", 1);
  cluster.add_to_fleet("small", 2);
  // Shares of (16, 64) free: instance 1: 2, instances 2 and 3: 1/2 + 1/2 = 1.
  cluster.submit(job(1, 4, 8));
  cluster.round();
  EXPECT_EQ(instance_of(cluster, 1), 2U) << "the first of the two smallest";
  cluster.submit(job(2, 4, 8));  // 2 has 1/4 + 3/8 left
  cluster.round();
  EXPECT_EQ(instance_of(cluster, 2), 2U);
  cluster.submit(job(3, 4, 8));  // 2 has no core left
  cluster.round();
  EXPECT_EQ(instance_of(cluster, 3), 3U);
}

TEST(Hcoop, short_jobs_go_before_long_ones) {
  Cluster cluster(two_sizes(), "hcoop");
  cluster.add_to_fleet("small", 1);
  cluster.submit(job(1, 8, 8));
  cluster.submit(job(2, 8, 8, JobLength::short_run));
  cluster.round();
  EXPECT_EQ(cluster.layout(), "small(2)");
}

TEST(Hcoop, a_job_of_unknown_length_is_what_its_user_says_and_long_without_a_word) {
  Cluster cluster(two_sizes(), "hcoop,threshold_s=60");
  cluster.add_to_fleet("small", 2);
  cluster.submit(job(1, 8, 8, JobLength::unknown));
  Job second = job(2, 8, 8, JobLength::unknown), third = job(3, 8, 8, JobLength::unknown);
  second.runtime_hint = std::chrono::seconds{61};
  third.runtime_hint = std::chrono::seconds{60};
  cluster.submit(second);
  cluster.submit(third);
  cluster.round();
  EXPECT_EQ(cluster.layout(), "small(3) small(1)");
}

TEST(Hcoop, only_tasks_of_one_kind_of_job_are_packed) {
  Cluster cluster(two_sizes(), "hcoop");
  cluster.add_to_fleet("small", 2);
  cluster.submit(job(1, 6, 4));
  cluster.submit(job(2, 1, 24, JobLength::short_run));
  const Plan plan = cluster.round();
  EXPECT_EQ(figure(plan, "packed"), 0);
}

TEST(Hcoop, safe_short_jobs_get_spot_instances_and_all_others_regular_ones) {
  Cluster cluster(two_sizes(), "hcoop");
  cluster.add_to_fleet("small", 2, Market::spot);
  cluster.add_to_fleet("small", 2);
  cluster.submit(safe_job(1, 8, 8));
  cluster.submit(job(2, 8, 8, JobLength::short_run));
  Job long_job = safe_job(3, 8, 8);
  long_job.prediction.length = JobLength::long_run;
  cluster.submit(long_job);
  cluster.round();
  EXPECT_EQ(market_of(cluster, 1), Market::spot);
  EXPECT_EQ(market_of(cluster, 2), Market::on_demand);
  EXPECT_EQ(market_of(cluster, 3), Market::on_demand) << "SORS is for short jobs";
}

TEST(Hcoop, spot_tasks_spill_onto_regular_instances_unless_told_not_to) {
  for (const bool on_demand_fallback : {true, false}) {
    Cluster cluster(two_sizes(), on_demand_fallback ? "hcoop" : "hcoop,on_demand_fallback=false");
    cluster.add_to_fleet("small", 1, Market::spot);
    cluster.add_to_fleet("small", 2);
    cluster.submit(safe_job(1, 8, 8));
    cluster.submit(safe_job(2, 8, 8));
    cluster.round();
    EXPECT_EQ(cluster.layout(),
              on_demand_fallback ? "small(1) small(2) small()" : "small(1) small() small()");
  }
}

TEST(Hcoop, keeps_to_the_market_that_the_user_wants) {
  Cluster cluster(two_sizes(), "hcoop");
  cluster.add_to_fleet("small", 1, Market::spot);
  cluster.add_to_fleet("small", 3);
  Job wants_spot = job(1, 8, 8), waits = job(2, 8, 8), regular = safe_job(3, 8, 8);
  wants_spot.markets = waits.markets = MarketChoice::spot;
  regular.markets = MarketChoice::on_demand;
  for (const Job& one : {wants_spot, waits, regular}) cluster.submit(one);
  cluster.round();
  EXPECT_EQ(cluster.layout(), "small(1) small(3) small() small()");
}

TEST(Hcoop, an_interrupted_task_goes_to_the_front_and_in_the_end_to_regular_instances) {
  Cluster cluster(two_sizes(), "hcoop,max_interruptions=2");
  cluster.add_to_fleet("small", 1, Market::spot);
  cluster.add_to_fleet("small", 1, Market::spot);
  cluster.add_to_fleet("small", 1);
  cluster.submit(job(9, 8, 8, JobLength::short_run));
  cluster.submit(safe_job(1, 8, 8));
  cluster.round();
  ASSERT_EQ(cluster.layout(), "small(1) small() small(9)");
  cluster.submit(safe_job(2, 8, 8));
  cluster.take_away(1);
  cluster.round();
  EXPECT_EQ(cluster.layout(), "small(1) small(9)") << "1 comes before 2";
  cluster.take_away(2);
  cluster.add_to_fleet("small", 1, Market::spot);
  cluster.round();
  EXPECT_EQ(cluster.layout(), "small(9) small(2)") << "1 waits for a regular instance now";
  cluster.finish(9);
  cluster.round();
  EXPECT_EQ(cluster.layout(), "small(1) small(2)");
}

TEST(Hcoop, remembers_interruptions_over_a_restart) {
  Cluster cluster(two_sizes(), "hcoop,max_interruptions=1");
  cluster.add_to_fleet("small", 1, Market::spot);
  cluster.add_to_fleet("small", 1, Market::spot);
  cluster.add_to_fleet("small", 1);
  cluster.submit(safe_job(1, 8, 8));
  cluster.round();
  cluster.take_away(1);
  const std::string text = cluster.policy().save_state(cluster.state());
  hcoop::HcoopParams params;
  params.max_interruptions = 1;
  hcoop::HcoopPolicy again(cluster.catalog(), params);
  ASSERT_TRUE(again.load_state(text, cluster.view()));
  Rng rng(1);
  Budget budget;
  const Plan plan = again.decide(cluster.view(), rng, budget);
  ASSERT_EQ(plan.places.size(), 1U);
  EXPECT_EQ(plan.places[0].to, PlaceTarget(InstanceId{3}));
  EXPECT_FALSE(again.load_state("{}", cluster.view()));
  EXPECT_FALSE(again.load_state("{\"interruptions\": [[1]]}", cluster.view()));
}

/// The order of the members of each line is on disk: stores that earlier masters wrote have it.
TEST(Hcoop, reads_and_writes_its_memory_as_it_is_stored) {
  Cluster cluster(two_sizes(), "hcoop");
  cluster.add_to_fleet("small");
  cluster.submit(job(1, 8, 8));
  const std::string text =
      R"({"empty":[[1,5]],"fleet":[["small"],[]],)"
      R"("grown":[[[1],[[0.0,8.0,32.0,0.0,0.0,0.0]]],[[],[]]],)"
      R"("interruptions":[[1,2]],"next_order":2,"orders":[[1,1,1]],"retry":[1,2,9],"units":[]})";
  hcoop::HcoopPolicy policy(cluster.catalog(), hcoop::HcoopParams{});
  ASSERT_TRUE(policy.load_state(text, cluster.view()));
  EXPECT_EQ(policy.save_state(cluster.state()), text);
}

TEST(Hcoop, splits_a_pair_that_fits_nowhere_together) {
  Cluster cluster(two_sizes(), "hcoop");
  cluster.add_to_fleet("small", 2);
  cluster.submit(job(8, 3, 2));
  cluster.submit(job(9, 1, 10));
  cluster.round();
  cluster.submit(job(7, 5, 30));
  cluster.round();
  ASSERT_EQ(cluster.layout(), "small(8 9) small(7)");  // free: (4, 20) and (3, 2)
  cluster.submit(job(1, 3, 2));
  cluster.submit(job(2, 2, 18));
  const Plan plan = cluster.round();
  EXPECT_EQ(cluster.layout(), "small(2 8 9) small(1 7)");
  EXPECT_EQ(figure(plan, "packed"), 0);
}

TEST(Hcoop, what_fits_goes_before_what_does_not_unless_told_not_to) {
  for (const bool backfill : {true, false}) {
    Cluster cluster(two_sizes(), backfill ? "hcoop" : "hcoop,backfill=false");
    cluster.add_to_fleet("small", 1);
    cluster.submit(job(1, 4, 8));
    cluster.round();
    cluster.submit(job(2, 6, 8));
    cluster.submit(job(3, 4, 8));
    cluster.round();
    EXPECT_EQ(cluster.layout(), backfill ? "small(1 3)" : "small(1)");
    cluster.finish(1);
    cluster.round();
    EXPECT_EQ(cluster.layout(), backfill ? "small(3)" : "small(2)");
  }
}

TEST(Hcoop, says_once_why_a_task_waits) {
  Cluster cluster(two_sizes(), "hcoop");
  cluster.add_to_fleet("small", 1);
  cluster.submit(job(1, 6, 8));
  cluster.round();
  cluster.submit(job(2, 4, 8));
  const Plan plan = cluster.round();
  ASSERT_EQ(plan.refusals.size(), 1U);
  const Refusal& why = plan.refusals[0].refusal;
  EXPECT_EQ(why.code, RefusalCode::awaiting_capacity);
  EXPECT_EQ(why.binding, Resource::cpu);
  EXPECT_EQ(why.asked, 4);
  EXPECT_EQ(why.available, 2);
  EXPECT_TRUE(cluster.round().refusals.empty());
}

TEST(Hcoop, refuses_for_good_what_the_fleet_can_never_hold) {
  Cluster cluster(two_sizes(), "hcoop");
  cluster.add_to_fleet("small", 1);
  cluster.submit(job(1, 9, 8));
  const Plan plan = cluster.round();
  ASSERT_EQ(plan.refusals.size(), 1U);
  EXPECT_EQ(plan.refusals[0].refusal.kind, RefusalKind::never);
  EXPECT_EQ(plan.refusals[0].refusal.binding, Resource::cpu);
  EXPECT_EQ(plan.refusals[0].refusal.available, 8) << "the fleet has no large one";
}

TEST(Hcoop, places_gangs_whole_or_not_at_all) {
  Cluster cluster(two_sizes(), "hcoop");
  cluster.add_to_fleet("small", 2);
  cluster.submit(job(1, 8, 8));
  cluster.round();
  Job gang = test::JobBuilder(2).demand(Resources::of(0, 5, 8)).tasks(2).build();
  cluster.submit(gang);
  cluster.submit(job(3, 5, 8));
  cluster.round();
  EXPECT_EQ(cluster.layout(), "small(1) small(3)");
  cluster.finish(3);
  cluster.round();
  EXPECT_EQ(cluster.layout(), "small(1) small()") << "one of the two would fit";
  cluster.finish(1);
  cluster.round();
  EXPECT_EQ(cluster.layout(), "small(2) small(201)");
}

TEST(Hcoop, rents_the_cheapest_type_that_holds_the_pair_and_fills_it) {
  Cluster cluster(two_sizes(), "hcoop");
  cluster.submit(job(1, 12, 8));
  cluster.submit(job(2, 1, 48));
  cluster.submit(job(3, 2, 4));
  const Plan plan = cluster.round();
  EXPECT_EQ(cluster.layout(), "large(1 2 3)");
  EXPECT_EQ(plan.launches[0].cause.code, CauseCode::complementary);
  EXPECT_EQ(plan.places[2].cause.code, CauseCode::best_fit);
}

TEST(Hcoop, rents_spot_instances_for_spot_tasks_and_regular_ones_when_the_cloud_has_none) {
  Cluster cluster(two_sizes(), "hcoop");
  cluster.submit(safe_job(1, 4, 8));
  cluster.begin(cluster.ask());
  ASSERT_EQ(market_of(cluster, 1), Market::spot);
  cluster.refuse_launches();
  cluster.round();
  EXPECT_EQ(market_of(cluster, 1), Market::on_demand);
}

TEST(Hcoop, gives_back_what_has_had_no_task_for_long_enough) {
  Cluster cluster(two_sizes(), "hcoop,idle_release_s=400");
  cluster.submit(job(1, 4, 8));
  cluster.round();
  cluster.finish(1);
  EXPECT_TRUE(cluster.round().releases.empty()) << "300 s";
  const Plan plan = cluster.round();
  ASSERT_EQ(plan.releases.size(), 1U);
  EXPECT_EQ(plan.releases[0].cause.code, CauseCode::empty);
  EXPECT_EQ(cluster.layout(), "");
}

TEST(Hcoop, uses_an_idle_instance_instead_of_renting) {
  Cluster cluster(two_sizes(), "hcoop,idle_release_s=0");
  cluster.submit(job(1, 4, 8));
  cluster.round();
  cluster.finish(1);
  cluster.submit(job(2, 4, 8));
  const Plan plan = cluster.round();
  EXPECT_TRUE(plan.launches.empty() && plan.releases.empty());
  EXPECT_EQ(cluster.layout(), "small(2)");
}

TEST(Hcoop, decides_nothing_on_its_own_state_in_a_dry_run) {
  Cluster cluster(two_sizes(), "hcoop");
  cluster.add_to_fleet("small", 1);
  cluster.submit(job(1, 4, 8));
  Rng rng(1);
  Budget budget;
  EXPECT_EQ(cluster.policy().clone()->decide(cluster.view(), rng, budget).places.size(), 1U);
  cluster.round();
  EXPECT_EQ(cluster.layout(), "small(1)");
}

}  // namespace
}  // namespace muster
