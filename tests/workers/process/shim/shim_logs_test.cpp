#include "workers/process/shim/shim_logs.hpp"

#include <gtest/gtest.h>

#include "tests/support/temp_file.hpp"
#include "workers/process/descriptor.hpp"
#include "workers/process/files/attempt_dir.hpp"

namespace muster::process {
namespace {

using std::chrono::milliseconds;

class ShimLogsTest : public ::testing::Test {
 protected:
  std::string told_at(Duration now) { return logs_.take_due(now).value_or(""); }

  test::TempFile files_{"kept", ""};
  Descriptor folder_ = open_folder(files_.folder());
  ShimLogs logs_{folder_.get(), {10, 2}};
};

TEST_F(ShimLogsTest, FullFilesAreToldAtOnceAndThenOnceAnInterval) {
  EXPECT_FALSE(logs_.next_due());
  EXPECT_EQ(logs_.told(), "");
  logs_.out().write("0123456789a");
  EXPECT_EQ(told_at(milliseconds{5}), "filled 10 0\n");
  EXPECT_FALSE(logs_.next_due()) << "all is told";
  logs_.out().write("0123456789");
  logs_.err().write("0123456789");
  EXPECT_EQ(logs_.next_due(), milliseconds{205});
  EXPECT_EQ(told_at(milliseconds{204}), "");
  logs_.out().write("0123456789");
  EXPECT_EQ(logs_.told(), "filled 10 0\n");
  EXPECT_EQ(told_at(milliseconds{205}), "filled 30 10\n");
  EXPECT_EQ(logs_.told(), "filled 30 10\n");
}

TEST(FilledLineTest, TheLineIsReadAsItWasWritten) {
  const FilledBytes filled{8'388'608, ~std::uint64_t{0}};
  const std::string line = filled_line(filled);
  EXPECT_EQ(filled_from(std::string_view(line).substr(0, line.size() - 1)), filled);
}

TEST(FilledLineTest, OtherLinesAreNoSuchNews) {
  for (const char* line : {"", "filled", "filled ", "filled 1", "filled 1 ", "filled 1 2 3",
                           "filled -1 2", "filled x 2", "progress 1 2", "filled 1 2\n"}) {
    EXPECT_FALSE(filled_from(line)) << line;
  }
}

}  // namespace
}  // namespace muster::process
