#include "storage/stores/store_history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden.hpp"
#include "tests/support/temp_store.hpp"

namespace muster {
namespace {

using test::IsGolden;
using test::opened;
using test::TempStore;
using testing::ElementsAre;

JobHistory over(std::uint64_t job, Instant at = {}) {
  JobHistory made;
  made.job = test::JobBuilder(job).build();
  made.tasks.resize(1);
  made.over_at = at;
  return made;
}

/// The newest first.
std::vector<std::uint64_t> kept_in(const History& history) {
  std::vector<std::uint64_t> jobs;
  history.newest(100, [&](const JobHistory& job) {
    jobs.push_back(job.job.id.value);
    return true;
  });
  return jobs;
}

/// A history of 30 days whose stopwatch, and the clock by which its jobs end, the test sets.
class AgedHistory : public ::testing::Test {
 protected:
  using Days = std::chrono::duration<int, std::ratio<86'400>>;

  /// Opens it anew: the stopwatch begins again.
  void open() {
    history_.reset();
    journal_.reset();
    store_.reset();
    store_ = folder_.open();
    journal_ = std::make_unique<StoreJournal>(*store_, catalog_, RecoveredMaster{});
    passed_ = Days{0};
    StoreHistoryOptions options;
    options.max_age = Days{30};
    options.stopwatch = [this] { return Duration{passed_}; };
    history_ = opened<StoreHistory>(*store_, *journal_, catalog_, options);
  }
  void end_of(std::uint64_t job, int day_of_clock) {
    history_->add(over(job, Instant{Days{day_of_clock}}));
  }
  std::vector<std::uint64_t> kept() const { return kept_in(*history_); }

  const TempStore folder_;
  const Catalog catalog_ = test::table3_catalog();
  Days passed_{0};
  std::unique_ptr<Store> store_;
  std::unique_ptr<StoreJournal> journal_;
  std::unique_ptr<StoreHistory> history_;
};

TEST_F(AgedHistory, drops_nothing_by_a_clock_that_is_ahead_for_a_while) {
  open();
  for (int day = 1; day <= 3; ++day) end_of(static_cast<unsigned>(day), day);
  for (std::uint64_t job : {4u, 5u}) end_of(job, 400);
  EXPECT_THAT(kept(), ElementsAre(5, 4, 3, 2, 1));
  passed_ = Days{1};
  end_of(6, 4);
  EXPECT_EQ(history_->size(), 6U) << "the clock is right again";
  open();
  end_of(7, 5);
  EXPECT_EQ(history_->size(), 7U) << "ends in the future make nothing old";
}

TEST_F(AgedHistory, drops_nothing_by_a_clock_that_was_ahead_when_it_was_opened) {
  open();
  for (int day = 1; day <= 3; ++day) end_of(static_cast<unsigned>(day), day);
  open();
  for (std::uint64_t job : {4u, 5u}) end_of(job, 400);
  EXPECT_EQ(history_->size(), 5U);
}

TEST_F(AgedHistory, drops_by_the_time_that_has_passed) {
  open();
  for (int day = 1; day <= 40; ++day) {
    passed_ = Days{day - 1};
    end_of(static_cast<unsigned>(day), day);
  }
  EXPECT_EQ(history_->size(), 31U);
}

TEST_F(AgedHistory, keeps_what_is_old_after_a_long_downtime_until_it_is_opened_again) {
  open();
  end_of(1, 1);
  open();
  for (std::uint64_t job : {2u, 3u}) end_of(job, 100);
  EXPECT_THAT(kept(), ElementsAre(3, 2, 1));
  open();
  end_of(4, 101);
  EXPECT_THAT(kept(), ElementsAre(4, 3, 2));
}

/// A history of one job, beside which it is kept how jobs ended.
class ShortHistory : public ::testing::Test {
 protected:
  void SetUp() override { open(); }
  void open() {
    history_.reset();
    journal_.reset();
    store_.reset();
    store_ = folder_.open();
    journal_ = std::make_unique<StoreJournal>(*store_, catalog_, RecoveredMaster{});
    StoreHistoryOptions options;
    options.max_jobs = 1;
    history_ = opened<StoreHistory>(*store_, *journal_, catalog_, options);
  }
  void end(std::uint64_t job, JobOutcome outcome, std::uint32_t total_tasks = 0) {
    JobHistory made = over(job);
    made.outcome = outcome;
    made.job.total_tasks = total_tasks;
    history_->add(std::move(made));
  }
  /// The outcome that is known of each of the jobs up to that one, by its first letter.
  std::string endings_up_to(std::uint64_t last) const {
    std::string text;
    for (std::uint64_t job = 1; job <= last; ++job) {
      const auto ending = history_->ending(JobId{job}).value();
      text += ending ? name_of(ending->outcome).substr(0, 1) : "-";
    }
    return text;
  }

