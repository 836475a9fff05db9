#include "storage/stores/store_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/stores/store_journal.hpp"
#include "tests/support/random_cluster.hpp"
#include "tests/support/temp_store.hpp"

namespace muster {
namespace {

using test::TempStore;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Fills a master's store with what happened to a random cluster.
test::RandomCluster filled(const TempStore& folder, const Catalog& catalog) {
  test::RandomCluster cluster(catalog, 5);
  const auto store = folder.open();
  StoreJournal journal(*store, catalog, {});
  for (int i = 0; i < 300; ++i) journal.append({cluster.step(), cluster.step()}, [] {});
  return cluster;
}

TEST(StoreCheck, a_whole_store_is_counted_without_a_problem) {
  const TempStore folder;
  const Catalog catalog = test::table3_catalog();
  const test::RandomCluster cluster = filled(folder, catalog);
  const auto store = folder.open();
  const StoreReport report = check_store(*store);
  EXPECT_THAT(report.problems, IsEmpty());
  EXPECT_EQ(report.next_event, 600u);
  EXPECT_EQ(report.batches, 300u);
  EXPECT_EQ(report.state.jobs, cluster.state.jobs().size());
  EXPECT_EQ(report.state.instances, cluster.state.instances().size());
  EXPECT_EQ(report.state.total, cluster.ledger.total());
}

TEST(StoreCheck, damage_is_named) {
  const TempStore folder;
  const Catalog catalog = test::table3_catalog();
  filled(folder, catalog);
  const auto store = folder.open();
  StoreBatch batch;
  batch.put(Family::token, key_of(3), "nonsense");
  batch.erase(Family::journal, key_of(100));
  ASSERT_FALSE(store->write(batch, Durability::process));
  EXPECT_THAT(check_store(*store).problems,
              ElementsAre(HasSubstr("tokens, record 3: "), HasSubstr("events from 100 on")));
}

TEST(StoreCheck, events_that_cannot_have_happened_are_found_without_the_end_of_the_process) {
  const TempStore folder;
  const Catalog catalog = test::table3_catalog();
  const auto store = folder.open();
  const std::vector<Event> events{{test::at_s(1), TaskFinished{TaskId{1}, 1}}};
  ASSERT_FALSE(
      store->write(test::batch_of(Family::journal, key_of(0), encode_events(events, catalog)),
                   Durability::process));
  EXPECT_THAT(check_store(*store).problems, ElementsAre(HasSubstr("cannot have happened")));
}

}  // namespace
}  // namespace muster
