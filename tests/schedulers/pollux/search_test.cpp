// The objective of Pollux, and both searches over made-up states of a cluster.

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <string>

#include "schedulers/pollux/genetic_search.hpp"
#include "schedulers/pollux/local_search.hpp"
#include "tests/schedulers/pollux/states.hpp"
#include "tests/support/golden.hpp"

namespace muster::pollux {
namespace {

using testing::made_up_state;

/// Two nodes of four; the first job is on two workers of the first node.
SearchProblem two_jobs() {
  SearchProblem problem;
  problem.room = {4, 4};
  for (int i = 0; i < 2; ++i) {
    SearchJob job;
    job.one_node = {0.25, 0.5, 0.75, 1};
    job.several = {0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.6};
    job.most = 8;
    job.units = {1, 1};
    job.current = {0, 0};
    problem.jobs.push_back(job);
  }
  problem.jobs[0].current = {2, 0};
  problem.jobs[0].kept_by_change = 0.5;
  return problem;
}

TEST(PolluxObjective, is_the_power_mean_of_speedups_over_a_nodes_workers) {
  const SearchProblem problem = two_jobs();
  const double kept = 0.5 / 4 + 1e-3;
  const double other = 0.75 / 4 + 1e-3;
  EXPECT_NEAR(problem.fitness({{2, 0}, {0, 3}}), 2 / (1 / kept + 1 / other), 1e-12);
}

TEST(PolluxObjective, counts_a_restart_where_a_job_does_not_stay_as_it_is) {
  const SearchProblem problem = two_jobs();
  EXPECT_NEAR(problem.cost(0, Row{2, 0}), 1 / (0.5 / 4 + 1e-3), 1e-12);
  EXPECT_NEAR(problem.cost(0, Row{0, 2}), 1 / (0.5 * 0.5 / 4 + 1e-3), 1e-12);
  EXPECT_NEAR(problem.cost(0, Row{1, 1}), 1 / (0.5 * 0.4 / 4 + 1e-3), 1e-12) << "two nodes";
  EXPECT_NEAR(problem.cost(0, Row{0, 0}), 1000, 1e-9) << "no workers, no speed";
}

TEST(PolluxObjective, has_the_use_of_the_nodes_besides) {
  const SearchProblem problem = two_jobs();
  EXPECT_NEAR(problem.utility({{2, 0}, {2, 0}}), 1.0 / 4, 1e-12) << "one node is not used";
  EXPECT_NEAR(problem.utility({{2, 0}, {0, 2}}), 1.0 / 8, 1e-12);
}

TEST(PolluxObjective, lets_one_job_of_several_nodes_be_on_a_node) {
  const SearchProblem problem = two_jobs();
  EXPECT_TRUE(problem.is_feasible({{2, 2}, {2, 0}}));
  EXPECT_FALSE(problem.is_feasible({{2, 2}, {1, 1}}));
  EXPECT_FALSE(problem.is_feasible({{4, 0}, {1, 0}})) << "five workers on a node of four";
}

/// All rows that a job of the problem may have, whatever the others do.
std::vector<Row> rows_of(const SearchProblem& problem, std::size_t job) {
  std::vector<Row> all{Row{}};
  for (std::size_t n = 0; n < problem.room.size(); ++n) {
    std::vector<Row> longer;
    for (const Row& row : all) {
      for (std::uint16_t workers = 0; workers <= problem.room[n]; ++workers) {
        longer.push_back(row);
        longer.back().push_back(workers);
      }
    }
    all = std::move(longer);
  }
  std::erase_if(all, [&](const Row& row) { return size_of(row).workers > problem.jobs[job].most; });
  return all;
}

double best_of_all(const SearchProblem& problem) {
  double best = 0;
  Layout layout(problem.jobs.size());
  const auto fill = [&](const auto& self, std::size_t job) -> void {
    if (job == problem.jobs.size()) {
      if (problem.is_feasible(layout)) best = std::max(best, problem.fitness(layout));
      return;
    }
    for (const Row& row : rows_of(problem, job)) {
      layout[job] = row;
      self(self, job + 1);
    }
  };
  fill(fill, 0);
  return best;
}

Layout searched(const SearchProblem& problem, std::uint64_t seed, std::uint32_t moves = 4000) {
  Rng rng(seed);
  Budget budget;
  return LocalSearch(problem).run(moves, rng, budget);
}

TEST(LocalSearch, finds_the_best_of_all_layouts_of_small_clusters) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Rng rng(seed);
    const SearchProblem problem = made_up_state({.nodes = 2, .jobs = 3}, rng);
    const Layout found = searched(problem, seed);
    ASSERT_TRUE(problem.is_feasible(found)) << seed;
    EXPECT_NEAR(problem.fitness(found), best_of_all(problem), 1e-9) << seed;
  }
}

