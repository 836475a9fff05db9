#include "schedulers/ilp/ilp_policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schedulers/describe.hpp"
#include "schedulers/market_split.hpp"
#include "tests/schedulers/cluster.hpp"
#include "tests/schedulers/solvers.hpp"
#include "tests/support/golden.hpp"

namespace muster::ilp {
namespace {

using muster::test::IsGolden;
using ::testing::AllOf;
using testing::Cluster;
using testing::job_of_table_3;
using testing::SolverByTrying;
using testing::SolverThatSays;
using ::testing::StartsWith;

/// The module, with a solver inside the process.
PolicyModule module_with(std::shared_ptr<const IntegerSolver> solver) {
  PolicyModule module = *find_module("ilp").value();
  module.make = [make = module.make, solver = std::move(solver)](
                    const std::any& params, const Catalog& catalog, const PolicyServices&) {
    return make(params, catalog, {solver, {}});
  };
  return module;
}

/// Two sizes, the larger of which costs less a core.
Catalog two_sizes() {
  return Catalog({testing::type_of("large", "cpu", Resources::of(0, 10, 100), 1),
                  testing::type_of("small", "cpu", Resources::of(0, 6, 100), 0.65)});
}

Job of_cpus(std::uint64_t id, double cpu) {
  return test::JobBuilder(id).demand(Resources::of(0, cpu, 1)).build();
}

TEST(Ilp, rents_less_than_full_reconfiguration_where_that_is_possible) {
  // 7 + 3, 6 + 4 and 5 + 5 fill three large ones, 30 cores in all.
  Cluster by_full(two_sizes(), "ilp");
  Cluster by_solver(two_sizes(), module_with(std::make_shared<SolverByTrying>()), "ilp");
  const auto fill = [](Cluster& cluster) {
    std::uint64_t id = 0;
    for (const double cpu : {7, 6, 5, 5, 4, 3}) cluster.submit(of_cpus(++id, cpu));
    return cluster.round();
  };
  const Plan full = fill(by_full);
  const Plan solved = fill(by_solver);
  EXPECT_EQ(full.note.choice, "full: no solver");
  EXPECT_LE(testing::figure(solved, "cost_usd_h"), testing::figure(full, "cost_usd_h"));
  EXPECT_NEAR(testing::figure(solved, "cost_usd_h"), 3, 1e-6);
  EXPECT_NEAR(testing::figure(solved, "gap_share"), 0, 1e-5);
}

TEST(Ilp, lays_table_3_out_at_the_cost_of_the_paper_and_keeps_it) {
  Cluster cluster(testing::table_3(), module_with(std::make_shared<SolverByTrying>()), "ilp");
  for (std::uint64_t i = 1; i <= 4; ++i) cluster.submit(job_of_table_3(i));
  const Plan plan = cluster.round();
  EXPECT_NEAR(testing::figure(plan, "cost_usd_h"), 12.8, 1e-9);
  const std::string before = cluster.layout();
  const Plan again = cluster.round();
  EXPECT_EQ(again.note.choice, "kept");
  EXPECT_TRUE(again.places.empty() && again.launches.empty() && again.releases.empty());
  EXPECT_EQ(cluster.layout(), before);
  EXPECT_TRUE(cluster.policy().settled(cluster.view()));
}

TEST(Ilp, moves_tasks_together_when_others_have_gone) {
  Cluster cluster(two_sizes(), module_with(std::make_shared<SolverByTrying>()), "ilp");
  for (std::uint64_t id = 1; id <= 4; ++id) cluster.submit(of_cpus(id, id <= 2 ? 6 : 4));
  cluster.round();
  EXPECT_EQ(cluster.state().instances().size(), 2u);
  cluster.finish(1);
  cluster.finish(4);
  cluster.round();
  EXPECT_EQ(cluster.state().instances().size(), 1u);
}

TEST(Ilp, takes_full_reconfiguration_where_there_are_more_tasks_than_it_may_lay_out) {
  Cluster cluster(two_sizes(), module_with(std::make_shared<SolverByTrying>()), "ilp,tasks=2");
  for (std::uint64_t id = 1; id <= 3; ++id) cluster.submit(of_cpus(id, 4));
  EXPECT_THAT(cluster.round().note.choice, AllOf(StartsWith("full"), IsGolden()));
  cluster.finish(3);
  EXPECT_THAT(cluster.round().note.choice, ::testing::AnyOf("solved", "kept"));
}

TEST(Ilp, takes_full_reconfiguration_where_the_solver_says_nothing_useful) {
  const std::vector<std::pair<std::optional<std::uint32_t>, std::string>> answers = {
      {std::nullopt, "full: the solver failed"},
      {0U, "full: the solver failed: its output is not a solution"},
      {4'000'000'000U, "full: the solver failed: its output is not a solution"}};
  for (const auto& [answer, choice] : answers) {
    Cluster cluster(testing::table_3(), module_with(std::make_shared<SolverThatSays>(answer)),
                    "ilp");
    for (std::uint64_t i = 1; i <= 4; ++i) cluster.submit(job_of_table_3(i));
    EXPECT_EQ(cluster.round().note.choice, choice);
    EXPECT_EQ(cluster.layout(), "it1(1 2 4) it3(3)");
  }
}

TEST(Ilp, says_that_the_solver_failed_also_where_all_places_are_kept_and_asks_again) {
  Cluster cluster(testing::table_3(), module_with(std::make_shared<SolverThatSays>(std::nullopt)),
                  "ilp");
  for (std::uint64_t i = 1; i <= 4; ++i) cluster.submit(job_of_table_3(i));
  cluster.round();
  EXPECT_THAT(cluster.round().note.choice, ::testing::MatchesRegex("kept: .*solver failed"));
  EXPECT_FALSE(cluster.policy().settled(cluster.view()));
}

TEST(Ilp, lays_tasks_without_needs_beside_the_others) {
  Cluster cluster(two_sizes(), module_with(std::make_shared<SolverByTrying>()), "ilp");
  cluster.submit(test::JobBuilder(7).demand(Resources{}).build());
  std::uint64_t id = 0;
  // 5 + 3 + 2 and 4 + 3 + 3 fill two large ones.
  for (const double cpu : {5, 4, 3, 3, 3, 2}) cluster.submit(of_cpus(++id, cpu));
  const Plan plan = cluster.round();
  EXPECT_NEAR(testing::figure(plan, "cost_usd_h"), 2, 1e-6);
  EXPECT_EQ(plan.places.size(), 7u);
  EXPECT_EQ(plan.launches.size(), 2u);
}

TEST(Ilp, says_that_there_are_only_tasks_without_needs) {
  Cluster cluster(two_sizes(), module_with(std::make_shared<SolverByTrying>()), "ilp");
  cluster.submit(test::JobBuilder(7).demand(Resources{}).build());
  const Plan plan = cluster.round();
  EXPECT_THAT(plan.note.choice, ::testing::HasSubstr("without needs"));
  EXPECT_EQ(plan.places.size(), 1u);
}

TEST(Ilp, knows_that_equal_tasks_of_a_job_are_kept_apart) {
  Cluster cluster(two_sizes(), module_with(std::make_shared<SolverByTrying>()), "ilp");
  Job apart = test::JobBuilder(1).tasks(4).demand(Resources::of(0, 2, 1)).build();
  apart.most_an_instance = 1;
  cluster.submit(apart);
  const Plan plan = cluster.round();
  EXPECT_EQ(plan.launches.size(), 4u);
  EXPECT_EQ(plan.note.choice, "full: nothing cheaper");
  EXPECT_NEAR(testing::figure(plan, "gap_share"), 0, 1e-6) << "the bound knows the wish";
}

TEST(Ilp, keeps_full_reconfiguration_where_different_tasks_of_a_job_have_no_seats_apart) {
  Cluster cluster(two_sizes(), module_with(std::make_shared<SolverByTrying>()), "ilp");
  Job apart = test::JobBuilder(1).tasks(4).demand(Resources::of(0, 2, 1)).build();
  for (const std::size_t i : {2, 3}) apart.tasks[i].demands = Demands(Resources::of(0, 1, 1));
  apart.most_an_instance = 1;
  cluster.submit(apart);
  const Plan plan = cluster.round();
  EXPECT_EQ(plan.launches.size(), 4u);
  EXPECT_EQ(plan.note.choice, "full: no seat");
}

TEST(Ilp, seats_tasks_that_are_kept_apart_on_its_instances_beside_others) {
  Cluster cluster(two_sizes(), module_with(std::make_shared<SolverByTrying>()), "ilp");
  Job apart = test::JobBuilder(1).tasks(2).demand(Resources::of(0, 4, 1)).gang(false).build();
  apart.most_an_instance = 1;
  cluster.submit(apart);
  Job others = test::JobBuilder(2).tasks(2).demand(Resources::of(0, 4, 1)).gang(false).build();
  cluster.submit(others);
  cluster.round();
  for (const InstanceRow& row : cluster.state().instances()) {
    std::size_t of_apart = 0;
    for (const Slot slot : row.planned) {
      of_apart += cluster.state().task(slot).job == cluster.state().find(JobId{1})->slot;
    }
    EXPECT_LE(of_apart, 1u) << cluster.layout();
  }
}

TEST(Ilp, tells_all_figures_of_a_round_or_none) {
  for (const auto& [spec, figures] : {std::pair{"ilp,tasks=2", 0U}, std::pair{"ilp", 4U}}) {
    Cluster cluster(two_sizes(), module_with(std::make_shared<SolverByTrying>()), spec);
    for (std::uint64_t id = 1; id <= 3; ++id) cluster.submit(of_cpus(id, 4));
    EXPECT_EQ(cluster.round().note.figures.size(), figures) << spec;
  }
}

Catalog two_sizes_on_both_markets() {
  std::vector<InstanceType> types = two_sizes().types();
  for (InstanceType& type : types) type.spot = Price::from_usd_h(type.on_demand.usd_h() / 2);
  return Catalog(std::move(types));
}

/// Stands in for the solver, and notes how many seconds it is given.
class SolverWithSeconds final : public IntegerSolver {
 public:
  Expected<std::vector<std::uint32_t>, SolverError> solve(
      const IntegerProgram& program, const SolveLimits& limits) const override {
    seconds_ += limits.seconds;
    return SolverByTrying().solve(program, limits);
  }
  double seconds() const { return seconds_; }

 private:
  mutable double seconds_ = 0;
};

TEST(Ilp, gives_the_solver_its_seconds_once_a_round_however_many_markets_there_are) {
  for (const bool both : {false, true}) {
    const auto solver = std::make_shared<SolverWithSeconds>();
    Cluster cluster(two_sizes_on_both_markets(), module_with(solver), "ilp,seconds=8,gap=0");
    std::uint64_t id = 0;
    for (const double cpu : {7, 6, 5, 5, 4, 3}) {
      cluster.submit(of_cpus(++id, cpu));
      if (!both) continue;
      Job on_spot = of_cpus(100 + id, cpu);
      on_spot.markets = MarketChoice::spot;
      cluster.submit(on_spot);
    }
    cluster.round();
    EXPECT_GT(solver->seconds(), 0) << both;
    EXPECT_LE(solver->seconds(), 8) << both;
  }
}

TEST(Ilp, uses_a_fixed_fleet_and_rents_nothing) {
  Cluster cluster(testing::table_3(), module_with(std::make_shared<SolverByTrying>()), "ilp");
  cluster.add_to_fleet("it4", 2);
  cluster.submit(job_of_table_3(4));
  const Plan plan = cluster.round();
  EXPECT_EQ(plan.note.choice, "fleet");
  EXPECT_EQ(plan.places.size(), 1u);
}

TEST(Ilp, is_not_made_where_there_is_no_solver_and_says_how_to_get_it) {
  const Catalog catalog = testing::table_3();
  const std::string how = "needs a program that is not here";
  const PolicyServices none{nullptr, how};
  const auto made = make_policy({"ilp", {}}, catalog, 1, none);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, PolicyError::no_solver);
  EXPECT_EQ(made.error().message, "policy \"ilp\" " + how);
  for (const PolicyModule& module : known_policies()) {
    if (module.uses.solver) continue;
    EXPECT_TRUE(make_policy({module.name, {}}, catalog, 1, none)) << module.name;
  }
}

}  // namespace
}  // namespace muster::ilp
