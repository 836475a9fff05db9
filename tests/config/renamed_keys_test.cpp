#include "config/renamed_keys.hpp"

#include <gtest/gtest.h>

namespace muster::config {
namespace {

TEST(RenamedKeys, KnowTheNewNameOfAnOldKey) {
  EXPECT_EQ(new_name_of("sort.by"), "classify.by");
  EXPECT_EQ(new_name_of("worker.settled_keep"), "worker.acknowledged_keep");
  EXPECT_EQ(new_name_of("loopback.delay_scale"), "cloud.delay_scale");
}

TEST(RenamedKeys, KnowNoNameOfAKeyThatIsCalledAsItWas) {
  EXPECT_EQ(new_name_of("classify.by"), "");
  EXPECT_EQ(new_name_of("sort"), "");
  EXPECT_EQ(new_name_of("sort.b"), "");
  EXPECT_EQ(new_name_of(""), "");
}

TEST(RenamedKeys, KnowWhichSectionsThereWere) {
  EXPECT_TRUE(was_section("sort"));
  EXPECT_TRUE(was_section("loopback"));
  EXPECT_TRUE(was_section("master")) << "of which some keys were renamed";
  EXPECT_FALSE(was_section("sor"));
  EXPECT_FALSE(was_section("sort.by"));
  EXPECT_FALSE(was_section("classify"));
}

TEST(RenamedKeys, ATextNamesTheNewKey) {
  EXPECT_NE(renamed_text("sort.by").find("classify.by"), std::string::npos);
}

}  // namespace
}  // namespace muster::config
