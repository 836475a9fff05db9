#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "model/feasible.hpp"
#include "tests/schedulers/cluster.hpp"
#include "tests/schedulers/muster/offered.hpp"

namespace muster::testing {
namespace {

using own::table_3_on_both_markets;
using test::JobBuilder;

Job task(std::uint64_t id, MarketChoice markets = MarketChoice::any) {
  Job job = JobBuilder(id).demand(Resources::of(0, 4, 12)).build();
  job.markets = markets;
  job.checkpoints = true;
  return job;
}

/// On which market the only task of the job is meant to run.
Market market_of(const Cluster& cluster, std::uint64_t job) {
  const ClusterState& state = cluster.state();
  const TaskRow& row = state.task(state.find(JobId{job})->tasks[0]);
  EXPECT_NE(row.target, kNoSlot);
  return state.instance(row.target).market;
}

Offering on_spot(const std::string& type, double usd_h, double interruptions_h) {
  return {type, Market::spot, "", Price::from_usd_h(usd_h), true, interruptions_h};
}

TEST(MusterOnSpot, puts_tasks_there_that_may_be_there_and_no_others) {
  Cluster cluster(table_3_on_both_markets(), "muster");
  cluster.submit(task(1));
  cluster.submit(task(2, MarketChoice::on_demand));
  cluster.submit(task(3, MarketChoice::spot));
  cluster.round();
  EXPECT_EQ(market_of(cluster, 1), Market::spot);
  EXPECT_EQ(market_of(cluster, 2), Market::on_demand);
  EXPECT_EQ(market_of(cluster, 3), Market::spot);
}

TEST(MusterOnSpot, only_those_who_ask_for_it_where_the_policy_is_told_so) {
  Cluster cluster(table_3_on_both_markets(), "muster,spot=asked");
  cluster.submit(task(1));
  cluster.submit(task(2, MarketChoice::spot));
  cluster.round();
  EXPECT_EQ(market_of(cluster, 1), Market::on_demand);
  EXPECT_EQ(market_of(cluster, 2), Market::spot);
}

TEST(MusterOnSpot, work_that_cannot_be_saved_stays_on_demand_where_interruptions_are_frequent) {
  for (const bool checkpoints : {true, false}) {
    Cluster cluster(table_3_on_both_markets(), "muster");
    for (const char* type : {"it3", "it4"}) {
      const Price price = cluster.price(test::type_named(cluster.catalog(), type), Market::spot);
      cluster.change(on_spot(type, price.usd_h(), 0.8));
    }
    Job job = task(1);
    job.checkpoints = checkpoints;
    cluster.submit(job);
    cluster.round();
    EXPECT_EQ(market_of(cluster, 1), checkpoints ? Market::spot : Market::on_demand);
  }
}

TEST(MusterOnSpot, a_price_that_rises_above_on_demand_moves_a_task_there_and_back_when_it_falls) {
  Cluster cluster(table_3_on_both_markets(), "muster,patient=false");
  cluster.submit(task(1));
  cluster.round();
  ASSERT_EQ(market_of(cluster, 1), Market::spot);
  for (const char* type : {"it1", "it2", "it3", "it4"}) cluster.reprice(type, 20, Market::spot);
  cluster.round();
  EXPECT_EQ(market_of(cluster, 1), Market::on_demand);
  for (const char* type : {"it3", "it4"}) cluster.reprice(type, 0.05, Market::spot);
  cluster.round();
  EXPECT_EQ(market_of(cluster, 1), Market::spot);
}

TEST(MusterOnSpot, what_the_cloud_has_none_of_is_rented_on_demand_until_it_returns) {
  Cluster cluster(table_3_on_both_markets(), "muster,patient=false");
  const auto set_available = [&](bool available) {
    for (const char* type : {"it1", "it2", "it3", "it4"}) {
      Offering offering = on_spot(type, 0.1, 0);
      offering.available = available;
      cluster.change(offering);
    }
  };
  set_available(false);
  cluster.submit(task(1));
  cluster.submit(task(2, MarketChoice::spot));
  const Plan plan = cluster.round();
  ASSERT_EQ(plan.refusals.size(), 1u);
  EXPECT_EQ(plan.refusals[0].refusal.code, RefusalCode::cloud_capacity) << "no better place";
  EXPECT_EQ(market_of(cluster, 1), Market::on_demand);
  EXPECT_EQ(cluster.state().task(cluster.state().find(JobId{2})->tasks[0]).target, kNoSlot);
  set_available(true);
  cluster.round();
  EXPECT_EQ(market_of(cluster, 2), Market::spot);
}

TEST(MusterOnSpot, after_three_types_were_refused_there_the_others_are_not_tried_one_by_one) {
  Cluster cluster(table_3_on_both_markets(), "muster,patient=false");
  cluster.rest("it2", Market::spot);
  cluster.rest("it3", Market::spot);
  cluster.submit(task(1));
  cluster.round();
  EXPECT_EQ(market_of(cluster, 1), Market::spot);
  cluster.finish(1);
  cluster.round();
  ASSERT_TRUE(cluster.state().instances().empty());
  cluster.rest("it4", Market::spot);
  cluster.submit(task(2));
  cluster.submit(task(3, MarketChoice::spot));
  cluster.round();
  EXPECT_EQ(market_of(cluster, 2), Market::on_demand);
  EXPECT_EQ(market_of(cluster, 3), Market::spot) << "it1 is all that is left to it";
}

TEST(MusterOnSpot, a_task_whose_instance_is_taken_away_gets_another_place_at_once) {
  Cluster cluster(table_3_on_both_markets(), "muster");
  cluster.set_min_stay(std::chrono::hours{10});
  cluster.submit(task(1));
  cluster.round();
  const InstanceId first = cluster.state().instances().begin()->id;
  cluster.notice(first.value);
  const Plan plan = cluster.ask();
  ASSERT_EQ(plan.places.size(), 1u);
  EXPECT_EQ(plan.places[0].task, TaskId{1});
  EXPECT_EQ(plan.launches.size(), 1u);
}

TEST(MusterOnSpot, a_large_gang_takes_the_instances_again_that_it_was_stopped_on) {
  // New ones are no cheaper: nobody pays for the time until they are there.
  std::vector<InstanceType> types = table_3_on_both_markets().types();
  for (InstanceType& type : types) type.acquire = {};
  Cluster cluster(Catalog(std::move(types)), "muster,interruptions_h=0.01");
  Job gang = JobBuilder(1).tasks(12).gang(true).demand(Resources::of(0, 2, 4)).build();
  gang.checkpoints = true;
  cluster.submit(gang);
  cluster.round();
  const std::size_t rented = cluster.state().instances().size();
  ASSERT_GT(rented, 1u);
  // All of it stops with the one instance, and waits beside the others.
  const std::vector<Slot> all = cluster.state().find(JobId{1})->tasks;
  for (Slot slot : all) cluster.stop_task(cluster.state().task(slot).id.value);
  cluster.take_away(1);
  const Plan plan = cluster.round();
  EXPECT_EQ(plan.launches.size(), 1u);
  EXPECT_EQ(cluster.state().instances().size(), rented);
}

RC_GTEST_PROP(MusterOnSpotProperty, markets_are_kept_and_a_layout_never_loses_by_being_improved,
              ()) {
  Cluster cluster(table_3_on_both_markets(), "muster,interruptions_h=0.2,horizon_s=2000");
  std::uint64_t id = 1;
  for (int round = 0; round < 6; ++round) {
    for (int i = *rc::gen::inRange(0, 5); i > 0; --i, ++id) {
      const bool gang = *rc::gen::inRange(0, 3) == 0;
      Job job = JobBuilder(id)
                    .tasks(gang ? 3 : 1)
                    .gang(gang)
                    .workload_class(id % 2 == 0 ? "a" : "b")
                    .demand(*rc::gen::arbitrary<bool>() ? Resources::of(0, 4, 12)
                                                        : Resources::of(1, 4, 10))
                    .build();
      job.markets =
          *rc::gen::element(MarketChoice::any, MarketChoice::on_demand, MarketChoice::spot);
      job.checkpoints = *rc::gen::arbitrary<bool>();
      cluster.submit(job);
    }
    if (*rc::gen::inRange(0, 3) == 0) {
      cluster.change(on_spot(*rc::gen::element<std::string>("it2", "it3", "it4"),
                             *rc::gen::inRange(1, 300) / 100.0, *rc::gen::inRange(0, 10) / 10.0));
    }
    const Plan plan = cluster.round();
    for (const JobRow& row : cluster.state().jobs()) {
      for (Slot slot : row.tasks) {
        const TaskRow& each = cluster.state().task(slot);
        if (each.target == kNoSlot) continue;
        RC_ASSERT(wants(row.job.markets, cluster.state().instance(each.target).market));
      }
    }
    if (plan.note.figures.empty()) continue;
    RC_ASSERT(figure(plan, "value_usd_h") >= figure(plan, "greedy_usd_h") - 1e-6);
  }
}

TEST(MusterOffers, leaves_out_what_another_of_its_market_replaces) {
  const Resources small = Resources::of(0, 4, 16), large = Resources::of(0, 8, 32);
  const Catalog catalog({type_of("dear", "c", small, 2), type_of("large", "c", large, 1),
                         type_of("other-family", "d", small, 2), type_of("same", "c", large, 1)});
  const ReservationPrices prices(catalog);
  std::vector<own::Host> offers = own::all_offers(prices.types(), 0);
  own::drop_replaced(offers, prices);
  std::vector<std::string> left;
  for (const own::Host& offer : offers) left.push_back(catalog[offer.type].name);
  EXPECT_EQ(left, (std::vector<std::string>{"large", "other-family"}));
}

TEST(MusterOffers, a_type_that_a_constraint_bars_replaces_none_that_it_admits) {
  const Resources room = Resources::of(0, 4, 16);
  const Catalog catalog({type_of("dear", "c", room, 2), type_of("cheap", "c", room, 1)});
  ReservationPrices prices(catalog);
  prices.add({Demands(room), Constraint::of("type!=cheap")});
  std::vector<own::Host> offers = own::all_offers(prices.types(), 0);
  own::drop_replaced(offers, prices);
  EXPECT_EQ(offers.size(), 2u);
}

TEST(MusterOffers, an_instance_that_is_there_later_replaces_none_that_is_there_sooner) {
  const Resources room = Resources::of(0, 4, 16);
  std::vector<InstanceType> made{type_of("soon", "c", room, 2), type_of("late", "c", room, 1)};
  made[1].setup = std::chrono::hours{1};
  const Catalog catalog(std::move(made));
  const ReservationPrices prices(catalog);
  std::vector<own::Host> offers = own::all_offers(prices.types(), 0);
  own::drop_replaced(offers, prices);
  EXPECT_EQ(offers.size(), 2u);
}

TEST(MusterOffers, an_interruption_costs_a_gang_once_however_many_of_its_tasks_are_there) {
  own::Piece task;
  task.stake_usd_h = 10;
  task.at_risk_h = 0.5;
  own::Host host;
  host.interruptions_h = 0.2;
  host.renew_h = 0.5;
  const own::Piece* const alone[] = {&task, &task};
  EXPECT_DOUBLE_EQ(own::risk_usd_h(host, alone), 4);
  task.gang = 0;
  EXPECT_DOUBLE_EQ(own::risk_usd_h(host, alone), 2);
}

}  // namespace
}  // namespace muster::testing
