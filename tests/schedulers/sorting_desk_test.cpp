#include "schedulers/site/sorting_desk.hpp"

#include <gtest/gtest.h>

#include "tests/support/builders.hpp"

namespace muster {
namespace {

using std::chrono::seconds;

SortingDesk desk_by(SortBy by) {
  SorterParams params;
  params.by = by;
  params.training.threshold = seconds{60};
  params.sors.min_samples = 2;
  params.sors.eps = 1;
  params.sors.p_threshold = 0.5;
  return SortingDesk(JobSorter(params));
}

Job job(std::uint64_t id, int hint_s, std::size_t tasks = 1) {
  Job made = test::JobBuilder(id).tasks(tasks).build();
  made.runtime_hint = seconds{hint_s};
  made.user = "ann";
  return made;
}

TEST(SortingDesk, WritesIntoTheJobWhatIsExpectedOfIt) {
  SortingDesk desk = desk_by(SortBy::oracle);
  Job brief = job(1, 60);
  Job lasting = job(2, 61);
  desk.sort(brief, {});
  desk.sort(lasting, {});
  EXPECT_EQ(brief.prediction.length, JobLength::short_run);
  EXPECT_TRUE(brief.prediction.spot_safe);
  EXPECT_EQ(lasting.prediction.length, JobLength::long_run);
  EXPECT_FALSE(lasting.prediction.spot_safe);
  EXPECT_EQ(desk.shorts(), 1u);
  EXPECT_EQ(desk.sorted(), 2u);
}

TEST(SortingDesk, LearnsOfAJobWithTheLastOfItsTasks) {
  SortingDesk desk = desk_by(SortBy::hint);
  Job first = job(1, 10, 3);
  desk.sort(first, {});
  desk.heard(JobId{1}, 2, seconds{20});
  EXPECT_TRUE(desk.sorter().history().empty());
  desk.heard(JobId{1}, 1, seconds{40});
  ASSERT_EQ(desk.sorter().history().size(), 1u);
  EXPECT_EQ(desk.sorter().history()[0].runtime, seconds{20}) << "the mean of its tasks";
  desk.heard(JobId{1}, 3, seconds{60});
  EXPECT_EQ(desk.sorter().history().size(), 1u) << "known already";
}

TEST(SortingDesk, LetsShortJobsUseSpotInstancesOnceTheyAreKnown) {
  SortingDesk desk = desk_by(SortBy::hint);
  for (std::uint64_t id = 1; id <= 6; ++id) {
    Job known = job(id, 10);
    desk.sort(known, {});
    const bool known_well = id > 2;  // the second one of whom something is known
    EXPECT_EQ(known.prediction.spot_safe, known_well && id > 3) << id;
    desk.heard(known.id, 1, seconds{10});
  }
}

TEST(SortingDesk, LearnsNothingOfWhatWasGivenUpOrIsStrange) {
  SortingDesk desk = desk_by(SortBy::hint);
  Job given_up = job(1, 10);
  desk.sort(given_up, {});
  desk.forget(JobId{1});
  desk.heard(JobId{1}, 1, seconds{10});
  desk.heard(JobId{7}, 1, seconds{10});
  EXPECT_TRUE(desk.sorter().history().empty());
}

TEST(SortingDesk, RemembersABoundedNumberOfJobs) {
  SortingDesk desk = desk_by(SortBy::hint);
  for (std::uint64_t id = 1; id <= SortingDesk::kMaxOpen + 1; ++id) {
    Job one = job(id, 10);
    desk.sort(one, {});
  }
  desk.heard(JobId{1}, 1, seconds{10});
  EXPECT_TRUE(desk.sorter().history().empty());
  desk.heard(JobId{2}, 1, seconds{10});
  EXPECT_EQ(desk.sorter().history().size(), 1u);
}

TEST(SortingDesk, LearnsOfALongJobHoweverManyShortOnesComeAndEndMeanwhile) {
  SortingDesk desk = desk_by(SortBy::hint);
  Job lasting = job(1, 10'000);
  desk.sort(lasting, {});
  for (std::uint64_t id = 2; id <= SortingDesk::kMaxOpen + 2; ++id) {
    Job brief = job(id, 10);
    desk.sort(brief, {});
    if (id % 2 == 0) {
      desk.forget(brief.id);
    } else {
      desk.heard(brief.id, 1, seconds{10});
    }
  }
  desk.heard(JobId{1}, 1, seconds{9'999});
  ASSERT_FALSE(desk.sorter().history().empty());
  EXPECT_EQ(desk.sorter().history().back().runtime, seconds{9'999});
}

}  // namespace
}  // namespace muster
