#include "learning/prediction_errors.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

/// Ten predictions of 100 s, and what the jobs took.
PredictionErrors ten_runs() {
  PredictionErrors errors;
  for (const double actual_s : {50, 60, 80, 80, 90, 100, 100, 110, 120, 200}) {
    errors.add(100, actual_s);
  }
  return errors;
}

TEST(Sors, by_hand_with_the_predictions_as_they_are) {
  // delta = (100 - actual) / 100: 0.5 0.4 0.2 0.2 0.1 0 0 -0.1 -0.2 -1.
  const PredictionErrors errors = ten_runs();
  EXPECT_DOUBLE_EQ(errors.share_within(0.5, 1), 0.6) << "0.5 itself is not below eps";
  EXPECT_DOUBLE_EQ(errors.share_within(0.6, 1), 0.7);
  EXPECT_DOUBLE_EQ(errors.share_within(0.2, 1), 0.3);
  EXPECT_DOUBLE_EQ(errors.share_within(1, 1), 0.7) << "three jobs ran longer than predicted";
}

TEST(Sors, by_hand_promises_what_suits_the_past_best) {
  // eps 0.5: of 110 s promised, seven took between 55 (not with it) and 110 s; of 120 s likewise
  // seven between 60 and 120 s; of 100 s six, of 200 s three. The greatest of the best is 120 s.
  const PredictionErrors errors = ten_runs();
  EXPECT_DOUBLE_EQ(errors.share_within(0.5, 1.1), 0.7);
  EXPECT_DOUBLE_EQ(errors.share_within(0.5, 1.2), 0.7);
  EXPECT_DOUBLE_EQ(errors.share_within(0.5, 2), 0.3);
  EXPECT_DOUBLE_EQ(errors.best_margin(0.5), 1.2);
  // eps 0.6: nine between 48 and 120 s. eps 0.8: all between 40 and 200 s.
  EXPECT_DOUBLE_EQ(errors.best_margin(0.6), 1.2);
  EXPECT_DOUBLE_EQ(errors.best_margin(0.8), 2);
}

TEST(Sors, by_hand_allows_spot_from_the_threshold_on) {
  // 50 s are predicted, 1.2 times that is promised, and nine of ten such promises were good.
  const PredictionErrors errors = ten_runs();
  SorsRule rule{.eps = 0.6, .p_threshold = 0.9, .min_samples = 10};
  EXPECT_EQ(errors.judge(50, rule), (SorsVerdict{.reason = SorsReason::allowed,
                                                 .probability = 0.9,
                                                 .p_threshold = 0.9,
                                                 .samples = 10,
                                                 .promised_s = 60}));
  rule.p_threshold = 0.95;
  EXPECT_EQ(errors.judge(50, rule).reason, SorsReason::error_too_probable);
  rule.eps = 0.8;
  EXPECT_TRUE(errors.judge(50, rule).allowed()) << "a larger error is tolerated";
}

TEST(Sors, allows_nothing_on_too_few_samples) {
  const PredictionErrors errors = ten_runs();
  const SorsVerdict verdict = errors.judge(50, {.eps = 1, .p_threshold = 0.1, .min_samples = 11});
  EXPECT_EQ(verdict.reason, SorsReason::too_few_samples);
  EXPECT_EQ(verdict.samples, 10u);
  EXPECT_EQ(PredictionErrors().judge(50, {.min_samples = 0}).reason, SorsReason::too_few_samples);
  EXPECT_EQ(PredictionErrors().share_within(1, 1), 0);
}

TEST(PredictionErrors, forget_the_oldest) {
  PredictionErrors errors;
  for (int i = 0; i < 100; ++i) errors.add(1, 5);
  for (std::size_t i = 0; i < PredictionErrors::kKept; ++i) errors.add(1, 1);
  EXPECT_EQ(errors.size(), PredictionErrors::kKept);
  EXPECT_EQ(errors.best_margin(1), 1);
}

TEST(PredictionErrors, read_back_in_their_order) {
  PredictionErrors errors = ten_runs();
  for (std::size_t i = 0; i < PredictionErrors::kKept; ++i)
    errors.add(1, 1.0 + static_cast<double>(i));
  const auto text_of = [](const PredictionErrors& written) {
    ModelWriter out;
    written.write(out.line("errors"));
    return std::move(out).text();
  };
  const std::string text = text_of(errors);
  ModelReader in(text);
  in.line("errors");
  PredictionErrors again;
  again.read(in);
  EXPECT_TRUE(in.finish());
  EXPECT_EQ(text_of(again), text);
  errors.add(1, 7);
  again.add(1, 7);
  EXPECT_EQ(text_of(again), text_of(errors)) << "the same one is the oldest";
}

TEST(PredictionErrors, take_up_no_run_without_a_time_and_no_prediction_of_none) {
  PredictionErrors errors;
  errors.add(0, 10);
  errors.add(10, 0);
  errors.add(-1, 10);
  errors.add(10, -1);
  EXPECT_EQ(errors.size(), 0U);
  errors.add(1e-20, 1e20);
  EXPECT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors.best_margin(0.5), 1e9) << "beyond this an error says nothing more";
}

TEST(PredictionErrors, promise_as_predicted_where_nothing_is_known) {
  EXPECT_EQ(PredictionErrors().best_margin(0.5), 1);
}

}  // namespace
}  // namespace muster
