#include "tools/cli/job_lists.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace muster::cli {
namespace {

constexpr Instant kNow{std::chrono::seconds{1'764'400'000}};  // 2025-11-29 07:06:40 UTC

std::optional<double> meant_s(const std::string& text) {
  const auto time = time_meant(text, kNow);
  if (!time) return std::nullopt;
  return to_seconds(*time);
}

TEST(TimeMeant, IsSoLongAgo) {
  EXPECT_EQ(meant_s("2h"), 1'764'392'800);
  EXPECT_EQ(meant_s("90"), 1'764'399'910);
  EXPECT_FALSE(meant_s("0"));
  EXPECT_FALSE(meant_s("4000d"));
}

TEST(TimeMeant, IsATimeOfTheClock) {
  EXPECT_EQ(meant_s("2025-11-29Z"), 1'764'374'400);
  EXPECT_EQ(meant_s("2025-11-29T08:00Z"), 1'764'403'200);
  EXPECT_EQ(meant_s("2025-11-29T08:00:05Z"), 1'764'403'205);
  EXPECT_EQ(meant_s("2025-11-29 08:00Z"), 1'764'403'200);
  EXPECT_TRUE(meant_s("2025-11-29T08:00")) << "of the reader's clock";
}

TEST(TimeMeant, IsNothingElse) {
  for (const char* text : {"yesterdayish", "", "2025-13-29", "2025-11-29T", "Z", "11:00 today"}) {
    EXPECT_FALSE(meant_s(text)) << text;
  }
}

}  // namespace
}  // namespace muster::cli
