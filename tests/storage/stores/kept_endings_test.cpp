#include "storage/stores/kept_endings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "storage/records/record_codec.hpp"
#include "tests/support/temp_store.hpp"

namespace muster {
namespace {

using test::TempStore;
using testing::ElementsAre;

constexpr std::chrono::hours kDay{24};

/// An array of which tasks here and there have failed: its ending takes some 29,000 bytes.
JobHistory wide(std::uint64_t job, const std::string& user, int day) {
  constexpr std::uint32_t kTasks = 3'000;
  JobHistory made;
  made.job = test::JobBuilder(job).tasks(kTasks).gang(false).build();
  made.job.user = user;
  made.outcome = JobOutcome::failed;
  made.over_at = Instant{day * kDay};
  made.tasks.resize(kTasks);
  for (std::uint32_t i = 0; i < kTasks; ++i) {
    made.job.tasks[i].array_index = i;
    const bool failed = i % 5 == 0 || i % 5 == 1 || i % 5 == 3;
    (failed ? made.tasks[i].failed : made.tasks[i].finished) = true;
  }
  return made;
}

/// Three of them fit.
constexpr KeptEndings::Bounds kThree{100'000, {}};

void add(KeptEndings& kept, const JobHistory& job, Instant now = {}) {
  kept.add(job.job.id, KeptEndings::to_keep(job), now);
}

std::vector<std::uint64_t> jobs_in(const KeptEndings& kept) {
  std::vector<std::uint64_t> jobs;
  for (std::uint64_t job = 1; job < 10; ++job) {
    if (kept.contains(JobId{job})) jobs.push_back(job);
  }
  return jobs;
}

TEST(KeptEndings, DropTheOldestOfTheUserWhoHasMost) {
  KeptEndings kept(kThree);
  add(kept, wide(4, "bob", 0));
  for (int job = 1; job <= 3; ++job) add(kept, wide(static_cast<unsigned>(job), "ann", job));
  EXPECT_THAT(jobs_in(kept), ElementsAre(2, 3, 4)) << "that of bob is older, and alone";
}

TEST(KeptEndings, OneAloneMayBeLargerThanAllMayBe) {
  KeptEndings kept({1'000, {}});
  add(kept, wide(1, "ann", 1));
  EXPECT_THAT(jobs_in(kept), ElementsAre(1));
  add(kept, wide(2, "ann", 2));
  EXPECT_THAT(jobs_in(kept), ElementsAre(2));
}

TEST(KeptEndings, AnEndingInPlaceOfAnotherCountsOnce) {
  KeptEndings kept(kThree);
  for (int day = 1; day <= 9; ++day) add(kept, wide(1, "ann", day));
  add(kept, wide(2, "bob", 1));
  EXPECT_THAT(jobs_in(kept), ElementsAre(1, 2));
  kept.drop(JobId{1});
  kept.drop(JobId{1});
  add(kept, wide(3, "bob", 1));
  add(kept, wide(4, "bob", 1));
  EXPECT_THAT(jobs_in(kept), ElementsAre(2, 3, 4));
}

TEST(KeptEndings, AreDroppedByAge) {
  KeptEndings kept({200'000, 10 * kDay});
  add(kept, wide(1, "ann", 3), Instant{3 * kDay});
  add(kept, wide(2, "bob", 1), Instant{3 * kDay});
  add(kept, wide(3, "ann", 12), Instant{12 * kDay});
  EXPECT_THAT(jobs_in(kept), ElementsAre(1, 3));
  JobHistory well = wide(4, "ann", 99);
  well.outcome = JobOutcome::completed;
  add(kept, well, Instant{99 * kDay});
  EXPECT_THAT(jobs_in(kept), ElementsAre(3)) << "the last one stays";
}

TEST(KeptEndings, AreReadWithTheStoreButForThoseThatCannotBe) {
  const TempStore folder;
  const auto store = folder.open();
  StoreBatch batch;
  for (const JobHistory& job : {wide(1, "ann", 2), wide(2, "ann", 1)}) {
    batch.put(Family::ending, key_of(job.job.id.value), encode_ending(ending_of(job)));
  }
  batch.put(Family::ending, key_of(3), "no ending");
  ASSERT_FALSE(store->write(batch, Durability::process));
  KeptEndings kept({50'000, {}});
  std::vector<JobId> bad;
  const auto note = [&](JobId job, const std::string&) { bad.push_back(job); };
  ASSERT_FALSE(kept.load(*store, note));
  EXPECT_THAT(bad, ElementsAre(JobId{3}));
  JobHistory small;
  small.job = test::JobBuilder(4).build();
  small.outcome = JobOutcome::cancelled;
  small.over_at = Instant{3 * kDay};
  add(kept, small);
  EXPECT_THAT(jobs_in(kept), ElementsAre(1, 4)) << "by age, and not as the store has them";
  EXPECT_EQ(kept.find(*store, JobId{1}).value(), ending_of(wide(1, "ann", 2)));
  EXPECT_EQ(kept.find(*store, JobId{3}).value(), std::nullopt);
  EXPECT_EQ(kept.find(*store, JobId{4}).value(), ending_of(small)) << "before it is written";
}

}  // namespace
}  // namespace muster
