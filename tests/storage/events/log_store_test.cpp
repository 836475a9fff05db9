#include "storage/events/log_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <future>

#include "tests/support/temp_file.hpp"

namespace muster {
namespace {

namespace fs = std::filesystem;

using test::TempFile;

/// Bytes that no packing makes smaller.
std::string noise(std::size_t size, std::uint32_t seed) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) {
    seed = seed * 1664525u + 1013904223u;
    byte = static_cast<char>(seed >> 24);
  }
  return bytes;
}

/// By the clock that files are stamped with, since 1970.
Duration written_at(const fs::path& file) {
  struct stat found {};
  EXPECT_EQ(stat(file.c_str(), &found), 0);
  return std::chrono::seconds{found.st_mtim.tv_sec};
}

class LogStoreTest : public ::testing::Test {
 protected:
  void open() {
    store_.reset();
    LogStoreOptions options = options_;
    options.clock = [this] { return now_.load(); };
    options.note = [this](const std::string& text) { notes_.push_back(text); };
    auto opened = LogStore::open(folder(), options);
    ASSERT_TRUE(opened);
    store_ = std::move(opened).value();
  }
  fs::path folder() const { return scratch_.folder() / "logs"; }
  fs::path file(const char* name) const { return folder() / name; }

  /// Whether it was written.
  bool take(LogDelivery delivery) {
    std::promise<bool> done;
    EXPECT_TRUE(
        store_->take(std::move(delivery), [&done](bool written) { done.set_value(written); }));
    return done.get_future().get();
  }
  void persist(std::uint64_t task, Attempt attempt, const std::string& text,
               const std::string& lost = "") {
    take({{TaskId{task}, attempt}, {{false, 0, text}}, true, lost});
  }
  bool take_part(std::uint64_t task, bool error_stream, std::uint64_t offset,
                 const std::string& text) {
    LogDelivery part{{TaskId{task}, 1}, {{error_stream, offset, text}}};
    part.part = true;
    return take(std::move(part));
  }
  std::optional<KeptLog> read(std::uint64_t task, Attempt attempt, bool error_stream = false,
                              std::uint64_t offset = 0, std::uint32_t max_bytes = 1u << 20) {
    std::promise<std::optional<KeptLog>> found;
    EXPECT_TRUE(store_->read({{TaskId{task}, attempt}, error_stream, offset, max_bytes},
                             [&found](std::optional<KeptLog> kept) { found.set_value(kept); }));
    return found.get_future().get();
  }
  std::string text_of(std::uint64_t task, Attempt attempt) {
    const auto kept = read(task, attempt);
    return kept ? kept->text : "(none)";
  }

  TempFile scratch_{"unused", ""};
  LogStoreOptions options_;
  std::atomic<Duration> now_{written_at(scratch_.path())};
  std::vector<std::string> notes_;
  std::unique_ptr<LogStore> store_;
};

TEST_F(LogStoreTest, EachAttemptKeepsItsOwnStreamsOverARestart) {
  open();
  persist(1, 1, "first");
  take({{TaskId{1}, 2}, {{false, 0, "second"}, {true, 0, "its errors"}}, true});
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(text_of(1, 1), "first");
    EXPECT_EQ(text_of(1, 2), "second");
    EXPECT_EQ(read(1, 2, true)->text, "its errors");
    EXPECT_EQ(read(1, 1, true)->text, "");
    EXPECT_FALSE(read(1, 3));
    EXPECT_FALSE(read(2, 1));
    open();
  }
}

