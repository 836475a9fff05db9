#include "tools/metrics/gpu_hours.hpp"

#include <gtest/gtest.h>

#include "tests/metrics/log_builder.hpp"

namespace muster::metrics {
namespace {

using muster::test::JobBuilder;
using muster::test::LogBuilder;

constexpr double kHour = 3600;

JobBuilder gpu_job(std::uint64_t id) {
  return JobBuilder(id).demand(Resources::of(1, 4, 24));
}

std::optional<GpuUse> use_of(const LogBuilder& log) {
  GpuHours hours(log.catalog());
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

TEST(GpuHours, what_is_rented_is_what_is_held_and_where_the_rest_is) {
  const auto use = use_of(one_instance());
  ASSERT_TRUE(use);
  EXPECT_DOUBLE_EQ(use->rented_h, 20);
  EXPECT_DOUBLE_EQ(use->used_h, 2);
  EXPECT_DOUBLE_EQ(use->starting_h, 4);
  EXPECT_DOUBLE_EQ(use->remainders_h, 6);
  EXPECT_DOUBLE_EQ(use->vacant_h, 8);
  EXPECT_DOUBLE_EQ(use->leaving_h, 8);
}

TEST(GpuHours, means_over_the_arrivals_end_with_the_last_one) {
  LogBuilder log;
  log.at(0).accept(gpu_job(1)).boot(1, "it1").start(1, 1).started(1);
  log.at(kHour).accept(gpu_job(2)).start(2, 1).started(2).boot(2, "it1");
  log.at(2 * kHour).accept(gpu_job(3));
  log.at(9 * kHour).finish(1).end(1);
  const auto use = use_of(log);
  ASSERT_TRUE(use);
  EXPECT_DOUBLE_EQ(*use->rented_arrivals, 6);
  EXPECT_DOUBLE_EQ(*use->used_arrivals, 1.5);
}

TEST(GpuHours, jobs_that_come_at_once_have_no_mean_over_their_arrivals) {
  const auto use = use_of(one_instance());
  ASSERT_TRUE(use);
  EXPECT_FALSE(use->rented_arrivals);
  EXPECT_FALSE(use->used_arrivals);
}

TEST(GpuHours, what_the_cloud_refuses_or_takes_back_is_rented_until_then) {
  LogBuilder log;
  log.at(0).accept(gpu_job(1)).launch(1, "it1").boot(2, "it1").start(1, 2).started(1);
  log.at(kHour).add(LaunchRefused{InstanceId{1}, {}, CloudReason::not_said});
  log.at(2 * kHour).gone(2);
  log.at(3 * kHour).fail(1, "lost");
  const auto use = use_of(log);
  ASSERT_TRUE(use);
  EXPECT_DOUBLE_EQ(use->rented_h, 12);
  EXPECT_DOUBLE_EQ(use->used_h, 2);
  EXPECT_DOUBLE_EQ(use->starting_h, 4);
  EXPECT_DOUBLE_EQ(use->remainders_h, 6);
  EXPECT_DOUBLE_EQ(use->leaving_h, 0);
}

TEST(GpuHours, a_task_on_an_instance_that_is_given_back_holds_what_is_rented_no_more) {
  LogBuilder log;
  log.at(0).accept(gpu_job(1)).boot(1, "it1").start(1, 1).started(1);
  log.at(kHour).release(1).stop(1);
  log.at(2 * kHour).left(1).terminate(1).gone(1);
  const auto use = use_of(log);
  ASSERT_TRUE(use);
  EXPECT_DOUBLE_EQ(use->rented_h, 4);
  EXPECT_DOUBLE_EQ(use->used_h, 2);
  EXPECT_DOUBLE_EQ(use->remainders_h, 3);
  EXPECT_DOUBLE_EQ(use->leaving_h, 4);
}

TEST(GpuHours, a_log_without_gpus_has_none) {
  LogBuilder log;
  log.at(0).accept(gpu_job(1));
  EXPECT_FALSE(use_of(log));
}

}  // namespace
}  // namespace muster::metrics
