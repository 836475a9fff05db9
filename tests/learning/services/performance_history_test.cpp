#include "learning/services/performance_history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "learning/services/service_family.hpp"
#include "tests/learning/learnt_text.hpp"
#include "tests/learning/services/reference_data.hpp"

namespace muster {
namespace {

using Json = nlohmann::json;

/// The history of tests/data/lrasched/hypotheses.json.
PerformanceHistory reference_history() {
  HistoryParams params;
  params.least_weight = 0;  // the reference leaves no curve out
  PerformanceHistory history(30, params);
  std::vector<PerformanceCurve> curves;
  for (const auto& row : test::family_rows()) curves.push_back(row.sizes);
  history.add(std::span(curves).first(48));
  return history;
}

/// Curves of two points, of which the second is the first's square.
std::vector<PerformanceCurve> squares(std::uint32_t count) {
  std::vector<PerformanceCurve> curves;
  for (std::uint32_t i = 0; i < count; ++i) {
    const double value = (i + 0.5) / count;
    curves.push_back({value, value * value});
  }
  return curves;
}

TEST(PerformanceHistory, estimates_as_the_reference_does) {
  const ServiceSizes sizes = family_sizes();
  const PerformanceHistory history = reference_history();
  const Json reference = test::lrasched_json("hypotheses.json");
  PerformanceEstimate estimate;
  for (const Json& arrival : reference["arrivals"]) {
    std::vector<MeasuredPoint> measured;
    for (const Json& step : arrival["steps"]) {
      take_up(measured, {step["probe"], step["measured"]});
      history.estimate(measured, estimate);
      for (std::uint32_t p = 0; p < 30; ++p) {
        EXPECT_NEAR(estimate.mean[p], step["mean"][p], 1e-7);
        EXPECT_NEAR(estimate.deviation[p] * estimate.deviation[p], step["variance"][p], 1e-7);
      }
      sizes.make_monotone(estimate.mean);
      for (std::uint32_t p = 0; p < 30; ++p) {
        EXPECT_NEAR(estimate.mean[p], step["monotone"][p], 1e-3);
      }
    }
  }
}

TEST(PerformanceHistory, probes_where_the_reference_does) {
  const PerformanceHistory history = reference_history();
  EXPECT_EQ(history.next_probe({}), 20U) << "4 cores and 2 GiB";
  const Json reference = test::lrasched_json("hypotheses.json");
  for (const Json& arrival : reference["arrivals"]) {
    std::vector<MeasuredPoint> measured;
    for (const Json& step : arrival["steps"]) {
      EXPECT_EQ(history.next_probe(measured), step["probe"]) << arrival["service"];
      take_up(measured, {step["probe"], step["measured"]});
    }
  }
}

TEST(PerformanceHistory, draws_a_service_to_the_past_ones_that_it_is_like) {
  PerformanceHistory history(2);
  history.add(squares(20));
  PerformanceEstimate estimate;
  std::vector<MeasuredPoint> measured;
  history.estimate(measured, estimate);
  const double blind = estimate.deviation[1];
  take_up(measured, {0, 0.5, kProductionNoise});
  history.estimate(measured, estimate);
  EXPECT_NEAR(estimate.mean[0], 0.5, 0.01);
  EXPECT_NEAR(estimate.mean[1], 0.25, 0.02);
  EXPECT_LT(estimate.deviation[1], blind / 5);
}

TEST(PerformanceHistory, says_when_nothing_past_fits) {
  PerformanceHistory history(2);
  history.add(squares(20));
  PerformanceEstimate estimate;
  std::vector<MeasuredPoint> measured;
  take_up(measured, {0, 0.5});
  take_up(measured, {1, 0.25});
  history.estimate(measured, estimate);
  EXPECT_GT(estimate.fit, -1);
  measured[1].value = 1;
  history.estimate(measured, estimate);
  EXPECT_LT(estimate.fit, -8);
}

TEST(PerformanceHistory, has_an_open_mind_before_it_has_curves) {
  PerformanceEstimate estimate;
  for (const std::uint32_t count : {0U, 1U, 2U, 3U}) {
    PerformanceHistory history(2);
    history.add(squares(count));
    std::vector<MeasuredPoint> measured;
    history.estimate(measured, estimate);
    EXPECT_GT(estimate.deviation[0], 0.2) << count;
    take_up(measured, {0, 0.9});
    history.estimate(measured, estimate);
    EXPECT_NEAR(estimate.mean[0], 0.9, 0.05) << count;
    EXPECT_EQ(history.next_probe(measured), 1U);
  }
}

TEST(PerformanceHistory, has_no_next_probe_when_all_is_measured) {
  PerformanceHistory history(2);
  history.add(squares(5));
  EXPECT_EQ(history.next_probe(std::vector<MeasuredPoint>{{0, 0.5, 0}, {1, 0.2, 0}}), std::nullopt);
}

TEST(PerformanceHistory, forgets_the_older_of_two_that_are_most_alike) {
  HistoryParams params;
  params.most_curves = 3;
  PerformanceHistory history(1, params);
  history.add(std::vector<PerformanceCurve>{{0.1}, {0.5}, {0.9}});
  history.add(std::vector<PerformanceCurve>{{0.52}});
  ASSERT_EQ(history.curves(), 3U);
  EXPECT_EQ(history.curve(0)[0], 0.1);
  EXPECT_EQ(history.curve(1)[0], 0.9);
  EXPECT_EQ(history.curve(2)[0], 0.52);
  history.add(squares(0));
  std::vector<PerformanceCurve> many;
  for (int i = 0; i < 20; ++i) many.push_back({i / 20.0});
  history.add(many);
  EXPECT_EQ(history.curves(), 3U);
}

TEST(PerformanceHistory, leaves_curves_out_that_hardly_count) {
  HistoryParams all, few;
  all.least_weight = 0;
  PerformanceHistory whole(2, all), part(2, few);
  whole.add(squares(200));
  part.add(squares(200));
  std::vector<MeasuredPoint> measured;
  take_up(measured, {0, 0.3});
  PerformanceEstimate one, other;
  whole.estimate(measured, one);
  part.estimate(measured, other);
  EXPECT_NEAR(one.mean[1], other.mean[1], 1e-4);
  EXPECT_NEAR(one.deviation[1], other.deviation[1], 1e-4);
}

TEST(PerformanceHistory, takes_any_number_for_a_value) {
  PerformanceHistory history(2);
  history.add(std::vector<PerformanceCurve>{{NAN, INFINITY}, {-3, 7}, {0.5, 0.5}});
  std::vector<MeasuredPoint> measured;
  take_up(measured, {0, NAN});
  EXPECT_TRUE(measured.empty());
  take_up(measured, {0, 5, 5});
  PerformanceEstimate estimate;
  history.estimate(measured, estimate);
  EXPECT_TRUE(std::isfinite(estimate.mean[0]) && std::isfinite(estimate.deviation[1]));
}

TEST(PerformanceHistory, reads_back_as_it_was) {
  const PerformanceHistory history = reference_history();
  EXPECT_EQ(parse_history(history_text(history)).value(), history);
}

TEST(PerformanceHistory, notices_damage_to_its_text) {
  PerformanceHistory history(2);
  history.add(squares(6));
  const std::vector<MeasuredPoint> measured{{0, 0.3, 1e-4}};
  test::expect_damage_is_noticed(history_text(history), "performance-history", parse_history,
                                 [&](const PerformanceHistory& read) {
                                   PerformanceEstimate estimate;
                                   read.estimate(measured, estimate);
                                   for (const double mean : estimate.mean) {
                                     ASSERT_TRUE(std::isfinite(mean));
                                   }
                                   read.next_probe(measured);
                                 });
}

TEST(MeasuredPoint, weighs_exact_samples_more) {
  std::vector<MeasuredPoint> measured;
  take_up(measured, {3, 0.8, kProbeNoise});
  take_up(measured, {3, 0.7, kProductionNoise});
  ASSERT_EQ(measured.size(), 1U);
  EXPECT_LT(measured[0].value, 0.71);
  EXPECT_LT(measured[0].variance, 0.007 * 0.007);
}

TEST(MeasuredPoint, follows_a_load_that_changes) {
  std::vector<MeasuredPoint> measured;
  for (int i = 0; i < 50; ++i) take_up(measured, {3, 0.8, kProductionNoise});
  for (int i = 0; i < 10; ++i) take_up(measured, {3, 0.6, kProductionNoise});
  EXPECT_NEAR(measured[0].value, 0.6, 0.01);
}

}  // namespace
}  // namespace muster
