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
