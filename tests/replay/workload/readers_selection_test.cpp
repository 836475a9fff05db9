#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/replay/workload/workload_compare.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::replay {
namespace {

using namespace std::chrono_literals;
using muster::test::IsGolden;
using muster::test::message_of;
using muster::test::TempFile;
using test::reading;
using testing::AllOf;
using testing::HasSubstr;

/// Jobs of 1, 2 and 3 tasks at 0, 10 and 20 s.
Expected<Workload, WorkloadError> read_with(const std::function<void(WorkloadConfig&)>& change) {
  const TempFile file("jobs.tr", "5 1 5 5\n15 2 7 6 8\n25 3 9 8 9 10\n");
  WorkloadConfig config = reading("tr", file.path());
  change(config);
  return read_workload(config, 1);
}

TEST(Selection, TakesTheFirstJobs) {
  const Workload workload = read_with([](auto& config) { config.max_jobs = 2; }).value();
  EXPECT_EQ(workload.jobs.size(), 2U);
  EXPECT_EQ(workload.description, "trace jobs.tr, the first 2 jobs");
}

TEST(Selection, LeavesOutSmallJobsBeforeItCounts) {
  const Workload workload = read_with([](auto& config) {
                              config.min_tasks = 2;
                              config.max_jobs = 2;
                            }).value();
  ASSERT_EQ(workload.jobs.size(), 2U);
  EXPECT_EQ(workload.jobs[0].job.tasks.size(), 2U);
  EXPECT_EQ(workload.description, "trace jobs.tr, 1 of fewer than 2 tasks left out");
}

TEST(Selection, CutsLargeJobsAndTheirWork) {
  const Workload workload = read_with([](auto& config) { config.max_tasks = 2; }).value();
  EXPECT_EQ(workload.jobs[2].job.tasks.size(), 2U);
  EXPECT_EQ(workload.jobs[2].truth.task_iterations, (std::vector<double>{8, 9}));
  EXPECT_THAT(workload.description, IsGolden());
}

TEST(Selection, MultipliesTheTimesOfSubmission) {
  const Workload workload = read_with([](auto& config) { config.scale_time = 0.25; }).value();
  EXPECT_EQ(workload.jobs[1].submit, Instant{2500ms});
  EXPECT_EQ(workload.jobs[1].truth.iterations, 7);
  EXPECT_THAT(workload.description, AllOf(HasSubstr("x 0.25"), IsGolden()));
}

TEST(Selection, RefusesTimesBeyondAllBounds) {
  const TempFile file("jobs.tr", "0 1 5 5\n900000000 1 5 5\n");
  WorkloadConfig config = reading("tr", file.path());
  config.scale_time = 2;
  EXPECT_THAT(message_of(read_workload(config, 1), WorkloadError::invalid),
              AllOf(HasSubstr("1000000000 s"), IsGolden()));
}

}  // namespace
}  // namespace muster::replay
