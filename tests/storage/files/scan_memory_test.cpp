#include "storage/files/scan_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/storage/files/staged_folder.hpp"

namespace muster::files {
namespace {

using namespace std::chrono_literals;
using Time = std::chrono::sys_time<std::chrono::nanoseconds>;

constexpr Time kBegun{1'800'000'000s};

FileStamp stamp_at(Time changed) {
  const auto ns = changed.time_since_epoch().count();
  return {4, ns, ns, 17, 3};
}

class ScanMemoryTest : public ::testing::Test {
 protected:
  void remember(const std::string& path, const FileStamp& stamp) {
    ScanMemory memory(kBegun);
    memory.note(path, stamp, ContentId::of("text"));
    ASSERT_FALSE(memory.write(file_));
  }
  bool knows(const std::string& path, const FileStamp& stamp) const {
    return ScanMemory::read(file_, kBegun).find(path, stamp) == ContentId::of("text");
  }

  StagedFolder folder_;
  std::filesystem::path file_ = folder_ / "memory";
  FileStamp old_ = stamp_at(kBegun - 1h);
};

TEST_F(ScanMemoryTest, knows_files_that_have_not_changed) {
  remember("odd\n\tname", old_);
  EXPECT_TRUE(knows("odd\n\tname", old_));
  EXPECT_FALSE(knows("other", old_));
}

TEST_F(ScanMemoryTest, knows_no_file_with_any_other_stamp) {
  remember("a", old_);
  FileStamp other = old_;
  ++other.bytes;
  EXPECT_FALSE(knows("a", other));
  other = old_;
  ++other.changed_ns;
  EXPECT_FALSE(knows("a", other));
  other = old_;
  ++other.inode_time_ns;
  EXPECT_FALSE(knows("a", other));
  other = old_;
  ++other.inode;
  EXPECT_FALSE(knows("a", other));
  other = old_;
  ++other.device;
  EXPECT_FALSE(knows("a", other));
}

TEST_F(ScanMemoryTest, trusts_no_file_that_was_changed_shortly_before_the_scan) {
  for (const Time young : {kBegun - 2s, kBegun - 1s, kBegun, kBegun + 1h}) {
    remember("a", stamp_at(young));
    EXPECT_FALSE(knows("a", stamp_at(young)));
  }
  FileStamp put_back = old_;  // mtime can be set by anybody
  put_back.inode_time_ns = stamp_at(kBegun).inode_time_ns;
  remember("a", put_back);
  EXPECT_FALSE(knows("a", put_back));
  remember("a", stamp_at(kBegun - 2001ms));
  EXPECT_TRUE(knows("a", stamp_at(kBegun - 2001ms)));
}

TEST_F(ScanMemoryTest, forgets_files_that_the_next_scan_does_not_see) {
  remember("a", old_);
  remember("b", old_);
  EXPECT_FALSE(knows("a", old_));
}

TEST_F(ScanMemoryTest, is_empty_when_its_file_is_damaged) {
  remember("a", old_);
  const std::string good = folder_.text("memory");
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] ^= 1;
    folder_.file("memory", bad);
    EXPECT_FALSE(knows("a", old_)) << at;
    folder_.file("memory", good.substr(0, at));
    EXPECT_FALSE(knows("a", old_)) << at;
  }
  folder_.file("memory", good);
  EXPECT_TRUE(knows("a", old_));
}

TEST_F(ScanMemoryTest, says_when_it_cannot_be_written) {
  const auto trouble = ScanMemory(kBegun).write(folder_ / "absent/memory");
  ASSERT_TRUE(trouble);
  EXPECT_EQ(trouble->code, FileError::missing);
  std::filesystem::create_directories(folder_ / "memory/x");
  EXPECT_TRUE(ScanMemory(kBegun).write(file_));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1)
      << "no file of a failed writing stays";
}

TEST(ReadSmallFile, takes_no_more_memory_than_the_file_has_bytes) {
  StagedFolder top;
  top.file("a", "text").file("empty", "");
  const Descriptor folder = top.open();
  constexpr std::size_t kFar = std::size_t{1} << 60;
  EXPECT_EQ(valid(read_small_file(folder.get(), "a", kFar)), "text");
  EXPECT_EQ(valid(read_small_file(folder.get(), "empty", kFar)), "");
  EXPECT_EQ(valid(read_small_file(folder.get(), "a", 4)), "text");
  EXPECT_EQ(read_small_file(folder.get(), "a", 3).error().code, FileError::too_large);
}

}  // namespace
}  // namespace muster::files
