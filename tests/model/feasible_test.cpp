#include "model/feasible.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

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

/// Tasks of a job of which an instance may have two, on an instance.
class PeersTest : public Feasible {
 protected:
  PeersTest() {
    const TypeId it3 = test::type_named(catalog_, "it3");
    apply(LaunchRequested{InstanceId{0}, it3, Market::on_demand, Price::from_usd_h(0.8), {}});
    apply(InstanceUp{InstanceId{0}});
    apply(InstanceReady{InstanceId{0}});
    Job job = JobBuilder(1).tasks(4).demand(Resources::of(0, 0.1, 0.1)).gang(false).build();
    job.most_an_instance = 2;
    for (const TaskSpec& task : job.tasks) tasks_.push_back(task.id);
    apply(JobAccepted{std::move(job)});
  }
  void apply(EventBody body) { state_.apply({test::at_s(0), std::move(body)}); }
  void run(TaskId task) {
    apply(TaskAssigned{task, InstanceId{0}, {}});
    apply(StartIssued{task, InstanceId{0}, 1});
    apply(TaskStarted{task, 1, {}, {}});
  }
  bool is_full_for(TaskId task) const {
    return is_full_of_peers(state_, *state_.find(task), *state_.find(InstanceId{0}));
  }

  std::vector<TaskId> tasks_;
};

TEST_F(PeersTest, fill_an_instance_that_has_as_many_as_their_job_allows) {
  EXPECT_FALSE(is_full_for(tasks_[2]));
  run(tasks_[0]);
  EXPECT_FALSE(is_full_for(tasks_[2]));
  run(tasks_[1]);
  EXPECT_TRUE(is_full_for(tasks_[2]));
  EXPECT_FALSE(is_full_for(tasks_[0])) << "it is one of the two";
  EXPECT_EQ(peers_on(state_, *state_.find(tasks_[0]), *state_.find(InstanceId{0})), 1U)
      << "who stays is on two lists and counts once";
}

TEST_F(PeersTest, of_which_one_more_is_there_than_may_make_a_state_inconsistent) {
  run(tasks_[0]);
  run(tasks_[1]);
  EXPECT_TRUE(state_.inconsistencies().empty());
  run(tasks_[2]);
  ASSERT_EQ(state_.inconsistencies().size(), 1U);
  EXPECT_THAT(state_.inconsistencies()[0], testing::HasSubstr("instance 0"));
}

}  // namespace
}  // namespace muster