  const TempStore folder_;
  const Catalog catalog_ = test::table3_catalog();
  std::unique_ptr<Store> store_;
  std::unique_ptr<StoreJournal> journal_;
  std::unique_ptr<StoreHistory> history_;
};

TEST_F(ShortHistory, KeepsHowJobsEndedThatItHasDropped) {
  end(1, JobOutcome::expired);
  end(2, JobOutcome::refused);
  end(3, JobOutcome::cancelled);
  end(4, JobOutcome::completed);
  EXPECT_THAT(kept_in(*history_), ElementsAre(4));
  EXPECT_EQ(endings_up_to(4), "ercc");
  open();
  EXPECT_EQ(endings_up_to(4), "ercc");
}

TEST_F(ShortHistory, NeedsNothingOfWholeJobsThatTheOutcomeSaysAllOf) {
  end(1, JobOutcome::completed);
  end(2, JobOutcome::completed, 5);
  end(3, JobOutcome::failed);
  end(4, JobOutcome::cancelled);
  EXPECT_EQ(endings_up_to(4), "-c-c") << "of a part the site counts the tasks";
}

TEST_F(ShortHistory, AJobThatIsNotOverAfterAllHasNoEnding) {
  end(1, JobOutcome::cancelled);
  end(2, JobOutcome::completed);
  history_->drop(JobId{1});
  EXPECT_EQ(endings_up_to(1), "-");
  open();
  EXPECT_EQ(endings_up_to(1), "-");
}

TEST_F(ShortHistory, AJobThatEndsAgainHasTheNewEnding) {
  end(1, JobOutcome::cancelled);
  end(2, JobOutcome::refused);
  end(1, JobOutcome::completed);
  end(2, JobOutcome::expired);
  end(3, JobOutcome::completed);
  EXPECT_EQ(endings_up_to(2), "-e");
  open();
  EXPECT_EQ(endings_up_to(2), "-e");
}

TEST(StoreHistoryOfEarlierFormat, comes_up_without_a_job_that_cannot_be_read) {
  const TempStore folder;
  const Catalog catalog = test::table3_catalog();
  const auto store = folder.open();
  StoreBatch batch;
  for (std::uint64_t job = 1; job <= 3; ++job) {
    batch.put(Family::history, key_of(job),
              job == 2 ? "no job" : encode_history(over(job), catalog));
    batch.put(Family::place, key_of(job), encode_number(job));
  }
  ASSERT_FALSE(store->write(batch, Durability::process));
  StoreJournal journal(*store, catalog, {});
  std::vector<std::string> notes;
  StoreHistoryOptions options;
  options.note = [&](const std::string& text) { notes.push_back(text); };
  const auto history = opened<StoreHistory>(*store, journal, catalog, options);
  EXPECT_THAT(kept_in(*history), ElementsAre(3, 1));
  EXPECT_TRUE(history->contains(JobId{2})) << "its number is not given out again";
  EXPECT_FALSE(history->find(JobId{2}));
  EXPECT_EQ(history->spent_by_user().size(), 1U) << "of the two others";
  EXPECT_THAT(notes, ElementsAre(IsGolden()));
}

}  // namespace
}  // namespace muster
