#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "replay/workload/composed.hpp"
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

/// Of one core each: at 0 s one of 50 s, at 40 s two of 10 and 30 s, at 70 s one of 30 s, at 71 s
/// one of 40 s, at 120 s one of 10 s.
constexpr std::string_view kJobs =
    "0 1 50 50\n40 2 20 10 30\n70 1 30 30\n71 1 40 40\n120 1 10 10\n";

Expected<Workload, WorkloadError> read_with(const std::function<void(WorkloadConfig&)>& change,
                                            std::uint64_t seed = 1) {
  const TempFile file("jobs.tr", kJobs);
  WorkloadConfig config = reading("tr", file.path());
  change(config);
  return read_workload(config, seed);
}

Workload stated(const std::string& by, double factor = 1, std::uint64_t seed = 1) {
  return read_with(
             [&](auto& config) {
               config.stated.by = by;
               config.stated.factor = factor;
             },
             seed)
      .value();
}

TEST(Window, HoldsWhatBeginsAndAloneEndsInIt) {
  const Workload workload = read_with([](auto& config) {
                              config.window.from = 30s;
                              config.window.length = 70s;
                            }).value();
  // The job at 70 s ends with the window; that at 71 s would end at 111 s.
  ASSERT_EQ(workload.jobs.size(), 2U);
  EXPECT_EQ(workload.jobs[0].submit, Instant{10s}) << "times count from the window's beginning";
  EXPECT_EQ(workload.jobs[1].submit, Instant{40s});
  EXPECT_THAT(workload.description, AllOf(HasSubstr("36.4%"), IsGolden()))
      << "40 of 40 + 30 + 40 core-seconds";
}

TEST(Window, IsDrawnAmongThoseWithEnoughJobsEachOnceByAsManySeeds) {
  std::set<Duration> firsts;
  for (std::uint64_t seed = 5; seed < 7; ++seed) {
    const auto workload = read_with(
        [](auto& config) {
          config.window.length = 60s;
          config.window.min_jobs = 2;
        },
        seed);
    ASSERT_TRUE(workload) << workload.error().message;
    firsts.insert(workload->jobs[0].submit.time_since_epoch());
  }
  EXPECT_EQ(firsts, (std::set<Duration>{0s, 10s})) << "the windows from 0 s and from 60 s on";
  EXPECT_THAT(message_of(read_with([](auto& config) {
                           config.window.length = 60s;
                           config.window.min_jobs = 3;
                         }),
                         WorkloadError::invalid),
              HasSubstr("no window of 60 s has the 3 jobs"));
}

TEST(Sample, IsAShareAndOfAGreaterShareAPart) {
  std::string rows;
  for (int i = 0; i < 4000; ++i) rows += std::to_string(i) + " 1 5 5\n";
  const TempFile file("many.tr", rows);
  WorkloadConfig config = reading("tr", file.path());
  std::set<JobId> before;
  for (const double share : {0.1, 0.4, 1.0}) {
    config.sample = share;
    const Workload workload = read_workload(config, 3).value();
    // Three standard deviations of the greatest of them.
    EXPECT_NEAR(static_cast<double>(workload.jobs.size()), 4000 * share, 100);
    std::set<JobId> ids;
    for (const WorkloadJob& job : workload.jobs) ids.insert(job.job.id);
    EXPECT_TRUE(std::includes(ids.begin(), ids.end(), before.begin(), before.end()));
    before = ids;
  }
}

TEST(StatedRunTimes, AreWhatTheConfigSays) {
  EXPECT_EQ(stated("as-read").jobs[1].job.runtime_hint, 20s);
  EXPECT_EQ(stated("none").jobs[1].job.runtime_hint, std::nullopt);
  const Job truth = stated("true").jobs[1].job;
  EXPECT_EQ(truth.runtime_hint, 20s);
  EXPECT_EQ(truth.tasks[0].runtime_hint, 10s);
  EXPECT_EQ(truth.tasks[1].runtime_hint, 30s);
}

