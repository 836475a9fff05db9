#include "model/feasible.hpp"

#include <gtest/gtest.h>

#include "tests/support/builders.hpp"

namespace muster {
namespace {

using test::JobBuilder;

class Feasible : public ::testing::Test {
 protected:
  const TaskRow* accept(Job job) {
    const TaskId task = job.tasks.front().id;
    state_.apply({test::at_s(0), JobAccepted{std::move(job)}});
    return state_.find(task);
  }
  std::optional<Refusal> why(const TaskRow* task, std::string_view type,
                             Market market = Market::on_demand, std::optional<Grant> grant = {}) {
    return why_infeasible(state_, {task, test::type_named(catalog_, type), market, grant});
  }

  Catalog catalog_ = test::table3_catalog();
  ClusterState state_{catalog_};
};

TEST_F(Feasible, is_what_the_job_wants_and_the_type_holds) {
  const TaskRow* task = accept(JobBuilder(1).demand(Resources::of(0, 5, 8)).build());
  EXPECT_EQ(why(task, "it3"), std::nullopt);
  EXPECT_EQ(why(task, "it3", Market::spot), std::nullopt);
  const Refusal too_small{RefusalKind::not_now, RefusalCode::over_capacity, Resource::cpu, 5, 4};
  EXPECT_EQ(why(task, "it4"), too_small);
}

TEST_F(Feasible, is_nothing_on_a_market_that_the_job_does_not_want) {
  Job job = JobBuilder(1).build();
  job.markets = MarketChoice::spot;
  const TaskRow* task = accept(std::move(job));
  EXPECT_EQ(why(task, "it3", Market::spot), std::nullopt);
  ASSERT_TRUE(why(task, "it3", Market::on_demand).has_value());
  EXPECT_EQ(why(task, "it3", Market::on_demand)->code, RefusalCode::wrong_market);
}

TEST_F(Feasible, is_nothing_on_a_family_without_a_demand) {
  Job job = JobBuilder(1).build();
  job.tasks.front().demands = Demands({{"elsewhere", Resources::of(0, 1, 1), 1}});
  const TaskRow* task = accept(std::move(job));
  ASSERT_TRUE(why(task, "it3").has_value());
  EXPECT_EQ(why(task, "it3")->kind, RefusalKind::never);
  EXPECT_EQ(why(task, "it3")->code, RefusalCode::fits_no_type);
}

TEST_F(Feasible, is_a_grant_of_all_that_the_task_demands_and_no_more_than_there_is) {
  const TaskRow* task = accept(JobBuilder(1).demand(Resources::of(0, 2, 8)).build());
  const auto granted = [&](double cpus) {
    return why(task, "it3", Market::on_demand, Grant::of(Resources::of(0, cpus, 8)));
  };
  EXPECT_EQ(granted(2), std::nullopt);
  EXPECT_EQ(granted(8), std::nullopt);
  const Refusal too_little{RefusalKind::not_now, RefusalCode::malformed, Resource::cpu, 2, 1};
  EXPECT_EQ(granted(1), too_little);
  const Refusal too_much{RefusalKind::not_now, RefusalCode::over_capacity, Resource::cpu, 9, 8};
  EXPECT_EQ(granted(9), too_much);
  const Placing said{
      task, test::type_named(catalog_, "it3"), {}, Grant::of(Resources::of(0, 3, 9))};
  EXPECT_EQ(grant_of(state_, said), said.grant);
  const Placing silent{task, said.type};
  EXPECT_EQ(grant_of(state_, silent), Grant::of(Resources::of(0, 2, 8)));
}

TEST_F(Feasible, is_a_grant_of_the_least_size_of_its_service) {
  Job job = JobBuilder(1).demand(Resources::of(0, 2, 8)).build();
  ServiceSpec spec;
  spec.size = {.least_cpus = 0.5, .least_memory_gib = 4};
  job.kind = spec;
  const TaskRow* task = accept(std::move(job));
  const auto granted = [&](double cpus, double memory_gib) {
    return why(task, "it3", Market::on_demand, Grant::of(Resources::of(0, cpus, memory_gib)));
  };
  EXPECT_EQ(granted(0.5, 4), std::nullopt);
  const Refusal too_little{RefusalKind::not_now, RefusalCode::malformed, Resource::cpu, 0.5, 0.25};
  EXPECT_EQ(granted(0.25, 8), too_little);
  EXPECT_EQ(granted(2, 2)->binding, Resource::memory);
}

}  // namespace
}  // namespace muster
