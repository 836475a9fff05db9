#include "schedulers/sampling/probe_scheduler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/schedulers/sampling/group_builders.hpp"

namespace muster::sampling {
namespace {

using test::batch_of;
using test::job;
using test::only;
using ::testing::Each;
using ::testing::Le;
using ::testing::SizeIs;

class ProbeSchedulerTest : public ::testing::Test {
 protected:
  void open(const ProbeRules& rules, std::size_t workers) {
    scheduler_.emplace(rules, 1);
    scheduler_->open(test::roster_of(catalog_, workers), out_);
  }
  std::vector<Reserve> take(const SharedJob& job) {
    out_.clear();
    scheduler_->take(batch_of(job), now_, out_);
    return only<Reserve>(out_);
  }
  std::optional<TaskRef> ask(WorkerIndex worker, std::uint64_t job) {
    out_.clear();
    scheduler_->asked({worker, 0, JobId{job}, std::nullopt}, now_, out_);
    return only<Answer>(out_).at(0).task;
  }

  Catalog catalog_ = test::slots();
  std::optional<ProbeScheduler> scheduler_;
  Actions out_;
  Instant now_;
};

std::set<WorkerIndex> workers_of(const std::vector<Reserve>& sent) {
  std::set<WorkerIndex> workers;
  for (const Reserve& reserve : sent) workers.insert(reserve.worker);
  return workers;
}

TEST_F(ProbeSchedulerTest, ProbesTwiceAsManyDifferentWorkersAsThereAreTasks) {
  open({}, 100);
  const auto sent = take(job(1, 10, 1));
  EXPECT_THAT(sent, SizeIs(20));
  EXPECT_THAT(workers_of(sent), SizeIs(20));
}

TEST_F(ProbeSchedulerTest, RoundsTheNumberOfProbesUpAndNeverBelowTheTasks) {
  ProbeRules rules;
  rules.probe_ratio = 1.05;
  open(rules, 100);
  EXPECT_THAT(take(job(1, 10, 1)), SizeIs(11));
  rules.probe_ratio = 1.1;
  open(rules, 100);
  EXPECT_THAT(take(job(1, 10, 1)), SizeIs(11));
  rules.probe_ratio = 0.5;
  open(rules, 100);
  EXPECT_THAT(take(job(1, 10, 1)), SizeIs(10));
  rules.min_probes = 20;
  open(rules, 100);
  EXPECT_THAT(take(job(1, 10, 1)), SizeIs(20));
}

TEST_F(ProbeSchedulerTest, WrapsAroundWhenThereAreFewWorkers) {
  open({}, 8);
  std::map<WorkerIndex, int> probes;
  for (const Reserve& reserve : take(job(1, 10, 1))) ++probes[reserve.worker];
  int most = 0;
  for (const auto& [worker, count] : probes) {
    EXPECT_GE(count, 2);
    most = std::max(most, count);
  }
  EXPECT_THAT(probes, SizeIs(8));
  EXPECT_EQ(most, 3) << "20 probes over 8 workers";
}

TEST_F(ProbeSchedulerTest, HandsEachTaskOutOnceAndThenSaysNo) {
  open({}, 100);
  take(job(1, 2, 1));
  EXPECT_EQ(ask(3, 1), (TaskRef{JobId{1}, 0}));
  EXPECT_EQ(ask(7, 1), (TaskRef{JobId{1}, 1}));
  EXPECT_EQ(ask(9, 1), std::nullopt);
  EXPECT_THAT(only<Cancel>(out_), SizeIs(0));
}

TEST_F(ProbeSchedulerTest, CallsBackTheProbesThatHaveNotBeenHeardOf) {
  ProbeRules rules;
  rules.cancellation = true;
  open(rules, 100);
  std::set<WorkerIndex> probed = workers_of(take(job(1, 2, 1)));
  for (int i = 0; i < 2; ++i) {
    const WorkerIndex worker = *probed.begin();
    probed.erase(probed.begin());
    ask(worker, 1);
  }
  std::set<WorkerIndex> cancelled;
  for (const Cancel& cancel : only<Cancel>(out_)) cancelled.insert(cancel.worker);
  EXPECT_EQ(cancelled, probed);
}

TEST_F(ProbeSchedulerTest, ProbesOnlyWhereTheTaskFits) {
  InstanceType small = catalog_.types()[0];
  InstanceType large = small;
  large.name = "large";
  large.capacity = Resources::of(0, 8, 32);
  catalog_ = Catalog({small, large});
  scheduler_.emplace(ProbeRules{}, 1);
  scheduler_->open({&catalog_, {TypeId{0}, TypeId{1}, TypeId{0}, TypeId{1}}}, out_);
  const SharedJob big = job(1, 4, 1);
  big->demand = {std::nullopt, Resources::of(0, 4, 0)};
  EXPECT_EQ(workers_of(take(big)), (std::set<WorkerIndex>{1, 3}));
}

class EagleProbesTest : public ProbeSchedulerTest {
 protected:
  EagleProbesTest() {
    ProbeRules rules;
    rules.min_probes = 20;
    rules.replacement = true;
    rules.retry_rounds = 1;
    rules.short_partition = 0.1;
    open(rules, 50);  // workers 0 to 4 take no long task
  }
  void reject(WorkerIndex worker, std::uint32_t round, const SharedBits& bits) {
    scheduler_->rejected({worker, JobId{1}, round, bits}, out_);
  }
  std::vector<Reserve> settle() {
    out_.clear();
    scheduler_->settle(JobId{1}, out_);
    return only<Reserve>(out_);
  }
  /// Long tasks everywhere but on the given workers.
  static SharedBits long_but(std::uint64_t stamp, const std::set<WorkerIndex>& without) {
    auto bits = std::make_shared<LongBits>();
    bits->stamp = stamp;
    for (WorkerIndex worker = 0; worker < 50; ++worker) {
      bits->has_long.push_back(!without.contains(worker));
    }
    return bits;
  }
};

TEST_F(EagleProbesTest, RejectedProbesGoWhereTheNewestStateKnowsNoLongTask) {
  EXPECT_THAT(take(job(1, 3, 10)), SizeIs(20));
  out_.clear();
  reject(20, 0, long_but(1, {40}));
  reject(21, 0, long_but(3, {30, 31}));
  reject(22, 0, long_but(2, {41}));
  EXPECT_THAT(only<Later>(out_), SizeIs(1)) << "all rejections of an instant are settled at once";
  const auto again = settle();
  EXPECT_THAT(again, SizeIs(3));
  for (const Reserve& reserve : again) {
    EXPECT_TRUE(reserve.worker == 30 || reserve.worker == 31);
    EXPECT_EQ(reserve.reservation.round, 1U);
    EXPECT_FALSE(reserve.reservation.force);
  }
}

TEST_F(EagleProbesTest, WhatIsRejectedAgainGoesToTheShortPartition) {
  take(job(1, 3, 10));
  reject(20, 1, long_but(1, {30}));
  reject(20, 1, long_but(1, {30}));
  const auto last = settle();
  EXPECT_THAT(last, SizeIs(2));
  EXPECT_THAT(workers_of(last), Each(Le(4U)));
  for (const Reserve& reserve : last) EXPECT_TRUE(reserve.reservation.force);
}

TEST_F(EagleProbesTest, RejectionsThatComeWhenAllIsHandedOutAreForgotten) {
  take(job(1, 1, 10));
  ask(9, 1);
  out_.clear();
  reject(20, 0, long_but(1, {30}));
  EXPECT_TRUE(out_.empty());
  EXPECT_TRUE(settle().empty());
}

TEST(ShortWorkers, AreOneAtLeastAndLeaveOneAtLeast) {
  EXPECT_EQ(short_workers(0.17, 50), 9U);
  EXPECT_EQ(short_workers(0.02, 10), 1U);
  EXPECT_EQ(short_workers(0.99, 10), 9U);
  EXPECT_EQ(short_workers(0, 10), 0U);
}

}  // namespace
}  // namespace muster::sampling
