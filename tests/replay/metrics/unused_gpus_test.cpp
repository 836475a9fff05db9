#include "replay/metrics/unused_gpus.hpp"

#include <gtest/gtest.h>

#include "tests/replay/metrics/log_builder.hpp"

namespace muster::metrics {
namespace {

using muster::test::JobBuilder;
using muster::test::LogBuilder;

constexpr double kHour = 3600;

JobBuilder gpu_job(std::uint64_t id) {
  return JobBuilder(id).demand(Resources::of(1, 4, 24));
}

std::optional<UnusedGpuHours> unused_of(const LogBuilder& log) {
  UnusedGpus hours(log.catalog());
  for (const Event& event : log.events()) hours.apply(event);
  return hours.finish();
}

/// An it1 of 4 GPUs is ordered at 0 h, ready at 1 h, held by one task from 2 h to 4 h, given back
/// at 5 h and gone at 7 h.
LogBuilder one_instance() {
  LogBuilder log;
  log.at(0).accept(gpu_job(1)).launch(1, "it1");
  log.at(kHour).up(1).ready(1);
  log.at(2 * kHour).start(1, 1).started(1);
  log.at(4 * kHour).finish(1).end(1);
  log.at(5 * kHour).release(1).terminate(1);
  log.at(7 * kHour).gone(1);
  return log;
}

TEST(UnusedGpus, are_of_what_starts_of_remainders_of_empty_instances_and_of_those_that_leave) {
  const auto unused = unused_of(one_instance());
  ASSERT_TRUE(unused);
  EXPECT_DOUBLE_EQ(unused->starting, 4);
  EXPECT_DOUBLE_EQ(unused->remainders, 6);
  EXPECT_DOUBLE_EQ(unused->empty, 8);
  EXPECT_DOUBLE_EQ(unused->leaving, 8);
}

TEST(UnusedGpus, of_what_the_cloud_refuses_or_takes_back_end_then) {
  LogBuilder log;
  log.at(0).accept(gpu_job(1)).launch(1, "it1").boot(2, "it1").start(1, 2).started(1);
  log.at(kHour).add(LaunchRefused{InstanceId{1}, {}, CloudReason::not_said});
  log.at(2 * kHour).gone(2);
  log.at(3 * kHour).fail(1, "lost");
  const auto unused = unused_of(log);
  ASSERT_TRUE(unused);
  EXPECT_DOUBLE_EQ(unused->starting, 4);
  EXPECT_DOUBLE_EQ(unused->remainders, 6);
  EXPECT_DOUBLE_EQ(unused->leaving, 0);
}

TEST(UnusedGpus, of_an_instance_that_is_given_back_with_a_task_on_it_are_leaving) {
  LogBuilder log;
  log.at(0).accept(gpu_job(1)).boot(1, "it1").start(1, 1).started(1);
  log.at(kHour).release(1).stop(1);
  log.at(2 * kHour).left(1).terminate(1).gone(1);
  const auto unused = unused_of(log);
  ASSERT_TRUE(unused);
  EXPECT_DOUBLE_EQ(unused->remainders, 3);
  EXPECT_DOUBLE_EQ(unused->leaving, 3);
}

TEST(UnusedGpus, are_not_there_in_a_log_without_gpus) {
  LogBuilder log;
  log.at(0).accept(gpu_job(1));
  EXPECT_FALSE(unused_of(log));
}

}  // namespace
}  // namespace muster::metrics
