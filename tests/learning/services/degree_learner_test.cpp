#include "learning/services/degree_learner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "learning/services/service_family.hpp"
#include "tests/learning/learnt_text.hpp"

namespace muster {
namespace {

constexpr std::array kKinds = {LearnerKind::history, LearnerKind::fm, LearnerKind::mf};

LearnerParams params_of(LearnerKind kind) {
  LearnerParams params;
  params.kind = kind;
  params.most_services = 5;
  params.fm.factors = params.mf.factors = 2;
  return params;
}

/// Services that lose nothing together, and such that lose the half with each doubling; at levels
/// from 0.5 to 1.
std::vector<PerformanceCurve> two_shapes(int count) {
  std::vector<PerformanceCurve> curves;
  for (int i = 0; i < count; ++i) {
    const double level = 0.5 + 0.5 * i / count, less = 0.01 * (i % 3);
    curves.push_back({level, level * (1 - less), level * (1 - 2 * less)});
    curves.push_back({level, level * (0.5 + less), level * (0.25 + less)});
  }
  return curves;
}

DegreeLearner taught(LearnerKind kind) {
  DegreeLearner learner({1, 2, 4}, 2, params_of(kind));
  learner.learn_curves(0, two_shapes(10));
  learner.learn_curves(1, two_shapes(2));
  return learner;
}

TEST(DegreeLearner, takes_rising_degrees_alone) {
  EXPECT_TRUE(valid_degrees(std::vector<std::uint32_t>{1, 2, 4, 8}));
  EXPECT_FALSE(valid_degrees({}));
  EXPECT_FALSE(valid_degrees(std::vector<std::uint32_t>{0, 1}));
  EXPECT_FALSE(valid_degrees(std::vector<std::uint32_t>{1, 2, 2}));
  EXPECT_FALSE(valid_degrees(std::vector<std::uint32_t>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(DegreeLearner, fits_the_level_of_a_service_to_the_shapes_of_past_ones) {
  DegreeLearner learner = taught(LearnerKind::history);
  PerformanceEstimate estimate;
  learner.observe(1, 0, {0, 0.3, kProductionNoise});
  learner.observe(1, 0, {1, 0.15, kProductionNoise});
  learner.estimate(1, 0, estimate);
  EXPECT_NEAR(estimate.mean[2], 0.075, 0.02) << "at a level that no past service had";
  learner.observe(2, 0, {0, 0.3, kProductionNoise});
  learner.observe(2, 0, {1, 0.3, kProductionNoise});
  learner.estimate(2, 0, estimate);
  EXPECT_NEAR(estimate.mean[2], 0.3, 0.02);
}

TEST(DegreeLearner, goes_by_all_sizes_where_one_has_too_few_shapes) {
  DegreeLearner learner = taught(LearnerKind::history);
  PerformanceEstimate estimate;
  learner.observe(1, 1, {0, 0.8, kProductionNoise});
  learner.observe(1, 1, {1, 0.4, kProductionNoise});
  learner.estimate(1, 1, estimate);
  EXPECT_NEAR(estimate.mean[2], 0.2, 0.05);
}

TEST(DegreeLearner, chooses_the_largest_degree_that_keeps_the_goal) {
  for (const LearnerKind kind : kKinds) {
    SCOPED_TRACE(static_cast<int>(kind));
    DegreeLearner learner = taught(kind);
    learner.observe(3, 0, {0, 0.8, 0});
    learner.observe(3, 0, {1, 0.7, 0});
    learner.observe(3, 0, {2, 0.4, 0});
    EXPECT_EQ(learner.choose(3, 0, 0.65).degree, 2U);
    EXPECT_TRUE(learner.choose(3, 0, 0.65).reached);
    EXPECT_EQ(learner.choose(3, 0, 0.4).degree, 4U);
    const DegreeChoice beyond = learner.choose(3, 0, 0.9);
    EXPECT_EQ(beyond.degree, 1U);
    EXPECT_FALSE(beyond.reached);
  }
}

TEST(DegreeLearner, forgets_what_was_measured_at_another_size) {
  for (const LearnerKind kind : kKinds) {
    DegreeLearner learner = taught(kind);
    learner.observe(3, 0, {0, 0.8});
    learner.observe(3, 1, {1, 0.7});
    EXPECT_TRUE(learner.measured(3, 0).empty());
    EXPECT_EQ(learner.measured(3, 1).size(), 1U);
  }
}

TEST(DegreeLearner, probes_what_is_not_measured_until_all_is) {
  for (const LearnerKind kind : kKinds) {
    DegreeLearner learner = taught(kind);
    for (int probes = 0; probes < 3; ++probes) {
      const auto next = learner.next_probe(4, 0);
      ASSERT_TRUE(next);
      EXPECT_EQ(measured_at(learner.measured(4, 0), *next), nullptr);
      learner.observe(4, 0, {*next, 0.5});
    }
    EXPECT_FALSE(learner.next_probe(4, 0));
  }
}

TEST(DegreeLearner, leaves_out_what_is_no_measurement_and_keeps_few_services) {
  for (const LearnerKind kind : kKinds) {
    DegreeLearner learner = taught(kind);
    const DegreeLearner before = learner;
    learner.observe(1, 2, {0, 0.5});
    learner.observe(1, 0, {3, 0.5});
    learner.observe(1, 0, {0, INFINITY});
    EXPECT_EQ(learner, before);
    for (std::uint64_t service = 10; service < 20; ++service) learner.observe(service, 0, {0, 0.5});
    EXPECT_TRUE(learner.measured(14, 0).empty());
    EXPECT_EQ(learner.measured(15, 0).size(), 1U);
  }
}

TEST(DegreeLearner, knows_little_before_it_has_shapes_and_stays_finite) {
  DegreeLearner learner({1, 2, 4}, 1, params_of(LearnerKind::history));
  learner.learn_curves(0, std::vector<PerformanceCurve>{{0, 1, 1}, {1, NAN, INFINITY}});
  PerformanceEstimate estimate;
  learner.observe(1, 0, {0, 0});
  learner.estimate(1, 0, estimate);
  learner.observe(1, 0, {1, 0.7});
  learner.estimate(1, 0, estimate);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(std::isfinite(estimate.mean[i]) && std::isfinite(estimate.deviation[i]));
  }
  EXPECT_GT(estimate.deviation[2], 0.05);
}

TEST(DegreeLearner, predicts_the_family_better_by_shapes_than_a_machine_does) {
  const ServiceSizes sizes = family_sizes();
  constexpr std::uint32_t kSize = 21;  // 4 cores and 4 GiB
  const auto curve_of = [&](const FamilyService& service) {
    PerformanceCurve curve;
    for (const std::uint32_t degree : kFamilyDegrees) {
      curve.push_back(performance_curve(service, sizes, degree)[kSize]);
    }
    return curve;
  };
  std::array<double, 2> squares{};
  for (const LearnerKind kind : {LearnerKind::history, LearnerKind::fm}) {
    Rng rng(8);
    LearnerParams params;
    params.kind = kind;
    DegreeLearner learner({1, 2, 4, 8}, 1, params);
    std::vector<PerformanceCurve> past;
    for (int i = 0; i < 100; ++i) past.push_back(curve_of(draw_service(rng)));
    learner.learn_curves(0, past);
    PerformanceEstimate estimate;
    for (std::uint64_t service = 0; service < 100; ++service) {
      const PerformanceCurve truth = curve_of(draw_service(rng));
      const auto first = static_cast<std::uint32_t>(rng.below(4));
      for (const std::uint32_t at : {first, (first + 1) % 4}) {
        learner.observe(service, 0, {at, noisy_performance(truth[at], kProbeNoise, rng)});
      }
      learner.estimate(service, 0, estimate);
      for (int i = 0; i < 4; ++i) {
        const double off = estimate.mean[i] - truth[i];
        squares[kind == LearnerKind::history ? 0 : 1] += off * off / 400;
      }
    }
  }
  EXPECT_LT(std::sqrt(squares[0]), 0.06);
  EXPECT_LT(squares[0], squares[1]);
}

TEST(DegreeLearner, reads_back_as_it_was_and_notices_damage) {
  for (const LearnerKind kind : kKinds) {
    DegreeLearner learner = taught(kind);
    learner.observe(1, 0, {0, 0.5});
    learner.observe(2, 1, {1, 0.6});
    const std::string text = degrees_text(learner);
    const auto read = parse_degrees(text);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read.value(), learner);
    test::expect_damage_is_noticed(text, "service-degrees", parse_degrees, [](DegreeLearner other) {
      other.observe(1, 0, {0, 0.7});
      other.observe(99, 0, {0, 0.7});
      other.choose(1, 0, 0.8);
      other.next_probe(1, 0);
      other.forget(1);
    });
  }
}

TEST(DegreeLearner, refuses_a_text_of_another_version) {
  ModelWriter out;
  taught(LearnerKind::fm).write(out);
  const auto read = parse_degrees(seal_model("service-degrees", 2, std::move(out).text()));
  EXPECT_EQ(read.error().code, LearnError::other_version);
}

}  // namespace
}  // namespace muster