/// How many states are searched by both; the environment may ask for more.
std::uint64_t states_asked() {
  const char* text = std::getenv("MUSTER_POLLUX_STATES");
  return text == nullptr ? 25 : std::strtoull(text, nullptr, 10);
}

TEST(LocalSearch, is_no_worse_than_the_genetic_search) {
  std::size_t better = 0;
  for (std::uint64_t seed = 1; seed <= states_asked(); ++seed) {
    Rng rng(seed * 7919);
    const std::size_t nodes = 3 + rng.below(14);
    const SearchProblem problem =
        made_up_state({.nodes = nodes, .jobs = 1 + rng.below(2 * nodes)}, rng);
    Budget budget;
    const GeneticResult bred = GeneticSearch(problem, {}).run({}, rng, budget);
    ASSERT_TRUE(problem.is_feasible(bred.best)) << seed;
    const double local = problem.fitness(searched(problem, seed));
    const double genetic = problem.fitness(bred.best);
    EXPECT_GE(local, genetic * (1 - 1e-9)) << seed;
    better += local > genetic * (1 + 1e-9);
  }
  EXPECT_GT(better, 0U);
  RecordProperty("better", std::to_string(better));
}

TEST(LocalSearch, keeps_to_every_bound_whatever_jobs_ask_for) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed);
    SearchProblem problem =
        made_up_state({.nodes = 1 + rng.below(6), .jobs = 1 + rng.below(9)}, rng);
    for (std::uint32_t& room : problem.room) room += 8;  // units: four workers of three
    for (SearchJob& job : problem.jobs) {
      for (std::uint32_t& units : job.units) units = static_cast<std::uint32_t>(rng.below(4));
      job.least = 1 + static_cast<std::uint32_t>(rng.below(std::min(job.most, 3U)));
      if (size_of(job.current).workers < job.least) job.current.assign(job.current.size(), 0);
      for (std::size_t n = 0; n < job.units.size(); ++n) {
        if (job.units[n] == 0) job.current.assign(job.current.size(), 0);
      }
      if (size_of(job.current).workers < job.least) job.current.assign(job.current.size(), 0);
      job.stays = rng.uniform() < 0.2;
    }
    EXPECT_TRUE(problem.is_feasible(searched(problem, seed, 300))) << seed;
    Budget budget;
    SearchEffort effort;
    effort.population = 20;
    effort.generations = 5;
    for (const Layout& each : GeneticSearch(problem, effort).run({}, rng, budget).undominated) {
      EXPECT_TRUE(problem.is_feasible(each)) << seed;
    }
  }
}

TEST(LocalSearch, leaves_all_as_it_is_where_a_restart_would_cost_more_than_it_brings) {
  SearchProblem problem = two_jobs();
  problem.jobs[0].current = {3, 0};
  problem.jobs[1].current = {0, 3};
  for (SearchJob& job : problem.jobs) job.kept_by_change = 0.5;
  EXPECT_EQ(searched(problem, 1), problem.current());
  for (SearchJob& job : problem.jobs) job.kept_by_change = 0.99;
  EXPECT_EQ(size_of(searched(problem, 1)[0]).workers, 4U);
}

TEST(LocalSearch, asks_for_no_width_as_a_spread_one_that_a_node_holds) {
  SearchProblem problem = two_jobs();
  problem.jobs.resize(1);
  problem.jobs[0].current = {0, 0};
  problem.jobs[0].most = 4;
  // Were they asked for, the search would take them for the best, and put them on one node.
  problem.jobs[0].several = {5, 5, 0.1};
  const auto [workers, on_nodes] = size_of(searched(problem, 1)[0]);
  EXPECT_EQ(workers, 4U);
  EXPECT_EQ(on_nodes, 1U);
}

TEST(LocalSearch, does_what_it_can_within_its_budget) {
  Rng rng(5);
  const SearchProblem problem = made_up_state({.nodes = 8, .jobs = 12}, rng);
  Budget budget(10);
  const Layout found = LocalSearch(problem).run(4000, rng, budget);
  EXPECT_LE(budget.used(), 12U);
  EXPECT_TRUE(problem.is_feasible(found));
}

TEST(GeneticSearch, gets_better_with_generations_and_with_what_it_ended_with_before) {
  Rng rng(3);
  const SearchProblem problem = made_up_state({.nodes = 16, .jobs = 20}, rng);
  SearchEffort effort;
  const auto bred = [&](std::uint32_t generations, const std::vector<Layout>& first) {
    effort.generations = generations;
    Rng chance(1);
    Budget budget;
    return GeneticSearch(problem, effort).run(first, chance, budget);
  };
  const GeneticResult early = bred(2, {});
  const GeneticResult late = bred(60, {});
  EXPECT_GT(problem.fitness(late.best), problem.fitness(early.best));
  EXPECT_GE(problem.fitness(bred(2, late.undominated).best), problem.fitness(late.best));
}

