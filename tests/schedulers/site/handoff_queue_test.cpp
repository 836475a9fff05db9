#include "schedulers/site/handoff_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedulers/site/recent_jobs.hpp"

namespace muster {
namespace {

using ::testing::ElementsAre;

struct Waiting {
  Job job;
};
Waiting job(std::uint64_t id) {
  Waiting made;
  made.job.id = JobId{id};
  return made;
}

std::vector<std::uint64_t> oldest_first(HandoffQueue<Waiting>& queue) {
  std::vector<std::uint64_t> ids;
  queue.oldest_first([&](const Waiting& each) {
    ids.push_back(each.job.id.value);
    return true;
  });
  return ids;
}

TEST(HandoffQueue, KeepsTheOrderInWhichJobsCame) {
  HandoffQueue<Waiting> queue;
  for (const std::uint64_t id : {5, 3, 9}) EXPECT_TRUE(queue.push(job(id)));
  EXPECT_FALSE(queue.push(job(3))) << "it is on its way";
  EXPECT_THAT(oldest_first(queue), ElementsAre(5, 3, 9));
  EXPECT_EQ(queue.take(JobId{3})->job.id, JobId{3});
  EXPECT_FALSE(queue.take(JobId{3}));
  EXPECT_EQ(queue.find(JobId{3}), nullptr);
  EXPECT_THAT(oldest_first(queue), ElementsAre(5, 9));
}

TEST(HandoffQueue, GoesDownByNumber) {
  HandoffQueue<Waiting> queue;
  for (const std::uint64_t id : {5, 3, 9, 7}) queue.push(job(id));
  const auto below = [&](JobPlace end, std::size_t most) {
    std::vector<std::uint64_t> ids;
    queue.listed(end, [&](const Waiting& each) {
      ids.push_back(each.job.id.value);
      return ids.size() < most;
    });
    return ids;
  };
  EXPECT_THAT(below({}, 9), ElementsAre(9, 7, 5, 3));
  EXPECT_THAT(below({Instant{}, JobId{7}}, 9), ElementsAre(5, 3));
  EXPECT_THAT(below({Instant{}, JobId{8}}, 1), ElementsAre(7));
  EXPECT_THAT(below({Instant{}, JobId{3}}, 9), ElementsAre());
}

// A walk from the front for each answer would be 5,000,000,000 steps here.
TEST(HandoffQueue, TakesOutOfTheMiddleOfManyWithoutAWalk) {
  constexpr std::uint64_t kMany = 100'000;
  HandoffQueue<Waiting> queue;
  for (std::uint64_t id = 1; id <= kMany; ++id) queue.push(job(id));
  for (std::uint64_t id = kMany; id >= 1; --id) ASSERT_TRUE(queue.take(JobId{id}));
  EXPECT_TRUE(queue.empty());
}

TEST(RecentJobs, ForgetsTheOldestNotTheSmallest) {
  RecentJobs recent(2);
  EXPECT_TRUE(recent.add(JobId{9}));
  EXPECT_TRUE(recent.add(JobId{1}));
  EXPECT_FALSE(recent.add(JobId{9}));
  EXPECT_TRUE(recent.add(JobId{5}));
  EXPECT_FALSE(recent.add(JobId{1})) << "is younger than 9";
  EXPECT_TRUE(recent.add(JobId{9}));
  EXPECT_EQ(recent.size(), 2u);
}

}  // namespace
}  // namespace muster