TEST(StatedRunTimes, HaveAFactorOfEachJobAndOfAllOfItsTasks) {
  std::set<double> factors;
  for (const double bound : {0.25, 4.0}) {
    for (std::uint64_t seed = 1; seed < 30; ++seed) {
      const Job job = stated("factor", bound, seed).jobs[1].job;
      const double factor = to_seconds(*job.runtime_hint) / 20;
      EXPECT_GE(factor, std::min(1.0, bound));
      EXPECT_LE(factor, std::max(1.0, bound));
      EXPECT_NEAR(to_seconds(*job.tasks[1].runtime_hint), 30 * factor, 1e-6);
      factors.insert(factor);
    }
  }
  EXPECT_EQ(factors.size(), 58U);
  EXPECT_LT(*factors.begin(), 0.5);
  EXPECT_GT(*factors.rbegin(), 3);
}

TEST(StatedRunTimes, HaveErrorsThatAreDrawnFromAFile) {
  const TempFile errors("errors.csv", "actual_over_predicted\n0.5\n2\n");
  std::set<std::optional<Duration>> said;
  const auto draw = [&](const TempFile& file) {
    return read_with([&](auto& config) {
      config.stated.by = "drawn";
      config.stated.errors = file.path();
    });
  };
  const Workload workload = draw(errors).value();
  for (const WorkloadJob& job : workload.jobs) {
    const double factor = to_seconds(*job.job.runtime_hint) / job.truth.mean_task_s();
    EXPECT_TRUE(factor == 0.5 || factor == 2) << factor;
    EXPECT_EQ(job.job.tasks[0].runtime_hint, std::nullopt) << "the estimator speaks of jobs";
  }
  const TempFile none("none.csv", "actual_over_predicted\n");
  EXPECT_THAT(message_of(draw(none), WorkloadError::invalid), HasSubstr("none.csv: has no rows"));
  const TempFile bad("bad.csv", "actual_over_predicted\n1\n-1\n");
  EXPECT_THAT(message_of(draw(bad), WorkloadError::invalid),
              HasSubstr("bad.csv:3: actual_over_predicted"));
}

TEST(MoveTime, IsThatOfSendingTheMemory) {
  const Workload workload = read_with([](auto& config) {
                              config.task.memory_gib = 1;
                              config.move_mbit_s = 160;
                            }).value();
  // 1 GiB are 8 x 1024^3 bits.
  EXPECT_NEAR(to_seconds(workload.jobs[0].job.tasks[0].delays.upload), 53.687, 1e-3);
  EXPECT_EQ(workload.jobs[0].job.tasks[0].delays.fetch, Duration{});
}

TEST(WantsDistinctInstances, AShareOfTheJobsOfSeveralTasksAndOfALargerShareTheSameAndMore) {
  std::string jobs;
  for (int i = 0; i < 200; ++i) {
    jobs += std::to_string(i) + (i % 2 == 0 ? " 1 10 10\n" : " 2 10 10 10\n");
  }
  const TempFile file("jobs.tr", jobs);
  const auto wanting = [&](double share) {
    WorkloadConfig config = reading("tr", file.path());
    config.distinct_instances = share;
    const Workload workload = read_workload(config, 3).value();
    std::set<std::uint64_t> ids;
    for (const WorkloadJob& job : workload.jobs) {
      if (job.job.most_an_instance != 1) continue;
      EXPECT_EQ(job.job.tasks.size(), 2U);
      ids.insert(job.job.id.value);
    }
    return ids;
  };
  EXPECT_TRUE(wanting(0).empty());
  const auto some = wanting(0.3), more = wanting(0.6);
  EXPECT_GT(some.size(), 15U);
  EXPECT_GT(more.size(), some.size());
  EXPECT_TRUE(std::includes(more.begin(), more.end(), some.begin(), some.end()));
  EXPECT_EQ(wanting(1).size(), 100U);
}

TEST(ComposedFrom, LeavesOutWhatComesEarlier) {
  const TempFile file("jobs.tr", kJobs);
  WorkloadConfig config = reading("composed", file.path());
  auto& how = config.own.of<ComposedWorkload>();
  how.format = "tr";
  how.jobs = 200;
  how.mean_gap_s = 1;
  how.from = 100s;
  const Workload workload = read_workload(config, 1).value();
  for (const WorkloadJob& job : workload.jobs) {
    EXPECT_EQ(job.truth.mean_task_s(), 10) << "only the last of the trace";
  }
  how.from = 121s;
  EXPECT_THAT(message_of(read_workload(config, 1), WorkloadError::invalid),
              HasSubstr("workload.composed.from"));
}

}  // namespace
}  // namespace muster::replay
