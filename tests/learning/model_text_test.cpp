#include "learning/model_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace muster {
namespace {

using testing::HasSubstr;

std::string two_lines() {
  ModelWriter out;
  out.line("first").number(0.1).whole(7);
  out.line("second").number(-1e-300).number(std::numeric_limits<double>::max());
  return std::move(out).text();
}

TEST(ModelText, gives_back_every_bit) {
  EXPECT_EQ(two_lines().substr(0, 12), "first 0.1 7\n");
  const std::string text = two_lines();
  ModelReader reader(text);
  EXPECT_TRUE(reader.line("first"));
  EXPECT_EQ(reader.number(0, 1), 0.1);
  EXPECT_EQ(reader.whole(0, 10), 7u);
  EXPECT_TRUE(reader.line("second"));
  EXPECT_EQ(reader.number(-1, 1), -1e-300);
  EXPECT_EQ(reader.number(0, std::numeric_limits<double>::max()),
            std::numeric_limits<double>::max());
  EXPECT_TRUE(reader.finish());
}

TEST(ModelText, names_the_line_of_the_first_mistake_and_answers_the_least_value_after_it) {
  const std::string text = two_lines();
  ModelReader in(text);
  in.line("first");
  in.number(0, 1);
  EXPECT_EQ(in.whole(8, 9), 8u);
  EXPECT_EQ(in.number(3, 4), 3);
  EXPECT_FALSE(in.line("second"));
  EXPECT_FALSE(in.finish());
  EXPECT_THAT(in.error(), HasSubstr("line 2: ")) << "line 1 is the envelope's";
}

TEST(ModelText, notices_words_that_nobody_asked_for) {
  const std::string text = two_lines();
  ModelReader skipped(text);
  skipped.line("first");
  EXPECT_FALSE(skipped.line("second")) << "the words of the first line were not read";
  ModelReader short_of_the_end(text);
  EXPECT_FALSE(short_of_the_end.finish());
}

TEST(ModelText, takes_no_number_that_is_not_finite) {
  for (const char* text : {"a nan\n", "a inf\n", "a 1e999\n", "a \n", "a 1x\n", "a 0x1p3\n"}) {
    ModelReader in(text);
    in.line("a");
    in.number(-1e300, 1e300);
    EXPECT_FALSE(in.finish()) << text;
  }
}

TEST(SealedModel, opens_as_what_it_was_sealed_as_and_nothing_else) {
  const std::string sealed = seal_model("thing", 3, "a 1\n");
  EXPECT_EQ(open_model("thing", 3, sealed).value(), "a 1\n");
  EXPECT_EQ(open_model("other", 3, sealed).error().code, LearnError::damaged);
  EXPECT_EQ(open_model("thing", 4, sealed).error().code, LearnError::other_version);
  EXPECT_THAT(open_model("thing", 4, sealed).error().message, HasSubstr("version 3"));
  EXPECT_EQ(open_model("thing", 3, sealed + " ").error().code, LearnError::damaged);
  EXPECT_EQ(open_model("thing", 3, "").error().code, LearnError::damaged);
  std::string changed = sealed;
  changed[changed.find("a 1") + 2] = '2';
  EXPECT_THAT(open_model("thing", 3, changed).error().message, HasSubstr("checksum"));
}

}  // namespace
}  // namespace muster
