#include "tools/client/text_table.hpp"

#include <gtest/gtest.h>

#include "tools/client/printable.hpp"

namespace muster::client {
namespace {

TEST(TextTable, AlignsColumnsAndLeavesNoSpaceAtTheEnd) {
  TextTable table({{"ID", true}, {"NAME"}, {"LAST"}});
  table.add_row({"7", "a", ""});
  table.add_row({"123", "longer", "x"});
  EXPECT_EQ(table.text(),
            " ID  NAME    LAST\n"
            "  7  a\n"
            "123  longer  x\n");
}

TEST(TextTable, CountsCharactersAndNotBytes) {
  TextTable table({{"N"}, {"X"}});
  table.add_row({"\xc3\xa9\xc3\xa9", "1"});
  table.add_row({"ab", "2"});
  EXPECT_EQ(table.text(), "N   X\n\xc3\xa9\xc3\xa9  1\nab  2\n");
}

TEST(TextTable, GivesCharactersThatTakeTwoColumnsTheirRoom) {
  TextTable table({{"N"}, {"X"}});
  table.add_row({"\u6771\u4eac", "1"});
  table.add_row({"abcd", "2"});
  table.add_row({"", "3"});
  EXPECT_EQ(table.text(), "N     X\n\u6771\u4eac  1\nabcd  2\n      3\n");
}

TEST(TextTable, CutsWhatIsTooLong) {
  TextTable table({{"N", false, 6}});
  table.add_row({"abcdefgh"});
  table.add_row({"abcdef"});
  EXPECT_EQ(table.text(), "N\nabc...\nabcdef\n");
}

TEST(Cut, KeepsCharactersWhole) {
  EXPECT_EQ(cut("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 4), "\xc3\xa9...");
  EXPECT_EQ(cut("\u6771\u4eac\u6771", 5), "\u6771...") << "six columns";
  EXPECT_EQ(cut("\u6771\u4eac\u6771", 6), "\u6771\u4eac\u6771");
  EXPECT_EQ(cut("abc", 3), "abc");
  EXPECT_EQ(cut("abcd", 2), "...");
}

TEST(Printable, LeavesNothingThatATerminalObeys) {
  EXPECT_EQ(printable("1\t2\n3\r4"), "1 2 3 4");
  EXPECT_EQ(printable_lines("a\nb\x1b[0m"), "a\nb?[0m");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m\x7f"),
            "?31m?");
  EXPECT_EQ(printable("\xff\xfe"
                      "a\xc3"),
            "??a?");
  EXPECT_EQ(printable("\xe2\x82\xac\xf0\x9f\x98\x80"), "\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(printable("\xed\xa0\x80"), "?");
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b\xe2\x80\x8b\xe2\x80\xa8"),
            "a\\u202Eb\\u200B\\u2028");
  EXPECT_EQ(printable("end\xe2\x80"), "end?");
}

}  // namespace
}  // namespace muster::client
