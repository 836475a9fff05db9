#include "schedulers/sampling/pigeon.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "tests/schedulers/sampling/group_builders.hpp"

namespace muster::sampling {
namespace {

using test::batch_of;
using test::job;
using test::only;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

PigeonRules groups(std::uint32_t count, double reserved = 0, std::uint32_t weight = 0) {
  PigeonRules rules;
  rules.groups = count;
  rules.reserved = reserved;
  rules.weight = weight;
  return rules;
}

TEST(PigeonGroups, AreEvenAndCoverAllWorkers) {
  const PigeonRules rules = groups(3, 0.1);
  WorkerIndex next = 0;
  for (std::uint32_t i = 0; i < 3; ++i) {
    const PigeonGroup group = pigeon_group(rules, 11, i);
    EXPECT_EQ(group.first, next);
    EXPECT_EQ(group.size, i < 2 ? 4U : 3U);
    EXPECT_EQ(group.reserved, 1U);
    for (WorkerIndex worker = next; worker < next + group.size; ++worker) {
      EXPECT_EQ(pigeon_group_of(rules, 11, worker), i);
    }
    next += group.size;
  }
  EXPECT_EQ(next, 11U);
}

TEST(PigeonDistributor, SpreadsTasksEvenlyAndTheRestAtRandom) {
  const Catalog catalog = test::slots();
  PigeonDistributor distributor(groups(4), 1);
  Actions out;
  distributor.open(test::roster_of(catalog, 8), out);
  distributor.take(batch_of(job(1, 10, 1)), {}, out);
  std::map<std::uint32_t, std::size_t> given;
  std::map<std::uint32_t, int> tasks;
  for (const Forward& part : only<Forward>(out)) {
    given[part.to] += part.batch.tasks.size();
    for (std::uint32_t task : part.batch.tasks) ++tasks[task];
  }
  EXPECT_THAT(given, SizeIs(4));
  EXPECT_THAT(tasks, SizeIs(10)) << "each task once";
  std::map<std::size_t, int> sizes;
  for (const auto& [group, count] : given) ++sizes[count];
  EXPECT_EQ(sizes, (std::map<std::size_t, int>{{2, 2}, {3, 2}}));
}

TEST(PigeonDistributor, DealsNeighboursToDifferentGroupsFromARandomOneOn) {
  const Catalog catalog = test::slots();
  PigeonDistributor distributor(groups(4), 1);
  Actions out;
  distributor.open(test::roster_of(catalog, 8), out);
  std::set<std::uint32_t> starts;
  for (std::uint64_t id = 1; id <= 50; ++id) {
    out.clear();
    distributor.take(batch_of(job(id, 10, 1)), {}, out);
    std::map<std::uint32_t, std::uint32_t> group_of;
    for (const Forward& part : only<Forward>(out)) {
      for (std::uint32_t task : part.batch.tasks) group_of[task] = part.to - 1;
    }
    starts.insert(group_of.at(0));
    for (std::uint32_t task = 1; task < 10; ++task) {
      EXPECT_EQ(group_of.at(task), (group_of.at(task - 1) + 1) % 4) << "job " << id;
    }
  }
  EXPECT_THAT(starts, SizeIs(4)) << "every group is the first for some job";
}

TEST(PigeonDistributor, AJobIsOverWhenAllItsTasksAre) {
  const Catalog catalog = test::slots();
  PigeonDistributor distributor(groups(2), 1);
  Actions out;
  distributor.open(test::roster_of(catalog, 4), out);
  distributor.take(batch_of(job(1, 2, 1)), {}, out);
  out.clear();
  distributor.done({0, JobId{1}}, {}, out);
  EXPECT_THAT(out, IsEmpty());
  distributor.done({3, JobId{1}}, {}, out);
  EXPECT_THAT(only<JobOver>(out), SizeIs(1));
}

/// A group of four workers, the first of them reserved.
class PigeonMasterTest : public ::testing::Test {
 protected:
  void open(const PigeonRules& rules, double cpus = 1) {
    catalog_ = test::slots(cpus);
    master_.emplace(rules, 0);
    master_->open(test::roster_of(catalog_, 4), out_);
  }
  /// Where the tasks go at once, as (worker, job).
  std::vector<std::pair<WorkerIndex, std::uint64_t>> take(const SharedJob& job) {
    out_.clear();
    master_->take(batch_of(job), {}, out_);
    return pushed();
  }
  std::vector<std::pair<WorkerIndex, std::uint64_t>> done(WorkerIndex worker, std::uint64_t job) {
    out_.clear();
    master_->done({worker, JobId{job}}, {}, out_);
    return pushed();
  }
  std::vector<std::pair<WorkerIndex, std::uint64_t>> pushed() const {
    std::vector<std::pair<WorkerIndex, std::uint64_t>> all;
    for (const Push& push : only<Push>(out_)) all.emplace_back(push.worker, push.task.job.value);
    return all;
  }

