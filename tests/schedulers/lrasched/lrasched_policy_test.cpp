#include "schedulers/lrasched/lrasched_policy.hpp"

#include <gmock/gmock.h>

#include <any>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "serve/solver/cbc_solver.hpp"
#include "tests/schedulers/cluster.hpp"
#include "tests/schedulers/solvers.hpp"

namespace muster {
namespace {

using testing::Cluster;
using ::testing::IsEmpty;
using testing::table_3;

/// A service of that many replicas: tasks number * 100 + 1, + 2, ..., but for the first,
/// which has the number itself.
Job service(std::uint64_t number, std::size_t replicas, const Resources& size) {
  Job job = test::JobBuilder(number).tasks(replicas).demand(size).gang(false).build();
  job.kind = ServiceSpec{};
  return job;
}
Job batch(std::uint64_t number, const Resources& size) {
  return test::JobBuilder(number).demand(size).build();
}
Resources cpus(double count) {
  return Resources::of(0, count, count);
}

std::size_t placed(const Cluster& cluster, std::uint64_t job) {
  std::size_t count = 0;
  for (const Slot slot : cluster.state().find(JobId{job})->tasks) {
    count += cluster.state().task(slot).target != kNoSlot ? 1 : 0;
  }
  return count;
}
Refusal reason(const Cluster& cluster, std::uint64_t task) {
  return cluster.state().find(TaskId{task})->reason;
}
/// No instance holds more than it has.
void expect_within_capacity(const Cluster& cluster) {
  for (const InstanceRow& row : cluster.state().instances()) {
    EXPECT_TRUE(row.committed.fits_in(cluster.catalog()[row.type].capacity)) << cluster.layout();
  }
}

TEST(LraPolicy, places_a_service_whole_or_not_at_all) {
  Cluster cluster(table_3(), "lrasched");
  cluster.add_to_fleet("it4", 2);
  cluster.submit(service(1, 3, cpus(4)));
  const Plan plan = cluster.round();
  EXPECT_THAT(plan.places, IsEmpty());
  const Refusal why = reason(cluster, 101);
  EXPECT_EQ(why.code, RefusalCode::awaiting_capacity);
  EXPECT_EQ(why.binding, Resource::cpu);
  EXPECT_EQ(why.asked, 12);
  EXPECT_EQ(why.available, 8);
  EXPECT_THAT(cluster.round().refusals, IsEmpty()) << "they know it";
}

TEST(LraPolicy, says_that_no_type_holds_a_replica_and_which_resource_it_lacks) {
  Cluster cluster(table_3(), "lrasched");
  cluster.submit(service(1, 2, Resources::of(0, 1, 1000)));
  cluster.round();
  EXPECT_EQ(reason(cluster, 1).kind, RefusalKind::never);
  EXPECT_EQ(reason(cluster, 1).binding, Resource::memory);
  Cluster fleet(table_3(), "lrasched");
  fleet.add_to_fleet("it4", 2);
  fleet.submit(service(1, 2, cpus(6)));
  fleet.round();
  EXPECT_EQ(reason(fleet, 1),
            (Refusal{RefusalKind::not_now, RefusalCode::fixed_fleet, Resource::cpu, 6, 4}));
}

TEST(LraPolicy, places_the_smallest_service_first_unless_told_otherwise) {
  const auto layout_of = [](const std::string& policy) {
    Cluster cluster(table_3(), policy);
    cluster.add_to_fleet("it4");
    cluster.submit(service(1, 3, cpus(1)));
    cluster.submit(service(2, 2, cpus(1)));
    cluster.round();
    return cluster.layout();
  };
  EXPECT_EQ(layout_of("lrasched"), "it4(2 201)");
  EXPECT_EQ(layout_of("lrasched,order=decreasing"), "it4(1 101 102)");
}

TEST(LraPolicy, places_the_higher_priority_first_whatever_its_size) {
  Cluster cluster(table_3(), "lrasched");
  cluster.add_to_fleet("it4");
  Job large = service(1, 3, cpus(1));
  large.priority = 1;
  cluster.submit(large);
  cluster.submit(service(2, 2, cpus(1)));
  cluster.round();
  EXPECT_EQ(placed(cluster, 1), 3U);
  EXPECT_EQ(placed(cluster, 2), 0U);
}

TEST(LraPolicy, places_a_large_service_first_that_has_waited_for_long) {
  const auto first_of = [](const std::string& policy) {
    Cluster cluster(table_3(), policy);
    cluster.add_to_fleet("it4");
    cluster.submit(batch(9, cpus(4)));
    cluster.round();
    cluster.submit(service(1, 3, cpus(1)));
    for (int i = 0; i < 5; ++i) cluster.round();
    cluster.finish(9);
    cluster.submit(service(2, 2, cpus(1)));
    cluster.round();
    return placed(cluster, 1) > 0 ? 1 : 2;
  };
  EXPECT_EQ(first_of("lrasched"), 1);
  EXPECT_EQ(first_of("lrasched,patience=10"), 2);
}

TEST(LraPolicy, moves_what_it_places_in_a_round_to_make_room) {
  const auto placed_by = [](const std::string& policy) {
    Cluster cluster(table_3(), policy);
    cluster.add_to_fleet("it4", 1);
    cluster.add_to_fleet("it3", 1);
    cluster.submit(service(1, 1, Resources::of(0, 3, 12)));
    cluster.submit(service(2, 1, Resources::of(0, 7, 28)));
    cluster.round();
    return placed(cluster, 1) + placed(cluster, 2);
  };
  EXPECT_EQ(placed_by("lrasched,fit=dot"), 2U);
  EXPECT_EQ(placed_by("lrasched,fit=dot,moves=false"), 1U);
}

TEST(LraPolicy, uses_room_that_is_there_and_rents_by_price_for_the_rest) {
  Cluster cluster(table_3(), "lrasched");
  cluster.submit(batch(9, Resources::of(0, 2, 4)));
  cluster.round();
  ASSERT_EQ(cluster.layout(), "it4(9)");
  cluster.submit(service(1, 5, Resources::of(0, 2, 4)));
  const Plan plan = cluster.round();
  EXPECT_EQ(placed(cluster, 1), 5U);
  EXPECT_EQ(plan.launches.size(), 1U) << cluster.layout();
  EXPECT_EQ(cluster.layout(), "it4(1 9) it3(101 102 103 104)");
  cluster.reprice("it3", 100);
  cluster.submit(service(2, 4, Resources::of(0, 2, 4)));
  cluster.round();
  EXPECT_EQ(placed(cluster, 2), 4U);
  EXPECT_THAT(cluster.layout(), ::testing::EndsWith("it4(2 201) it4(202 203)"));
}

TEST(LraPolicy, fills_new_instances_alone_where_it_is_told_to_do_as_the_paper) {
  Cluster cluster(table_3(), "lrasched,phase2=paper");
  cluster.submit(batch(9, Resources::of(0, 2, 4)));
  cluster.round();
  ASSERT_EQ(cluster.layout(), "it4(9)");
  cluster.submit(service(1, 5, Resources::of(0, 2, 4)));
  cluster.round();
  EXPECT_EQ(placed(cluster, 1), 5U);
  EXPECT_THAT(cluster.layout(), ::testing::StartsWith("it4(9) "));
}

TEST(LraPolicy, puts_no_more_replicas_on_an_instance_than_the_limit) {
  Cluster cluster(table_3(), "lrasched,limit=2");
  cluster.add_to_fleet("it3", 2);
  cluster.submit(service(1, 4, cpus(1)));
  cluster.submit(service(2, 5, cpus(1)));
  cluster.round();
  EXPECT_EQ(placed(cluster, 1), 4U);
  std::map<Slot, int> on;
  for (const Slot slot : cluster.state().find(JobId{1})->tasks) {
    EXPECT_LE(++on[cluster.state().task(slot).target], 2);
  }
  EXPECT_EQ(placed(cluster, 2), 0U);
  EXPECT_EQ(reason(cluster, 2),
            (Refusal{RefusalKind::not_now, RefusalCode::distinct_instances, std::nullopt, 2.5, 2}));
}

TEST(LraPolicy, says_how_many_instances_a_cap_lacks_and_starts_nothing_of_the_service) {
  Cluster cluster(table_3(), "lrasched,limit=1");
  cluster.cap(2);
  cluster.submit(service(1, 3, cpus(2)));
  const Plan plan = cluster.round();
  EXPECT_THAT(plan.launches, IsEmpty());
  EXPECT_EQ(reason(cluster, 1),
            (Refusal{RefusalKind::not_now, RefusalCode::instance_cap, std::nullopt, 3, 2}));
  cluster.cap(std::nullopt, 0.01);
  cluster.round();
  EXPECT_EQ(reason(cluster, 1).code, RefusalCode::spend_cap);
  cluster.cap(std::nullopt);
  cluster.round();
  EXPECT_EQ(placed(cluster, 1), 3U);
}

TEST(LraPolicy, makes_one_group_of_a_service_and_of_what_is_rented_for_it) {
  Cluster cluster(table_3(), "lrasched,limit=1");
  cluster.submit(service(1, 2, cpus(2)));
  const Plan plan = cluster.round();
  ASSERT_EQ(plan.launches.size(), 2U);
  ASSERT_EQ(plan.places.size(), 2U);
  const std::uint32_t group = plan.launches[0].group;
  EXPECT_GT(group, 0U);
  EXPECT_EQ(plan.launches[1].group, group);
  EXPECT_EQ(plan.places[0].group, group);
  EXPECT_EQ(plan.places[1].group, group);
}

TEST(LraPolicy, replaces_each_lost_replica_by_itself) {
  Cluster cluster(table_3(), "lrasched,limit=1");
  cluster.add_to_fleet("it4", 3);
  cluster.submit(service(1, 3, cpus(3)));
  cluster.round();
  ASSERT_EQ(placed(cluster, 1), 3U);
  cluster.take_away(1);
  cluster.take_away(2);
  cluster.add_to_fleet("it4");
  EXPECT_EQ(cluster.round().places.size(), 1U);
  EXPECT_EQ(placed(cluster, 1), 2U);
}

TEST(LraPolicy, places_a_replica_elsewhere_that_has_to_leave_its_instance) {
  Cluster cluster(table_3(), "lrasched,limit=1");
  cluster.submit(service(1, 2, cpus(3)));
  cluster.round();
  ASSERT_EQ(cluster.layout(), "it4(1) it4(101)");
  cluster.notice(1);
  cluster.round();
  EXPECT_EQ(cluster.layout(), "it4(101) it4(1)");
}

TEST(LraPolicy, keeps_an_empty_instance_that_a_service_joins) {
  Cluster cluster(table_3(), "lrasched");
  cluster.submit(batch(9, cpus(4)));
  cluster.round();
  ASSERT_EQ(cluster.layout(), "it4(9)");
  cluster.finish(9);
  cluster.submit(service(1, 2, cpus(2)));
  const Plan plan = cluster.round();
  EXPECT_THAT(plan.releases, IsEmpty());
  EXPECT_EQ(cluster.layout(), "it4(1 101)");
}

TEST(LraPolicy, gives_batch_the_room_that_services_leave) {
  Cluster cluster(table_3(), "lrasched");
  cluster.add_to_fleet("it4", 2);
  cluster.submit(service(1, 2, cpus(3)));
  for (std::uint64_t i = 11; i < 16; ++i) cluster.submit(batch(i, cpus(1)));
  cluster.round();
  cluster.round();
  expect_within_capacity(cluster);
  EXPECT_EQ(placed(cluster, 1), 2U);
  EXPECT_EQ(cluster.state().pending().size(), 3U);
}

/// Jobs that come and go at random, the numbers of some are services.
class Traffic {
 public:
  Traffic(std::uint64_t seed, double services) : rng_(seed), services_(services) {}

