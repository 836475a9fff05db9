#include "learning/runtime_estimator.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <cmath>

#include "model/rng.hpp"
#include "tests/learning/learnt_text.hpp"
#include "tests/support/builders.hpp"

namespace muster {
namespace {

using std::chrono::hours;

Job job(const std::string& user, const std::string& name, const std::string& cls = "c",
        std::optional<double> limit_s = {}) {
  Job job = test::JobBuilder(1).workload_class(cls).build();
  job.user = user;
  job.name = name;
  if (limit_s) job.runtime_hint = from_seconds(*limit_s);
  return job;
}

double predicted_s(const RuntimeEstimator& estimator, const Job& job, Instant at = {}) {
  return estimator.predict({job, at})->runtime_s;
}

void observe(RuntimeEstimator& estimator, const Job& job, std::initializer_list<double> runs_s,
             Instant at = {}) {
  for (const double run_s : runs_s) estimator.observe({job, at}, from_seconds(run_s));
}

/// Jobs as chance has them, of a few users with a few programs each.
struct SomeJob {
  Job job;
  Instant at;
  double run_s;
};

SomeJob some_job(Rng& rng) {
  const std::string letter(1, static_cast<char>('a' + rng.below(6)));
  const double limit_s = 100.0 * static_cast<double>(1 + rng.below(3));
  return {job("u" + letter, letter + letter, letter, limit_s),
          Instant{} + hours{static_cast<int>(rng.below(60))}, rng.uniform(1, 100)};
}

TEST(RuntimeEstimator, KnowsNothingAtFirstAndThenWhatItHasSeen) {
  RuntimeEstimator estimator;
  EXPECT_FALSE(estimator.predict({job("ann", "train")}).has_value());
  observe(estimator, job("ann", "train"), {40});
  EXPECT_EQ(predicted_s(estimator, job("ann", "train")), 40);
  EXPECT_EQ(predicted_s(estimator, job("bob", "sort", "other")), 40)
      << "all that is known of any job";
}

TEST(RuntimeEstimator, IsExactAfterTheSecondRunWhereUserAndNameSayItAll) {
  for (const auto score :
       {ExpertScore::log_ratio, ExpertScore::nmae_mean, ExpertScore::nmae_median}) {
    RuntimeEstimator estimator({.score = score});
    const std::vector<Job> jobs = {job("ann", "train"), job("ann", "sort"), job("bob", "train"),
                                   job("bob", "sort")};
    for (int round = 0; round < 6; ++round) {
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        const double truth_s = 10 * static_cast<double>(i + 1);
        if (round > 1) {
          EXPECT_DOUBLE_EQ(predicted_s(estimator, jobs[i]), truth_s);
          const std::string_view key = estimator.predict({jobs[i]})->key;
          EXPECT_NE(key.find("user, name"), std::string_view::npos) << key;
        }
        observe(estimator, jobs[i], {truth_s});
      }
    }
  }
}

TEST(RuntimeEstimator, LearnsWhatAUsersStatedRunTimeSaysOfTheTrueOne) {
  RuntimeEstimator estimator;
  RuntimeEstimator blind({.limits = false});
  for (RuntimeEstimator* each : {&estimator, &blind}) {
    for (int i = 0; i < 10; ++i) {
      observe(*each, job("ann", "x", "c", 600), {30});
      observe(*each, job("ann", "x", "c", 36000), {9000});
    }
  }
  EXPECT_DOUBLE_EQ(predicted_s(estimator, job("ann", "x", "c", 600)), 30);
  EXPECT_DOUBLE_EQ(predicted_s(estimator, job("ann", "x", "c", 36000)), 9000);
  EXPECT_NE(estimator.predict({job("ann", "x", "c", 600)})->key.find("limit"),
            std::string_view::npos);
  EXPECT_EQ(predicted_s(blind, job("ann", "x", "c", 600)),
            predicted_s(blind, job("ann", "x", "c", 36000)));
}

TEST(RuntimeEstimator, TakesNumberedRunsForRunsOfOneJob) {
  RuntimeEstimator estimator;
  for (int i = 0; i < 5; ++i) {
    observe(estimator, job("ann", "train-" + std::to_string(i)), {30});
    observe(estimator, job("ann", "sort-" + std::to_string(i)), {900});
  }
  EXPECT_DOUBLE_EQ(predicted_s(estimator, job("ann", "train-77")), 30);
  EXPECT_DOUBLE_EQ(predicted_s(estimator, job("ann", "sort-77")), 900);
}

TEST(RuntimeEstimator, KnowsTheHourOfTheDay) {
  RuntimeEstimator estimator;
  for (int day = 0; day < 8; ++day) {
    observe(estimator, job("ann", "x"), {10}, Instant{} + hours{24 * day + 3});
    observe(estimator, job("ann", "x"), {5000}, Instant{} + hours{24 * day + 22});
  }
  EXPECT_DOUBLE_EQ(predicted_s(estimator, job("ann", "x"), Instant{} + hours{24 * 30 + 3}), 10);
  EXPECT_DOUBLE_EQ(predicted_s(estimator, job("ann", "x"), Instant{} + hours{24 * 30 + 22}), 5000);
  EXPECT_NE(estimator.predict({job("ann", "x"), Instant{} + hours{3}})->key.find("hour"),
            std::string_view::npos);
}

TEST(RuntimeEstimator, TakesTheEstimatorThatFits) {
  RuntimeEstimator drifting;
  double run_s = 10;
  for (int i = 0; i < 40; ++i) observe(drifting, job("ann", "grow"), {run_s *= 1.2});
  EXPECT_EQ(drifting.predict({job("ann", "grow")})->estimator, Estimator::rolling);
  RuntimeEstimator spiky;
  for (int i = 0; i < 10; ++i) observe(spiky, job("ann", "spike"), {10, 10, 10, 10, 900});
  EXPECT_EQ(spiky.predict({job("ann", "spike")})->estimator, Estimator::median);
}

// Runs grow by 100 s each, but one is of 1,000,000 s. The rolling mean follows the growth closest;
// its errors after the odd run are huge, and lie behind its newest 20.
TEST(RuntimeEstimator, ForgivesOldGreatErrorsByTheMedianFormOnly) {
  for (const auto score : {ExpertScore::nmae_mean, ExpertScore::nmae_median}) {
    RuntimeEstimator estimator({.score = score});
    for (int i = 1; i <= 40; ++i) observe(estimator, job("ann", "x"), {i == 5 ? 1e6 : 100.0 * i});
    EXPECT_EQ(estimator.predict({job("ann", "x")})->estimator,
              score == ExpertScore::nmae_mean ? Estimator::median : Estimator::rolling);
  }
}

TEST(RuntimeEstimator, RemembersNoMoreValuesOfAFeatureThanItMay) {
  RuntimeEstimator estimator({.values = 7});
  for (int i = 0; i < 500; ++i) {
    const std::string letters(1 + i % 20, static_cast<char>('a' + i % 26));
    observe(estimator, job(letters, letters, letters, 60 + i), {10}, Instant{} + hours{i});
  }
  EXPECT_LE(estimator.groups(), 22u * 7);
  EXPECT_GT(estimator.groups(), 15u * 7);
  EXPECT_EQ(predicted_s(estimator, job("new", "new", "new")), 10);
}

RC_GTEST_PROP(RuntimeEstimator, IsBoundedInValuesAndHistoryWhateverComes, ()) {
  const auto values = *rc::gen::inRange<std::uint32_t>(1, 12);
  const auto history = *rc::gen::inRange<std::uint32_t>(1, 5);
  const auto score = static_cast<ExpertScore>(*rc::gen::inRange(0, 3));
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  RuntimeEstimator estimator({score, true, values, history});
  std::size_t most = 0;
  for (int i = 0; i < 200; ++i) {
    const SomeJob next = some_job(rng);
    estimator.observe({next.job, next.at}, from_seconds(next.run_s));
    RC_ASSERT(estimator.groups() <= 22u * values);
    if (i > 150) most = std::max(most, estimator_text(estimator).size());
    const double said_s = predicted_s(estimator, next.job, next.at);
    RC_ASSERT(said_s > 0.99 && said_s < 100.01);
  }
  // At most 25 characters a number: key and five sums, runs, and four scores with their errors.
  RC_ASSERT(most <= 1000 + 22u * values * 25 * (10 + 5u * history));
}

RC_GTEST_PROP(RuntimeEstimator, GoesOnFromItsTextAsIfItHadNeverStopped, ()) {
  const auto score = static_cast<ExpertScore>(*rc::gen::inRange(0, 3));
  const auto values = *rc::gen::inRange<std::uint32_t>(1, 40);
  const auto history = *rc::gen::inRange<std::uint32_t>(1, 30);
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  RuntimeEstimator estimator({score, *rc::gen::arbitrary<bool>(), values, history});
  const auto before = *rc::gen::inRange(0, 150);
  const auto learn = [](RuntimeEstimator& each, const SomeJob& next) {
    each.observe({next.job, next.at}, from_seconds(next.run_s));
  };
  for (int i = 0; i < before; ++i) learn(estimator, some_job(rng));
  auto again = parse_estimator(estimator_text(estimator));
  RC_ASSERT(again.has_value());
  RC_ASSERT(again->params() == estimator.params());
  for (int i = 0; i < 60; ++i) {
    const SomeJob next = some_job(rng);
    learn(estimator, next);
    learn(again.value(), next);
    RC_ASSERT(predicted_s(estimator, next.job, next.at) ==
              predicted_s(again.value(), next.job, next.at));
  }
  RC_ASSERT(estimator_text(estimator) == estimator_text(again.value()));
}

TEST(RuntimeEstimator, CopesWithTheShortestAndTheLongestOfRuns) {
  RuntimeEstimator estimator({.score = ExpertScore::nmae_median});
  observe(estimator, job("ann", "x"), {0, 0, 0});
  EXPECT_GT(predicted_s(estimator, job("ann", "x")), 0);
  estimator.observe({job("ann", "x")}, Duration::max());
  estimator.observe({job("ann", "x"), Instant::min()}, Duration::min());
  EXPECT_TRUE(parse_estimator(estimator_text(estimator)).has_value());
}

TEST(RuntimeEstimator, IsNeverMadeFromADamagedText) {
  for (const auto score : {ExpertScore::log_ratio, ExpertScore::nmae_median}) {
    RuntimeEstimator estimator({.score = score, .values = 3});
    for (int i = 0; i < 8; ++i) observe(estimator, job("ann", "x"), {10.0 + i});
    test::expect_damage_is_noticed(estimator_text(estimator), "estimator", parse_estimator,
                                   [](const RuntimeEstimator& read) {
                                     RuntimeEstimator used = read;
                                     observe(used, job("ann", "x"), {12});
                                     ASSERT_TRUE(std::isfinite(predicted_s(used, job("ann", "x"))));
                                   });
  }
}

}  // namespace
}  // namespace muster
