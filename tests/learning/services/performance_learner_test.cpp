#include "learning/services/performance_learner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "learning/services/service_family.hpp"
#include "tests/learning/learnt_text.hpp"

namespace muster {
namespace {

constexpr std::array kKinds = {LearnerKind::history, LearnerKind::fm, LearnerKind::mf};

ServiceSizes three_sizes() {
  return ServiceSizes({{1, 1, 1}, {2, 2, 2}, {4, 4, 4}});
}

LearnerParams params_of(LearnerKind kind) {
  LearnerParams params;
  params.kind = kind;
  params.most_services = 5;
  params.fm.factors = params.mf.factors = 2;
  return params;
}

/// Services that need 1, 2 or 4 cores: performance is a half below, and whole from there on.
std::vector<PerformanceCurve> steps() {
  std::vector<PerformanceCurve> curves;
  for (int i = 0; i < 4; ++i) {
    const double low = 0.4 + 0.05 * i;
    curves.push_back({1, 1, 1});
    curves.push_back({low, 1, 1});
    curves.push_back({low, low, 1});
  }
  return curves;
}

PerformanceLearner taught(LearnerKind kind) {
  PerformanceLearner learner(three_sizes(), params_of(kind));
  learner.learn_curves(steps());
  return learner;
}

SizeChoice choice_of(const PerformanceEstimate& estimate,
                     const std::vector<MeasuredPoint>& measured, double goal, double margin) {
  return choose_size(three_sizes(), estimate, measured, {goal, margin});
}

TEST(SizeChoice, is_the_cheapest_that_reaches_the_goal_with_its_margin) {
  const PerformanceEstimate estimate{{0.4, 0.75, 0.9}, {0.1, 0.2, 0.1}, 0};
  EXPECT_EQ(choice_of(estimate, {}, 0.7, 0).at, 1U);
  const SizeChoice careful = choice_of(estimate, {}, 0.7, 0.5);
  EXPECT_EQ(careful.at, 2U);
  EXPECT_TRUE(careful.reached);
  EXPECT_FALSE(careful.settled) << "without the margin it would be another";
  EXPECT_TRUE(choice_of(estimate, {}, 0.6, 0.5).settled);
}

TEST(SizeChoice, takes_what_was_measured_as_measured) {
  const PerformanceEstimate estimate{{0.4, 0.75, 0.9}, {0.1, 0.2, 0.1}, 0};
  EXPECT_EQ(choice_of(estimate, {{0, 0.7, 0}}, 0.7, 0.5).at, 0U);
  EXPECT_EQ(choice_of(estimate, {{1, 0.69, 0}}, 0.7, 0).at, 2U);
  EXPECT_TRUE(choice_of(estimate, {{1, 0.71, 0}}, 0.7, 0.5).settled);
}

TEST(SizeChoice, is_the_largest_when_no_size_reaches_the_goal) {
  const PerformanceEstimate estimate{{0.4, 0.75, 0.6}, {0, 0, 0}, 0};
  const SizeChoice choice = choice_of(estimate, {}, 0.95, 0.5);
  EXPECT_EQ(choice.at, 2U);
  EXPECT_FALSE(choice.reached);
}

TEST(PerformanceLearner, finds_by_probes_what_size_a_service_needs) {
  for (const LearnerKind kind : kKinds) {
    SCOPED_TRACE(static_cast<int>(kind));
    PerformanceLearner learner = taught(kind);
    PerformanceEstimate scratch;
    for (int i = 0; i < 3; ++i) learner.observe(7, {0, 0.45, kProductionNoise});
    learner.observe(7, {1, 0.99, kProductionNoise});
    EXPECT_EQ(learner.choose(7, 0.9, scratch).at, 1U);
    EXPECT_EQ(learner.measured(7).size(), 2U);
    learner.observe(7, {1, 0.5, kProductionNoise});
    for (int i = 0; i < 5; ++i) learner.observe(7, {1, 0.46, kProductionNoise});
    EXPECT_EQ(learner.choose(7, 0.9, scratch).at, 2U) << "production says that it was too little";
  }
}

TEST(PerformanceLearner, knows_a_service_from_one_probe_by_its_likes) {
  PerformanceLearner learner = taught(LearnerKind::history);
  PerformanceEstimate estimate;
  learner.observe(1, {1, 0.46});
  learner.estimate(1, estimate);
  EXPECT_NEAR(estimate.mean[0], 0.46, 0.06);
  EXPECT_NEAR(estimate.mean[2], 1, 0.05);
}

TEST(PerformanceLearner, probes_what_is_not_measured_until_all_is) {
  for (const LearnerKind kind : kKinds) {
    PerformanceLearner learner = taught(kind);
    for (std::size_t probes = 0; probes < 3; ++probes) {
      const auto next = learner.next_probe(4);
      ASSERT_TRUE(next);
      EXPECT_EQ(measured_at(learner.measured(4), *next), nullptr);
      learner.observe(4, {*next, 0.5});
    }
    EXPECT_FALSE(learner.next_probe(4));
  }
}

TEST(PerformanceLearner, leaves_out_what_is_no_measurement) {
  for (const LearnerKind kind : kKinds) {
    PerformanceLearner learner = taught(kind);
    const PerformanceLearner before = learner;
    learner.observe(1, {3, 0.5});
    learner.observe(1, {0, NAN});
    learner.observe(1, {0, 0.5, NAN});
    learner.forget(1);
    EXPECT_EQ(learner, before);
  }
}

TEST(PerformanceLearner, forgets_the_service_of_the_least_number_when_there_are_too_many) {
  for (const LearnerKind kind : kKinds) {
    PerformanceLearner learner = taught(kind);
    for (std::uint64_t service = 10; service < 110; ++service) learner.observe(service, {0, 0.5});
    EXPECT_TRUE(learner.measured(104).empty());
    EXPECT_EQ(learner.measured(105).size(), 1U);
    EXPECT_EQ(learner.measured(109).size(), 1U);
  }
}

TEST(PerformanceLearner, reuses_the_rows_of_services_that_are_forgotten) {
  ServiceRows rows(3, FmParams{}, RowsParams{});
  const std::vector<MeasuredPoint> measured{{0, 0.5, 0}};
  rows.learn_curves(steps());
  const std::uint32_t rows_before = rows.rows();
  for (std::uint64_t service = 0; service < 100; ++service) {
    rows.learn(service, measured, 0);
    rows.forget(service);
  }
  EXPECT_EQ(rows.rows(), rows_before);
  EXPECT_EQ(rows.services(), 0U);
}

TEST(PerformanceLearner, shows_by_its_deviation_how_well_a_machine_predicts) {
  PerformanceLearner good = taught(LearnerKind::fm), bad = taught(LearnerKind::fm);
  Rng rng(1);
  for (std::uint64_t service = 0; service < 300; ++service) {
    good.observe(service, {0, 1, 0});
    good.observe(service, {1, 1, 0});
    bad.observe(service, {0, 1, 0});
    bad.observe(service, {1, rng.uniform() < 0.5 ? 0.0 : 1.0, 0});
  }
  PerformanceEstimate of_good, of_bad;
  good.estimate(299, of_good);
  bad.estimate(299, of_bad);
  EXPECT_LT(of_good.deviation[0], 0.15);
  EXPECT_GT(of_bad.deviation[0], 0.3);
}

/// Root of the mean squared error with two probes each, after 100 past services.
double family_error(LearnerKind kind, bool chosen) {
  LearnerParams params;
  params.kind = kind;
  const ServiceSizes sizes = family_sizes();
  PerformanceLearner learner(sizes, params);
  Rng rng(12);
  std::vector<PerformanceCurve> past;
  for (int i = 0; i < 100; ++i) past.push_back(performance_curve(draw_service(rng), sizes));
  learner.learn_curves(past);
  double squares = 0, count = 0;
  PerformanceEstimate estimate;
  for (std::uint64_t service = 0; service < 100; ++service) {
    const PerformanceCurve truth = performance_curve(draw_service(rng), sizes);
    for (std::uint32_t probe = 0; probe < 2; ++probe) {
      const auto drawn = static_cast<std::uint32_t>(rng.below(sizes.size()));
      const std::uint32_t at = chosen ? *learner.next_probe(service) : drawn;
      learner.observe(service, {at, noisy_performance(truth[at], kProbeNoise, rng)});
    }
    learner.estimate(service, estimate);
    for (std::uint32_t at = 0; at < sizes.size(); ++at) {
      squares += (estimate.mean[at] - truth[at]) * (estimate.mean[at] - truth[at]);
      ++count;
    }
  }
  return std::sqrt(squares / count);
}

TEST(PerformanceLearner, predicts_the_family_best_by_history_and_worst_by_a_matrix) {
  const double chosen = family_error(LearnerKind::history, true);
  const double random = family_error(LearnerKind::history, false);
  const double fm = family_error(LearnerKind::fm, false);
  const double mf = family_error(LearnerKind::mf, false);
  EXPECT_LT(chosen, 0.15);
  EXPECT_LT(chosen, random);
  EXPECT_LT(random, fm);
  EXPECT_LT(fm, 0.24);
  EXPECT_LT(fm, mf);
}

TEST(PerformanceLearner, reads_back_as_it_was_and_goes_on_alike) {
  for (const LearnerKind kind : kKinds) {
    PerformanceLearner learner = taught(kind);
    for (std::uint64_t service = 0; service < 8; ++service) learner.observe(service, {0, 0.5});
    learner.forget(6);
    auto read = parse_performance(performance_text(learner));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read.value(), learner);
    for (auto* each : {&learner, &read.value()}) {
      each->learn_curves(steps());
      each->observe(20, {1, 0.7});
    }
    EXPECT_EQ(read.value(), learner);
  }
}

TEST(PerformanceLearner, refuses_a_text_of_another_version) {
  ModelWriter out;
  taught(LearnerKind::history).write(out);
  const auto read = parse_performance(seal_model("service-performance", 2, std::move(out).text()));
  EXPECT_EQ(read.error().code, LearnError::other_version);
}

TEST(PerformanceLearner, notices_damage_to_its_text) {
  for (const LearnerKind kind : kKinds) {
    PerformanceLearner learner = taught(kind);
    for (std::uint64_t service = 0; service < 3; ++service) learner.observe(service, {0, 0.5});
    test::expect_damage_is_noticed(performance_text(learner), "service-performance",
                                   parse_performance, [](PerformanceLearner read) {
                                     PerformanceEstimate estimate;
                                     read.observe(1, {0, 0.7});
                                     read.observe(99, {0, 0.7});
                                     read.choose(1, 0.8, estimate);
                                     for (const double mean : estimate.mean)
                                       ASSERT_TRUE(std::isfinite(mean));
                                     read.next_probe(1);
                                     read.forget(1);
                                   });
  }
}

}  // namespace
}  // namespace muster