  void step(Cluster& cluster) {
    for (std::uint64_t i = rng_.below(4); i > 0; --i) {
      const Resources size = Resources::of(0, 1 + static_cast<double>(rng_.below(4)),
                                           2 + static_cast<double>(rng_.below(8)));
      const bool is_service = rng_.uniform() < services_;
      const std::uint64_t number = next_++;
      const std::uint64_t replicas = 1 + rng_.below(4);
      cluster.submit(is_service ? service(number, replicas, size) : batch(number, size));
      if (!is_service) batch_.push_back(number);
    }
    if (batch_.empty() || rng_.uniform() < 0.3) return;
    const std::size_t at = rng_.below(batch_.size());
    const JobRow* row = cluster.state().find(JobId{batch_[at]});
    if (row->running < row->tasks.size()) return;
    cluster.finish(batch_[at]);
    batch_.erase(batch_.begin() + static_cast<std::ptrdiff_t>(at));
  }

 private:
  Rng rng_;
  double services_;
  std::uint64_t next_ = 1001;
  std::vector<std::uint64_t> batch_;
};

TEST(LraPolicy, plans_as_muster_does_where_there_are_no_services) {
  for (const bool fleet : {false, true}) {
    Cluster one(table_3(), "lrasched");
    Cluster other(table_3(), "muster");
    for (Cluster* cluster : {&one, &other}) {
      if (fleet) cluster->add_to_fleet("it1", 2);
    }
    Traffic for_one(7, 0), for_other(7, 0);
    for (int i = 0; i < 60; ++i) {
      for_one.step(one);
      for_other.step(other);
      const Plan plan = one.round();
      EXPECT_EQ(plan.note, other.round().note);
      ASSERT_EQ(one.layout(), other.layout());
    }
  }
}

TEST(LraPolicy, never_overfills_moves_a_replica_or_starts_a_part_of_a_service) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const bool fleet = seed % 2 == 0;
    Cluster cluster(table_3(), seed % 3 == 0 ? "lrasched,limit=2" : "lrasched");
    if (fleet) cluster.add_to_fleet("it1", 3);
    if (!fleet && seed > 6) cluster.cap(8);
    Traffic traffic(seed, 0.3);
    std::map<TaskId, InstanceId> at;
    for (int i = 0; i < 60; ++i) {
      traffic.step(cluster);
      cluster.round();
      expect_within_capacity(cluster);
      for (const JobRow& row : cluster.state().jobs()) {
        if (row.job.service() == nullptr) continue;
        const std::size_t there = placed(cluster, row.job.id.value);
        EXPECT_TRUE(there == 0 || there == row.tasks.size()) << cluster.layout();
        for (const Slot slot : row.tasks) {
          const TaskRow& task = cluster.state().task(slot);
          if (task.target == kNoSlot) continue;
          const InstanceId on = cluster.state().instance(task.target).id;
          EXPECT_EQ(at.try_emplace(task.id, on).first->second, on);
        }
      }
    }
  }
}

