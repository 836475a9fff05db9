#include "actors/cloud/provider_calls.hpp"

#include <gmock/gmock.h>

#include "tests/actors/cloud/cloud_parts.hpp"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ProviderCallsTest : public test::CloudParts {
 protected:
  ProviderCallsTest() {
    setup_.retries.launch_tries = 3;
    remote_.watch(desk_, {});
  }

  std::vector<InstanceId> refused_, gone_;
  std::vector<CloudReason> reasons_;
  bool idle_ = true;
  ProviderCalls calls_{setup_,
                       book_,
                       {desk_,
                        [this](InstanceId id, const ProviderNews& news) {
                          refused_.push_back(id);
                          reasons_.push_back(news.reason);
                        },
                        [this](InstanceId id, const ProviderNews& news) {
                          gone_.push_back(id);
                          reasons_.push_back(news.reason);
                        },
                        [this](InstanceId) { return idle_; }}};
};

constexpr InstanceId kFirst{1};

TEST_F(ProviderCallsTest, ALaunchIsRepeatedAfterGrowingPauses) {
  setup_.retries.launch_tries = 10;
  setup_.retries.longest = std::chrono::seconds{3};
  remote_.answers = {6, {LaunchResult::throttled, "slow down"}};
  rent(record_of(1));
  calls_.launch(kFirst);
  std::vector<int> launches;
  for (const double s : {0.9, 1.0, 2.9, 3.0, 5.9, 6.0, 9.0}) {
    desk_->run_until_s(s);
    launches.push_back(remote_.launches);
  }
  EXPECT_THAT(launches, ElementsAre(1, 2, 2, 3, 3, 4, 5)) << "1 s, 2 s, then 3 s at most";
}

TEST_F(ProviderCallsTest, AnOrderThatTheCloudCannotMeetIsRefusedAtOnce) {
  remote_.answers = {{LaunchResult::quota, "32 at most"}};
  rent(record_of(1));
  calls_.launch(kFirst);
  EXPECT_THAT(refused_, ElementsAre(kFirst));
  EXPECT_THAT(reasons_, ElementsAre(CloudReason::quota));
}

TEST_F(ProviderCallsTest, AfterTheLastTryTheCloudIsAskedWhatExistsBeforeTheOrderIsRefused) {
  remote_.answers = {3, {LaunchResult::failed, "no answer"}};
  remote_.dumb_lists = 1;
  rent(record_of(1));
  calls_.launch(kFirst);
  desk_->run_until_s(3);
  EXPECT_EQ(remote_.lists, 1);
  EXPECT_THAT(refused_, IsEmpty()) << "nobody knows";
  desk_->run_until_s(20);
  EXPECT_EQ(remote_.lists, 2);
  EXPECT_THAT(refused_, ElementsAre(kFirst));
}

TEST_F(ProviderCallsTest, AnOrderIsNotRefusedWhileItsCloudSaysNothing) {
  remote_.answers = {3, {LaunchResult::failed, "no answer"}};
  remote_.unknown = {kFirst};
  rent(record_of(1));
  calls_.launch(kFirst);
  desk_->run_until_s(20);
  EXPECT_THAT(refused_, IsEmpty()) << "another cloud's answer says nothing of it";
  remote_.unknown.clear();
  desk_->run_until_s(100);
  EXPECT_THAT(refused_, ElementsAre(kFirst));
}

TEST_F(ProviderCallsTest, ALookConcludesNothingOfInstancesWhoseCloudSaysNothingAndComesAgain) {
  remote_.unknown = {InstanceId{1}};
  rent(record_of(1), 0);
  rent(record_of(2), 0);
  calls_.look();
  EXPECT_THAT(gone_, ElementsAre(InstanceId{2}));
  remote_.unknown.clear();
  desk_->run_until_s(1);
  EXPECT_EQ(remote_.lists, 2);
  EXPECT_THAT(gone_, testing::Contains(InstanceId{1}));
}

TEST_F(ProviderCallsTest, AnInstanceWhoseAnswerWasLostIsNotRefused) {
  remote_.answers = {3, {LaunchResult::failed, "no answer"}};
  remote_.loses_answers = 1;
  rent(record_of(1));
  calls_.launch(kFirst);
  desk_->run_until_s(20);
  EXPECT_EQ(remote_.lists, 1);
  EXPECT_THAT(refused_, IsEmpty());
}

