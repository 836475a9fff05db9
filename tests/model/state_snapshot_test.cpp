#include "model/state_snapshot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/random_cluster.hpp"
#include "tests/support/same_state.hpp"

namespace muster {
namespace {

using test::difference;
using test::IsGolden;
using test::RandomCluster;
using testing::HasSubstr;

TEST(StateSnapshot, a_restored_state_is_the_same_and_goes_on_the_same) {
  const Catalog catalog = test::table3_catalog();
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    RandomCluster cluster(catalog, seed);
    for (std::uint64_t i = 0; i < 20 * seed; ++i) cluster.step();
    auto restored = restore(snapshot_of(cluster.state), catalog);
    ASSERT_TRUE(restored) << restored.error().message;
    Ledger ledger = restore(snapshot_of(cluster.ledger), cluster.state);
    for (int i = 0; i < 200; ++i) {
      if (i % 20 == 0) {
        ASSERT_EQ(difference(cluster.state, restored.value()), "");
        ASSERT_EQ(difference(cluster.ledger, ledger), "");
      }
      const Event event = cluster.step();
      ledger.observe(event, restored.value());
      restored->apply(event);
    }
    EXPECT_EQ(difference(cluster.state, restored.value()), "");
    EXPECT_EQ(difference(cluster.ledger, ledger), "");
    EXPECT_THAT(cluster.state.inconsistencies(), testing::IsEmpty());
  }
}

/// The sums by job and user, and what has accrued, from what the ledger says task by task and
/// instance by instance.
void expect_plain_sums(const ClusterState& state, const Ledger& ledger, Instant now) {
  std::map<std::string, Money> by_user;
  for (const JobRow& job : state.jobs()) {
    Money sum;
    for (Slot slot : job.tasks) sum += ledger.task(state.task(slot).id);
    EXPECT_TRUE(ledger.job(job.slot) == sum) << job.job.id.value;
    if (!(sum == Money{})) by_user[job.job.user] += sum;
  }
  std::map<std::string, Money> said = ledger.by_user();
  std::erase_if(said, [](const auto& entry) { return entry.second == Money{}; });
  EXPECT_TRUE(said == by_user);
  const LedgerSnapshot snapshot = snapshot_of(ledger);
  Money tasks = snapshot.closed_tasks;
  for (const auto& [task, amount] : snapshot.by_task) tasks += amount;
  EXPECT_TRUE(ledger.tasks() == tasks);
  for (const Instant at : {now, now - std::chrono::seconds{20}}) {
    Money accrued = ledger.total();
    for (const auto& [id, settled] : snapshot.settled_until) {
      const Instant until = settled.until;
      if (until < at) accrued += Money::of(state.find(id)->price, at - until);
    }
    EXPECT_TRUE(ledger.accrued(state, at) == accrued);
  }
}

TEST(Ledger, its_sums_are_those_of_its_parts) {
  const Catalog catalog = test::table3_catalog();
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    RandomCluster cluster(catalog, seed);
    Instant now;
    for (int i = 0; i < 400; ++i) {
      now = cluster.step().at;
      if (i % 10 != 0) continue;
      expect_plain_sums(cluster.state, cluster.ledger, now);
      expect_plain_sums(cluster.state, restore(snapshot_of(cluster.ledger), cluster.state), now);
    }
  }
}

TEST(StateSnapshot, a_restored_state_finds_its_rows_by_id) {
  const Catalog catalog = test::table3_catalog();
  RandomCluster cluster(catalog, 7);
  for (int i = 0; i < 400; ++i) cluster.step();
  const auto restored = restore(snapshot_of(cluster.state), catalog);
  ASSERT_TRUE(restored);
  ASSERT_FALSE(cluster.state.jobs().empty());
  for (const JobRow& job : cluster.state.jobs()) {
    ASSERT_NE(restored->find(job.job.id), nullptr);
    EXPECT_EQ(restored->find(job.job.id)->slot, job.slot);
  }
}

/// An image with a job of two tasks, one of them planned for the only instance.
StateSnapshot small_image(const Catalog& catalog) {
  ClusterState state(catalog);
  state.apply({test::at_s(1), JobAccepted{test::JobBuilder(1).tasks(2).build()}});
  state.apply({test::at_s(1), LaunchRequested{InstanceId{5}, TypeId{2}, {}, {}, {}}});
  state.apply({test::at_s(2), TaskAssigned{TaskId{1}, InstanceId{5}, {}}});
  return snapshot_of(state);
}

std::string error_after(const std::function<void(StateSnapshot&)>& damage) {
  const Catalog catalog = test::table3_catalog();
  StateSnapshot snapshot = small_image(catalog);
  damage(snapshot);
  return test::message_of(restore(std::move(snapshot), catalog), SnapshotError::inconsistent);
}

TEST(StateSnapshot, an_image_that_no_state_can_have_is_refused) {
  EXPECT_EQ(error_after([](StateSnapshot&) {}), "no error");
  EXPECT_THAT(error_after([](StateSnapshot& i) { i.tasks[1].slot = 0; }),
              HasSubstr("share a slot"));
  EXPECT_THAT(error_after([](StateSnapshot& i) { i.free_tasks.push_back(7); }), HasSubstr("free"));
  EXPECT_THAT(error_after([](StateSnapshot& i) { i.tasks[1].id = TaskId{1}; }),
              HasSubstr("the same id"));
  EXPECT_THAT(error_after([](StateSnapshot& i) { i.jobs[0].tasks.pop_back(); }), IsGolden());
  EXPECT_THAT(error_after([](StateSnapshot& i) { i.tasks[0].shape = ShapeId{9}; }),
              HasSubstr("other demands"));
  EXPECT_THAT(error_after([](StateSnapshot& i) { i.instances[0].type = TypeId{99}; }),
              HasSubstr("no known type"));
  EXPECT_THAT(error_after([](StateSnapshot& i) { i.tasks[0].target = kNoSlot; }),
              HasSubstr("elsewhere"));
  EXPECT_THAT(error_after([](StateSnapshot& i) { i.tasks[1].target = 0; }), IsGolden());
  EXPECT_THAT(error_after([](StateSnapshot& i) { i.instances[0].planned.push_back(0); }),
              HasSubstr("twice"));
  EXPECT_THAT(error_after([](StateSnapshot& i) { i.pending.clear(); }), HasSubstr("not complete"));
  EXPECT_THAT(error_after([](StateSnapshot& i) { i.live.push_back(12345); }),
              HasSubstr("should not"));
  EXPECT_THAT(error_after([](StateSnapshot& i) { i.jobs[0].pending = 2; }), IsGolden());
  EXPECT_THAT(error_after([](StateSnapshot& i) { i.instances[0].committed = {}; }),
              HasSubstr("committed wrongly"));
}

}  // namespace
}  // namespace muster
