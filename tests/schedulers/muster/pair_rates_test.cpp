#include "schedulers/muster/pair_rates.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace muster::own {
namespace {

constexpr ClassId kA{0}, kB{1}, kC{7};

double rate(const PairRates& rates, ClassId task, std::initializer_list<ClassId> neighbours) {
  double log = 0;
  for (ClassId neighbour : neighbours) log += rates.log_rate(task, neighbour);
  return std::exp(log);
}

TEST(PairRates, a_pair_that_nothing_is_known_of_has_the_default_rate) {
  EXPECT_DOUBLE_EQ(rate(PairRates(0.9), kA, {kB}), 0.9);
}

TEST(PairRates, come_close_to_what_is_seen_again_and_again) {
  PairRates rates;
  for (int i = 0; i < 30; ++i) rates.learn(kA, std::array{kB}, 0.7, 1);
  EXPECT_NEAR(rate(rates, kA, {kB}), 0.7, 1e-3);
  EXPECT_DOUBLE_EQ(rate(rates, kB, {kA}), 0.95) << "the other one's rate is its own";
}

TEST(PairRates, say_something_of_sets_that_were_never_seen) {
  PairRates rates(1);
  for (int i = 0; i < 30; ++i) {
    rates.learn(kA, std::array{kB}, 0.8, 1);
    rates.learn(kA, std::array{kC}, 0.5, 1);
  }
  EXPECT_NEAR(rate(rates, kA, {kB, kC}), 0.4, 1e-3);
}

TEST(PairRates, the_same_observation_many_times_is_as_one_that_says_so) {
  PairRates one_by_one, at_once;
  for (int i = 0; i < 5; ++i) one_by_one.learn(kA, std::array{kB, kC}, 0.6, 1);
  at_once.learn(kA, std::array{kB, kC}, 0.6, 5);
  EXPECT_NEAR(one_by_one.log_rate(kA, kB), at_once.log_rate(kA, kB), 1e-12);
}

TEST(PairRates, nobody_runs_faster_for_a_neighbour_and_a_standstill_is_no_infinity) {
  PairRates rates;
  rates.learn(kA, std::array{kB}, 1.7, 100);
  EXPECT_LE(rates.log_rate(kA, kB), 0);
  rates.learn(kA, std::array{kC}, 0, 100);
  EXPECT_TRUE(std::isfinite(rates.log_rate(kA, kC)));
}

TEST(PairRates, what_is_as_expected_is_no_news) {
  PairRates rates(0.95);
  rates.learn(kA, std::array{kB}, 0.95, 3);
  EXPECT_EQ(rates.version(), 0u);
  EXPECT_TRUE(rates.learnt().empty());
}

TEST(PairRates, go_on_from_what_was_learnt) {
  PairRates rates;
  rates.learn(kA, std::array{kC}, 0.5, 2);
  PairRates again;
  again.restore(rates.learnt());
  EXPECT_EQ(again.learnt(), rates.learnt());
}

TEST(PairRates, of_jobs_that_all_have_names_of_their_own_take_no_table_of_all_pairs) {
  PairRates rates(0.95);
  const std::vector<ClassId> beside{ClassId{199'999}};
  const std::vector<ClassId> early{ClassId{3}};
  rates.learn(ClassId{200'000}, beside, 0.5, 50);
  rates.learn(ClassId{200'000}, early, 0.6, 50);
  rates.learn(ClassId{2}, early, 0.7, 50);
  EXPECT_NEAR(rates.rate(ClassId{200'000}, ClassId{199'999}), 0.5, 1e-3);
  EXPECT_NEAR(std::exp(rates.log_rate(ClassId{200'000}, ClassId{3})), 0.6, 1e-3);
  EXPECT_EQ(rates.rate(ClassId{199'999}, ClassId{200'000}), 0.95);
  EXPECT_NEAR(rates.rate(ClassId{2}, ClassId{3}), 0.7, 1e-3);
  const std::vector<PairRate> learnt = rates.learnt();
  ASSERT_EQ(learnt.size(), 3u);
  EXPECT_EQ(learnt[0].task, ClassId{2});
  EXPECT_EQ(learnt[1].neighbour, ClassId{3});
  PairRates other(0.95);
  other.restore(learnt);
  EXPECT_EQ(other.learnt(), learnt);
}

TEST(PairRates, a_gang_that_is_not_slowed_has_no_place_that_slows_it) {
  PairRates rates(0.8);
  const std::array b{kB};
  const std::array c{kC};
  const std::array<GangPlace, 2> places{{{kA, b}, {kA, c}}};
  for (int i = 0; i < 40; ++i) rates.learn_gang(places, 1, 1);
  EXPECT_NEAR(rate(rates, kA, {kB}), 1, 1e-3);
  EXPECT_NEAR(rate(rates, kA, {kC}), 1, 1e-3);
}

TEST(PairRates, a_gang_that_is_slower_than_thought_is_slowed_where_it_was_thought_slowest) {
  PairRates rates(0.9);
  const std::array b{kB};
  const std::array bc{kB, kC};
  const std::array<GangPlace, 2> places{{{kA, b}, {kA, bc}}};
  for (int i = 0; i < 40; ++i) rates.learn_gang(places, 0.5, 1);
  EXPECT_NEAR(rate(rates, kA, {kB, kC}), 0.5, 1e-3);
  EXPECT_GT(rate(rates, kA, {kB}), 0.6);
}

TEST(PairRates, a_task_of_a_gang_that_is_alone_is_not_to_blame) {
  PairRates rates(0.9);
  const std::array<GangPlace, 1> alone{{{kA, {}}}};
  rates.learn_gang(alone, 0.3, 5);
  EXPECT_TRUE(rates.learnt().empty());
}

}  // namespace
}  // namespace muster::own
