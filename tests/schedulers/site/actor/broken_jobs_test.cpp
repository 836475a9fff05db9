#include "schedulers/site/actor/broken_jobs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/schedulers/site/site_parts.hpp"

namespace muster::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct BrokenJobsTest : ::testing::Test {
  static constexpr JobId kMine{1};
  static constexpr JobId kOfLondon{1'000'000'001};

  SiteParts parts;
  SiteSettings settings;
  PeerLoads loads{parts.peers, settings, 1};
  Instant time = at_s(0);
  std::vector<JobId> kept;
  BrokenJobs broken{{parts.peers, parts.writer, loads},
                    at_s(0),
                    {[this] { return time; }, [this](JobId job) { kept.push_back(job); }}};
};

TEST_F(BrokenJobsTest, CancelsItsOwnJobWhenThatIsDurable) {
  EXPECT_TRUE(broken.add(kMine));
  EXPECT_FALSE(broken.add(kMine)) << "masters repeat themselves";
  parts.store.slow = true;
  broken.end_rest_of(kMine);
  EXPECT_THAT(kept, IsEmpty());
  parts.end_write();
  EXPECT_THAT(kept, ElementsAre(kMine));
  EXPECT_THAT(parts.store.memory.cancels, ElementsAre(kMine));
}

TEST_F(BrokenJobsTest, LeavesAJobToTheSiteThatHasNumberedItWhileThatAnswers) {
  broken.end_rest_of(kOfLondon);
  broken.cancel_what_others_left();
  EXPECT_THAT(kept, IsEmpty()) << "its first answer can come after a master's";
  loads.take(site_at(1), {}, at_s(9));
  time = at_s(18);
  broken.cancel_what_others_left();
  EXPECT_THAT(kept, IsEmpty());
  time = at_s(19);
  broken.cancel_what_others_left();
  broken.cancel_what_others_left();
  EXPECT_THAT(kept, ElementsAre(kOfLondon));
}

TEST_F(BrokenJobsTest, CancelsTheJobsOfASiteThatIsNotThere) {
  const JobId gone{7'000'000'001};
  broken.end_rest_of(gone);
  EXPECT_THAT(kept, ElementsAre(gone));
}

TEST_F(BrokenJobsTest, TriesAgainWhatCouldNotBeKept) {
  parts.store.trouble = "disk full";
  broken.end_rest_of(kMine);
  EXPECT_THAT(kept, IsEmpty());
  parts.store.trouble.clear();
  broken.cancel_what_others_left();
  EXPECT_THAT(kept, ElementsAre(kMine));
}

TEST_F(BrokenJobsTest, LeavesWhatSomebodyElseCancels) {
  broken.end_rest_of(kOfLondon);
  broken.leave(kOfLondon);
  time = at_s(100);
  broken.cancel_what_others_left();
  EXPECT_THAT(kept, IsEmpty());
}

}  // namespace
}  // namespace muster::test
