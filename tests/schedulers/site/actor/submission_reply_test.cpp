#include "schedulers/site/actor/submission_reply.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::test {
namespace {

using ::testing::ElementsAre;

struct SubmissionReplyTest : ::testing::Test {
  std::vector<std::string> said;

  SubmissionReply reply(std::size_t writes) {
    const SubmitAnswer answer = [this](const auto& outcome) {
      said.push_back(outcome ? "promised" : outcome.error().message);
    };
    return {answer, {{JobId{1}, true, {}}}, writes};
  }
};

TEST_F(SubmissionReplyTest, WaitsForAllItsWritesAndAllItsJobs) {
  SubmissionReply both = reply(2);
  both.add_open(2);
  EXPECT_FALSE(both.written({}));
  both.arrived();
  EXPECT_TRUE(both.written({})) << "durable, and one is on its way";
  EXPECT_TRUE(said.empty());
  both.arrived();
  EXPECT_THAT(said, ElementsAre("promised"));
}

TEST_F(SubmissionReplyTest, SaysNothingBeforeItIsDurableThoughAllHaveArrived) {
  SubmissionReply early = reply(1);
  early.add_open(1);
  early.arrived();
  EXPECT_TRUE(said.empty());
  EXPECT_FALSE(early.written({}));
  EXPECT_THAT(said, ElementsAre("promised"));
}

TEST_F(SubmissionReplyTest, IsGivenOnce) {
  SubmissionReply once = reply(1);
  once.add_open(1);
  EXPECT_TRUE(once.written({}));
  once.give();
  once.arrived();
  once.give();
  EXPECT_THAT(said, ElementsAre("promised"));
}

TEST_F(SubmissionReplyTest, SaysWhyAWriteHasFailedWhenTheLastHasEnded) {
  SubmissionReply failed = reply(2);
  EXPECT_FALSE(failed.written("disk full"));
  EXPECT_TRUE(said.empty());
  EXPECT_FALSE(failed.written({}));
  failed.give();
  EXPECT_THAT(said, ElementsAre("disk full"));
}

}  // namespace
}  // namespace muster::test
