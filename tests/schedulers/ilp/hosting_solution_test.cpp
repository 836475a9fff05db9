#include "schedulers/ilp/hosting_solution.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "schedulers/packing/bound/whole_bound.hpp"
#include "serve/solver/cbc_solver.hpp"
#include "tests/schedulers/catalogs.hpp"
#include "tests/schedulers/packing/bound/whole_problems.hpp"
#include "tests/schedulers/solvers.hpp"

namespace muster::ilp {
namespace {

constexpr double kSlack = 1e-6;

/// Kinds of tasks of any demands, also by family, on a catalog of two families.
struct Asked {
  Catalog catalog;
  ReservationPrices prices;
  std::vector<ShapeId> tasks;

  explicit Asked(Catalog of) : catalog(std::move(of)), prices(catalog) {}
  HostingProblem problem() const {
    return hosting_problem(tasks, prices, [](TypeId) { return false; });
  }
};

Catalog two_families() {
  return Catalog({testing::type_of("a.large", "a", Resources::of(2, 16, 64), 3),
                  testing::type_of("a.small", "a", Resources::of(1, 6, 32), 1.6),
                  testing::type_of("b.large", "b", Resources::of(0, 16, 32), 0.9),
                  testing::type_of("b.small", "b", Resources::of(0, 4, 8), 0.3)});
}

Demands on_both(const Resources& a, const Resources& b) {
  return Demands(std::vector<FamilyDemand>{{"a", a, 1}, {"b", b, 1}});
}

void add_any_tasks(Asked& asked, bool by_family) {
  const int kinds = *rc::gen::inRange(1, 4);
  for (int i = 0; i < kinds; ++i) {
    const int gpu = *rc::gen::inRange(0, 2);
    const int cpu = *rc::gen::inRange(1, 5);
    const int memory_gib = *rc::gen::inRange(1, 9);
    Demands demands(Resources::of(gpu, cpu, memory_gib));
    if (by_family && gpu == 0) {
      demands = on_both(Resources::of(0, cpu + 1, memory_gib), Resources::of(0, cpu, memory_gib));
    }
    const ShapeId shape = asked.prices.add({demands});
    asked.tasks.insert(asked.tasks.end(), static_cast<std::size_t>(*rc::gen::inRange(1, 4)), shape);
  }
}

RC_GTEST_PROP(SolveHosting, patterns_cost_what_the_best_whole_instances_do, ()) {
  Asked asked(two_families());
  add_any_tasks(asked, *rc::gen::arbitrary<bool>());
  const HostingProblem hosting = asked.problem();
  const double least = bound::test::HostingByTrying(hosting.fluid).least_usd_h();
  const testing::SolverByTrying solver;
  const HostingSearch search{Form::patterns, {}, 1'000'000};
  const HostingSolution solution = solve_hosting(hosting, asked.prices, {}, search, &solver);
  RC_ASSERT(solution.trouble.empty());
  RC_ASSERT(solution.bound_usd_h <= least * (1 + kSlack));
  RC_ASSERT(std::abs(solution.cost_usd_h - least) <= kSlack);
  std::vector<std::uint64_t> seats(hosting.fluid.kinds.size());
  for (const bound::Pattern& instance : solution.instances) {
    RC_ASSERT(bound::fits(hosting.fluid, instance));
    for (const std::uint32_t kind : instance.kinds) ++seats[kind];
  }
  for (std::size_t i = 0; i < seats.size(); ++i)
    RC_ASSERT(seats[i] == hosting.fluid.kinds[i].tasks);
}

TEST(SolveHosting, the_printed_form_finds_the_best_whole_instances) {
  const std::string cbc = find_program("cbc");
  if (cbc.empty()) GTEST_SKIP() << "coinor-cbc is not installed";
  const CbcSolver solver(cbc, SolverStop::nodes);
  for (const bool by_family : {false, true}) {
    Asked asked(two_families());
    const std::vector<Demands> all = {
        Demands(Resources::of(1, 4, 8)), Demands(Resources::of(0, 3, 4)),
        by_family ? on_both(Resources::of(0, 5, 4), Resources::of(0, 2, 4))
                  : Demands(Resources::of(0, 5, 4))};
    for (const Demands& demands : all) {
      asked.tasks.insert(asked.tasks.end(), 2, asked.prices.add({demands}));
    }
    const HostingProblem hosting = asked.problem();
    const double least = bound::test::HostingByTrying(hosting.fluid).least_usd_h();
    for (const Form form : {Form::paper, Form::patterns}) {
      const HostingSearch search{form, {5000, 0, 0}, 1'000'000};
      const auto solution = solve_hosting(hosting, asked.prices, {}, search, &solver);
      EXPECT_EQ(solution.trouble, "");
      EXPECT_NEAR(solution.cost_usd_h, least, kSlack) << by_family << (form == Form::paper);
    }
  }
}

TEST(SolveHosting, puts_no_more_equal_tasks_of_a_job_on_an_instance_than_it_allows) {
  const std::string cbc = find_program("cbc");
  if (cbc.empty()) GTEST_SKIP() << "coinor-cbc is not installed";
  const CbcSolver solver(cbc, SolverStop::nodes);
  Asked asked(two_families());
  asked.tasks.assign(4, asked.prices.add({Demands(Resources::of(0, 3, 4))}));
  for (const std::uint32_t most : {1U, 2U}) {
    SCOPED_TRACE(most);
    const std::vector<Apart> apart_of(asked.tasks.size(), Apart{7, most});
    const HostingProblem hosting = hosting_problem(
        asked.tasks, asked.prices, [](TypeId) { return false; }, apart_of);
    for (const Form form : {Form::paper, Form::patterns}) {
      const HostingSearch search{form, {5000, 0, 0}, 1'000'000};
      const auto solution = solve_hosting(hosting, asked.prices, {}, search, &solver);
      EXPECT_EQ(solution.trouble, "");
      for (const auto& instance : solution.instances) EXPECT_LE(instance.kinds.size(), most);
      if (most != 1) continue;
      EXPECT_EQ(solution.instances.size(), 4U) << "all would fit on one that costs less";
      EXPECT_NEAR(solution.bound_usd_h, 1.2, kSlack);
    }
  }
}

TEST(SolveHosting, believes_no_answer_that_is_none) {
  Asked asked(two_families());
  asked.tasks.assign(5, asked.prices.add({Demands(Resources::of(0, 3, 4))}));
  const HostingProblem hosting = asked.problem();
  for (const Form form : {Form::paper, Form::patterns}) {
    const HostingSearch search{form, {}, 1'000'000};
    for (const std::uint32_t value : {0U, 4'000'000'000U}) {
      const testing::SolverThatSays solver(value);
      const auto solution = solve_hosting(hosting, asked.prices, {}, search, &solver);
      EXPECT_TRUE(solution.failed) << value;
      EXPECT_THAT(solution.trouble, ::testing::EndsWith("not a solution")) << value;
      EXPECT_TRUE(solution.instances.empty());
      EXPECT_GT(solution.bound_usd_h, 0);
    }
    const testing::SolverThatSays failing({});
    EXPECT_EQ(solve_hosting(hosting, asked.prices, {}, search, &failing).trouble,
              "the solver failed");
  }
}

/// The best solution when it is asked first, afterwards as much of each column as there may be.
class SolverThatGetsWorse final : public IntegerSolver {
 public:
  Expected<std::vector<std::uint32_t>, SolverError> solve(
      const IntegerProgram& program, const SolveLimits& limits) const override {
    seconds_.push_back(limits.seconds);
    if (seconds_.size() == 1) return testing::SolverByTrying().solve(program, limits);
    std::vector<std::uint32_t> all;
    for (const IntegerProgram::Column& column : program.columns) all.push_back(column.most);
    return all;
  }
  const std::vector<double>& seconds() const { return seconds_; }

 private:
  mutable std::vector<double> seconds_;
};

/// Six tasks, of which five fill one large instance: no whole instances cost as little as the
/// bound.
Asked six_tasks() {
  Asked asked(two_families());
  asked.tasks.assign(6, asked.prices.add({Demands(Resources::of(0, 3, 4))}));
  return asked;
}

TEST(SolveHosting, takes_the_cheaper_one_of_two_answers) {
  const Asked asked = six_tasks();
  const HostingProblem hosting = asked.problem();
  const SolverThatGetsWorse solver;
  const HostingSearch search{Form::patterns, {0, 10, 0}, 1'000'000};
  const auto solution = solve_hosting(hosting, asked.prices, {}, search, &solver);
  ASSERT_EQ(solver.seconds().size(), 2u);
  EXPECT_NEAR(solution.cost_usd_h, 1.2, kSlack);
}

TEST(SolveHosting, has_the_calls_of_a_search_share_its_seconds) {
  const Asked asked = six_tasks();
  const HostingProblem hosting = asked.problem();
  const SolverThatGetsWorse solver;
  const HostingSearch search{Form::patterns, {0, 10, 0}, 1'000'000};
  solve_hosting(hosting, asked.prices, {}, search, &solver);
  double seconds = 0;
  for (const double of_call : solver.seconds()) seconds += of_call;
  EXPECT_LE(seconds, 10);
}

TEST(SolveHosting, builds_no_printed_form_that_takes_gigabytes) {
  Asked asked(two_families());
  asked.tasks.assign(2000, asked.prices.add({Demands(Resources::of(0, 3, 4))}));
  const HostingProblem hosting = asked.problem();
  const SolverThatGetsWorse solver;
  const HostingSearch search{Form::paper, {}, 1'000'000};
  const auto solution = solve_hosting(hosting, asked.prices, {}, search, &solver);
  EXPECT_EQ(solution.trouble, "too many tasks");
  EXPECT_FALSE(solution.failed);
  EXPECT_TRUE(solver.seconds().empty());
  EXPECT_GT(solution.bound_usd_h, 0);
}

TEST(HostingProblem, counts_types_that_rest_only_for_those_who_need_them) {
  Asked asked(two_families());
  asked.tasks = {asked.prices.add({Demands(Resources::of(0, 12, 4))}),
                 asked.prices.add({Demands(Resources::of(0, 3, 4))})};
  const auto only_small = [&](TypeId type) { return asked.catalog[type].name.ends_with("large"); };
  const HostingProblem hosting = hosting_problem(asked.tasks, asked.prices, only_small);
  for (std::size_t i = 0; i < hosting.types.size(); ++i) {
    const bool rests = only_small(hosting.types[i]);
    EXPECT_EQ(hosting.fluid.kinds[0].on[i].speed > 0, rests);
    EXPECT_EQ(hosting.fluid.kinds[1].on[i].speed > 0, !rests);
  }
}

}  // namespace
}  // namespace muster::ilp
