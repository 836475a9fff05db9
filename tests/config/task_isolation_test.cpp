#include "config/task_isolation.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(UidRange, IsTwoNumbersOfUsers) {
  const auto range = parse_uid_range("1000-1999");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->first, 1000U);
  EXPECT_EQ(range->last, 1999U);
  EXPECT_TRUE(parse_uid_range("1-1")) << "one user";
  EXPECT_TRUE(parse_uid_range("1-4294967294"));
}

TEST(UidRange, HasNeitherRootNorNobodyInIt) {
  EXPECT_FALSE(parse_uid_range("0-10"));
  EXPECT_FALSE(parse_uid_range("1-4294967295")) << "this number stands for no user";
}

TEST(UidRange, IsNothingElse) {
  for (const char* text : {"", "-", "5", "5-", "-5", "9-5", "a-b", "1-2-3", "1 - 2", "+1-2"}) {
    EXPECT_FALSE(parse_uid_range(text)) << text;
  }
}

}  // namespace
}  // namespace muster
