#include "replay/metrics/elastic_work.hpp"

#include <gtest/gtest.h>

#include "replay/metrics/measure.hpp"
#include "tests/replay/metrics/log_builder.hpp"

namespace muster::metrics {
namespace {

using muster::test::JobBuilder;
using muster::test::LogBuilder;

constexpr double kHour = 3600;

/// Up to four workers of a GPU each: until 100 twice as fast on two as on one, then as on one.
JobAccepted elastic_job(std::uint64_t id) {
  Job job = JobBuilder(id).demand(Resources::of(1, 4, 24)).gang(true).tasks(4).build();
  ElasticSpec spec{1, 4, {}, ElasticEpochs({{100, 1, {1, 2, 3, 4}, {}}, {200, 1, {1}, {}}})};
  job.kind = spec;
  return {std::move(job)};
}

Measured progress(std::uint64_t task, double done) {
  return {{}, 0, {JobProgress{TaskId{task}, done}}};
}

/// An it1 (4 GPUs) is there from 0 h to 5 h and given back at 4.5 h. A job has two workers on it
/// from 1 h to 4 h; at 3 h its second epoch begins.
LogBuilder one_job() {
  LogBuilder log;
  log.at(0).add(elastic_job(1)).boot(1, "it1");
  log.at(1 * kHour).start(1, 1).start(101, 1);
  log.at(3 * kHour).add(progress(1, 150));
  log.at(4 * kHour).finish(1).finish(101).end(1);
  log.at(4.5 * kHour).release(1).terminate(1);
  log.at(5 * kHour).gone(1);
  return log;
}

TEST(ElasticWork, AddsUpSpeedupsByWidthAndEpoch) {
  ElasticWork work;
  EXPECT_FALSE(work.speedups()) << "there is no job yet";
  work.apply({{}, elastic_job(1)});
  work.apply({{}, elastic_job(2)});
  EXPECT_EQ(work.speedups(), 0);
  for (const std::uint64_t task : {1, 101, 102, 2}) work.hold(TaskId{task});
  EXPECT_EQ(work.speedups(), 3 + 1);
  work.apply({{}, progress(1, 100)});
  EXPECT_EQ(work.speedups(), 1 + 1);
  work.release(TaskId{2});
  EXPECT_EQ(work.speedups(), 1);
  work.apply({{}, JobFinished{JobId{1}}});
  EXPECT_EQ(work.speedups(), 0);
}

TEST(ElasticWork, IsUnknownWithJobsThatDoNotStateTheirs) {
  ElasticWork work;
  work.apply({{}, elastic_job(1)});
  JobAccepted silent = elastic_job(2);
  std::get<ElasticSpec>(silent.job.kind).epochs = {};
  work.apply({{}, silent});
  EXPECT_FALSE(work.speedups());
}

TEST(ElasticWork, OverRentedGpusIsTheEfficiencyOfARun) {
  const LogBuilder log = one_job();
  const RunResult run = measure(log.events(), log.catalog(), {});
  ASSERT_TRUE(run.gpu_h.has_value());
  EXPECT_DOUBLE_EQ(run.gpu_h->used, 2 * 3);
  EXPECT_DOUBLE_EQ(run.gpu_h->rented, 4 * 4.5);
  EXPECT_DOUBLE_EQ(run.gpu_h->billed, 4 * 5);
  ASSERT_TRUE(run.efficiency.has_value());
  EXPECT_DOUBLE_EQ(*run.efficiency, (2 * 2 + 1 * 1) / 18.0);
  const auto at = [](const Series& series, double hour) {
    double value = -1;
    for (const auto& [h, v] : series) value = h <= hour ? v : value;
    return value;
  };
  EXPECT_EQ(at(run.gpus_over_time.rented, 2), 4);
  EXPECT_EQ(at(run.gpus_over_time.used, 2), 2);
  EXPECT_EQ(at(run.gpus_over_time.efficiency, 2), 0.5);
  EXPECT_EQ(at(run.gpus_over_time.efficiency, 3.5), 0.25);
  EXPECT_EQ(at(run.gpus_over_time.rented, 4.75), 0);
}

}  // namespace
}  // namespace muster::metrics