TEST_F(ProviderCallsTest, AnEndWaitsForTheAnswerToItsLaunch) {
  remote_.holds_answers = true;
  rent(record_of(1));
  calls_.launch(kFirst);
  book_.at(kFirst).record.ending = true;
  calls_.terminate(kFirst);
  EXPECT_EQ(remote_.ends, 0);
  remote_.held.at(0)();
  EXPECT_EQ(remote_.ends, 1);
}

TEST_F(ProviderCallsTest, AnEndIsRepeatedUntilTheCloudAcceptsIt) {
  remote_.end_results = {EndResult::throttled, EndResult::failed};
  remote_.exists = {kFirst};
  rent(record_of(1), 0);
  calls_.terminate(kFirst);
  desk_->run_until_s(1);
  EXPECT_EQ(remote_.ends, 2);
  desk_->run_until_s(3);
  EXPECT_EQ(remote_.ends, 3);
  desk_->run_until_s(100);
  EXPECT_EQ(remote_.ends, 3);
  EXPECT_THAT(gone_, IsEmpty()) << "that it is gone is told by the cloud";
}

TEST_F(ProviderCallsTest, AnInstanceThatTheCloudDoesNotKnowAnyMoreIsGone) {
  rent(record_of(1), 0);
  calls_.terminate(kFirst);
  EXPECT_THAT(gone_, ElementsAre(kFirst));
}

TEST_F(ProviderCallsTest, ALookFindsWhatIsNobodysAndWhatIsGone) {
  remote_.exists = {InstanceId{1}, InstanceId{9}};
  RentedRecord ending = record_of(3);
  ending.ending = true;
  rent(record_of(1), 0);
  rent(record_of(2), 0);
  rent(ending);
  calls_.look();
  desk_->run_until_s(2);
  EXPECT_THAT(remote_.exists, ElementsAre(InstanceId{1}));
  EXPECT_EQ(desk_->notes.size(), 1U);
  EXPECT_THAT(gone_, ElementsAre(InstanceId{2}, InstanceId{3}));
  EXPECT_THAT(reasons_, ElementsAre(CloudReason::failed, CloudReason::ended));
}

TEST_F(ProviderCallsTest, ALookRepeatsAnOrderThatDidNotComeToTheCloud) {
  rent(record_of(1));
  idle_ = false;
  calls_.look();
  EXPECT_EQ(remote_.launches, 0) << "something of it is under way";
  idle_ = true;
  calls_.look();
  EXPECT_EQ(remote_.launches, 1);
}

TEST_F(ProviderCallsTest, NothingIsConcludedOfALaunchThatWasUnderWayWhenTheListWasAskedFor) {
  remote_.holds_answers = remote_.holds_lists = true;
  rent(record_of(1), 0);
  calls_.launch(kFirst);
  remote_.exists.clear();
  calls_.look();
  ASSERT_EQ(remote_.held.size(), 2U);
  for (const auto& answer : remote_.held) answer();
  EXPECT_THAT(gone_, IsEmpty());
}

TEST_F(ProviderCallsTest, NothingIsConcludedOfALaunchThatIsUnderWayWhenTheListComes) {
  remote_.holds_answers = remote_.holds_lists = true;
  rent(record_of(1), 0);
  calls_.look();
  calls_.launch(kFirst);
  remote_.held.at(0)();
  EXPECT_THAT(gone_, IsEmpty());
  EXPECT_EQ(remote_.launches, 1);
}

TEST_F(ProviderCallsTest, LooksInVainAreRepeatedByOne) {
  remote_.dumb_lists = 2;
  calls_.look();
  calls_.look();
  desk_->run_until_s(100);
  EXPECT_EQ(remote_.lists, 3);
}

TEST_F(ProviderCallsTest, ALookInVainIsRepeatedAndOthersComeInTheirTime) {
  setup_.list_every = std::chrono::minutes{1};
  remote_.dumb_lists = 2;
  calls_.look();
  std::vector<int> lists = {remote_.lists};
  for (const double s : {1, 3, 62, 63, 123}) {
    desk_->run_until_s(s);
    lists.push_back(remote_.lists);
  }
  EXPECT_THAT(lists, ElementsAre(1, 2, 3, 3, 4, 5));
  remote_.dumb_lists = 1;
  desk_->run_until_s(184);
  EXPECT_EQ(remote_.lists, 7) << "pauses grow anew";
}

}  // namespace
}  // namespace muster
