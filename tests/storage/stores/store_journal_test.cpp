#include "storage/stores/store_journal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <random>

#include "storage/stores/recovery.hpp"
#include "storage/stores/store_history.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/random_cluster.hpp"
#include "tests/support/same_state.hpp"
#include "tests/support/temp_store.hpp"

namespace muster {
namespace {

using test::difference;
using test::IsGolden;
using test::TempStore;
using testing::HasSubstr;

Event numbered(std::uint64_t n) {
  return {test::at_s(1), RoundDecided{n, {}}};
}
std::uint64_t number_in(const Event& event) {
  return std::get<RoundDecided>(event.body).round;
}

RecoveredMaster recovered(const Store& store, const Catalog& catalog) {
  auto found = recover_master(store, catalog);
  if (!found) {
    ADD_FAILURE() << found.error().message;
    return {};
  }
  return std::move(found).value();
}

/// Appends and waits until it is durable.
void append_now(StoreJournal& journal, std::vector<Event> batch) {
  std::promise<void> done;
  journal.append(std::move(batch), [&] { done.set_value(); });
  done.get_future().wait();
}
void wait_for_all(StoreJournal& journal) {
  append_now(journal, {});
}

/// The same for a snapshot, which is turned into a record on another thread and then queued.
void wait_for_snapshot(const Store& store, StoreJournal& journal) {
  bool durable = false;
  while (!durable) {
    wait_for_all(journal);
    EXPECT_FALSE(store.scan(Family::snapshot, {}, [&](auto, auto) {
      durable = true;
      return false;
    }));
  }
}

TEST(StoreJournal, hands_back_all_batches_in_their_order) {
  const TempStore folder;
  const Catalog catalog = test::table3_catalog();
  {
    const auto store = folder.open();
    StoreJournal journal(*store, catalog, recovered(*store, catalog));
    std::atomic<std::uint64_t> last{0};
    std::atomic<bool> in_order{true};
    for (std::uint64_t i = 1; i <= 3000; ++i) {
      journal.append({numbered(2 * i), numbered(2 * i + 1)}, [&, i] {
        if (last.exchange(i) != i - 1) in_order = false;
      });
    }
    wait_for_all(journal);
    EXPECT_EQ(last, 3000u);
    EXPECT_TRUE(in_order);
  }
  const auto store = folder.open();
  const RecoveredMaster found = recovered(*store, catalog);
  EXPECT_FALSE(found.snapshot);
  EXPECT_EQ(found.next_event, 6000u);
  ASSERT_EQ(found.tail.size(), 6000u);
  for (std::uint64_t i = 0; i < 6000; ++i) ASSERT_EQ(number_in(found.tail[i]), i + 2);
}

TEST(StoreJournal, goes_on_numbering_after_a_restart) {
  const TempStore folder;
  const Catalog catalog = test::table3_catalog();
  for (std::uint64_t round = 0; round < 4; ++round) {
    const auto store = folder.open();
    const RecoveredMaster found = recovered(*store, catalog);
    EXPECT_EQ(found.next_event, 2 * round);
    StoreJournal journal(*store, catalog, found);
    append_now(journal, {numbered(round), numbered(round)});
  }
}

TEST(StoreJournal, a_snapshot_and_the_events_after_it_are_the_state) {
  const TempStore folder;
  const Catalog catalog = test::table3_catalog();
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    const TempStore store_folder;
    test::RandomCluster cluster(catalog, seed);
    const std::uint64_t length = 100 + seed * 37;
    {
      const auto store = store_folder.open();
      StoreJournal journal(*store, catalog, {});
      for (std::uint64_t i = 0; i < length; ++i) {
        journal.append({cluster.step()}, [] {});
        if (i % 90 == 60) {
          journal.save_snapshot({cluster.state, cluster.ledger, {}, {}, {}, i, 0, {}});
          EXPECT_EQ(journal.events_since_snapshot(), 0u);
        }
      }
      wait_for_all(journal);
    }
    const auto store = store_folder.open();
    RecoveredMaster found = recovered(*store, catalog);
    EXPECT_EQ(found.next_event, length);
    ClusterState state = found.snapshot ? found.snapshot->state : ClusterState(catalog);
    Ledger ledger = found.snapshot ? found.snapshot->ledger : Ledger{};
    if (found.snapshot) {
      EXPECT_EQ(found.snapshot->next_instance + 1, found.snapshot_at);
    }
    for (const Event& event : found.tail) {
      ledger.observe(event, state);
      state.apply(event);
    }
    EXPECT_EQ(difference(state, cluster.state), "");
    EXPECT_EQ(difference(ledger, cluster.ledger), "");
  }
}

TEST(StoreJournal, a_durable_snapshot_takes_the_place_of_what_it_stands_for) {
  const TempStore folder;
  const Catalog catalog = test::table3_catalog();
  const auto store = folder.open();
  const auto count = [&](Family family) {
    int records = 0;
    EXPECT_FALSE(store->scan(family, {}, [&](auto, auto) { return ++records > 0; }));
    return records;
  };
  {
    StoreJournal journal(*store, catalog, {});
    for (std::uint64_t i = 0; i < 10; ++i) append_now(journal, {numbered(i)});
    for (int rounds = 1; rounds <= 3; ++rounds) {
      journal.save_snapshot({ClusterState(catalog), {}, {}, {}, {}, 0, 0, {}});
      for (int i = 0; i < 4; ++i) append_now(journal, {numbered(1)});
      EXPECT_EQ(journal.events_since_snapshot(), 4u);
      while (count(Family::journal) != 4) wait_for_all(journal);
      EXPECT_EQ(count(Family::snapshot), 1);
    }
  }
  const RecoveredMaster found = recovered(*store, catalog);
  EXPECT_EQ(found.snapshot_at, 18u);
  EXPECT_EQ(found.next_event, 22u);
}

TEST(StoreJournal, other_changes_ride_in_the_order_of_the_writes) {
  const TempStore folder;
  const Catalog catalog = test::table3_catalog();
  const auto store = folder.open();
  StoreJournal journal(*store, catalog, {});
  journal.put_object("table", "one");
  journal.put_object("table", "two");
  wait_for_all(journal);
  EXPECT_EQ(journal.get_object("table").value(), "two");
  EXPECT_EQ(journal.get_object("other").value(), std::nullopt);
}

TEST(StoreJournal, a_full_queue_is_told_and_loses_nothing) {
  const TempStore folder;
  const Catalog catalog = test::table3_catalog();
  const auto store = folder.open();
  StoreJournalOptions options;
  options.max_queued_events = 2;
  StoreJournal journal(*store, catalog, {}, options);
  // Holds the writer up in a callback, so that what follows stays in the queue.
  std::promise<void> go_on;
  journal.append({numbered(0)}, [&] { go_on.get_future().wait(); });
  journal.append({numbered(1), numbered(2)}, [] {});
  EXPECT_THAT(journal.trouble(), IsGolden());
  go_on.set_value();
  wait_for_all(journal);
  EXPECT_EQ(journal.trouble(), "");
  EXPECT_EQ(recovered(*store, catalog).next_event, 3u);
}

TEST(Recovery, knows_all_jobs_that_were_ever_accepted) {
  const TempStore folder;
  const Catalog catalog = test::table3_catalog();
  MasterSnapshot snapshot{ClusterState(catalog), {}, {}, {}, {}, 0, 0, {}};
  for (std::uint64_t job : {1u, 5'000u, 1'000'000'007u}) snapshot.accepted.add(job);
  snapshot.completed.add(5'000u);
  snapshot.failed.add(1u);
  {
    const auto store = folder.open();
    StoreJournal journal(*store, catalog, {});
    append_now(journal, {numbered(0)});
    journal.save_snapshot(MasterSnapshot(snapshot));
    append_now(journal, {numbered(1)});
    wait_for_snapshot(*store, journal);
  }
  const auto store = folder.open();
  const RecoveredMaster found = recovered(*store, catalog);
  ASSERT_TRUE(found.snapshot);
  EXPECT_TRUE(found.snapshot->accepted == snapshot.accepted);
  EXPECT_TRUE(found.snapshot->completed == snapshot.completed);
  EXPECT_TRUE(found.snapshot->failed == snapshot.failed);
}

TEST(Recovery, a_snapshot_that_does_not_say_which_jobs_were_accepted_has_those_of_the_history) {
  const TempStore folder;
  const Catalog catalog = test::table3_catalog();
  {
    const auto store = folder.open();
    StoreJournal journal(*store, catalog, {});
    const auto history = StoreHistory::open(*store, journal, catalog);
    ASSERT_TRUE(history);
    JobHistory over;
    over.job = test::JobBuilder(7).build();
    over.tasks.resize(1);
    history.value()->add(over);
    ClusterState state(catalog);
    state.apply({test::at_s(1), JobAccepted{test::JobBuilder(9).build()}});
    append_now(journal, {numbered(0)});
    journal.save_snapshot({state, {}, {}, {}, {}, 0, 0, {}});
    append_now(journal, {numbered(1)});
    wait_for_snapshot(*store, journal);
  }
  const auto store = folder.open();
  const RecoveredMaster found = recovered(*store, catalog);
  ASSERT_TRUE(found.snapshot);
  for (std::uint64_t job : {7u, 9u}) EXPECT_TRUE(found.snapshot->accepted.contains(job)) << job;
  EXPECT_FALSE(found.snapshot->accepted.contains(8));
}

TEST(Recovery, a_missing_batch_is_an_error) {
  const TempStore folder;
  const Catalog catalog = test::table3_catalog();
  const auto store = folder.open();
  {
    StoreJournal journal(*store, catalog, {});
    for (std::uint64_t i = 0; i < 5; ++i) append_now(journal, {numbered(i)});
  }
  StoreBatch batch;
  batch.erase(Family::journal, key_of(2));
  ASSERT_FALSE(store->write(batch, Durability::process));
  const auto found = recover_master(*store, catalog);
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("journal, record 3: events from 2 on are missing"));
}

TEST(Recovery, a_record_that_says_nothing_is_an_error_that_names_it) {
  const TempStore folder;
  const Catalog catalog = test::table3_catalog();
  const auto store = folder.open();
  ASSERT_FALSE(store->write(test::batch_of(Family::journal, key_of(0), std::string(32, '\x7f')),
                            Durability::process));
  const auto found = recover_master(*store, catalog);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, StoreError::corrupt);
  EXPECT_THAT(found.error().message, HasSubstr("journal, record 0:"));
}

