#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <future>
#include <random>
#include <thread>

#include "storage/stores/recovery.hpp"
#include "storage/stores/rocks_cloud_store.hpp"
#include "storage/stores/rocks_site_store.hpp"
#include "storage/stores/store_journal.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/temp_store.hpp"

namespace muster {
namespace {

using test::IsGolden;

/// A small disk in memory; the test is skipped where none may be mounted.
class FullDisk : public testing::Test {
 protected:
  void SetUp() override {
    if (mount("tmpfs", disk_.c_str(), "tmpfs", 0, "size=24m") != 0) {
      GTEST_SKIP() << "no disk to fill: mounting a tmpfs: " << std::strerror(errno);
    }
    mounted_ = true;
  }
  void TearDown() override {
    if (mounted_) {
      EXPECT_EQ(umount(disk_.c_str()), 0);
    }
  }

  void fill() const {
    std::ofstream out(ballast(), std::ios::binary);
    const std::string block(1 << 16, 'x');
    while (out.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
    std::ofstream rest(ballast() + "2", std::ios::binary);
    while (rest.put('x').flush()) {
    }
  }
  /// Less than a store wants for its reserve and besides it.
  void make_some_room() const {
    const auto size = std::filesystem::file_size(ballast());
    std::filesystem::resize_file(ballast(), size - (std::uintmax_t{1} << 20));
  }
  void make_room() const {
    std::filesystem::remove(ballast());
    std::filesystem::remove(ballast() + "2");
  }
  std::unique_ptr<Store> open(std::uint64_t reserve_bytes = 0) const {
    StoreOptions options = test::TempStore().options();
    options.reserve_bytes = reserve_bytes;
    auto store = Store::open(disk_ / "store", options);
    if (!store) {
      ADD_FAILURE() << store.error().message;
      std::abort();
    }
    return std::move(store).value();
  }

  bool has_reserve() const { return std::filesystem::exists(disk_ / "store/reserve"); }

 private:
  std::string ballast() const { return (disk_ / "ballast").string(); }

  test::TempFile folder_{"beside", ""};
  std::filesystem::path disk_ = folder_.folder();
  bool mounted_ = false;
};

/// The reason alone: behind it stand the file and the words of the database.
std::string without_details(const std::string& reason) {
  return reason.substr(0, reason.find(" ("));
}

/// Bytes that take up their room however they are packed: what is on the disk cannot shrink.
std::string noise(std::size_t bytes) {
  std::mt19937_64 dice(bytes);
  std::string made(bytes, '\0');
  for (char& byte : made) byte = static_cast<char>(dice());
  return made;
}

std::vector<Event> big_batch(std::uint64_t number, std::size_t bytes) {
  return {{test::at_s(1), RoundDecided{number, {noise(bytes), {}}}}};
}

/// More than the share of such a small disk that a store takes for it.
constexpr std::uint64_t kReserve = std::uint64_t{64} << 20;

TEST_F(FullDisk, a_store_lives_on_its_reserve_and_gets_it_back) {
  {
    const auto store = open(kReserve);
    EXPECT_EQ(store->strain(), "");
    EXPECT_TRUE(has_reserve());
    EXPECT_FALSE(
        store->write(test::batch_of(Family::object, "a", noise(100)), Durability::machine));
    fill();
    for (int i = 0; i < 20; ++i) {
      const auto trouble =
          store->write(test::batch_of(Family::object, "b" + std::to_string(i), noise(2000)),
                       Durability::machine);
      EXPECT_FALSE(trouble) << trouble->message;
    }
    EXPECT_FALSE(has_reserve());
    EXPECT_THAT(store->strain(), IsGolden());
    EXPECT_TRUE(store->get(Family::object, "a").value()) << "it can be read, too";
    make_room();
    while (!store->strain().empty()) store->mend();
    EXPECT_TRUE(has_reserve());
  }
  const auto store = open(kReserve);
  EXPECT_EQ(store->strain(), "") << "it is still there";
  EXPECT_TRUE(store->get(Family::object, "a").value());
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(store->get(Family::object, "b" + std::to_string(i)).value()) << i;
  }
}

TEST_F(FullDisk, a_store_without_room_for_its_reserve_opens_and_says_so) {
  open();
  fill();
  make_some_room();
  const auto store = open(kReserve);
  EXPECT_THAT(store->strain(), IsGolden());
  EXPECT_FALSE(has_reserve());
  EXPECT_FALSE(store->write(test::batch_of(Family::object, "a", "b"), Durability::machine));
}

TEST_F(FullDisk, on_its_reserve_a_site_takes_no_job_and_keeps_cancels) {
  const auto store = open(kReserve);
  const auto records = RocksSiteStore::open(*store);
  ASSERT_TRUE(records);
  const auto persist = [&](SiteNews news) {
    std::promise<std::string> told;
    records.value()->persist(std::move(news), [&](const std::string& why) { told.set_value(why); });
    return told.get_future().get();
  };
  const auto job = [](std::uint64_t number) {
    return SiteNews{{{test::JobBuilder(number).build(), {}}}, {{"", JobId{number}}}, number + 1};
  };
  SiteNews cancel;
  for (std::uint64_t i = 1; i < 2000; ++i) cancel.cancels.push_back(JobId{i});
  EXPECT_EQ(persist(job(1)), "");
  fill();
  EXPECT_EQ(persist(cancel), "");
  EXPECT_THAT(store->strain(), IsGolden());
  EXPECT_EQ(persist(job(2)), store->strain());
  EXPECT_EQ(persist(cancel), "");
  make_room();
  std::string why = "not asked yet";
  while (!why.empty()) why = persist(job(3));
}

TEST_F(FullDisk, a_journal_gets_the_reserve_back_without_a_write) {
  const Catalog catalog = test::table3_catalog();
  const auto store = open(kReserve);
  StoreJournalOptions options;
  options.retry = std::chrono::milliseconds{20};
  StoreJournal journal(*store, catalog, {}, options);
  std::promise<void> written;
  journal.append(big_batch(0, 10), [] {});
  fill();
  journal.append(big_batch(1, 20'000), [&] { written.set_value(); });
  written.get_future().wait();
  EXPECT_EQ(journal.trouble(), "");
  EXPECT_THAT(journal.strain(), IsGolden());
  make_room();
  while (!journal.strain().empty()) std::this_thread::yield();
  EXPECT_TRUE(has_reserve());
}

TEST_F(FullDisk, the_journal_keeps_everything_until_there_is_room) {
  const Catalog catalog = test::table3_catalog();
  constexpr std::uint64_t kBatches = 40;
  {
    const auto store = open();
    StoreJournalOptions options;
    options.retry = std::chrono::milliseconds{20};
    StoreJournal journal(*store, catalog, {}, options);
    std::promise<void> first, last;
    journal.append(big_batch(0, 10), [&] { first.set_value(); });
    first.get_future().wait();
    fill();
    std::atomic<std::uint64_t> next{1};
    std::atomic<bool> in_order{true};
    for (std::uint64_t i = 1; i < kBatches; ++i) {
      journal.append(big_batch(i, 20'000), [&, i] {
        if (next.exchange(i + 1) != i) in_order = false;
        if (i == kBatches - 1) last.set_value();
      });
    }
    while (journal.trouble().empty()) std::this_thread::yield();
    EXPECT_THAT(without_details(journal.trouble()), IsGolden());
    EXPECT_LT(next, kBatches);
    make_room();
    last.get_future().wait();
    EXPECT_TRUE(in_order);
    EXPECT_EQ(journal.trouble(), "");
  }
  const auto store = open();
  const auto found = recover_master(*store, catalog);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->tail.size(), kBatches);
  for (std::uint64_t i = 0; i < kBatches; ++i) {
    EXPECT_EQ(std::get<RoundDecided>(found->tail[i].body).round, i);
  }
}

TEST_F(FullDisk, the_books_refuse_with_the_reason_and_work_again_when_there_is_room) {
  const auto store = open();
  const auto records = RocksCloudStore::open(*store);
  ASSERT_TRUE(records);
  const auto put = [&](const RentedRecord& record) {
    std::promise<std::string> told;
    records.value()->put(record, [&](const std::string& trouble) { told.set_value(trouble); });
    return told.get_future().get();
  };
  RentedRecord record;
  record.machine = noise(100'000);
  record.instance = InstanceId{1};
  EXPECT_EQ(put(record), "");
  fill();
  record.instance = InstanceId{2};
  EXPECT_THAT(without_details(put(record)), IsGolden());
  EXPECT_THAT(without_details(put(record)), IsGolden());
  make_room();
  record.instance = InstanceId{3};
  EXPECT_EQ(put(record), "");
}

TEST_F(FullDisk, a_site_keeps_nothing_of_what_it_refused) {
  const auto persist = [](SiteStore& records, std::uint64_t job) {
    Handoff handoff{test::JobBuilder(job).build(), {}};
    handoff.job.name = noise(100'000);
    std::promise<std::string> told;
    records.persist({{handoff}, {{std::to_string(job), JobId{job}}}, job + 1},
                    [&](const std::string& trouble) { told.set_value(trouble); });
    return told.get_future().get();
  };
  {
    const auto store = open();
    const auto records = RocksSiteStore::open(*store);
    ASSERT_TRUE(records);
    EXPECT_EQ(persist(*records.value(), 1), "");
    fill();
    EXPECT_THAT(without_details(persist(*records.value(), 2)), IsGolden());
    EXPECT_THAT(without_details(persist(*records.value(), 3)), IsGolden());
    make_room();
    EXPECT_EQ(persist(*records.value(), 4), "");
  }
  const auto store = open();
  const auto records = RocksSiteStore::open(*store);
  ASSERT_TRUE(records);
  const SiteMemory memory = records.value()->recall();
  ASSERT_EQ(memory.handoffs.size(), 2u);
  EXPECT_EQ(memory.handoffs[1].job.id, JobId{4});
  EXPECT_EQ(memory.tokens.size(), 2u);
  EXPECT_EQ(memory.next_job, 5u);
}

TEST_F(FullDisk, a_site_writes_what_it_has_learnt_when_there_is_room_again) {
  const std::string learnt = noise(100'000);
  {
    const auto store = open();
    const auto records = RocksSiteStore::open(*store);
    ASSERT_TRUE(records);
    const auto keep_forwarded = [&](std::uint64_t job) {
      std::promise<std::string> told;
      Handoff handoff{test::JobBuilder(job).build(), {}};
      handoff.job.name = noise(100'000);
      records.value()->persist({{handoff}, {{{}, JobId{job}, {}, true}}, 0},
                               [&](const std::string& trouble) { told.set_value(trouble); });
      return told.get_future().get();
    };
    EXPECT_EQ(keep_forwarded(1), "");
    fill();
    EXPECT_THAT(without_details(keep_forwarded(2)), IsGolden());
    records.value()->persist_classifier("of before");
    records.value()->persist_classifier(learnt);
    EXPECT_THAT(without_details(keep_forwarded(2)), IsGolden());
    make_room();
    EXPECT_EQ(keep_forwarded(3), "");
  }
  const auto store = open();
  const auto records = RocksSiteStore::open(*store);
  ASSERT_TRUE(records);
  const SiteMemory memory = records.value()->recall();
  EXPECT_TRUE(memory.classifier == learnt) << memory.classifier.size() << " bytes";
  EXPECT_TRUE(memory.forwarded.contains(1));
  EXPECT_FALSE(memory.forwarded.contains(2)) << "its site was told that it was not taken";
  EXPECT_TRUE(memory.forwarded.contains(3));
}

}  // namespace
}  // namespace muster
