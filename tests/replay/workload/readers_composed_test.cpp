#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/workload/composed.hpp"
#include "tests/replay/workload/workload_compare.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::replay {
namespace {

using namespace std::chrono_literals;
using muster::test::IsGolden;
using muster::test::IsGoldenAt;
using muster::test::message_of;
using muster::test::TempFile;
using test::reading;
using testing::AllOf;
using testing::HasSubstr;

constexpr std::string_view kTrace = "0 1 5 5\n10 2 7 6 8\n20 3 9 8 9 10\n";
constexpr std::string_view kRequests =
    "id,submit_s,user,name,tasks,gpu,cpu,memory_gib,duration_s,class\n"
    "1,0,ann,,1,0,1,2,50,a\n2,0,bob,,1,0,4,8,50,b\n";

class Composed : public ::testing::Test {
 protected:
  WorkloadConfig config() const {
    WorkloadConfig config = reading("composed", trace_.path());
    config.own.of<ComposedWorkload>().format = "tr";
    config.own.of<ComposedWorkload>().demands = requests_.path();
    config.own.of<ComposedWorkload>().demands_format = "muster-csv";
    return config;
  }

  TempFile trace_{"arrivals.tr", kTrace};
  TempFile requests_{"requests.csv", kRequests};
};

TEST_F(Composed, TakesArrivalsAndDurationsFromOneTraceAndDemandsFromTheOther) {
  const Workload workload = read_workload(config(), 1).value();
  ASSERT_EQ(workload.jobs.size(), 3U);
  EXPECT_EQ(workload.jobs[2].submit, Instant{20s});
  EXPECT_EQ(workload.jobs[2].truth.task_iterations, (std::vector<double>{8, 9, 10}));
  EXPECT_EQ(workload.jobs[2].job.runtime_hint, 9s);
  for (const WorkloadJob& job : workload.jobs) {
    const bool small = job.job.user == "ann";
    const Demands expected(small ? Resources::of(0, 1, 2) : Resources::of(0, 4, 8));
    for (const TaskSpec& task : job.job.tasks) EXPECT_EQ(task.demands, expected);
  }
}

TEST_F(Composed, DrawsJobsAndPoissonArrivalsWhenAsked) {
  WorkloadConfig wanted = config();
  wanted.own.of<ComposedWorkload>().jobs = 4000;
  wanted.own.of<ComposedWorkload>().mean_gap_s = 10;
  const Workload workload = read_workload(wanted, 3).value();
  ASSERT_EQ(workload.jobs.size(), 4000U);
  EXPECT_EQ(workload.jobs[0].submit, Instant{0s});
  // The mean of 4,000 exponential gaps of 10 s has a standard deviation of 0.16 s.
  EXPECT_NEAR(to_seconds(workload.jobs.back().submit) / 3999, 10, 0.8);
  std::size_t small = 0;
  std::size_t ann = 0;
  for (const WorkloadJob& job : workload.jobs) {
    small += job.job.tasks.size() == 1;
    ann += job.job.user == "ann";
  }
  EXPECT_NEAR(static_cast<double>(small), 4000.0 / 3, 150);
  EXPECT_NEAR(static_cast<double>(ann), 2000, 160);
}

TEST_F(Composed, DrawsWholeJobsOfOneTraceWhenNoOtherIsNamed) {
  WorkloadConfig wanted = reading("composed", requests_.path());
  auto& how = wanted.own.of<ComposedWorkload>();
  how.format = "muster-csv";
  how.jobs = 400;
  how.mean_gap_s = 10;
  const Workload workload = read_workload(wanted, 3).value();
  ASSERT_EQ(workload.jobs.size(), 400U);
  std::size_t ann = 0;
  for (const WorkloadJob& job : workload.jobs) {
    ann += job.job.user == "ann";
    const Demands own(job.job.user == "ann" ? Resources::of(0, 1, 2) : Resources::of(0, 4, 8));
    EXPECT_EQ(job.job.tasks.front().demands, own);
  }
  EXPECT_NEAR(static_cast<double>(ann), 200, 50);
  EXPECT_THAT(workload.description, AllOf(HasSubstr("seed 3"), HasSubstr("400 jobs"), IsGolden()));
}

TEST_F(Composed, RepeatsItselfForASeedAndDiffersForAnother) {
  WorkloadConfig wanted = config();
  wanted.own.of<ComposedWorkload>().jobs = 50;
  wanted.own.of<ComposedWorkload>().mean_gap_s = 1;
  const auto first = test::all_text(read_workload(wanted, 1).value());
  EXPECT_EQ(test::all_text(read_workload(wanted, 1).value()), first);
  EXPECT_NE(test::all_text(read_workload(wanted, 2).value()), first);
}

TEST_F(Composed, SaysWhatItIsMadeOf) {
  WorkloadConfig wanted = config();
  wanted.min_tasks = 2;
  wanted.max_tasks = 2;
  EXPECT_THAT(read_workload(wanted, 7).value().description, AllOf(HasSubstr("seed 7"), IsGolden()));
}

TEST_F(Composed, NeedsSomethingToDrawFrom) {
  WorkloadConfig wanted = config();
  wanted.min_tasks = 4;
  EXPECT_THAT(message_of(read_workload(wanted, 1), WorkloadError::invalid),
              IsGoldenAt("arrivals.tr"));
  wanted = config();
  wanted.own.of<ComposedWorkload>().demands = "absent.csv";
  EXPECT_THAT(message_of(read_workload(wanted, 1), WorkloadError::unreadable),
              HasSubstr("absent.csv: cannot be read"));
}

}  // namespace
}  // namespace muster::replay
