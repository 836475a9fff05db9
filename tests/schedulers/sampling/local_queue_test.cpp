#include "schedulers/sampling/local_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/schedulers/sampling/group_builders.hpp"

namespace muster::sampling {
namespace {

using test::job;
using test::probe;
using ::testing::ElementsAre;

const QueueRules kSparrow{};

QueueRules eagle() {
  QueueRules rules;
  rules.sticky = rules.shortest_first = rules.reject_behind_long = true;
  return rules;
}

LocalQueue slot(const QueueRules& rules, double cpus = 1) {
  return {0, TypeId{0}, Resources::of(0, cpus, 4 * cpus), rules};
}

/// The jobs that the worker asks for now.
std::vector<std::uint64_t> asked(LocalQueue& queue) {
  std::vector<std::uint64_t> jobs;
  while (const auto request = queue.next()) jobs.push_back(request->job.value);
  return jobs;
}

TEST(LocalQueue, AsksForTheFirstAndKeepsTheSlotUntilTheAnswer) {
  LocalQueue queue = slot(kSparrow);
  queue.add(probe(job(1, 1, 1)));
  queue.add(probe(job(2, 1, 1)));
  EXPECT_THAT(asked(queue), ElementsAre(1));
  EXPECT_FALSE(queue.next());
  queue.answered(0, std::nullopt);
  EXPECT_THAT(asked(queue), ElementsAre(2));
  queue.answered(1, TaskId{20});
  EXPECT_FALSE(queue.over(TaskId{21}));
  EXPECT_EQ(queue.over(TaskId{20})->job, JobId{2});
  EXPECT_EQ(queue.free(), Resources::of(0, 1, 4));
}

TEST(LocalQueue, AsksForAsManyTasksAsFit) {
  LocalQueue queue = slot(kSparrow, 4);
  queue.add(probe(job(1, 1, 1, false, 2)));
  queue.add(probe(job(2, 1, 1, false, 1)));
  queue.add(probe(job(3, 1, 1, false, 2)));
  queue.add(probe(job(4, 1, 1, false, 1)));
  EXPECT_THAT(asked(queue), ElementsAre(1, 2)) << "4 waits behind 3, which does not fit";
}

TEST(LocalQueue, LetsWhatFitsPassWhenTold) {
  QueueRules rules = kSparrow;
  rules.skip_blocked = true;
  LocalQueue queue = slot(rules, 4);
  queue.add(probe(job(1, 1, 1, false, 3)));
  queue.add(probe(job(2, 1, 1, false, 2)));
  queue.add(probe(job(3, 1, 1, false, 1)));
  EXPECT_THAT(asked(queue), ElementsAre(1, 3));
}

TEST(LocalQueue, ACancelledProbeIsGoneButNotOneThatHasAsked) {
  LocalQueue queue = slot(kSparrow);
  queue.add(probe(job(1, 1, 1)));
  queue.add(probe(job(2, 1, 1)));
  EXPECT_THAT(asked(queue), ElementsAre(1));
  EXPECT_FALSE(queue.cancel(JobId{1}));
  EXPECT_TRUE(queue.cancel(JobId{2}));
  EXPECT_EQ(queue.waiting(), 0U);
  EXPECT_EQ(queue.count().cancelled, 1U);
}

TEST(LocalQueue, AStickyProbeAsksAgainUntilItsJobHasNoTask) {
  QueueRules rules;
  rules.sticky = true;
  LocalQueue queue = slot(rules);
  queue.add(probe(job(1, 3, 1)));
  queue.add(probe(job(2, 1, 1)));
  EXPECT_THAT(asked(queue), ElementsAre(1));
  queue.answered(0, TaskId{10});
  queue.over(TaskId{10});
  EXPECT_THAT(asked(queue), ElementsAre(1));
  queue.answered(1, std::nullopt);
  EXPECT_THAT(asked(queue), ElementsAre(2));
}

TEST(LocalQueue, RejectsProbesWhileALongTaskIsThere) {
  LocalQueue queue = slot(eagle());
  auto bits = std::make_shared<LongBits>();
  bits->stamp = 4;
  queue.add(probe(job(1, 1, 10)));
  queue.add({job(2, 1, 1000, true), 0, 0, true, bits});
  const auto rejection = queue.add(probe(job(3, 1, 10)));
  ASSERT_TRUE(rejection);
  EXPECT_EQ(rejection->job, JobId{3});
  EXPECT_EQ(rejection->bits->stamp, 4U);
  EXPECT_FALSE(queue.add({job(4, 1, 10), std::nullopt, 2, true, nullptr})) << "this one force";
  EXPECT_THAT(asked(queue), ElementsAre(1));
  queue.answered(0, std::nullopt);
  EXPECT_THAT(asked(queue), ElementsAre(2)) << "a long task that is first is taken at once";
  queue.answered(1, TaskId{20});
  EXPECT_TRUE(queue.add(probe(job(5, 1, 10)))) << "a long task runs";
  EXPECT_TRUE(queue.over(TaskId{20})->is_long);
  EXPECT_FALSE(queue.add(probe(job(6, 1, 10))));
}

TEST(LocalQueue, KeepsTheNewestStateOfTheOthers) {
  LocalQueue queue = slot(eagle());
  const auto with_stamp = [](std::uint64_t stamp) {
    auto bits = std::make_shared<LongBits>();
    bits->stamp = stamp;
    return bits;
  };
  queue.add({job(1, 2, 1000, true), 0, 0, true, with_stamp(7)});
  queue.add({job(1, 2, 1000, true), 1, 0, true, with_stamp(5)});
  EXPECT_EQ(queue.add(probe(job(2, 1, 1)))->bits->stamp, 7U);
}

TEST(LocalQueue, TheJobWithTheLeastRemainingTimeGoesFirst) {
  LocalQueue queue = slot(eagle());
  queue.add(probe(job(1, 10, 5)));  // 50 s left
  queue.add(probe(job(2, 2, 20)));  // 40 s left
  queue.add(probe(job(3, 4, 10)));  // 40 s left, and later
  EXPECT_THAT(asked(queue), ElementsAre(2));
}

// Job 1 may be overtaken by 5 * 4 s = 20 s: by two tasks of 8 s, not by a third.
TEST(LocalQueue, NobodyIsOvertakenByMoreThanTheCap) {
  LocalQueue queue = slot(eagle());
  queue.add(probe(job(1, 100, 4)));
  for (std::uint64_t id : {2, 3, 4}) queue.add(probe(job(id, 1, 8)));
  for (std::uint32_t turn = 0; turn < 2; ++turn) {
    EXPECT_THAT(asked(queue), ElementsAre(2 + turn));
    queue.answered(turn, TaskId{turn});
    queue.over(TaskId{turn});
  }
  EXPECT_THAT(asked(queue), ElementsAre(1));
  EXPECT_DOUBLE_EQ(queue.worst_delay(), 16.0 / 20);
}

TEST(LocalQueue, AnEmptyAnswerTakesTheDelayBack) {
  LocalQueue queue = slot(eagle());
  queue.add(probe(job(1, 100, 4)));
  for (std::uint64_t id : {2, 3, 4}) queue.add(probe(job(id, 1, 8)));
  EXPECT_THAT(asked(queue), ElementsAre(2));
  queue.answered(0, std::nullopt);
  for (std::uint32_t turn = 1; turn < 3; ++turn) {
    EXPECT_THAT(asked(queue), ElementsAre(2 + turn));
    queue.answered(turn, TaskId{turn});
    queue.over(TaskId{turn});
  }
}

TEST(LocalQueue, ProbesOfJobsWithoutATaskLeftGoUnasked) {
  LocalQueue queue = slot(eagle());
  const SharedJob served = job(1, 1, 4);
  queue.add(probe(served));
  queue.add(probe(job(2, 1, 90)));
  served->unlaunched = 0;  // its task has reached another worker
  EXPECT_THAT(asked(queue), ElementsAre(2));
  EXPECT_EQ(queue.count().dropped, 1U);
}

RC_GTEST_PROP(LocalQueue, NeverOverfillsOvertakesTooFarOrLosesAProbe, ()) {
  QueueRules rules;
  rules.sticky = *rc::gen::arbitrary<bool>();
  rules.shortest_first = *rc::gen::arbitrary<bool>();
  rules.skip_blocked = *rc::gen::arbitrary<bool>();
  LocalQueue queue = slot(rules, 4);
  std::vector<SharedJob> jobs;
  for (std::uint64_t id = 0; id < 6; ++id) {
    jobs.push_back(job(id, 4, *rc::gen::inRange(1, 100), false, *rc::gen::inRange(1, 5)));
  }
  struct Pending {
    std::uint32_t ticket;
    SharedJob job;
  };
  std::vector<Pending> pending;
  std::vector<TaskId> running;
  std::uint64_t sent = 0, next_task = 0;
  const auto collect = [&] {
    while (const auto request = queue.next()) {
      pending.push_back({request->ticket, jobs[request->job.value]});
      RC_ASSERT(Resources{}.fits_in(queue.free()));
    }
  };
  const auto step = [&](int what) {
    if (what == 0) {
      queue.add(probe(jobs[*rc::gen::inRange<std::size_t>(0, jobs.size())]));
      ++sent;
    } else if (what == 1 && !pending.empty()) {
      const Pending answer = pending.front();
      pending.erase(pending.begin());
      if (answer.job->unlaunched > 0) running.push_back(TaskId{next_task++});
      queue.answered(answer.ticket,
                     answer.job->unlaunched > 0 ? std::optional(running.back()) : std::nullopt);
    } else if (what == 2 && !running.empty()) {
      queue.over(running.back());
      running.pop_back();
    }
    collect();
  };
  for (int what : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 3))) step(what);
  while (!pending.empty() || !running.empty()) step(pending.empty() ? 2 : 1);
  RC_ASSERT(queue.waiting() == 0U);
  RC_ASSERT(queue.worst_delay() <= 1 + 1e-9);
  const LocalQueue::Count& count = queue.count();
  RC_ASSERT(count.taken == sent);
  RC_ASSERT(count.answered + count.cancelled + count.dropped == sent);
}

}  // namespace
}  // namespace muster::sampling