TEST(LraPolicy, decides_as_one_whose_words_it_was_given) {
  for (const bool fleet : {false, true}) {
    Cluster cluster(table_3(), "lrasched");
    if (fleet) cluster.add_to_fleet("it1", 2);
    Traffic traffic(3, 0.4);
    for (int i = 0; i < 40; ++i) {
      traffic.step(cluster);
      const std::string words = cluster.policy().save_state(cluster.state());
      auto other = make_policy({"lrasched", {}}, cluster.catalog()).value();
      ASSERT_TRUE(other->load_state(words, cluster.view()));
      EXPECT_EQ(other->save_state(cluster.state()), words);
      Rng rng(1), same(1);
      Budget budget, budget_of_other;
      const Plan a = cluster.policy().decide(cluster.view(), rng, budget);
      const Plan b = other->decide(cluster.view(), same, budget_of_other);
      EXPECT_EQ(a.note, b.note);
      EXPECT_EQ(a.places.size(), b.places.size());
      cluster.round();
    }
  }
}

TEST(LraPolicy, understands_no_words_of_others) {
  const Catalog catalog = table_3();
  Cluster cluster(catalog, "lrasched");
  auto policy = make_policy({"lrasched", {}}, catalog).value();
  EXPECT_FALSE(policy->load_state("{\"batch\":\"\"}", cluster.view()));
  EXPECT_FALSE(policy->load_state("x", cluster.view()));
}

