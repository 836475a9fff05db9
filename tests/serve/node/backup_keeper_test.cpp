#include "serve/node/backup_keeper.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <vector>

#include "tests/support/golden.hpp"
#include "tests/support/temp_store.hpp"

namespace muster {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using std::chrono::sys_seconds;
using test::IsGolden;
using test::TempStore;
using testing::StartsWith;

/// 2026-11-29 07:05:12 UTC.
constexpr sys_seconds kNow{1'795'935'912s};

class BackupKeeperTest : public ::testing::Test {
 protected:
  BackupKeeperTest() { plan_.stores = {store_.path()}; }

  /// Each look at its clock finds an hour more.
  BackupKeeper::Host host() {
    return {[this] {
              const std::lock_guard lock(mutex_);
              return now_ += 1h;
            },
            [this](const std::string& text) { tell(text); },
            [this](const std::string& text) { tell("warning: " + text); }};
  }
  void tell(const std::string& text) {
    const std::lock_guard lock(mutex_);
    said_.push_back(text);
    news_.notify_all();
  }
  /// The last words by then.
  std::string wait_for_words(std::size_t count) {
    std::unique_lock lock(mutex_);
    if (!news_.wait_for(lock, 60s, [&] { return said_.size() >= count; })) return "no words";
    return said_[count - 1];
  }

  TempStore store_, backups_;
  std::unique_ptr<Store> owner_ = store_.open();
  BackupPlan plan_{backups_.path().parent_path(), "demo/n1", 1ms, 2, {}};
  std::mutex mutex_;
  std::condition_variable news_;
  sys_seconds now_ = kNow - 1h;
  std::vector<std::string> said_;
};

TEST_F(BackupKeeperTest, makes_the_first_backup_at_once_and_others_by_schedule) {
  {
    const BackupKeeper keeper(plan_, host());
    EXPECT_THAT(wait_for_words(1), IsGolden());
    wait_for_words(3);
    EXPECT_EQ(keeper.trouble(), "");
  }
  EXPECT_EQ(backups_in(plan_.folder()).size(), 2U) << "no more are kept";
}

TEST_F(BackupKeeperTest, goes_on_with_the_schedule_of_the_time_before_it) {
  plan_.every = 24h;
  {
    const BackupKeeper first(plan_, host());
    wait_for_words(1);
  }
  { const BackupKeeper second(plan_, host()); }
  EXPECT_EQ(said_.size(), 1U);
}

TEST_F(BackupKeeperTest, has_trouble_until_a_backup_is_made) {
  plan_.to /= "unmounted";
  const BackupKeeper keeper(plan_, host());
  EXPECT_THAT(wait_for_words(2), StartsWith("warning: "));
  EXPECT_THAT(keeper.trouble(), IsGolden());
  fs::create_directory(plan_.to);
  for (std::size_t words = 3; wait_for_words(words).starts_with("warning: ");) ++words;
  // The next one may have come in between, and is well, too.
  EXPECT_EQ(keeper.trouble(), "");
  EXPECT_FALSE(backups_in(plan_.folder()).empty());
}

}  // namespace
}  // namespace muster