  Catalog catalog_;
  std::optional<PigeonMaster> master_;
  Actions out_;
};

using P = std::pair<WorkerIndex, std::uint64_t>;

TEST_F(PigeonMasterTest, ShortTasksOverflowToTheReservedWorkers) {
  open(groups(1, 0.25));
  EXPECT_THAT(take(job(1, 5, 10)), ElementsAre(P{1, 1}, P{2, 1}, P{3, 1}, P{0, 1}));
  EXPECT_EQ(master_->waiting_short(), 1U);
}

TEST_F(PigeonMasterTest, LongTasksNeverTakeAReservedWorker) {
  open(groups(1, 0.25));
  EXPECT_THAT(take(job(1, 4, 1000, true)), ElementsAre(P{1, 1}, P{2, 1}, P{3, 1}));
  EXPECT_EQ(master_->waiting_long(), 1U);
  EXPECT_THAT(take(job(2, 1, 10)), ElementsAre(P{0, 2}));
  EXPECT_THAT(done(0, 2), IsEmpty()) << "the long task waits on";
  EXPECT_THAT(done(2, 1), ElementsAre(P{2, 1}));
}

TEST_F(PigeonMasterTest, StrictlyServesShortTasksFirst) {
  open(groups(1));
  take(job(1, 4, 10));
  take(job(2, 1, 1000, true));
  take(job(3, 2, 10));
  EXPECT_THAT(done(0, 1), ElementsAre(P{0, 3}));
  EXPECT_THAT(done(1, 1), ElementsAre(P{1, 3}));
  EXPECT_THAT(done(2, 1), ElementsAre(P{2, 2}));
}

TEST_F(PigeonMasterTest, AfterSoManyShortTasksALongOneHasItsTurn) {
  open(groups(1, 0, 2));
  take(job(1, 4, 10));
  take(job(2, 2, 1000, true));
  take(job(3, 9, 10));
  std::vector<std::uint64_t> served;
  for (int turn = 0; turn < 6; ++turn) {
    served.push_back(done(0, turn == 0 ? 1 : served.back()).at(0).second);
  }
  EXPECT_THAT(served, ElementsAre(3, 3, 2, 3, 3, 2));
}

TEST_F(PigeonMasterTest, TheWorkerThatHasBeenIdleLongestIsNext) {
  open(groups(1));
  take(job(1, 4, 10));
  done(2, 1);
  done(0, 1);
  EXPECT_THAT(take(job(2, 1, 10)), ElementsAre(P{2, 2}));
}

TEST_F(PigeonMasterTest, NothingPassesAHeadThatDoesNotFit) {
  open(groups(1), 2);
  take(job(1, 4, 10, false, 1));  // all on worker 0 and 1, two each
  take(job(2, 2, 10, false, 2));
  EXPECT_THAT(take(job(3, 1, 10, false, 2)), IsEmpty());
  EXPECT_THAT(take(job(4, 1, 10, false, 1)), IsEmpty());
  EXPECT_THAT(done(0, 1), IsEmpty()) << "one processor free, two are asked for";
  EXPECT_THAT(done(0, 1), ElementsAre(P{0, 3}));
  EXPECT_THAT(done(0, 3), ElementsAre(P{0, 4}));
}

RC_GTEST_PROP(PigeonMaster, KeepsNoWorkerIdleThatCouldServe, ()) {
  const Catalog catalog = test::slots();
  PigeonMaster master(groups(1, 0.3, *rc::gen::inRange(0U, 4U)), 0);
  Actions out;
  master.open(test::roster_of(catalog, 5), out);
  const std::uint32_t reserved = pigeon_group(groups(1, 0.3), 5, 0).reserved;
  std::map<WorkerIndex, std::uint64_t> busy;
  std::uint64_t next = 0, tasks = 0, ended = 0;
  const auto note = [&] {
    for (const Push& push : only<Push>(out)) {
      RC_ASSERT(busy.emplace(push.worker, push.task.job.value).second);
    }
    out.clear();
    std::size_t general = 0, kept = 0;
    for (const auto& [worker, job] : busy) ++(worker < reserved ? kept : general);
    if (general < 5 - reserved) RC_ASSERT(master.waiting_short() + master.waiting_long() == 0U);
    if (kept < reserved) RC_ASSERT(master.waiting_short() == 0U);
  };
  const auto end_one = [&](std::size_t which) {
    const auto ending = std::next(busy.begin(), static_cast<std::ptrdiff_t>(which % busy.size()));
    const TaskDone news{ending->first, JobId{ending->second}};
    busy.erase(ending);
    ++ended;
    master.done(news, {}, out);
    note();
  };
  for (int what : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 6))) {
    if (what < 3) {
      const auto count = static_cast<std::uint32_t>(what + 1);
      tasks += count;
      master.take(batch_of(job(next++, count, 1, *rc::gen::arbitrary<bool>())), {}, out);
      note();
    } else if (!busy.empty()) {
      end_one(static_cast<std::size_t>(what));
    }
  }
  while (!busy.empty()) end_one(0);
  RC_ASSERT(ended == tasks);
}

}  // namespace
}  // namespace muster::sampling
