#include "storage/stores/store_backup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "storage/stores/rocks_site_store.hpp"
#include "storage/stores/store_check.hpp"
#include "storage/stores/store_journal.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/random_cluster.hpp"
#include "tests/support/temp_store.hpp"

namespace muster {
namespace {

using test::IsGolden;
using test::opened;
using test::TempStore;
using testing::IsEmpty;

std::unique_ptr<Store> reader(const std::filesystem::path& folder) {
  StoreOptions options;
  options.read_only = true;
  return opened<Store>(folder, options);
}

TEST(StoreBackup, of_a_store_that_is_being_written_is_whole_up_to_some_moment) {
  const TempStore folder, copies;
  const Catalog catalog = test::table3_catalog();
  test::RandomCluster cluster(catalog, 5);
  StoreOptions options = folder.options();
  options.log_bytes = std::size_t{64} << 10;  // so that tables come and go meanwhile
  const auto store = opened<Store>(folder.path(), options);
  std::atomic<std::uint64_t> durable{0};
  StoreJournal journal(*store, catalog, {});
  for (int copy = 0; copy < 5; ++copy) {
    for (int i = 0; i < 200; ++i) journal.append({cluster.step()}, [&] { ++durable; });
    while (durable < static_cast<std::uint64_t>(copy) * 200 + 50) std::this_thread::yield();
    const std::uint64_t before = durable;
    const auto to = copies.path() / std::to_string(copy);
    const auto trouble = copy_store(*reader(folder.path()), to, CopyFor::keeping);
    ASSERT_FALSE(trouble) << trouble->message;
    const StoreReport report = check_store(*reader(to));
    EXPECT_THAT(report.problems, IsEmpty());
    EXPECT_GE(report.next_event, before);
  }
}

TEST(StoreBackup, that_is_restored_has_everything_and_a_site_on_it_asks_for_its_numbers) {
  const TempStore folder, backup, restored;
  {
    const auto store = opened<Store>(folder.path(), folder.options("site s0"));
    const auto records = opened<RocksSiteStore>(*store);
    records->persist({{{test::JobBuilder(41).build(), {}}}, {{"t", JobId{41}, "ann"}}, 42},
                     [](const std::string&) {});
  }
  ASSERT_FALSE(copy_store(*reader(folder.path()), backup.path(), CopyFor::keeping));
  ASSERT_FALSE(copy_store(*reader(backup.path()), restored.path(), CopyFor::use));
  for (const auto& [path, asks] : {std::pair(backup.path(), false), {restored.path(), true}}) {
    const auto store = opened<Store>(path, folder.options("site s0"));
    EXPECT_EQ(store->reached().jobs, 42u);
    const auto records = opened<RocksSiteStore>(*store);
    const SiteMemory memory = records->recall();
    EXPECT_EQ(memory.asks_numbers, asks);
    EXPECT_EQ(memory.next_job, 42u);
    EXPECT_EQ(memory.tokens.size(), 1u);
    EXPECT_EQ(memory.handoffs.size(), 1u);
  }
}

TEST(StoreBackup, overwrites_nothing) {
  const TempStore folder, other;
  folder.open().reset();
  other.open().reset();
  const auto trouble = copy_store(*reader(folder.path()), other.path(), CopyFor::use);
  ASSERT_TRUE(trouble);
  EXPECT_EQ(trouble->code, StoreError::unwritable);
  EXPECT_THAT(trouble->message, IsGolden());
}

TEST(RocksSiteStore, forgets_that_it_asks_when_its_numbers_are_known) {
  const TempStore folder;
  StoreOptions options = folder.options("site s0");
  options.fill = [](Store& made) { return keep_asking(made); };
  for (const bool asks : {true, false}) {
    const auto store = opened<Store>(folder.path(), options);
    const auto records = opened<RocksSiteStore>(*store);
    EXPECT_EQ(records->recall().asks_numbers, asks);
    SiteNews news;
    news.next_job = 9;
    news.numbers_known = true;
    records->persist(std::move(news), [](const std::string&) {});
  }
}

TEST(RocksSiteStore, asks_again_after_a_conflict) {
  const TempStore folder;
  for (const bool asks : {false, true}) {
    const auto store = opened<Store>(folder.path(), folder.options("site s0"));
    const auto records = opened<RocksSiteStore>(*store);
    EXPECT_EQ(records->recall().asks_numbers, asks);
    SiteNews news;
    news.asks_numbers = true;
    records->persist(std::move(news), [](const std::string&) {});
  }
}

}  // namespace
}  // namespace muster
