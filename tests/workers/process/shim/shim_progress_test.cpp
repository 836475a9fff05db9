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
