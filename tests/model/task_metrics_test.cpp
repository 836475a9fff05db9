#include "model/task_metrics.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "model/cluster_state.hpp"
#include "tests/support/builders.hpp"

namespace muster {
namespace {

TEST(TaskMetrics, NamesHaveSmallLettersDigitsAndUnderscores) {
  for (const char* name : {"p", "p99_ms", "loss", "a_", "x0"}) {
    EXPECT_TRUE(is_metric_name(name)) << name;
  }
  EXPECT_TRUE(is_metric_name(std::string(kMaxMetricNameBytes, 'a')));
  for (const char* name : {"", "P99", "9p", "_a", "a-b", "a b", "a.b", "a\n", "\xc3\xa4"}) {
    EXPECT_FALSE(is_metric_name(name)) << name;
  }
  EXPECT_FALSE(is_metric_name(std::string(kMaxMetricNameBytes + 1, 'a')));
}

TEST(TaskMetrics, ValuesAreFiniteAndBounded) {
  for (const double value : {0.0, -0.0, 12.5, -1e18, 1e18, 5e-324}) {
    EXPECT_TRUE(is_metric_value(value)) << value;
  }
  using Limits = std::numeric_limits<double>;
  for (const double value :
       {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), 1.1e18}) {
    EXPECT_FALSE(is_metric_value(value)) << value;
  }
}

TEST(TaskMetrics, AreKeptByNameAndANewNameNeedsRoom) {
  Metrics values;
  EXPECT_TRUE(set_metric(values, "loss", 2, 2));
  EXPECT_TRUE(set_metric(values, "accuracy", 0.5, 2));
  EXPECT_TRUE(set_metric(values, "loss", 1, 2));
  EXPECT_FALSE(set_metric(values, "a", 1, 2));
  EXPECT_EQ(values, (Metrics{{"accuracy", 0.5}, {"loss", 1}}));
}

TEST(TaskMetrics, AreRefusedOutOfOrderTwiceOrTooMany) {
  EXPECT_TRUE(are_metrics({}));
  EXPECT_TRUE(are_metrics({{"a", 1}, {"b", 2}}));
  EXPECT_FALSE(are_metrics({{"b", 1}, {"a", 2}}));
  EXPECT_FALSE(are_metrics({{"a", 1}, {"a", 2}}));
  EXPECT_FALSE(are_metrics({{"a", 1e19}}));
  EXPECT_FALSE(are_metrics({{"A", 1}}));
  Metrics many;
  for (std::size_t i = 0; i <= kMaxMetrics; ++i) many.emplace_back(std::string(i + 1, 'a'), 0);
  EXPECT_FALSE(are_metrics(many));
}

TEST(TaskMetrics, OfARowAreThoseThatWereReportedLast) {
  const Catalog catalog = test::table3_catalog();
  ClusterState state(catalog);
  state.apply({Instant{}, JobAccepted{test::JobBuilder(1).tasks(1).build()}});
  const TaskId task = state.task(state.find(JobId{1})->tasks.front()).id;
  state.apply({Instant{}, Measured{{}, 0, {}, {{task, {{"a", 1}, {"b", 2}}}}}});
  state.apply({Instant{}, Measured{{}, 0, {}, {{task, {{"b", 3}}}, {TaskId{99}, {{"a", 1}}}}}});
  EXPECT_EQ(state.find(task)->metrics, (Metrics{{"b", 3}}));
}

}  // namespace
}  // namespace muster
