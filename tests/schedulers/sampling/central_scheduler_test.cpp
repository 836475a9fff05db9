#include "schedulers/sampling/central_scheduler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/schedulers/sampling/group_builders.hpp"

namespace muster::sampling {
namespace {

using muster::test::at_s;
using test::batch_of;
using test::job;
using test::only;
using ::testing::ElementsAre;

/// Five workers, the first of them for short tasks alone; messages take half a second.
class CentralSchedulerTest : public ::testing::Test {
 protected:
  void open(double cpus = 1) {
    catalog_ = test::slots(cpus);
    central_.open(test::roster_of(catalog_, 5), out_);
  }
  std::vector<WorkerIndex> take(const SharedJob& job, Instant now) {
    out_.clear();
    central_.take(batch_of(job), now, out_);
    std::vector<WorkerIndex> workers;
    for (const Reserve& reserve : only<Reserve>(out_)) workers.push_back(reserve.worker);
    return workers;
  }
  void ask(WorkerIndex worker, std::uint64_t job, std::uint32_t task, Instant now) {
    central_.asked({worker, 0, JobId{job}, task}, now, out_);
  }

  Catalog catalog_;
  CentralScheduler central_{{0.2, std::chrono::milliseconds{500}}};
  Actions out_;
};

TEST_F(CentralSchedulerTest, PlacesEachTaskWhereItWouldWaitLeast) {
  open();
  EXPECT_THAT(take(job(1, 2, 100, true), at_s(0)), ElementsAre(1, 2));
  EXPECT_THAT(take(job(2, 1, 50, true), at_s(0)), ElementsAre(3));
  // 4 is empty, then 3 has 50 s, then 1, 2 and 4 have 100 s.
  EXPECT_THAT(take(job(3, 4, 100, true), at_s(0)), ElementsAre(4, 3, 1, 2));
}

TEST_F(CentralSchedulerTest, CountsDownWhatRunsButNotBelowItsEstimate) {
  open();
  take(job(1, 1, 100, true), at_s(0));
  EXPECT_DOUBLE_EQ(central_.waiting_s(1, at_s(1)), 100) << "on its way";
  ask(1, 1, 0, at_s(1));  // runs from 1.5 s on
  EXPECT_DOUBLE_EQ(central_.waiting_s(1, at_s(1)), 101) << "with the round trip of the next one";
  EXPECT_DOUBLE_EQ(central_.waiting_s(1, at_s(41.5)), 61);
  EXPECT_DOUBLE_EQ(central_.waiting_s(1, at_s(500)), 1);
  central_.done({1, JobId{1}}, at_s(600), out_);
  EXPECT_DOUBLE_EQ(central_.waiting_s(1, at_s(600)), 0);
  EXPECT_FALSE(central_.has_long(1));
}

TEST_F(CentralSchedulerTest, TellsEachWorkerWhoHoldsLongTasks) {
  open();
  take(job(1, 2, 100, true), at_s(0));
  const SharedBits first = only<Reserve>(out_).at(0).reservation.bits;
  EXPECT_THAT(first->has_long, ElementsAre(false, true, true, false, false));
  take(job(2, 1, 100, true), at_s(0));
  const SharedBits second = only<Reserve>(out_).at(0).reservation.bits;
  EXPECT_GT(second->stamp, first->stamp);
  EXPECT_THAT(second->has_long, ElementsAre(false, true, true, true, false));
  EXPECT_THAT(first->has_long, ElementsAre(false, true, true, false, false))
      << "what was told stays";
}

TEST_F(CentralSchedulerTest, CountsATaskByItsShareOfTheWorker) {
  open(4);
  take(job(1, 1, 100, true, 1), at_s(0));
  EXPECT_DOUBLE_EQ(central_.waiting_s(1, at_s(0)), 25);
  take(job(2, 3, 100, true, 4), at_s(0));
  EXPECT_THAT(take(job(3, 1, 100, true, 2), at_s(0)), ElementsAre(1));
  EXPECT_DOUBLE_EQ(central_.waiting_s(1, at_s(0)), 75);
}

TEST_F(CentralSchedulerTest, AnswersWithTheTaskThatWasPlaced) {
  open();
  take(job(1, 3, 100, true), at_s(0));
  out_.clear();
  ask(2, 1, 1, at_s(1));
  const Answer answer = only<Answer>(out_).at(0);
  EXPECT_EQ(answer.task, (TaskRef{JobId{1}, 1}));
  EXPECT_TRUE(answer.placed);
}

}  // namespace
}  // namespace muster::sampling
