#include "learning/runtime_forecast.hpp"

#include <gtest/gtest.h>

#include <array>

#include "model/rng.hpp"
#include "tests/support/builders.hpp"

namespace muster {
namespace {

constexpr std::array<PredictBy, 4> kAll = {PredictBy::log_ratio, PredictBy::nmae_mean,
                                           PredictBy::nmae_median, PredictBy::hint};

Job job(const std::string& user, const std::string& name, const std::string& cls,
        double hint_s = 500) {
  Job job = test::JobBuilder(1).workload_class(cls).build();
  job.user = user;
  job.name = name;
  job.runtime_hint = from_seconds(hint_s);
  return job;
}

void observe(RuntimeForecast& forecast, const Job& job, std::initializer_list<double> runs_s) {
  for (const double run_s : runs_s) forecast.observe({job}, from_seconds(run_s));
}

std::string text_of(const RuntimeForecast& forecast) {
  return sealed_text("forecast", 1, forecast);
}

TEST(RuntimeForecast, GivesTheWordOfWhomItIsToldToListenTo) {
  for (const PredictBy by : kAll) {
    RuntimeForecast forecast({.by = by});
    EXPECT_EQ(named<PredictBy>(name_of(by)), by);
    observe(forecast, job("ann", "a", "c"), {100, 100, 100});
    EXPECT_EQ(forecast.predict({job("ann", "a", "c")})->runtime_s,
              by == PredictBy::hint ? 500 : 100)
        << name_of(by);
  }
  Job silent = job("ann", "a", "c");
  silent.runtime_hint.reset();
  EXPECT_FALSE(RuntimeForecast({.by = PredictBy::hint}).predict({silent}).has_value());
  EXPECT_FALSE(named<PredictBy>("guess").has_value());
}

TEST(RuntimeForecast, IsComparedWithAJobBeforeItLearnsOfIt) {
  for (const PredictBy by : {PredictBy::log_ratio, PredictBy::nmae_median}) {
    RuntimeForecast forecast({.by = by});
    const Job ann = job("ann", "train", "c");
    const std::uint64_t cls = RuntimeForecast::error_class(ann);
    observe(forecast, ann, {100});
    EXPECT_EQ(forecast.probability_of_error_within(cls, 1), 0) << "the first one was not predicted";
    observe(forecast, ann, {80});
    EXPECT_EQ(forecast.probability_of_error_within(cls, 0.1), 0) << "100 was said, not 80 or 90";
    EXPECT_EQ(forecast.probability_of_error_within(cls, 0.21), 1) << "delta is 0.2";
  }
}

TEST(RuntimeForecast, CountsErrorsByUserAndClass) {
  RuntimeForecast forecast;
  for (int i = 0; i < 30; ++i) {
    observe(forecast, job("ann", "a", "steady"), {100});
    observe(forecast, job("ann", "b", "wild"), {i % 2 == 0 ? 1.0 : 5000.0});
  }
  const SorsRule rule{.eps = 0.5, .p_threshold = 0.95, .min_samples = 20};
  const SorsVerdict steady = forecast.judge({job("ann", "a", "steady")}, rule);
  EXPECT_TRUE(steady.allowed());
  EXPECT_GE(steady.promised_s, 100);
  const auto reason = [&](const RuntimeForecast& of, const Job& job) {
    return of.judge({job}, rule).reason;
  };
  EXPECT_EQ(reason(forecast, job("ann", "b", "wild")), SorsReason::error_too_probable);
  EXPECT_EQ(reason(forecast, job("bob", "a", "steady")), SorsReason::too_few_samples);
  EXPECT_EQ(reason(RuntimeForecast(), job("ann", "a", "steady")), SorsReason::no_estimate);
}

TEST(RuntimeForecast, FindsTheMarginOnWhatAUserAlwaysOverstates) {
  RuntimeForecast forecast({.by = PredictBy::hint});
  const Job ann = job("ann", "a", "c", 1000);
  for (int i = 0; i < 30; ++i) observe(forecast, ann, {100.0 + i % 3});
  const SorsVerdict verdict = forecast.judge({ann}, {});
  EXPECT_TRUE(verdict.allowed());
  EXPECT_NEAR(verdict.promised_s, 102, 1e-6) << "a tenth of what the user says";
}

TEST(RuntimeForecast, RemembersABoundedNumberOfClasses) {
  RuntimeForecast forecast({.by = PredictBy::hint});
  for (int i = 0; i < 1200; ++i) observe(forecast, job("u" + std::to_string(i), "a", "c"), {10});
  EXPECT_EQ(forecast.classes(), 1024u);
}

TEST(RuntimeForecast, GoesOnFromItsTextAsIfItHadNeverStopped) {
  for (const PredictBy by : kAll) {
    RuntimeForecast forecast({.by = by, .limits = false, .values = 9, .history = 4});
    Rng rng(5);
    const auto some = [&] {
      const std::string name(1, static_cast<char>('a' + rng.below(9)));
      return job("u" + name, name + name, name);
    };
    for (int i = 0; i < 200; ++i) observe(forecast, some(), {rng.uniform(1, 100)});
    auto again = parse_sealed("forecast", 1, text_of(forecast), RuntimeForecast::read);
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_EQ(again->params(), forecast.params());
    for (int i = 0; i < 50; ++i) {
      const Job next = some();
      const double run_s = rng.uniform(1, 100);
      observe(forecast, next, {run_s});
      observe(again.value(), next, {run_s});
    }
    EXPECT_EQ(text_of(forecast), text_of(again.value()));
  }
}

}  // namespace
}  // namespace muster
