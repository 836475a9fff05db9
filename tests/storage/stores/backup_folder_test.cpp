#include "storage/stores/backup_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "storage/stores/store_backup.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/temp_store.hpp"

namespace muster {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using std::chrono::sys_seconds;
using test::batch_of;
using test::IsGolden;
using test::opened;
using test::TempStore;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// 2026-11-29 07:05:12 UTC.
constexpr sys_seconds kNow{1'795'935'912s};

TEST(BackupName, is_its_time_and_nothing_else_is_one) {
  EXPECT_EQ(backup_name(kNow), "2026-11-29T07-05-12Z");
  EXPECT_EQ(time_of_backup("2026-11-29T07-05-12Z"), kNow);
  for (const char* other : {"", "2026-11-29", "2026-11-29T07-05-12", "2026-11-29T07-05-12Z.partial",
                            "2026-13-29T07-05-12Z", "2026-11-29T27-05-12Z", "2026-11-29T7-05-12Z",
                            "9999-11-29T07-05-12Z", "x2026-11-29T07-05-12Z"}) {
    EXPECT_FALSE(time_of_backup(other)) << other;
  }
}

TEST(BackupSchedule, goes_on_after_a_restart_where_it_was) {
  EXPECT_EQ(until_first_backup({}, kNow, 6h), 0s) << "there is no backup at all";
  EXPECT_EQ(until_first_backup({kNow - 9h, kNow - 2h}, kNow, 6h), 4h);
  EXPECT_EQ(until_first_backup({kNow - 6h}, kNow, 6h), 0s);
  EXPECT_EQ(until_first_backup({kNow - 24h * 365 * 20}, kNow, 6h), 0s);
}

TEST(BackupSchedule, waits_no_longer_than_the_period_where_the_clock_was_put_back) {
  EXPECT_EQ(until_first_backup({kNow + 24h * 365}, kNow, 6h), 6h);
}

TEST(BackupSchedule, tries_again_soon_after_a_failure) {
  EXPECT_EQ(until_backup_again(6h), 10min);
  EXPECT_EQ(until_backup_again(1min), 1min);
}

class BackupFolderTest : public ::testing::Test {
 protected:
  BackupPlan plan(std::uint32_t keep) const { return {to_, "demo/n1", 6h, keep, {store_.path()}}; }
  std::string fault_of(sys_seconds at, std::uint32_t keep = 2) const {
    const auto trouble = make_backup(plan(keep), at, stop_);
    return trouble ? trouble->message : "";
  }
  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(plan(1).folder())) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  TempStore store_, backups_;
  fs::path to_ = backups_.path().parent_path();
  std::unique_ptr<Store> owner_ = store_.open();
  std::atomic<bool> stop_{false};
};

TEST_F(BackupFolderTest, has_the_newest_that_are_to_be_kept) {
  for (const auto at : {kNow, kNow + 6h, kNow + 12h}) EXPECT_EQ(fault_of(at), "");
  EXPECT_THAT(backups_in(plan(1).folder()), ElementsAre(kNow + 6h, kNow + 12h));
  EXPECT_EQ(fault_of(kNow + 18h, 1), "") << "fewer are to be kept now";
  EXPECT_THAT(entries(), ElementsAre(backup_name(kNow + 18h)));
}

TEST_F(BackupFolderTest, can_be_restored_from) {
  ASSERT_FALSE(owner_->write(batch_of(Family::object, "a", "1"), Durability::machine));
  ASSERT_EQ(fault_of(kNow), "");
  ASSERT_FALSE(owner_->write(batch_of(Family::object, "a", "2"), Durability::machine));
  StoreOptions reads;
  reads.read_only = true;
  const auto backup =
      opened<Store>(plan(1).folder() / backup_name(kNow) / store_.path().filename(), reads);
  const TempStore restored;
  ASSERT_FALSE(copy_store(*backup, restored.path(), CopyFor::use));
  EXPECT_EQ(restored.open()->get(Family::object, "a").value(), "1");
}

TEST_F(BackupFolderTest, loses_what_a_crash_has_left_unfinished_and_nothing_else) {
  ASSERT_EQ(fault_of(kNow), "");
  fs::create_directories(plan(1).folder() / (backup_name(kNow + 6h) + ".partial") / "store");
  fs::create_directories(plan(1).folder() / "mine.partial");
  EXPECT_THAT(backups_in(plan(1).folder()), ElementsAre(kNow)) << "it is no backup";
  EXPECT_EQ(fault_of(kNow + 12h), "");
  EXPECT_THAT(entries(),
              UnorderedElementsAre(backup_name(kNow), backup_name(kNow + 12h), "mine.partial"));
}

TEST_F(BackupFolderTest, keeps_the_older_backups_when_one_fails) {
  for (const auto at : {kNow, kNow + 6h}) ASSERT_EQ(fault_of(at), "");
  BackupPlan broken = plan(1);
  broken.stores.push_back(store_.path() / "absent");
  EXPECT_TRUE(make_backup(broken, kNow + 12h, stop_));
  EXPECT_THAT(entries(), UnorderedElementsAre(backup_name(kNow), backup_name(kNow + 6h)));
}

TEST_F(BackupFolderTest, makes_no_backup_where_the_folder_for_all_of_them_is_missing) {
  to_ /= "unmounted";
  EXPECT_THAT(fault_of(kNow), IsGolden());
  EXPECT_FALSE(fs::exists(to_));
  fs::create_directory(to_);
  EXPECT_EQ(fault_of(kNow), "");
  EXPECT_THAT(entries(), ElementsAre(backup_name(kNow)));
}

TEST_F(BackupFolderTest, is_of_one_node_alone_wherever_that_is_moved) {
  const TempStore home, moved, other;
  BackupPlan own = plan(2);
  own.mark = home.path().parent_path() / "backup-owner";
  EXPECT_FALSE(make_backup(own, kNow, stop_));
  BackupPlan others = own;
  others.mark = other.path().parent_path() / "backup-owner";
  const auto trouble = make_backup(others, kNow + 6h, stop_);
  ASSERT_TRUE(trouble);
  std::string said = trouble->message;
  for (const auto& [path, name] : {std::pair(to_, "TO"), std::pair(others.mark, "MARK")}) {
    for (auto at = said.find(path.string()); at != said.npos; at = said.find(path.string())) {
      said.replace(at, path.string().size(), name);
    }
  }
  EXPECT_THAT(said, IsGolden());
  EXPECT_THAT(backups_in(own.folder()), ElementsAre(kNow)) << "of the other one there is no backup";
  const fs::path there = moved.path().parent_path() / "backup-owner";
  fs::rename(own.mark, there);
  own.mark = there;
  EXPECT_FALSE(make_backup(own, kNow + 6h, stop_));
  fs::copy_file(own.folder() / "owner", others.mark, fs::copy_options::overwrite_existing);
  EXPECT_FALSE(make_backup(others, kNow + 12h, stop_)) << "what the message says";
}

TEST_F(BackupFolderTest, leaves_nothing_of_a_backup_that_is_given_up) {
  stop_ = true;
  EXPECT_NE(fault_of(kNow), "");
  EXPECT_THAT(entries(), IsEmpty());
}

TEST_F(BackupFolderTest, has_the_newest_last_where_the_clock_was_put_back) {
  ASSERT_EQ(fault_of(kNow), "");
  ASSERT_EQ(fault_of(kNow - 24h, 1), "");
  EXPECT_THAT(backups_in(plan(1).folder()), ElementsAre(kNow + 1s));
}

}  // namespace
}  // namespace muster
