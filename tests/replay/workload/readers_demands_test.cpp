#include <gtest/gtest.h>

#include "replay/workload/demands_text.hpp"

namespace muster::replay {
namespace {

TEST(DemandsText, ReadsAmountsAndSpeedsByFamily) {
  const auto entries = parse_demands("p3:1/10/8;c7i:0/4/8.5@1.2;any:0/0.5/1/900/25/3");
  ASSERT_TRUE(entries.has_value());
  ASSERT_EQ(entries->size(), 3U);
  EXPECT_EQ((*entries)[0], (FamilyDemand{"p3", Resources::of(1, 10, 8), 1}));
  EXPECT_EQ((*entries)[1], (FamilyDemand{"c7i", Resources::of(0, 4, 8.5), 1.2}));
  Resources any = Resources::of(0, 0.5, 1);
  any[Resource::storage] = 900;
  any[Resource::network] = 25;
  any[Resource::spare] = 3;
  EXPECT_EQ((*entries)[2], (FamilyDemand{"", any, 1}));
}

TEST(DemandsText, WritesWhatItReads) {
  for (const char* text : {"p3:1/10/8", "any:0.1/2/3@1.5", "a:1/2/3/0/5;b-2:0/0/0/0/0/6@0.25"}) {
    const auto entries = parse_demands(text);
    ASSERT_TRUE(entries.has_value()) << text;
    EXPECT_EQ(demands_text(*entries), text);
  }
}

TEST(DemandsText, RejectsEverythingElse) {
  for (const char* bad : {"", "p3", "p3:", "p3:1/2", "p3:1/2/3/4/5/6/7", "p3:1/-2/3", "p3:1/2/nan",
                          "p3:1/2/3@0", "p3:1/2/3@-1", "p3:1/2/3@", ":1/2/3", "p 3:1/2/3",
                          "p3:1/2/3;", "p3:1/2/3;p3:1/2/3", "any:1/2/3;any:1/2/3"}) {
    EXPECT_EQ(parse_demands(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace muster::replay
