#include "actors/messages/messages.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/arbitrary_events.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/virtual_system.hpp"

namespace muster {
namespace {

template <class T>
T through_the_wire(test::VirtualSystem& system, T value) {
  std::vector<char> bytes;
  caf::binary_serializer out{system.actors(), bytes};
  EXPECT_FALSE(out(value));
  caf::binary_deserializer in{system.actors(), bytes};
  T again;
  EXPECT_FALSE(in(again));
  return again;
}

RC_GTEST_PROP(MessagesProperty, a_job_arrives_as_it_was_sent, ()) {
  test::VirtualSystem system;
  const auto accepted = std::get<JobAccepted>(test::arbitrary::body(0));
  RC_ASSERT(through_the_wire(system, accepted.job) == accepted.job);
}

TEST(Messages, AnEndArrivesAsItWasSent) {
  test::VirtualSystem system;
  const JobEnd end{JobId{1'000'000'007}, JobOutcome::refused, 3, 5, 9, true};
  const JobEnd again = through_the_wire(system, end);
  EXPECT_EQ(again.job, end.job);
  EXPECT_EQ(again.outcome, end.outcome);
  EXPECT_EQ(again.first, 3u);
  EXPECT_EQ(again.tasks, 5u);
  EXPECT_EQ(again.whole, 9u);
  EXPECT_TRUE(again.broken);
}

TEST(Messages, ALoadReportSaysWhichPartsHaveFailedTasks) {
  test::VirtualSystem system;
  LoadReport report;
  report.failed = {{JobId{7}, 2, 1}, {JobId{9}, 1, 4}};
  report.counting = 3;
  report.conflicts = {JobId{4}};
  report.newest = {JobId{11}};
  const LoadReport again = through_the_wire(system, report);
  EXPECT_EQ(again.failed, report.failed);
  EXPECT_EQ(again.counting, 3u);
  EXPECT_EQ(again.conflicts, report.conflicts);
  EXPECT_EQ(again.newest, report.newest);
}

TEST(Messages, ACloudSaysWhichNumbersItHas) {
  test::VirtualSystem system;
  CloudReport report{{}, CloudReportKind::clock, test::at_s(3)};
  report.newest = {InstanceId{7}, InstanceId{1'000'000'001}};
  EXPECT_EQ(through_the_wire(system, report).newest, report.newest);
}

TEST(Messages, ACloudSaysWhatItsOfferingsCostNowAndWhyItRefuses) {
  test::VirtualSystem system;
  CloudReport report{{}, CloudReportKind::offerings, test::at_s(3)};
  report.changes = {{1, test::at_s(2), {"c7i.large", Market::spot, "a", Price::from_usd_h(0.03)}},
                    {2, test::at_s(3), {"p3", Market::on_demand, "", {}, false, 0.25}}};
  report.reason = CloudReason::quota;
  report.last_change = 2;
  const CloudReport again = through_the_wire(system, report);
  EXPECT_EQ(again.changes, report.changes);
  EXPECT_EQ(again.reason, CloudReason::quota);
  EXPECT_EQ(again.last_change, 2U);

  const LaunchOrder order{InstanceId{7}, "c7i.large", 1, "a", Price::from_usd_h(0.05)};
  const LaunchOrder ordered = through_the_wire(system, order);
  EXPECT_EQ(ordered.zone, "a");
  EXPECT_EQ(ordered.max_price, Price::from_usd_h(0.05));
}

TEST(Messages, SpecialNumbersSurviveTheWire) {
  test::VirtualSystem system;
  const Resources odd = Resources::of(std::numeric_limits<double>::infinity(), -0.0, 5e-324);
  const Resources again = through_the_wire(system, odd);
  EXPECT_EQ(again[Resource::gpu], std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::signbit(again[Resource::cpu]));
  EXPECT_EQ(again[Resource::memory], 5e-324);
}

TEST(Messages, WhatWasCutOffIsAnError) {
  test::VirtualSystem system;
  std::vector<char> bytes;
  caf::binary_serializer out{system.actors(), bytes};
  Resources whole = Resources::of(1, 2, 3);
  ASSERT_FALSE(out(whole));
  bytes.resize(bytes.size() / 2);
  caf::binary_deserializer in{system.actors(), bytes};
  Resources again;
  EXPECT_TRUE(in(again));
}

TEST(Messages, ErrorsSayWhatTheyMean) {
  test::VirtualSystem system;
  const caf::error error = ActorError::unknown;
  EXPECT_NE(system.actors().render(error).find("not known here"), std::string::npos);
}

}  // namespace
}  // namespace muster
