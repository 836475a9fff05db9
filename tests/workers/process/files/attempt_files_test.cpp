// Files and folders of attempts: names, whole writes, locks, what they take of a disk, and when
// they go.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "tests/support/temp_file.hpp"
#include "workers/process/files/attempt_dir.hpp"
#include "workers/process/files/attempt_sweeper.hpp"
#include "workers/process/files/disk_claims.hpp"
#include "workers/process/files/disk_use.hpp"
#include "workers/process/files/log_file.hpp"

namespace muster::process {
namespace {

namespace fs = std::filesystem;
constexpr Duration kLong = std::chrono::hours{1};
constexpr std::size_t kMuch = 40000;  // bytes, more than one read takes

class AttemptFilesTest : public testing::Test {
 protected:
  fs::path path(const std::string& name) const { return files_.folder() / name; }
  std::string content(const std::string& name) const {
    return read_whole(folder_.get(), name.c_str(), 1000).value_or("(nothing)");
  }
  void make(const std::string& name, std::size_t bytes) const {
    fs::create_directories(path(name).parent_path());
    std::ofstream(path(name)) << std::string(bytes, 'x');
  }

  test::TempFile files_{"beside", ""};
  Descriptor folder_ = open_folder(files_.folder());
};

TEST(AttemptKey, IsReadFromTheNameThatItHas) {
  for (const AttemptKey& key : {AttemptKey{TaskId{0}, 0}, AttemptKey{TaskId{7}, 12},
                                AttemptKey{TaskId{18'446'744'073'709'551'614U}, 4'294'967'295U}}) {
    EXPECT_EQ(key_from(name_of(key)), key);
  }
  EXPECT_EQ(name_of({TaskId{7}, 12}), "7.12");
  for (const char* none : {"", ".", "7", "7.", ".12", "7.12.", "7.12x", "x7.12", "7,12", "7.-1",
                           "-7.12", "7.4294967296", "18446744073709551616.1", "7.12 ", " 7.12"}) {
    EXPECT_EQ(key_from(none), std::nullopt) << none;
  }
}

TEST_F(AttemptFilesTest, AFileIsReadWholeOrNotAtAll) {
  make("a", 1000);
  EXPECT_EQ(content("a"), std::string(1000, 'x'));
  make("b", 1001);
  EXPECT_EQ(read_whole(folder_.get(), "b", 1000), std::nullopt);
  make("c", kMuch);
  EXPECT_EQ(read_whole(folder_.get(), "c", kMuch)->size(), kMuch) << "in several pieces";
  EXPECT_EQ(read_whole(folder_.get(), "absent", 1000), std::nullopt);
  fs::create_symlink(path("a"), path("link"));
  EXPECT_EQ(read_whole(folder_.get(), "link", 1000), std::nullopt)
      << "a task may have put it there";
  EXPECT_EQ(read_whole(folder_.get(), ".", 1000), std::nullopt);
}

TEST_F(AttemptFilesTest, AWriteReplacesTheFileInOneStep) {
  for (const bool sync : {false, true}) {
    EXPECT_EQ(write_whole(folder_.get(), "a", "first", sync), 0);
    EXPECT_EQ(write_whole(folder_.get(), "a", "", sync), 0);
    EXPECT_EQ(content("a"), "");
    EXPECT_EQ(write_whole(folder_.get(), "a", "second", sync), 0);
    EXPECT_EQ(content("a"), "second");
    EXPECT_FALSE(fs::exists(path("a.new")));
  }
  EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms(0600));
  fs::create_directories(path("folder"));
  EXPECT_EQ(write_whole(folder_.get(), "folder", "x", false), EISDIR);
  EXPECT_EQ(write_whole(-1, "a", "x", false), EBADF);
}

TEST_F(AttemptFilesTest, ANewFileIsWrittenOnce) {
  for (const bool sync : {false, true}) {
    const std::string name = sync ? "a" : "b";
    EXPECT_EQ(write_new(folder_.get(), name.c_str(), "first", sync), 0);
    EXPECT_EQ(write_new(folder_.get(), name.c_str(), "second", sync), EEXIST);
    EXPECT_EQ(content(name), "first");
  }
}

TEST_F(AttemptFilesTest, ALockIsOfOneAtATimeAndIsSeenByOthers) {
  EXPECT_FALSE(open_lock(folder_.get())) << "there is none";
  Descriptor held = take_lock(folder_.get());
  ASSERT_TRUE(held);
  EXPECT_FALSE(take_lock(folder_.get()));
  EXPECT_EQ(errno, EWOULDBLOCK);
  const Descriptor file = open_lock(folder_.get());
  ASSERT_TRUE(file);
  EXPECT_TRUE(is_locked(file.get()));
  held.reset();
  EXPECT_FALSE(is_locked(file.get()));
  EXPECT_FALSE(is_locked(file.get())) << "to look takes nothing";
  EXPECT_TRUE(take_lock(folder_.get()));
  EXPECT_FALSE(is_locked(-1));
}

TEST_F(AttemptFilesTest, AFolderThatWasRemovedIsKnownByItsDescriptor) {
  fs::create_directories(path("attempt"));
  const Descriptor attempt = open_folder(path("attempt"));
  EXPECT_FALSE(is_removed(attempt.get()));
  fs::remove(path("attempt"));
  EXPECT_TRUE(is_removed(attempt.get()));
  EXPECT_FALSE(is_removed(-1));
  EXPECT_FALSE(open_folder(path("attempt")));
  EXPECT_FALSE(open_folder(files_.path())) << "a file is no folder";
}

// What they take of a disk.

TEST_F(AttemptFilesTest, BytesAreThoseOfTheBlocksBelowAFolder) {
  const std::uint64_t device = space_on(files_.folder())->device;
  const auto bytes = [&](std::size_t most = 1000) {
    return bytes_below(path("top"), device, most);
  };
  EXPECT_EQ(bytes(), 0U) << "it is not there";
  make("top/a", 100'000);
  const std::uint64_t one = bytes();
  EXPECT_GE(one, 100'000U);
  EXPECT_LT(one, 200'000U);
  make("top/deep/er/b", 100'000);
  EXPECT_GE(bytes(), 2 * one);
  fs::create_symlink(path("top/a"), path("top/link"));
  fs::create_directory_symlink(path("top"), path("top/round"));
  EXPECT_LT(bytes(), 3 * one) << "links are not followed";
  std::ofstream(path("top/hole")).seekp(100'000'000).put('x');
  EXPECT_LT(bytes(), 4 * one) << "a hole takes nothing";
  EXPECT_EQ(bytes_below(path("top"), device + 1, 1000), 0U) << "of another device";
  EXPECT_EQ(bytes(0), 0U);
  EXPECT_LE(bytes(1), bytes(2));
}

TEST(DiskSpace, IsThatOfTheFileSystem) {
  const auto space = space_on("/tmp");
  ASSERT_TRUE(space);
  EXPECT_GT(space->total_bytes, 0U);
  EXPECT_LE(space->free_bytes, space->total_bytes);
  struct stat found {};
  ASSERT_EQ(stat("/tmp", &found), 0);
  EXPECT_EQ(space->device, found.st_dev);
  EXPECT_EQ(space_on("/nowhere/at/all"), std::nullopt);
}

TEST(DiskUse, ChangesItsUnitWhereTheNextIsReached) {
  constexpr std::uint64_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;
  EXPECT_EQ(in_words(1), "0 KiB");
  EXPECT_EQ(in_words(kMiB - 1), "1024 KiB");
  EXPECT_EQ(in_words(kMiB), "1 MiB");
  EXPECT_EQ(in_words(kGiB - 1), "1024 MiB");
  EXPECT_EQ(in_words(kGiB), "1.0 GiB");
  EXPECT_EQ(in_words(10 * kGiB - kMiB), "10.0 GiB");
  EXPECT_EQ(in_words(10 * kGiB), "10 GiB");
}

// Who ends an attempt for it.

TEST_F(AttemptFilesTest, OfEqualClaimsThatOfTheLowerNumberCounts) {
  const DiskClaims low(path("claims"), 1, kLong), high(path("claims"), 2, kLong);
  EXPECT_TRUE(high.claim(10, kLong));
  EXPECT_TRUE(low.claim(10, kLong));
  EXPECT_FALSE(high.claim(10, kLong));
  EXPECT_TRUE(high.claim(11, kLong)) << "its own claim of before is replaced";
  EXPECT_FALSE(low.claim(10, kLong));
}

TEST_F(AttemptFilesTest, WhoEndsAnAttemptMayEndItsNextAtOnce) {
  const DiskClaims one(path("claims"), 1, kLong), other(path("claims"), 2, kLong);
  one.prepare();
  one.ending();
  EXPECT_TRUE(one.claim(10, kLong));
  EXPECT_FALSE(other.claim(20, kLong));
  other.ending();
  EXPECT_TRUE(other.claim(20, kLong));
}

TEST_F(AttemptFilesTest, AClaimThatWasWithdrawnIsNone) {
  const DiskClaims one(path("claims"), 1, kLong), other(path("claims"), 2, kLong);
  one.claim(10, kLong);
  EXPECT_FALSE(other.claim(1, kLong));
  one.withdraw();
  EXPECT_TRUE(other.claim(1, kLong));
}

TEST_F(AttemptFilesTest, ManyWorkersHaveRoomForTheirClaims) {
  for (std::uint64_t who = 1; who <= 169; ++who) {
    EXPECT_TRUE(DiskClaims(path("claims"), who, kLong).claim(who, kLong)) << who;
  }
  for (std::uint64_t who = 1; who < 169; ++who) {
    EXPECT_FALSE(DiskClaims(path("claims"), who, kLong).claim(who, kLong)) << who;
  }
  // One more takes the place of the oldest claim.
  EXPECT_TRUE(DiskClaims(path("claims"), 500, kLong).claim(1'000, kLong));
  EXPECT_FALSE(DiskClaims(path("claims"), 169, kLong).claim(169, kLong));
  EXPECT_EQ(fs::file_size(path("claims")), 170U * 24U);
}

TEST_F(AttemptFilesTest, AFileOfClaimsThatWasCutSaysNothing) {
  const DiskClaims one(path("claims"), 1, kLong), other(path("claims"), 2, kLong);
  one.claim(10, kLong);
  fs::resize_file(path("claims"), 100);
  EXPECT_TRUE(other.claim(1, kLong));
  EXPECT_EQ(fs::file_size(path("claims")), 170U * 24U);
}

// When they go.

class AttemptSweeperTest : public AttemptFilesTest {
 protected:
  void attempt(std::uint64_t task) const {
    make(std::to_string(task) + ".1/work/big", 10);
    make(std::to_string(task) + ".1/result", 10);
  }
  bool there(const std::string& name) const { return fs::exists(path(name)); }
  bool goes(const std::string& name) const {
    for (int i = 0; i < 3'000 && there(name); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    return !there(name);
  }
};

TEST_F(AttemptSweeperTest, AFolderIsMarkedAndGoesAfterItsTime) {
  AttemptSweeper kept(files_.folder(), {kLong, 10});
  attempt(1);
  kept.acknowledge({TaskId{1}, 1});
  EXPECT_TRUE(there("1.1/settled"));
  EXPECT_FALSE(there("1.1/result"));
  AttemptSweeper at_once(files_.folder(), {Duration::zero(), 10});
  attempt(2);
  at_once.acknowledge({TaskId{2}, 1});
  EXPECT_TRUE(goes("2.1"));
  EXPECT_TRUE(there("1.1/work/big"));
  at_once.acknowledge({TaskId{3}, 1});  // there is no such folder
}

TEST_F(AttemptSweeperTest, TheOldestGoesWhereThereAreTooMany) {
  AttemptSweeper sweeper(files_.folder(), {kLong, 2});
  for (const std::uint64_t task : {1, 2, 3}) {
    attempt(task);
    sweeper.acknowledge({TaskId{task}, 1});
  }
  EXPECT_TRUE(goes("1.1"));
  EXPECT_TRUE(there("2.1/settled"));
  EXPECT_TRUE(there("3.1/settled"));
}

TEST_F(AttemptSweeperTest, InAHurryAllWorkFoldersGoAndWhatWasWrittenStays) {
  AttemptSweeper sweeper(files_.folder(), {kLong, 10});
  for (const std::uint64_t task : {1, 2}) {
    attempt(task);
    sweeper.acknowledge({TaskId{task}, 1});
  }
  sweeper.hurry();
  EXPECT_TRUE(goes("1.1/work"));
  EXPECT_TRUE(goes("2.1/work"));
  EXPECT_TRUE(there("1.1/settled"));
  EXPECT_TRUE(there("2.1/settled"));
}

// Logs in bounded files.

TEST_F(AttemptFilesTest, ALogIsReadOverItsFilesUpToTheBytesAskedFor) {
  LogWriter log(folder_.get(), "out", {4, 9});
  log.write("0123456789");
  EXPECT_TRUE(fs::exists(path("out.0")) && fs::exists(path("out.4")) && fs::exists(path("out.8")));
  const LogReader reader(folder_.get(), "out");
  EXPECT_EQ(reader.begin(), 0U);
  EXPECT_EQ(reader.end(), 10U);
  for (std::uint64_t from = 0; from <= 10; ++from) {
    for (std::size_t most = 0; most <= 11; ++most) {
      std::uint64_t place = from;
      EXPECT_EQ(reader.read(place, most), std::string("0123456789").substr(from, most));
      EXPECT_EQ(place, from);
    }
  }
  EXPECT_EQ(reader.tail(3), "789");
  EXPECT_EQ(reader.tail(99), "0123456789");
}

TEST_F(AttemptFilesTest, AFileThatIsGoneIsAGapBeforeWhatIsReadOrItsEnd) {
  LogWriter log(folder_.get(), "out", {4, 9});
  log.write("0123456789");
  const LogReader reader(folder_.get(), "out");
  fs::remove(path("out.4"));
  std::uint64_t place = 0;
  EXPECT_EQ(reader.read(place, 10), "0123") << "what is behind would be at the wrong place";
  place = 5;
  EXPECT_EQ(reader.read(place, 10), "89");
  EXPECT_EQ(place, 8U);
  fs::remove(path("out.8"));
  place = 5;
  EXPECT_EQ(reader.read(place, 10), "");
  EXPECT_EQ(place, 10U);
}

TEST_F(AttemptFilesTest, ALogOfNoBytesAFileHasOneEach) {
  LogWriter log(folder_.get(), "out", {0, 0});
  log.write("abc");
  EXPECT_EQ(log.written(), 3U);
  EXPECT_EQ(log.dropped(), 0U);
  EXPECT_EQ(LogReader(folder_.get(), "out").tail(9), "c") << "only the last file is kept";
}

}  // namespace
}  // namespace muster::process
