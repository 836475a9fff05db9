#include "schedulers/site/job_numbers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/schedulers/site/site_parts.hpp"

namespace muster::test {
namespace {

using ::testing::ElementsAre;

struct JobNumbersTest : ::testing::Test {
  static constexpr std::uint64_t kMaxWaiting = 100;

  SiteParts parts;
  int asked = 0;
  JobNumbers numbers{parts.peers,
                     parts.writer,
                     kMaxWaiting,
                     {parts.retries.taker(), [this] { ++asked; }, parts.noting()}};

  void all_but_london_say(std::vector<JobId> newest) {
    numbers.hear(master_at(0), {}, newest);
    numbers.hear(master_at(1), {}, {});
  }
};

TEST_F(JobNumbersTest, GoesOnWithTheNumberThatTheStoreHas) {
  numbers.recall(7, false);
  EXPECT_EQ(numbers.give(), JobId{7});
  EXPECT_EQ(numbers.give(), JobId{8});
  EXPECT_TRUE(numbers.has_given(JobId{8}));
  EXPECT_FALSE(numbers.has_given(JobId{9}));
  EXPECT_FALSE(numbers.has_given(job_id_of(1, 8))) << "another site's";
}

TEST_F(JobNumbersTest, LearnsUntilEverybodyElseHasBeenHeard) {
  numbers.recall(1, true);
  EXPECT_THAT(numbers.who_is_learnt_from(), ::testing::HasSubstr(" m0, m1, london "));
  EXPECT_TRUE(numbers.has_given(JobId{1'000})) << "every job may be";
  all_but_london_say({JobId{40}, job_id_of(1, 900)});
  EXPECT_TRUE(numbers.learns());
  numbers.hear(site_at(1), {}, {JobId{30}});
  EXPECT_FALSE(numbers.learns());
  EXPECT_EQ(numbers.give(), JobId{41 + kMaxWaiting})
      << "users may have been told of as many as may wait";
}

TEST_F(JobNumbersTest, UsesNothingOfWhatItHasLearntBeforeThatIsDurable) {
  numbers.recall(1, true);
  parts.store.slow = true;
  all_but_london_say({JobId{40}});
  numbers.hear(site_at(1), {}, {});
  EXPECT_TRUE(numbers.learns());
  parts.end_write("disk full");
  EXPECT_TRUE(numbers.learns());
  parts.retries.run();
  parts.end_write();
  EXPECT_FALSE(numbers.learns());
  EXPECT_EQ(parts.store.memory.next_job, 41 + kMaxWaiting);
}

TEST_F(JobNumbersTest, LearnsAnewWhenOneOfItsNumbersIsTwoJobs) {
  numbers.recall(50, false);
  EXPECT_FALSE(numbers.learn_of_conflict(job_id_of(1, 50))) << "london's own affair";
  numbers.hear(site_at(1), {JobId{49}}, {});
  EXPECT_TRUE(numbers.learns());
  EXPECT_TRUE(parts.store.memory.asks_numbers) << "a crash must not forget it";
  EXPECT_EQ(asked, 1);
}

TEST_F(JobNumbersTest, LearnsNothingFromAConflictOfLongBefore) {
  numbers.recall(500, false);
  EXPECT_FALSE(numbers.learn_of_conflict(JobId{399}));
  EXPECT_TRUE(numbers.learn_of_conflict(JobId{400}));
}

TEST_F(JobNumbersTest, GoesOnLearningWhenAConflictIsHeardOfWhileItWrites) {
  numbers.recall(50, true);
  parts.store.slow = true;
  all_but_london_say({});
  numbers.hear(site_at(1), {}, {});
  EXPECT_TRUE(numbers.learn_of_conflict(JobId{49}));
  parts.end_write();
  EXPECT_TRUE(numbers.learns()) << "what was written may be too low";
}

TEST_F(JobNumbersTest, TellsOtherSitesOfTheConflictsOfTheirJobs) {
  numbers.note_conflict(JobId{3});
  numbers.note_conflict(job_id_of(1, 3));
  EXPECT_THAT(numbers.conflicts_of_others(), ElementsAre(job_id_of(1, 3)));
  EXPECT_TRUE(numbers.is_conflict(JobId{3}));
}

}  // namespace
}  // namespace muster::test
