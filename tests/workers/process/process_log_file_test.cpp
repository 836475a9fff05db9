#include <gtest/gtest.h>

#include "tests/support/temp_file.hpp"
#include "workers/process/files/attempt_dir.hpp"
#include "workers/process/files/log_file.hpp"

namespace muster::process {
namespace {

class LogFileTest : public ::testing::Test {
 protected:
  std::string read(std::uint64_t offset, std::size_t max_bytes) {
    place_ = offset;
    return LogReader(folder_.get(), "out").read(place_, max_bytes);
  }

  test::TempFile files_{"kept", ""};
  Descriptor folder_ = open_folder(files_.folder());
  std::uint64_t place_ = 0;
};

TEST_F(LogFileTest, NothingWrittenIsNothingToRead) {
  EXPECT_EQ(read(0, 10), "");
  EXPECT_EQ(LogReader(folder_.get(), "out").end(), 0u);
}

TEST_F(LogFileTest, TextIsReadFromAnyPlace) {
  LogWriter log(folder_.get(), "out", {10, 2});
  log.write("hello world, how");
  EXPECT_EQ(read(0, 100), "hello world, how");
  EXPECT_EQ(read(6, 7), "world, ");
  EXPECT_EQ(place_, 6u);
  EXPECT_EQ(read(16, 100), "");
  EXPECT_EQ(read(99, 100), "");
  EXPECT_EQ(place_, 99u);
}

TEST_F(LogFileTest, OldFilesGoAndPlacesStayTrue) {
  LogWriter log(folder_.get(), "out", {10, 1});
  log.write("0123456789abcdefghijABCDEFGHIJxyz");
  EXPECT_EQ(read(0, 5), "ABCDE");
  EXPECT_EQ(place_, 20u);
  EXPECT_EQ(LogReader(folder_.get(), "out").tail(4), "Jxyz");
  EXPECT_EQ(log.written(), 33u);
}

TEST_F(LogFileTest, AFileIsFullAsSoonAsNoMoreGoesIn) {
  LogWriter log(folder_.get(), "out", {10, 2});
  EXPECT_EQ(log.filled(), 0u);
  log.write("012345678");
  EXPECT_EQ(log.filled(), 0u);
  log.write("9");
  EXPECT_EQ(log.filled(), 10u);
  log.write("abc");
  EXPECT_EQ(log.filled(), 10u);
  log.write("0123456789012345678901234567890");
  EXPECT_EQ(log.filled(), 40u);
}

TEST_F(LogFileTest, StreamsDoNotMix) {
  LogWriter out(folder_.get(), "out", {10, 1});
  LogWriter err(folder_.get(), "err", {10, 1});
  out.write("good");
  err.write("bad");
  EXPECT_EQ(LogReader(folder_.get(), "out").tail(10), "good");
  EXPECT_EQ(LogReader(folder_.get(), "err").tail(10), "bad");
}

TEST_F(LogFileTest, TextThatCannotBeWrittenIsDropped) {
  std::filesystem::create_directories(files_.folder() / "out.0");
  LogWriter log(folder_.get(), "out", {10, 1});
  log.write("lost");
  EXPECT_EQ(log.dropped(), 4u);
  EXPECT_EQ(log.written(), 0u);
}

TEST_F(LogFileTest, FilesOfOtherNamesAreNoLogs) {
  LogWriter log(folder_.get(), "out", {10, 1});
  log.write("text");
  EXPECT_EQ(write_whole(folder_.get(), "out.x7", "junk", false), 0);
  EXPECT_EQ(write_whole(folder_.get(), "out.", "junk", false), 0);
  EXPECT_EQ(read(0, 100), "text");
}

}  // namespace
}  // namespace muster::process
