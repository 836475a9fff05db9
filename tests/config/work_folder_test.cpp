#include "config/work_folder.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

std::string folder(std::string_view pattern, const std::string& user = "ann") {
  return work_folder(pattern, {JobId{12}, 7, user});
}

TEST(WorkFolder, IsThatOfAJobATaskOrAUser) {
  EXPECT_EQ(folder("/srv/%j"), "/srv/12");
  EXPECT_EQ(folder("/srv/%A"), "/srv/12");
  EXPECT_EQ(folder("/srv/%a"), "/srv/7");
  EXPECT_EQ(folder("/srv/%u"), "/srv/ann");
  EXPECT_EQ(folder("/srv/%j-%a.%u"), "/srv/12-7.ann");
}

TEST(WorkFolder, HasNumbersOfAsManyDigitsAsAsked) {
  EXPECT_EQ(folder("/%4a"), "/0007");
  EXPECT_EQ(folder("/%1j"), "/12") << "none is left out";
  EXPECT_EQ(folder("/%10j"), "/0000000012");
  EXPECT_EQ(folder("/%11j"), "/%11j") << "no number has so many digits";
  EXPECT_EQ(folder("/%99999999999999999999j"), "/%99999999999999999999j");
}

TEST(WorkFolder, KeepsWhatIsNoPlaceholder) {
  for (const char* pattern : {"/srv", "/%", "/%x", "/%4u", "/%4%", "/%-4a", "/a%4"}) {
    EXPECT_EQ(folder(pattern), pattern);
  }
  EXPECT_EQ(folder("/50%%"), "/50%");
  EXPECT_EQ(folder("/%%j"), "/%j");
}

TEST(WorkFolder, TakesNoUserOutOfItsFolder) {
  EXPECT_EQ(folder("/srv/%u", ".."), "/srv/_.");
  EXPECT_EQ(folder("/srv/%u", ".ssh"), "/srv/_ssh");
  EXPECT_EQ(folder("/srv/%u", "a/../b"), "/srv/a_.._b");
}

TEST(WorkFolder, HasAPlaceholderWhereAPercentSignIsNotDoubled) {
  EXPECT_TRUE(has_placeholder("/srv/%j"));
  EXPECT_TRUE(has_placeholder("/%%/%4a"));
  EXPECT_FALSE(has_placeholder("/srv"));
  EXPECT_FALSE(has_placeholder("/%%j"));
  EXPECT_FALSE(has_placeholder("/%x"));
}

TEST(WorkFolder, SaysWhichPercentSignIsWrong) {
  EXPECT_EQ(placeholder_fault("/srv/%j/%4a/%u/%%"), "");
  EXPECT_EQ(placeholder_fault("/srv"), "");
  EXPECT_NE(placeholder_fault("/%j/%x").find("'%x'"), std::string::npos);
  EXPECT_NE(placeholder_fault("/%").find("'%'"), std::string::npos);
  EXPECT_NE(placeholder_fault("/%%%y").find("'%y'"), std::string::npos);
}

TEST(WorkFolder, HasAPartThatAllTasksShare) {
  EXPECT_EQ(common_work_folder("/srv/runs/%j/out"), "/srv/runs");
  EXPECT_EQ(common_work_folder("/srv/run-%j"), "/srv");
  EXPECT_EQ(common_work_folder("/srv/50%%/a-%a"), "/srv/50%");
  EXPECT_EQ(common_work_folder("/srv/50%%"), "/srv/50%") << "all of it";
  EXPECT_EQ(common_work_folder("/%j/x"), "/");
  EXPECT_EQ(common_work_folder("%j"), "/");
}

TEST(WorkFolder, OfAPathIsThatPath) {
  for (const char* path : {"/srv", "/srv/50%", "/%j", "/100%%"}) {
    EXPECT_EQ(path_of_pattern(pattern_of_path(path)), path);
    EXPECT_FALSE(has_placeholder(pattern_of_path(path))) << path;
    EXPECT_EQ(placeholder_fault(pattern_of_path(path)), "") << path;
  }
}

}  // namespace
}  // namespace muster
