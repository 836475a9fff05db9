#include "schedulers/site/open_cancels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/live_ids.hpp"

namespace muster {
namespace {

using Asked = OpenCancels::Asked;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr HandoffTarget kFirstSite{true, 0}, kSecondSite{true, 1}, kMaster{false, 0},
    kOtherMaster{false, 1};
const JobId kJob = job_id_of(0, 7);

class OpenCancelsTest : public ::testing::Test {
 protected:
  OpenCancelsTest() {
    for (const HandoffTarget& each : {kFirstSite, kSecondSite, kMaster, kOtherMaster}) {
      cancels_.add_party(each);
    }
  }
  Asked ask(const HandoffTarget& whom) {
    const auto asked = cancels_.next(whom, 10);
    EXPECT_EQ(asked.size(), 1u);
    return asked.empty() ? Asked{} : asked.front();
  }
  bool answer(const HandoffTarget& whom, CancelStanding standing) {
    return cancels_.confirm(whom, ask(whom), standing);
  }

  OpenCancels cancels_;
};

TEST_F(OpenCancelsTest, IsDoneWhenEverybodyHasConfirmed) {
  cancels_.open(kJob);
  EXPECT_FALSE(answer(kFirstSite, CancelStanding::passed_on));
  EXPECT_FALSE(answer(kSecondSite, CancelStanding::unknown));
  EXPECT_FALSE(answer(kMaster, CancelStanding::unknown));
  EXPECT_THAT(cancels_.unconfirmed(kJob), ElementsAre(kOtherMaster));
  EXPECT_TRUE(answer(kOtherMaster, CancelStanding::ended));
  EXPECT_EQ(cancels_.standing(kJob), CancelStanding::ended);
}

TEST_F(OpenCancelsTest, AsksAgainWhoeverDoesNotAnswer) {
  cancels_.open(kJob);
  cancels_.put_back(kMaster, ask(kMaster));
  EXPECT_EQ(ask(kMaster).job, kJob);
  EXPECT_THAT(cancels_.next(kMaster, 10), IsEmpty());
}

TEST_F(OpenCancelsTest, AMasterThatSaidNoBeforeTheSiteHadHandedTheJobOverIsAskedOnceMore) {
  cancels_.open(kJob);
  EXPECT_FALSE(answer(kSecondSite, CancelStanding::unknown));
  EXPECT_FALSE(answer(kMaster, CancelStanding::unknown));
  const Asked early = ask(kOtherMaster);
  EXPECT_FALSE(answer(kFirstSite, CancelStanding::passed_on));
  EXPECT_FALSE(cancels_.confirm(kOtherMaster, early, CancelStanding::unknown)) << "does not count";
  EXPECT_FALSE(answer(kSecondSite, CancelStanding::unknown));
  EXPECT_FALSE(answer(kMaster, CancelStanding::ended));
  EXPECT_TRUE(answer(kOtherMaster, CancelStanding::unknown));
  EXPECT_EQ(cancels_.standing(kJob), CancelStanding::ended);
}

TEST_F(OpenCancelsTest, ALateAnswerAboutAnEarlierCancelOfTheJobCountsForNothing) {
  cancels_.open(kJob);
  const Asked early = ask(kMaster);
  cancels_.close(kJob);  // nobody has the number yet
  cancels_.open(kJob);
  EXPECT_FALSE(cancels_.confirm(kMaster, early, CancelStanding::unknown));
  EXPECT_THAT(cancels_.unconfirmed(kJob), ::testing::Contains(kMaster));
  EXPECT_EQ(cancels_.next(kMaster, 10).size(), 1u) << "is asked again";
}

TEST_F(OpenCancelsTest, ASiteThatNeverHadTheJobChangesNothing) {
  cancels_.open(kJob);
  answer(kFirstSite, CancelStanding::passed_on);
  answer(kMaster, CancelStanding::ended);
  answer(kOtherMaster, CancelStanding::unknown);
  EXPECT_TRUE(answer(kSecondSite, CancelStanding::unknown));
}

TEST_F(OpenCancelsTest, ASiteThatTheJobWasLeftToSendsTheQuestionOnToTheMastersAlone) {
  cancels_.open(kJob);
  answer(kFirstSite, CancelStanding::passed_on);
  answer(kMaster, CancelStanding::unknown);
  answer(kOtherMaster, CancelStanding::unknown);
  EXPECT_FALSE(answer(kSecondSite, CancelStanding::passed_on));
  EXPECT_THAT(cancels_.next(kFirstSite, 10), IsEmpty());
  EXPECT_THAT(cancels_.unconfirmed(kJob), ElementsAre(kMaster, kOtherMaster));
}

TEST_F(OpenCancelsTest, AsksForAsManyAsWantedAndForNothingThatIsClosed) {
  for (std::uint64_t i = 1; i <= 5; ++i) cancels_.open(JobId{i});
  cancels_.close(JobId{2});
  const auto asked = cancels_.next(kMaster, 3);
  ASSERT_EQ(asked.size(), 3u);
  EXPECT_EQ(asked[1].job, JobId{3});
  EXPECT_EQ(cancels_.next(kMaster, 3).size(), 1u);
  EXPECT_EQ(cancels_.size(), 4u);
}

}  // namespace
}  // namespace muster
