#include "replay/service_meter.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/replay/metrics/log_builder.hpp"

namespace muster::replay {
namespace {

using muster::test::at_s;
using muster::test::JobBuilder;
using muster::test::LogBuilder;

constexpr double kHour = 3600;

/// Measured as 0.8 alone and 0.4 beside others.
constexpr const char* kPerformance = "measured:1/2=0.5;2/4=0.8;x2=0.5";

/// Services whose replicas ask for 2 cores and 4 GiB.
class Services {
 public:
  /// Submitted at 0 h, and to be ended after that time.
  JobBuilder add(std::uint64_t id, std::size_t replicas, double lasts_h, ServiceTruth truth) {
    const JobBuilder job = JobBuilder(id).tasks(replicas).gang(false);
    WorkloadJob& entry = workload_.jobs.emplace_back();
    entry.job = job.build();
    entry.job.kind = ServiceSpec{};
    entry.truth.iterations = lasts_h * kHour;
    entry.truth.service = std::make_shared<const ServiceTruth>(std::move(truth));
    return job;
  }
  metrics::ServiceFigures measure(const LogBuilder& log) const {
    ServiceMeter meter(workload_, ReplicaNoise(0, 1));
    for (const Event& event : log.events()) meter.see(event);
    return meter.finish().value();
  }

 private:
  Workload workload_;
};

ServiceTruth with_goal(double goal) {
  ServiceTruth truth;
  truth.performance = std::make_shared<const ServicePerformance>(*parse_performance(kPerformance));
  truth.goal = goal;
  return truth;
}

ReplicaChanged said(std::uint64_t task, bool ready, Attempt attempt = 1) {
  ReplicaChanged changed{TaskId{task}, attempt, {}};
  changed.state.ready = ready;
  return changed;
}

TEST(ServiceMeter, measures_nothing_where_there_are_no_services) {
  const Workload workload;
  EXPECT_FALSE(ServiceMeter(workload, ReplicaNoise(0, 1)).finish());
}

TEST(ServiceMeter, counts_the_time_in_which_a_replica_is_ready_until_its_user_ends_it) {
  Services services;
  LogBuilder log;
  log.at(0).accept(services.add(1, 1, 10, {})).boot(1, "it3").start(1, 1).started(1);
  log.at(1 * kHour).add(said(1, true));
  log.at(3 * kHour).add(said(1, false));
  log.at(4 * kHour).add(said(1, true));
  // The last hour is after its user's end of it.
  log.at(11 * kHour).stop(1).left(1).give_up(1, JobOutcome::cancelled);
  const metrics::ServiceFigures figures = services.measure(log);
  EXPECT_EQ(figures.submitted, 1U);
  EXPECT_EQ(figures.ended, 1U);
  EXPECT_DOUBLE_EQ(figures.wanted_h, 10);
  EXPECT_DOUBLE_EQ(figures.ready_h, 2 + 6);
  EXPECT_EQ(figures.restarts, 0U);
  EXPECT_EQ(figures.goal_wanted_h, 0);
}

TEST(ServiceMeter, counts_replicas_that_were_never_placed_as_wanted) {
  Services services;
  LogBuilder log;
  log.at(0).accept(services.add(1, 3, 10, {})).give_up(1, JobOutcome::refused);
  const metrics::ServiceFigures figures = services.measure(log);
  EXPECT_EQ(figures.ended, 0U);
  EXPECT_EQ(figures.replicas, 3U);
  EXPECT_DOUBLE_EQ(figures.wanted_h, 30);
  EXPECT_EQ(figures.ready_h, 0);
}

TEST(ServiceMeter, counts_starts_after_the_first_one_as_restarts) {
  Services services;
  LogBuilder log;
  log.at(0).accept(services.add(1, 1, 10, {})).boot(1, "it3").start(1, 1).started(1);
  log.add(said(1, true));
  log.at(2 * kHour).gone(1);
  log.at(3 * kHour).boot(2, "it3").start(1, 2, 2).started(1, 2).add(said(1, true, 2));
  log.at(10 * kHour).stop(1, 2).left(1, 2).give_up(1, JobOutcome::cancelled);
  const metrics::ServiceFigures figures = services.measure(log);
  EXPECT_EQ(figures.restarts, 1U);
  EXPECT_DOUBLE_EQ(figures.ready_h, 2 + 7);
}

/// Two replicas on one instance: the second one runs there from 4 h to 6 h.
LogBuilder two_together(const JobBuilder& job) {
  const auto tasks = job.build().tasks;
  const std::uint64_t one = tasks[0].id.value, other = tasks[1].id.value;
  LogBuilder log;
  log.at(0).accept(job).boot(1, "it3").start(one, 1).started(one).add(said(one, true));
  log.at(4 * kHour).start(other, 1).started(other).add(said(other, true));
  log.at(6 * kHour).stop(other).left(other);
  log.at(10 * kHour).stop(one).left(one).give_up(1, JobOutcome::cancelled);
  return log;
}

TEST(ServiceMeter, sums_performance_as_neighbours_come_and_go) {
  Services services;
  const LogBuilder log = two_together(services.add(1, 2, 10, with_goal(0.5)));
  const metrics::ServiceFigures figures = services.measure(log);
  EXPECT_DOUBLE_EQ(figures.ready_h, 10 + 2);
  EXPECT_DOUBLE_EQ(figures.measured_h, 10 + 2);
  EXPECT_DOUBLE_EQ(figures.performance_h, 8 * 0.8 + 2 * 2 * 0.4);
  EXPECT_DOUBLE_EQ(figures.goal_wanted_h, 20);
  EXPECT_DOUBLE_EQ(figures.goal_h, 8);
}

TEST(ServiceMeter, holds_the_price_of_what_is_granted_against_that_of_the_right_size) {
  Services services;
  const LogBuilder log = two_together(services.add(1, 2, 10, with_goal(0.5)));
  const metrics::ServiceFigures figures = services.measure(log);
  EXPECT_NEAR(figures.held_usd, 12 * (2 * 0.0316 + 4 * 0.0042), 1e-12);
  EXPECT_NEAR(figures.right_usd, 12 * (1 * 0.0316 + 2 * 0.0042), 1e-12);
}

TEST(ServiceMeter, follows_the_load_through_the_day) {
  ServiceTruth truth;
  truth.performance = std::make_shared<const ServicePerformance>(
      *parse_performance("web:1.2/0.95/1/0.3/0.5/0.04/0.01"));
  truth.day.assign(kDayHours, 1);
  truth.day[3] = 2;
  const ReplicaPlace place{2, 4, 1};
  const double high = truth.performance->at(place), low = truth.performance->at(place, 2);
  truth.goal = high;
  Services services;
  LogBuilder log;
  log.at(0).accept(services.add(1, 1, 50, truth)).boot(1, "it3").start(1, 1).started(1);
  log.at(2.5 * kHour).add(said(1, true));
  log.at(50 * kHour).stop(1).left(1).give_up(1, JobOutcome::cancelled);
  const metrics::ServiceFigures figures = services.measure(log);
  EXPECT_NEAR(figures.measured_h, 47.5, 1e-9);
  // It is the third hour of the day twice.
  EXPECT_NEAR(figures.goal_h, 45.5, 1e-9);
  EXPECT_NEAR(figures.performance_h, 45.5 * high + 2 * low, 1e-9);
}

}  // namespace
}  // namespace muster::replay
