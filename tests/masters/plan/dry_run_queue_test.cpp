#include "masters/plan/dry_run_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/builders.hpp"
#include "tests/support/golden.hpp"

namespace muster {
namespace {

using test::at_s;
using test::IsGolden;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DryRunQueueTest : public ::testing::Test {
 protected:
  void ask(std::uint64_t job, const std::string& user, double s = 0) {
    DryRunQueue::Asked asked;
    asked.job = test::JobBuilder(job).build();
    asked.job.user = user;
    asked.at = at_s(s);
    asked.run = [this](const Job& its) { begun_.push_back(its.id.value); };
    asked.turn_away = [this](const std::string& why) { refusals_.push_back(why); };
    queue_.ask(std::move(asked));
  }

  DryRunQueue queue_{{.most = 3, .of_user = 2, .age = std::chrono::seconds{5}}};
  std::vector<std::uint64_t> begun_;
  std::vector<std::string> refusals_;
};

TEST_F(DryRunQueueTest, OneIsUnderWayAtATimeAndTheOthersFollowInTheirOrder) {
  ask(1, "ann");
  ask(2, "bob");
  ask(3, "ann");
  EXPECT_THAT(begun_, ElementsAre(1));
  queue_.ended(at_s(1));
  queue_.ended(at_s(2));
  EXPECT_THAT(begun_, ElementsAre(1, 2, 3));
  queue_.ended(at_s(3));
  ask(4, "ann", 3);
  EXPECT_THAT(begun_, ElementsAre(1, 2, 3, 4));
  EXPECT_TRUE(refusals_.empty());
}

TEST_F(DryRunQueueTest, OneUserCannotTakeAllPlaces) {
  for (std::uint64_t job = 1; job <= 3; ++job) ask(job, "ann");
  EXPECT_THAT(refusals_, ElementsAre(HasSubstr("(2 of 'ann')")));
  ask(4, "bob");
  EXPECT_EQ(queue_.waiting(), 2U);
  queue_.ended(at_s(1));
  ask(5, "ann");
  EXPECT_EQ(refusals_.size(), 1U) << "a place is free again when one is answered";
}

TEST_F(DryRunQueueTest, MoreThanMayWaitAreToldToComeAgain) {
  for (const char* user : {"ann", "bob", "cid", "dan", "eve"}) ask(1, user);
  EXPECT_THAT(refusals_,
              ElementsAre(AllOf(HasSubstr("(3)"), HasSubstr("(master.dry_runs)"), IsGolden())));
}

TEST_F(DryRunQueueTest, OneThatNobodyWaitsForAnyMoreIsDropped) {
  ask(1, "ann", 0);
  ask(2, "bob", 1);
  ask(3, "cid", 4);
  queue_.ended(at_s(6));
  EXPECT_THAT(begun_, ElementsAre(1, 3));
  EXPECT_THAT(refusals_, ElementsAre(HasSubstr("has waited longer")));
}

}  // namespace
}  // namespace muster