TEST_F(LogStoreTest, PiecesAreReadBackFromAnyPlace) {
  open();
  const std::string all = noise(700'000, 1);
  const LogName name{TaskId{7}, 1};
  for (std::size_t at = 0; at < all.size(); at += 100'000) {
    take({name, {{false, at, all.substr(at, 100'000)}}});
    EXPECT_FALSE(read(7, 1)) << "it is not whole";
  }
  take({name, {}, true});
  for (const std::uint64_t from : {0, 1, 99'999, 100'000, 250'000, 699'999, 700'000, 900'000}) {
    const auto kept = read(7, 1, false, from, 150'000);
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->offset, from);
    EXPECT_EQ(kept->end, 700'000U);
    EXPECT_EQ(kept->text, from < all.size() ? all.substr(from, 150'000) : "");
  }
}

TEST_F(LogStoreTest, WhatIsMissingIsSaidAndReadingGoesOnBehindIt) {
  open();
  take({{TaskId{1}, 1}, {{false, 100, "old text"}}, true, "cut short"});
  const auto kept = read(1, 1, false, 10);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->offset, 100U);
  EXPECT_EQ(kept->text, "old text");
  EXPECT_EQ(kept->lost, "cut short");
}

TEST_F(LogStoreTest, ALossReplacesNoLogThatIsThere) {
  open();
  persist(1, 1, "all of it");
  take({{TaskId{1}, 1}, {}, true, "its instance was gone"});
  EXPECT_EQ(text_of(1, 1), "all of it");
  EXPECT_EQ(read(1, 1)->lost, "");
}

TEST_F(LogStoreTest, TheOldestGoFirstWhenThereIsTooMuch) {
  options_.max_bytes = 50'000;
  open();
  EXPECT_FALSE(store_->has_removed());
  for (std::uint32_t task = 1; task <= 5; ++task) {
    now_ = now_.load() + std::chrono::seconds{1};
    persist(task, 1, noise(15'000, task));
    EXPECT_LE(store_->bytes(), options_.max_bytes);
  }
  EXPECT_FALSE(read(1, 1));
  EXPECT_FALSE(read(2, 1));
  for (std::uint32_t task = 3; task <= 5; ++task) EXPECT_EQ(text_of(task, 1), noise(15'000, task));
  EXPECT_TRUE(store_->has_removed());
  open();
  EXPECT_TRUE(store_->has_removed());
}

TEST_F(LogStoreTest, WhatIsTooOldGoes) {
  options_.max_age = std::chrono::hours{10};
  open();
  persist(1, 1, "old");
  now_ = now_.load() + std::chrono::hours{9};
  persist(2, 1, "newer");
  EXPECT_EQ(text_of(1, 1), "old");
  now_ = now_.load() + std::chrono::hours{2};
  persist(3, 1, "new");
  EXPECT_FALSE(read(1, 1));
  EXPECT_EQ(text_of(2, 1), "newer");
}

TEST_F(LogStoreTest, AFileThatIsNotWholeIsSaidToBeDamaged) {
  open();
  persist(1, 1, noise(300'000, 3));
  store_.reset();
  std::ifstream in(file("1.1"), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  for (std::size_t size = 0; size < whole.size(); size += 9973) {
    std::ofstream(file("1.1"), std::ios::binary) << whole.substr(0, size);
    open();
    const auto kept = read(1, 1);
    ASSERT_TRUE(kept) << "cut to " << size << " of " << whole.size();
    EXPECT_TRUE(kept->none);
    EXPECT_EQ(kept->text, "");
    EXPECT_THAT(kept->lost, ::testing::HasSubstr("is damaged"));
  }
}

TEST_F(LogStoreTest, WhatIsBeforeADamagedBlockIsRead) {
  open();
  const std::string all = noise(700'000, 3);
  persist(1, 1, all);
  store_.reset();
  std::fstream changed(file("1.1"), std::ios::binary | std::ios::in | std::ios::out);
  changed.seekp(400'000) << "not what was written";
  changed.close();
  open();
  const auto kept = read(1, 1);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->text, all.substr(0, 256 << 10));
  EXPECT_EQ(kept->end, 256U << 10);
  EXPECT_FALSE(kept->none);
  EXPECT_THAT(kept->lost, ::testing::HasSubstr("is damaged"));
}

TEST_F(LogStoreTest, WhatACrashFindsHalfWrittenIsRemovedAndCanComeAgain) {
  open();
  take({{TaskId{1}, 1}, {{false, 0, "half"}}});
  ASSERT_TRUE(fs::exists(file("1.1.draft")));
  // What a process that was killed would leave.
  fs::copy(file("1.1.draft"), file("2.1.draft"));
  store_.reset();
  open();
  EXPECT_FALSE(fs::exists(file("2.1.draft")));
  EXPECT_FALSE(read(1, 1));
  persist(1, 1, "half and half");
  EXPECT_EQ(text_of(1, 1), "half and half");
}

TEST_F(LogStoreTest, ADiskThatTakesNothingIsToldOnce) {
  open();
  fs::remove_all(folder());
  persist(1, 1, "lost");
  persist(2, 1, "lost");
  EXPECT_THAT(notes_, ::testing::ElementsAre(::testing::HasSubstr("takes nothing")));
  EXPECT_FALSE(read(3, 1));
  const auto kept = read(1, 1);
  ASSERT_TRUE(kept);
  EXPECT_TRUE(kept->none);
  EXPECT_EQ(kept->lost, kDiskTookNothing);
}

TEST_F(LogStoreTest, WhatTheDiskDidNotTakeBeginsAnew) {
  open();
  const LogName name{TaskId{1}, 1};
  fs::create_directories(file("1.1.draft"));
  EXPECT_FALSE(take({name, {{false, 0, noise(300'000, 1)}}}));
  fs::remove(file("1.1.draft"));
  EXPECT_TRUE(take({name, {{false, 0, "all "}}}));
  EXPECT_TRUE(take({name, {{false, 4, "of it"}}, true}));
  EXPECT_EQ(text_of(1, 1), "all of it");
  EXPECT_EQ(read(1, 1)->lost, "");
}

TEST_F(LogStoreTest, PartsOfARunningAttemptAreReadAsOneStreamOverARestart) {
  open();
  const std::string all = noise(30'000, 1);
  EXPECT_TRUE(take_part(1, false, 0, all.substr(0, 10'000)));
  EXPECT_TRUE(take_part(1, true, 0, "its errors"));
  EXPECT_TRUE(take_part(1, false, 10'000, all.substr(10'000)));
  for (int round = 0; round < 2; ++round) {
    for (const std::uint64_t from : {0, 9'999, 10'000, 29'999, 30'000, 50'000}) {
      const auto kept = read(1, 1, false, from, 15'000);
      ASSERT_TRUE(kept);
      EXPECT_TRUE(kept->open);
      EXPECT_FALSE(kept->none);
      EXPECT_EQ(kept->offset, from);
      EXPECT_EQ(kept->end, 30'000U);
      EXPECT_EQ(kept->text, from < all.size() ? all.substr(from, 15'000) : "");
    }
    EXPECT_EQ(read(1, 1, true)->text, "its errors");
    EXPECT_EQ(read(1, 1, true)->end, 10U);
    open();
  }
}

TEST_F(LogStoreTest, TheRestFollowsTheParts) {
  open();
  take_part(1, false, 0, "part and ");
  take({{TaskId{1}, 1}, {{false, 9, "rest"}, {true, 0, "errors"}}, true, "cut short"});
  for (int round = 0; round < 2; ++round) {
    const auto kept = read(1, 1);
    ASSERT_TRUE(kept);
    EXPECT_FALSE(kept->open);
    EXPECT_EQ(kept->text, "part and rest");
    EXPECT_EQ(kept->end, 13U);
    EXPECT_EQ(kept->lost, "cut short");
    EXPECT_EQ(read(1, 1, false, 11)->text, "st");
    EXPECT_EQ(read(1, 1, true)->text, "errors");
    open();
  }
}

TEST_F(LogStoreTest, ALossBehindPartsKeepsThem) {
  open();
  take_part(1, false, 0, "part");
  take({{TaskId{1}, 1}, {}, true, "gone"});
  const auto kept = read(1, 1);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->text, "part");
  EXPECT_EQ(kept->lost, "gone");
  EXPECT_FALSE(kept->open);
}

TEST_F(LogStoreTest, WhatIsInAPartIsNotKeptTwice) {
  open();
  take_part(1, false, 0, "0123456789");
  take_part(1, false, 0, "0123456789");
  const std::uint64_t once = store_->bytes();
  take_part(1, false, 5, "56789abc");
  EXPECT_GT(store_->bytes(), once);
  EXPECT_TRUE(fs::exists(file("1.1.out.10-13")));
  take({{TaskId{1}, 1}, {{false, 0, "0123456789abcdef"}}, true});
  EXPECT_EQ(text_of(1, 1), "0123456789abcdef");
  EXPECT_FALSE(fs::exists(file("1.1.draft")));
}

TEST_F(LogStoreTest, APartThatTheDiskDoesNotTakeLeavesThoseOfBefore) {
  open();
  take_part(1, false, 0, "first ");
  fs::create_directories(file("1.1.draft"));
  EXPECT_FALSE(take_part(1, false, 6, "second"));
  EXPECT_EQ(text_of(1, 1), "first ");
  EXPECT_EQ(read(1, 1)->end, 6U);
  fs::remove(file("1.1.draft"));
  EXPECT_TRUE(take_part(1, false, 6, "second"));
  EXPECT_EQ(text_of(1, 1), "first second");
}

TEST_F(LogStoreTest, ReadingGoesOnBehindAPartThatIsMissingOrDamaged) {
  open();
  take_part(1, false, 0, "first ");
  take_part(1, false, 10, noise(20'000, 1));
  take_part(1, false, 20'010, "last");
  EXPECT_EQ(text_of(1, 1), "first ");
  std::ofstream(file("1.1.out.10-20010"), std::ios::binary) << "not what was written";
  const auto kept = read(1, 1, false, 6);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->offset, 20'010U);
  EXPECT_EQ(kept->text, "last");
}

TEST_F(LogStoreTest, PartsGoInTheirTurnAsTheOldest) {
  options_.max_bytes = 50'000;
  open();
  take_part(1, false, 0, noise(7'000, 1));
  for (std::uint32_t task = 2; task <= 6; ++task) {
    now_ = now_.load() + std::chrono::seconds{1};
    persist(task, 1, noise(7'000, task));
  }
  now_ = now_.load() + std::chrono::seconds{1};
  take_part(1, false, 7'000, noise(7'000, 7));
  EXPECT_LE(store_->bytes(), options_.max_bytes);
  EXPECT_EQ(read(1, 1)->offset, 7'000U);
  EXPECT_EQ(read(1, 1)->end, 14'000U);
  EXPECT_TRUE(read(2, 1));
  EXPECT_TRUE(store_->has_removed());
}

TEST_F(LogStoreTest, AnAttemptThatWritesMuchPushesOutItsOwnPartsFirst) {
  options_.max_bytes = 50'000;
  open();
  persist(2, 1, "oldest");
  for (std::uint32_t i = 0; i < 20; ++i) {
    now_ = now_.load() + std::chrono::seconds{1};
    take_part(1, i % 2 == 1, i * 7'000, noise(7'000, i));
    EXPECT_LE(store_->bytes(), options_.max_bytes);
  }
  EXPECT_EQ(text_of(2, 1), "oldest");
  EXPECT_EQ(read(1, 1, false)->offset, 16U * 7'000);
  EXPECT_EQ(read(1, 1, true)->offset, 15U * 7'000);
}

TEST_F(LogStoreTest, PartsThatAreTooOldGo) {
  options_.max_age = std::chrono::hours{10};
  open();
  take_part(1, false, 0, "old");
  now_ = now_.load() + std::chrono::hours{9};
  take_part(1, false, 3, "new");
  now_ = now_.load() + std::chrono::hours{2};
  persist(2, 1, "newer");
  const auto kept = read(1, 1);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->offset, 3U);
  EXPECT_EQ(kept->text, "new");
}

TEST_F(LogStoreTest, OnlySoManyDeliveriesWait) {
  options_.max_deliveries = 3;
  open();
  std::promise<void> go_on;
  EXPECT_TRUE(store_->take({{TaskId{1}, 1}, {}, true},
                           [&, wait = go_on.get_future().share()](bool) { wait.wait(); }));
  int taken = 0;
  while (taken < 100 && store_->take({{TaskId{2}, 1}, {}, true}, {})) ++taken;
  EXPECT_GE(taken, 2);
  EXPECT_LE(taken, 3);
  go_on.set_value();
}

TEST_F(LogStoreTest, ReadersWithoutPauseDoNotKeepDeliveriesWaiting) {
  open();
  std::vector<std::string> order;
  std::promise<void> go_on, over;
  const auto wait = go_on.get_future().share();
  const LogSink::Place place{{TaskId{1}, 1}, false, 0, 10};
  store_->read(place, [wait](const std::optional<KeptLog>&) { wait.wait(); });
  for (int i = 0; i < 50; ++i) {
    store_->read(place, [&](const std::optional<KeptLog>&) { order.emplace_back("read"); });
  }
  store_->take({{TaskId{1}, 1}, {}, true}, [&](bool) { order.emplace_back("taken"); });
  store_->take({{TaskId{2}, 1}, {}, true}, [&](bool) { over.set_value(); });
  go_on.set_value();
  over.get_future().wait();
  store_.reset();
  ASSERT_GT(order.size(), 2U);
  EXPECT_NE(std::find(order.begin(), order.begin() + 2, "taken"), order.begin() + 2);
}

}  // namespace
}  // namespace muster