TEST(LraPolicy, weighs_a_service_by_those_of_the_last_hour) {
  // By itself a service has all of the demand of each resource: (21) takes the emptiest instance,
  // which is not the one that a service of much memory should have.
  Cluster cluster(table_3(), "lrasched,fit=dot");
  cluster.add_to_fleet("it2");
  cluster.add_to_fleet("it3");
  cluster.submit(service(1, 3, Resources::of(0, 1, 1)));
  cluster.round();
  ASSERT_EQ(placed(cluster, 1), 3U);
  cluster.finish(1);
  cluster.submit(service(2, 1, Resources::of(0, 1, 20)));
  cluster.round();
  EXPECT_EQ(cluster.layout(), "it2(2) it3()");
  cluster.let_pass(std::chrono::hours{2});
  cluster.submit(service(3, 1, Resources::of(0, 1, 20)));
  cluster.round();
  EXPECT_EQ(cluster.layout(), "it2(2) it3(3)");
}

/// The module, with that solver.
PolicyModule programs_by(std::shared_ptr<const IntegerSolver> solver) {
  PolicyModule module = *find_module("lra-ilp").value();
  module.make = [make = module.make, solver = std::move(solver)](
                    const std::any& params, const Catalog& catalog, const PolicyServices&) {
    return make(params, catalog, {solver, {}});
  };
  return module;
}