TEST(GeneticSearch, ends_with_layouts_of_which_none_is_better_than_another_in_both_objectives) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Rng rng(seed);
    const SearchProblem problem = made_up_state({.nodes = 4, .jobs = 6}, rng);
    SearchEffort effort;
    effort.population = 20;
    effort.generations = 6;
    Budget budget;
    const GeneticResult found = GeneticSearch(problem, effort).run({}, rng, budget);
    ASSERT_FALSE(found.undominated.empty());
    EXPECT_LE(found.undominated.size(), 20U);
    for (const Layout& one : found.undominated) {
      EXPECT_LE(problem.fitness(one), problem.fitness(found.best)) << seed;
      for (const Layout& other : found.undominated) {
        const bool better = problem.fitness(other) >= problem.fitness(one) &&
                            problem.utility(other) >= problem.utility(one);
        const bool equal = problem.fitness(other) == problem.fitness(one) &&
                           problem.utility(other) == problem.utility(one);
        EXPECT_TRUE(!better || equal) << seed;
      }
    }
  }
}

TEST(GeneticSearch, ends_with_the_generation_in_which_its_budget_is_spent) {
  Rng rng(5);
  const SearchProblem problem = made_up_state({.nodes = 8, .jobs = 12}, rng);
  const auto bred = [&](std::uint32_t generations, std::uint64_t steps) {
    SearchEffort effort;
    effort.generations = generations;
    Rng chance(1);
    Budget budget(steps);
    return GeneticSearch(problem, effort).run({}, chance, budget);
  };
  const GeneticResult short_of_steps = bred(100, 30);
  EXPECT_TRUE(problem.is_feasible(short_of_steps.best));
  EXPECT_EQ(short_of_steps.undominated, bred(2, 30).undominated);
  EXPECT_LT(problem.fitness(short_of_steps.best), problem.fitness(bred(2, 0).best));
}

TEST(GeneticSearch, begins_with_the_present_layout_as_far_as_it_is_feasible) {
  SearchProblem problem = two_jobs();
  problem.jobs[1].current = {3, 0};  // with the first job's two these are too many
  SearchEffort effort;
  effort.generations = 1;
  Rng rng(1);
  Budget budget;
  const GeneticResult found = GeneticSearch(problem, effort).run({}, rng, budget);
  EXPECT_EQ(found.best, (Layout{{2, 0}, {2, 0}})) << "the first jobs have the first right";
}

TEST(GeneticSearch, mends_layouts_that_it_is_given) {
  SearchProblem problem = two_jobs();
  problem.jobs[0].least = 2;
  SearchEffort effort;
  effort.generations = 1;
  const auto mended = [&](const Layout& given) {
    Rng rng(1);
    Budget budget;
    // The present layout is empty, and worse than any other.
    problem.jobs[0].current = {0, 0};
    const GeneticResult found = GeneticSearch(problem, effort).run({given}, rng, budget);
    return found.best;
  };
  EXPECT_EQ(mended({{4, 0}, {2, 2}}), (Layout{{4, 0}, {0, 2}})) << "no room for all";
  EXPECT_EQ(mended({{1, 0}, {0, 3}}), (Layout{{0, 0}, {0, 3}})) << "too few workers to run";
  EXPECT_EQ(mended({{2, 2}, {1, 1}}), (Layout{{2, 2}, {0, 0}})) << "one job of several on a node";
  problem.jobs[0].most = 3;
  EXPECT_EQ(mended({{4, 0}, {0, 1}}), (Layout{{3, 0}, {0, 1}})) << "too wide";
}

std::string text_of(const Layout& layout) {
  std::string text;
  for (const Row& row : layout) {
    text += text.empty() ? "" : " |";
    for (const std::uint16_t workers : row) text += " " + std::to_string(workers);
  }
  return text;
}

/// A change of a search that is not meant to change its results has to leave these as they are.
TEST(Searches, find_the_layouts_of_before) {
  std::string found;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Rng rng(seed * 31);
    const SearchProblem problem = made_up_state({.nodes = 2 + seed, .jobs = 3 + seed}, rng);
    found += "local  " + text_of(searched(problem, seed, 200)) + "\n";
    SearchEffort effort;
    effort.population = 12;
    effort.generations = 8;
    Budget budget;
    found += "genetic" + text_of(GeneticSearch(problem, effort).run({}, rng, budget).best) + "\n";
  }
  EXPECT_THAT(found, test::IsGolden());
}

}  // namespace
}  // namespace muster::pollux
