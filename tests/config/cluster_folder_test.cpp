#include "config/cluster_folder.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <fstream>

#include "tests/support/golden.hpp"
#include "tests/support/temp_file.hpp"

namespace muster {
namespace {

namespace fs = std::filesystem;
using muster::test::IsGolden;

class ClusterFolders : public testing::Test {
 protected:
  /// A folder with the mark of the cluster that is at home in `home`.
  fs::path folder(const std::string& name, const std::string& id, const std::string& home) const {
    fs::create_directories(dir(name));
    std::ofstream(dir(name) / kPlaceFile) << place_text({id, dir(home)});
    return dir(name);
  }
  fs::path dir(const std::string& name) const { return place_.folder() / name; }

  test::TempFile place_{"place", ""};
};

TEST_F(ClusterFolders, hold_a_copy_as_long_as_its_original_is_where_it_was) {
  const fs::path original = folder("a", "1", "a");
  const fs::path copy = folder("b", "1", "a");
  EXPECT_EQ(original_of(original), std::nullopt);
  EXPECT_EQ(original_of(copy), original);
  EXPECT_THAT(copy_text(original), IsGolden());
  fs::rename(original, dir("c"));
  EXPECT_EQ(original_of(copy), std::nullopt) << "it may take the place";
  EXPECT_EQ(original_of(dir("c")), std::nullopt) << "moved";
  folder("a", "2", "a");
  EXPECT_EQ(original_of(copy), std::nullopt) << "another cluster is there";
}

TEST_F(ClusterFolders, hold_a_copy_while_nobody_can_tell_whether_the_original_is_there) {
  const fs::path original = folder("a", "1", "a");
  const fs::path copy = folder("b", "1", "a");
  fs::rename(original, dir("c"));
  // As a folder that may not be read, which no folder is for root.
  fs::create_directory_symlink(original, original);
  EXPECT_EQ(original_of(copy), original);
  EXPECT_THAT(copy_text(original), IsGolden());
  fs::remove(original);
  EXPECT_EQ(original_of(copy), std::nullopt);
}

TEST_F(ClusterFolders, are_one_by_whatever_path) {
  const fs::path original = folder("a", "1", "a");
  fs::create_directory_symlink(original, dir("link"));
  EXPECT_EQ(original_of(dir("link")), std::nullopt);
  EXPECT_TRUE(is_one_folder(dir("link"), original));
  EXPECT_FALSE(is_one_folder(original, folder("b", "1", "a")));
  EXPECT_EQ(place_of(place_.folder()), std::nullopt) << "of no cluster";
}

TEST_F(ClusterFolders, say_whether_the_keeper_was_killed) {
  const fs::path own = folder("a", "1", "a");
  EXPECT_EQ(keeper_state(own), KeeperState::unknown);
  const int lock = open((own / kKeeperLock).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(lock, 0);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);
  std::ofstream(own / kKeeperLock) << "123\n";
  ASSERT_EQ(mark_keeper(own, true), "");
  EXPECT_EQ(keeper_state(own), KeeperState::runs);
  EXPECT_EQ(keeper_of(own), 123);
  close(lock);
  EXPECT_EQ(keeper_of(own), std::nullopt);
  EXPECT_EQ(keeper_state(own), KeeperState::killed);
  fs::copy(own, dir("b"));
  EXPECT_EQ(keeper_state(dir("b")), KeeperState::ended) << "a copy never had one";
  ASSERT_EQ(mark_keeper(own, false), "");
  EXPECT_EQ(keeper_state(own), KeeperState::ended);
  std::ofstream(own / kKeeperRuns) << "of another start of the computer\n";
  EXPECT_EQ(keeper_state(own), KeeperState::ended);
}

}  // namespace
}  // namespace muster
