// The texts that are taken from outside, and how they are shown.

#include "config/request_text.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace muster::config {
namespace {

TEST(Utf8, HasTheFormsThatUnicodeDefines) {
  for (const char* text : {"", "abc", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80",
                           "\xED\x9F\xBF", "\xEE\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
}

TEST(Utf8, HasNoOverlongFormsNoSurrogatesAndNothingBeyondItsLastCharacter) {
  for (const char* text : {"\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xE0\x9F\xBF",
                           "\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF", "\xED\xA0\x80", "\xED\xBF\xBF",
                           "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"}) {
    EXPECT_FALSE(is_utf8(text)) << text;
  }
}

TEST(Utf8, HasWholeCharacters) {
  for (const char* text : {"a\xC3", "\xE2\x82", "\xF0\x9F\x98", "\x80", "\xC3(", "\xE2(\xA1",
                           "\xE2\x82(", "\xF0\x9F\x98("}) {
    EXPECT_FALSE(is_utf8(text)) << text;
  }
}

TEST(FirstCharacter, IsReadWithItsLength) {
  std::size_t bytes = 0;
  EXPECT_EQ(first_character("a\xC3\xA4", bytes), U'a');
  EXPECT_EQ(bytes, 1U);
  EXPECT_EQ(first_character("\xC3\xA4z", bytes), char32_t{0xE4});
  EXPECT_EQ(bytes, 2U);
  EXPECT_EQ(first_character("\xE2\x82\xAC", bytes), char32_t{0x20AC});
  EXPECT_EQ(bytes, 3U);
  EXPECT_EQ(first_character("\xF0\x9F\x98\x80", bytes), char32_t{0x1F600});
  EXPECT_EQ(bytes, 4U);
  EXPECT_EQ(first_character("\xF0\x9F", bytes), std::nullopt);
  EXPECT_EQ(bytes, 1U);
}

TEST(OneLine, HasNoControlCharacters) {
  EXPECT_TRUE(is_one_line("a b \xC3\xA4"));
  EXPECT_TRUE(is_one_line(""));
  for (const char* text : {"a\nb", "a\tb", "a\x1b[2J", "a\x7f", "a\xFF"}) {
    EXPECT_FALSE(is_one_line(text)) << text;
  }
  EXPECT_FALSE(is_one_line(std::string(1, '\0')));
}

TEST(HiddenCharacter, CannotBeSeenOrLeadsAstray) {
  for (const std::uint32_t hidden : {0x0U, 0x1FU, 0x7FU, 0x9FU, 0xADU, 0x200BU, 0x202EU, 0x2060U,
                                     0x3164U, 0xFEFFU, 0xE0001U, 0x10FFFEU}) {
    EXPECT_TRUE(is_hidden(hidden)) << hidden;
  }
  for (const std::uint32_t seen : {0x20U, 0x41U, 0xA0U, 0xE4U, 0x20ACU, 0xFE0FU, 0x1F600U}) {
    EXPECT_FALSE(is_hidden(seen)) << seen;
  }
}

TEST(Label, HasSomethingToBeSeenAndNothingHidden) {
  for (const char* text : {"job", "J\xC3\xBCrgen 2", " a", "\xF0\x9F\x98\x80"}) {
    EXPECT_TRUE(is_label(text)) << text;
  }
  for (const char* text : {"", " ", "\xC2\xA0\xE3\x80\x80", "\xE2\xA0\x80", "a\nb",
                           "a\xE2\x80\xAE"
                           "b",
                           "a\xE2\x80\x8B", "\xFF"}) {
    EXPECT_FALSE(is_label(text)) << text;
  }
}

TEST(Readable, KeepsLettersAndShowsWhatHides) {
  EXPECT_EQ(readable("J\xC3\xBCrgen \xF0\x9F\x98\x80", false), "J\xC3\xBCrgen \xF0\x9F\x98\x80");
  EXPECT_EQ(readable("a\xE2\x80\xAE"
                     "b",
                     false),
            "a\\u202Eb");
  EXPECT_EQ(readable("a\x1b[2Jb\x7f", false), "a?[2Jb?");
  EXPECT_EQ(readable("\xC2\x9B", false), "?") << "a control character of two bytes";
}

TEST(Readable, BreaksLinesOnlyWhereItMay) {
  EXPECT_EQ(readable("a\nb\tc", false), "a b c");
  EXPECT_EQ(readable("a\nb\rc", true), "a\nb c");
}

TEST(Readable, ShowsEachMistakeOnce) {
  EXPECT_EQ(readable("a\xFF"
                     "b",
                     false),
            "a?b");
  EXPECT_EQ(readable("a\xE2\x82", false), "a?") << "one character that is not whole";
  EXPECT_EQ(readable("\xE2\x82"
                     "b",
                     false),
            "?b");
  EXPECT_EQ(readable("\xFF\xFF", false), "??");
  EXPECT_EQ(readable("\x80\x80\x80\x80\x80", false), "??") << "no character has more than four";
}

TEST(VariableName, IsAnyTextThatAnEnvironmentTakes) {
  for (const char* name : {"PATH", "a-b", "a b", "1", "\xC3\xA4"}) {
    EXPECT_TRUE(is_variable_name(name)) << name;
  }
  EXPECT_FALSE(is_variable_name(""));
  EXPECT_FALSE(is_variable_name("A=B"));
  EXPECT_FALSE(is_variable_name({"A\0B", 3}));
  EXPECT_FALSE(is_variable_name("\xFF"));
}

TEST(OwnVariable, IsOneThatMusterSets) {
  EXPECT_TRUE(is_own_variable("MUSTER_JOB"));
  EXPECT_TRUE(is_own_variable("MUSTER_"));
  EXPECT_TRUE(is_own_variable("MUSTER_API_X"));
  for (const char* name : {"MUSTER_API", "MUSTER_TOKEN", "MUSTER_TOKEN_FILE", "MUSTER_CLUSTER",
                           "MUSTER", "XMUSTER_JOB", "PATH"}) {
    EXPECT_FALSE(is_own_variable(name)) << name;
  }
}

}  // namespace
}  // namespace muster::config
