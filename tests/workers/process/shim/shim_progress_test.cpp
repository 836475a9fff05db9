#include "workers/process/shim/shim_progress.hpp"

#include <gmock/gmock.h>

#include "workers/process/shim/shim_sockets.hpp"

namespace muster::process {
namespace {

using std::chrono::milliseconds;
using ::testing::StartsWith;

std::optional<double> units_told(ShimProgress& said, Duration now) {
  const auto line = said.take_due(now);
  if (!line) return std::nullopt;
  const auto point = point_from(std::string_view(*line).substr(0, line->size() - 1));
  return point ? std::optional(point->units) : std::nullopt;
}

TEST(ShimProgressTest, TheFirstProgressIsPassedOnAtOnce) {
  ShimProgress said;
  EXPECT_EQ(said.hear("progress 3", milliseconds{5}), "ok\n");
  EXPECT_EQ(units_told(said, milliseconds{5}), 3);
  EXPECT_EQ(said.next_due(), std::nullopt) << "all is told";
}

TEST(ShimProgressTest, LaterProgressIsPassedOnOnceAnIntervalAndIsTheNewest) {
  ShimProgress said;
  said.hear("progress 1", milliseconds{0});
  EXPECT_EQ(units_told(said, milliseconds{0}), 1);
  said.hear("progress 2", milliseconds{50});
  said.hear("progress 3", milliseconds{100});
  EXPECT_EQ(said.next_due(), milliseconds{200});
  EXPECT_EQ(units_told(said, milliseconds{199}), std::nullopt);
  EXPECT_EQ(units_told(said, milliseconds{200}), 3);
  EXPECT_EQ(units_told(said, milliseconds{900}), std::nullopt);
}

TEST(ShimProgressTest, ProgressDoesNotGoBack) {
  ShimProgress said;
  said.hear("progress 2", milliseconds{0});
  EXPECT_THAT(said.hear("progress 1", milliseconds{1}), StartsWith("error"));
  EXPECT_EQ(units_told(said, milliseconds{1}), 2);
}

TEST(ShimProgressTest, ALineOfAnotherFormIsAnErrorAndChangesNothing) {
  ShimProgress said;
  EXPECT_THAT(said.hear("progress", {}), StartsWith("error"));
  EXPECT_THAT(said.hear("step 1", {}), StartsWith("error"));
  EXPECT_EQ(said.next_due(), std::nullopt);
}

TEST(ShimProgressTest, AStepIsToldWithTheNextProgress) {
  ShimProgress said;
  EXPECT_EQ(said.hear("step 32 1 0.5 0.1 2 3", {}), "ok\n");
  EXPECT_EQ(said.next_due(), std::nullopt);
  said.hear("progress 1", {});
  const auto line = said.take_due({});
  ASSERT_TRUE(line);
  const auto point = point_from(std::string_view(*line).substr(0, line->size() - 1));
  ASSERT_TRUE(point);
  EXPECT_TRUE(point->step.has_value());
}

TEST(ShimProgressTest, MetricsArePassedOnTogetherOnceAnInterval) {
  ShimProgress said(2);
  EXPECT_EQ(said.hear("metric b 1", milliseconds{5}), "ok\n");
  EXPECT_EQ(said.next_due(), milliseconds{5});
  EXPECT_EQ(said.take_due(milliseconds{5}), metrics_line({{"b", 1}}));
  said.hear("metric b 2", milliseconds{6});
  said.hear("metric a 0.5", milliseconds{7});
  EXPECT_THAT(said.hear("metric c 1", milliseconds{8}), StartsWith("error"));
  EXPECT_EQ(said.next_due(), milliseconds{205});
  EXPECT_EQ(said.take_due(milliseconds{204}), std::nullopt);
  EXPECT_EQ(said.take_due(milliseconds{205}), metrics_line({{"a", 0.5}, {"b", 2}}));
  EXPECT_EQ(said.next_due(), std::nullopt);
  EXPECT_EQ(said.told(), metrics_line({{"a", 0.5}, {"b", 2}}));
}

TEST(ShimProgressTest, ALineOfMetricsReadsBackAndAnotherIsNone) {
  const Metrics values{{"a", 0.1}, {"b", -1e18}};
  const std::string line = metrics_line(values);
  EXPECT_EQ(metrics_from(std::string_view(line).substr(0, line.size() - 1)), values);
  for (const char* other : {"metrics a", "metrics a=", "metrics a=x", "metrics  a=1",
                            "metrics b=1 a=1", "metrics a=1e19", "metrics a=1;", "progress 1 2"}) {
    EXPECT_EQ(metrics_from(other), std::nullopt) << other;
  }
}

TEST(ShimProgressTest, AnExecutorThatConnectsLaterHearsWhatWasPassedOn) {
  ShimProgress said;
  said.hear("progress 1", milliseconds{0});
  const std::string first = said.take_due(milliseconds{0}).value_or("");
  said.hear("progress 2", milliseconds{10});
  EXPECT_EQ(said.told(), first) << "the other one comes in its time";
  const std::string second = said.take_due(milliseconds{300}).value_or("");
  EXPECT_EQ(said.told(), first + second);
}

}  // namespace
}  // namespace muster::process
