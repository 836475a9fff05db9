#include "masters/actor/worker_links.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/masters/actor/deaf_worker.hpp"
#include "tests/support/builders.hpp"

namespace muster {
namespace {

using test::at_s;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// The workers are handles of actors that hear nothing.
class WorkerLinksTest : public ::testing::Test {
 protected:
  static constexpr InstanceId kHere{3};
  static constexpr InstanceId kThere{4};

  ~WorkerLinksTest() override {
    links_.clear();
    system_.end(first_);
    system_.end(second_);
  }

  static WorkerHello hello(InstanceId instance, std::uint64_t number) {
    WorkerHello hello;
    hello.instance = instance;
    hello.number = number;
    return hello;
  }

  test::VirtualSystem system_;
  WorkerActor first_ = test::spawn_deaf_worker(system_);
  WorkerActor second_ = test::spawn_deaf_worker(system_);
  WorkerLinks links_;
};

TEST_F(WorkerLinksTest, AHelloThatWasSaidBeforeTheLastOneIsOld) {
  EXPECT_FALSE(links_.is_old(hello(kHere, 5))) << "it is the first";
  links_.meet(hello(kHere, 5), first_);
  EXPECT_TRUE(links_.is_old(hello(kHere, 5)));
  EXPECT_TRUE(links_.is_old(hello(kHere, 4)));
  EXPECT_FALSE(links_.is_old(hello(kHere, 6)));
  EXPECT_FALSE(links_.is_old(hello(kHere, 0))) << "that number is not counted";
  links_.meet(hello(kHere, 2'000'000), first_);
  EXPECT_FALSE(links_.is_old(hello(kHere, 7))) << "another process counts from the beginning";
}

TEST_F(WorkerLinksTest, AWorkerCanBeSpokenToUntilItsLinkIsDown) {
  EXPECT_EQ(links_.on(kHere), nullptr);
  links_.meet(hello(kHere, 1), first_);
  ASSERT_NE(links_.on(kHere), nullptr);
  EXPECT_EQ(links_.lose(first_.address()), kHere);
  EXPECT_EQ(links_.on(kHere), nullptr);
  EXPECT_EQ(links_.lose(first_.address()), std::nullopt) << "that is known";
  EXPECT_FALSE(links_.standings().at(kHere).connected);
}

TEST_F(WorkerLinksTest, TheLossOfALinkOfBeforeChangesNothing) {
  links_.meet(hello(kHere, 1), first_);
  links_.meet(hello(kHere, 2), second_);
  EXPECT_EQ(links_.lose(first_.address()), std::nullopt);
  ASSERT_NE(links_.on(kHere), nullptr);
  EXPECT_EQ(*links_.on(kHere), second_);
}

TEST_F(WorkerLinksTest, AnInstanceThatIsGoneHasNoWorker) {
  links_.meet(hello(kHere, 1), first_);
  links_.forget(kHere);
  EXPECT_EQ(links_.on(kHere), nullptr);
  EXPECT_EQ(links_.lose(first_.address()), std::nullopt);
  EXPECT_THAT(links_.standings(), IsEmpty());
}

TEST_F(WorkerLinksTest, ASilentInstanceCountsAsLostWhenItsTimeIsUp) {
  EXPECT_TRUE(links_.await(kHere, at_s(10)));
  EXPECT_FALSE(links_.await(kHere, at_s(20))) << "it is silent since then";
  EXPECT_TRUE(links_.await(kThere, at_s(12)));
  EXPECT_EQ(links_.next_lost(), at_s(10));
  EXPECT_THAT(links_.take_lost(at_s(9.9)), IsEmpty());
  EXPECT_THAT(links_.take_lost(at_s(10)), ElementsAre(kHere));
  EXPECT_EQ(links_.next_lost(), at_s(12));
}

TEST_F(WorkerLinksTest, AHelloEndsTheSilence) {
  links_.await(kHere, at_s(10));
  links_.meet(hello(kHere, 1), first_);
  EXPECT_FALSE(links_.any_silent());
  EXPECT_FALSE(links_.await(kHere, at_s(10))) << "it can be spoken to";
}

TEST_F(WorkerLinksTest, OnlyWhoHasSaidHelloIsCutOff) {
  links_.expect(kThere);  // the master was started again
  links_.await(kHere, at_s(10));
  links_.await(kThere, at_s(10));
  EXPECT_THAT(links_.cut_off(), ElementsAre(kThere));
}

TEST_F(WorkerLinksTest, RejectionsAreCountedInARow) {
  EXPECT_EQ(links_.note_rejection(kHere), 0U) << "it is not known";
  links_.meet(hello(kHere, 1), first_);
  EXPECT_EQ(links_.note_rejection(kHere), 1U);
  links_.meet(hello(kHere, 2), first_);
  EXPECT_EQ(links_.note_rejection(kHere), 2U) << "a hello is no start";
  links_.note_start(kHere);
  EXPECT_EQ(links_.note_rejection(kHere), 1U);
}

}  // namespace
}  // namespace muster