/// Appends batches of three and reports each durable one through the pipe, until it is killed.
[[noreturn]] void append_for_ever(const TempStore& folder, int report) {
  const Catalog catalog = test::table3_catalog();
  const auto store = folder.open();
  StoreJournal journal(*store, catalog, recovered(*store, catalog));
  for (std::uint64_t batch = recovered(*store, catalog).next_event / 3;; ++batch) {
    journal.append({numbered(batch), numbered(batch), numbered(batch)}, [batch, report] {
      const std::uint64_t done = batch + 1;
      if (write(report, &done, sizeof done) != sizeof done) _exit(1);
    });
    if (batch % 50 == 20) {
      journal.save_snapshot({ClusterState(catalog), {}, {}, {}, {}, 0, 0, {}});
    }
    while (!journal.trouble().empty()) usleep(100);
    usleep(20);
  }
}

TEST(StoreJournal, what_was_durable_survives_a_kill_at_any_moment) {
  const TempStore folder;
  const Catalog catalog = test::table3_catalog();
  std::mt19937_64 dice(20);
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE(round);
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) append_for_ever(folder, ends[1]);
    close(ends[1]);
    std::uint64_t durable = 0;
    for (std::uint64_t reports = 1 + dice() % 60; reports > 0; --reports) {
      if (read(ends[0], &durable, sizeof durable) != sizeof durable) break;
    }
    usleep(static_cast<useconds_t>(dice() % 3000));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    while (read(ends[0], &durable, sizeof durable) == sizeof durable) {
    }
    close(ends[0]);
    const auto store = folder.open();
    const RecoveredMaster found = recovered(*store, catalog);
    EXPECT_GT(durable, 0u);
    EXPECT_GE(found.next_event, 3 * durable);
    EXPECT_EQ(found.next_event % 3, 0u);  // batches are whole
    std::uint64_t at = found.snapshot_at;
    for (const Event& event : found.tail) ASSERT_EQ(number_in(event), at++ / 3);
  }
}

}  // namespace
}  // namespace muster
