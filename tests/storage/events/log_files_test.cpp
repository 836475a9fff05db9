#include "storage/events/log_files.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(LogFileIdTest, AFileIsKnownByItsName) {
  const LogName log{TaskId{12}, 3};
  for (const auto& [id, name] : {std::pair{LogFileId{log, {}}, "12.3"},
                                 std::pair{LogFileId{log, LogPart{false, 0, 10}}, "12.3.out.0-10"},
                                 std::pair{LogFileId{log, LogPart{true, 5, 7}}, "12.3.err.5-7"}}) {
    EXPECT_EQ(id.file_name(), name);
    EXPECT_EQ(LogFileId::from(name), id);
  }
}

TEST(LogFileIdTest, OtherFilesAreNoLogs) {
  for (const char* name :
       {"", "removed", "12", "12.", "12.x", "12.3.", "12.3.draft", "12.3.out", "12.3.out.",
        "12.3.out.5", "12.3.out.5-", "12.3.out.5-5", "12.3.out.7-5", "12.3.out.0-10.draft",
        "12.3.log.0-10", "-12.3", "12.3.out.0-99999999999999999999"}) {
    EXPECT_FALSE(LogFileId::from(name)) << name;
  }
}

}  // namespace
}  // namespace muster
