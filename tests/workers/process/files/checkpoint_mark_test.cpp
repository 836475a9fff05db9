#include "workers/process/files/checkpoint_mark.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/temp_file.hpp"

namespace muster::process {
namespace {

class CheckpointMarkTest : public testing::Test {
 protected:
  std::filesystem::path folder() const { return scratch_.folder() / "checkpoints"; }
  void write(const std::string& text) const {
    std::ofstream(folder() / kCheckpointMarkFile) << text;
  }

  const std::string mark_ = std::string(64, 'a');
  const test::TempFile scratch_{"unused", ""};
};

TEST_F(CheckpointMarkTest, IsFoundWhereItWasPut) {
  EXPECT_TRUE(lacks_mark(folder(), mark_));
  EXPECT_EQ(put_mark(folder(), mark_), "");
  EXPECT_FALSE(lacks_mark(folder(), mark_));
  EXPECT_EQ(put_mark(folder(), mark_), "");
}

TEST_F(CheckpointMarkTest, IsReadByOtherUsersWhateverTheMaskIs) {
  const mode_t before = umask(077);
  EXPECT_EQ(put_mark(folder(), mark_), "");
  umask(before);
  using std::filesystem::perms;
  const auto mode = [](const std::filesystem::path& place) {
    return std::filesystem::status(place).permissions();
  };
  EXPECT_EQ(mode(folder() / kCheckpointMarkFile) & perms::others_read, perms::others_read);
  EXPECT_EQ(mode(folder()) & perms::others_exec, perms::others_exec);
}

TEST_F(CheckpointMarkTest, WritesThroughNoLinkAndCountsNone) {
  std::filesystem::create_directories(folder());
  const std::filesystem::path key = scratch_.folder() / "key";
  std::ofstream(key) << mark_;
  std::filesystem::permissions(key, std::filesystem::perms::owner_read);
  std::filesystem::create_symlink(key, folder() / kCheckpointMarkFile);
  EXPECT_TRUE(lacks_mark(folder(), mark_));
  EXPECT_EQ(put_mark(folder(), mark_), "");
  EXPECT_FALSE(std::filesystem::is_symlink(folder() / kCheckpointMarkFile));
  EXPECT_EQ(std::filesystem::status(key).permissions(), std::filesystem::perms::owner_read);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder()), {}), 1)
      << "nothing is left beside it";
}

TEST_F(CheckpointMarkTest, OfAnotherClusterDoesNotCountAndIsReplaced) {
  EXPECT_EQ(put_mark(folder(), std::string(64, 'b')), "");
  EXPECT_TRUE(lacks_mark(folder(), mark_));
  EXPECT_EQ(put_mark(folder(), mark_), "");
  EXPECT_FALSE(lacks_mark(folder(), mark_));
}

TEST_F(CheckpointMarkTest, IsTheWholeFile) {
  std::filesystem::create_directories(folder());
  for (const std::string& text : {std::string(), mark_.substr(1), mark_ + "b", mark_ + "\n\n"}) {
    write(text);
    EXPECT_TRUE(lacks_mark(folder(), mark_)) << text;
  }
  write(mark_);
  EXPECT_FALSE(lacks_mark(folder(), mark_)) << "put there by an editor without a last line end";
}

TEST_F(CheckpointMarkTest, IsNoFolderAndNoDevice) {
  std::filesystem::create_directories(folder() / kCheckpointMarkFile);
  EXPECT_TRUE(lacks_mark(folder(), mark_));
  EXPECT_NE(put_mark(folder(), mark_), "") << "a folder is in its way";
  std::filesystem::remove(folder() / kCheckpointMarkFile);
  ASSERT_EQ(mkfifo((folder() / kCheckpointMarkFile).c_str(), 0600), 0);
  EXPECT_TRUE(lacks_mark(folder(), mark_)) << "and nobody waits for a writer";
}

TEST_F(CheckpointMarkTest, IsAskedOfNoFolderWhereThereIsNone) {
  EXPECT_FALSE(lacks_mark(folder(), ""));
}

}  // namespace
}  // namespace muster::process