/// Where the smallest service stands in the way of two others.
std::string layout_of_three(const PolicyModule& module, const std::string& policy) {
  Cluster cluster(Catalog({testing::type_of("node", "cpu", Resources::of(0, 10, 10), 1)}), module,
                  policy);
  cluster.add_to_fleet("node");
  cluster.submit(service(1, 1, Resources::of(0, 4, 4)));
  cluster.submit(service(2, 1, Resources::of(0, 9, 1)));
  cluster.submit(service(3, 1, Resources::of(0, 1, 9)));
  cluster.round();
  return cluster.layout();
}

TEST(LraIlp, places_more_services_than_one_after_the_other) {
  const std::string cbc = find_program("cbc");
  if (cbc.empty()) GTEST_SKIP() << "needs the solver CBC";
  const PolicyModule by_cbc = programs_by(std::make_shared<CbcSolver>(cbc, SolverStop::nodes));
  EXPECT_EQ(layout_of_three(by_cbc, "lra-ilp"), "node(2 3)");
  EXPECT_EQ(layout_of_three(*find_module("lrasched").value(), "lrasched"), "node(1)");
  EXPECT_EQ(layout_of_three(by_cbc, "lra-ilp,cells=1"), "node(1)") << "there are too many";
}

TEST(LraIlp, rents_no_more_than_lrasched_does) {
  const std::string cbc = find_program("cbc");
  if (cbc.empty()) GTEST_SKIP() << "needs the solver CBC";
  const PolicyModule by_cbc = programs_by(std::make_shared<CbcSolver>(cbc, SolverStop::nodes));
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Cluster by_program(table_3(), by_cbc, "lra-ilp");
    Cluster by_price(table_3(), "lrasched");
    for (Cluster* cluster : {&by_program, &by_price}) {
      Rng rng(seed);
      for (std::uint64_t i = 1; i <= 4; ++i) {
        const Resources size = Resources::of(0, 1 + static_cast<double>(rng.below(5)),
                                             1 + static_cast<double>(rng.below(12)));
        cluster->submit(service(i, 1 + rng.below(4), size));
      }
      cluster->round();
      EXPECT_TRUE(cluster->state().pending().empty());
      expect_within_capacity(*cluster);
    }
    EXPECT_LE(by_program.state().sums().nano_usd_h, by_price.state().sums().nano_usd_h);
  }
}

TEST(LraIlp, keeps_what_it_has_where_the_solver_fails_or_talks_nonsense) {
  for (const std::optional<std::uint32_t> answer : {std::optional<std::uint32_t>{}, {7}}) {
    const auto solver = std::make_shared<testing::SolverThatSays>(answer);
    EXPECT_EQ(layout_of_three(programs_by(solver), "lra-ilp"), "node(1)");
  }
}

TEST(Ffd, puts_each_replica_on_the_first_instance_without_one_and_the_largest_service_first) {
  Cluster cluster(table_3(), "ffd");
  cluster.add_to_fleet("it3", 2);
  cluster.add_to_fleet("it4");
  cluster.submit(service(1, 2, cpus(1)));
  cluster.submit(service(2, 3, cpus(3)));
  cluster.submit(service(3, 4, cpus(1)));
  cluster.round();
  EXPECT_EQ(cluster.layout(), "it3(1 2) it3(101 201) it4(202)");
  EXPECT_EQ(reason(cluster, 3).code, RefusalCode::distinct_instances);
}

TEST(Ffd, by_the_dot_product_takes_the_emptier_instance) {
  Cluster cluster(table_3(), "ffd,fit=dot");
  cluster.add_to_fleet("it4");
  cluster.add_to_fleet("it3");
  cluster.submit(service(1, 1, cpus(1)));
  cluster.round();
  EXPECT_EQ(cluster.layout(), "it4() it3(1)");
}

}  // namespace
}  // namespace muster
