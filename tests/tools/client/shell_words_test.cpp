#include "tools/client/shell_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/temp_file.hpp"

namespace muster::client {
namespace {

using testing::ElementsAreArray;

/// The words that bash makes of a line.
std::vector<std::string> read_by_bash(const std::string& line) {
  // Each word with a byte behind it that no word has; a function stands for the program, whose
  // first word is one like the others.
  const test::TempFile script("line.sh", "printf '%s\\0' " + line + "\n");
  std::FILE* out = popen(("LC_ALL=C bash " + script.path().string()).c_str(), "r");
  std::string text;
  std::array<char, 4096> part{};
  while (const std::size_t got = std::fread(part.data(), 1, part.size(), out)) {
    text.append(part.data(), got);
  }
  EXPECT_EQ(pclose(out), 0) << line;
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\0', at);
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

TEST(ShellLine, quotes_only_what_the_shell_would_read_otherwise) {
  EXPECT_EQ(shell_line({"printf", "%s|", "a b", "", "c\nd"}), "printf '%s|' 'a b' '' $'c\\nd'");
  EXPECT_EQ(shell_line({"./count.sh", "--n=3", "a:b,c@d"}), "./count.sh --n=3 a:b,c@d");
  EXPECT_EQ(shell_line({"echo", "it's", "$HOME", "*"}), "echo 'it'\\''s' '$HOME' '*'");
  EXPECT_EQ(shell_line({"A=b", "C=d"}), "'A=b' C=d");
  EXPECT_EQ(shell_line({"time", "time"}), "'time' time");
  EXPECT_EQ(shell_line({"echo",
                        "stra\xc3\x9f"
                        "e"}),
            "echo 'stra\xc3\x9f"
            "e'");
}

TEST(ShellLine, hides_nothing_and_is_one_line) {
  EXPECT_EQ(shell_line({"echo", "\x1b[31m",
                        "a\xe2\x80\xae"
                        "b",
                        "\xff"}),
            "echo $'\\x1b[31m' $'a\\xe2\\x80\\xaeb' $'\\xff'");
}

TEST(ShellLine, is_read_by_bash_as_it_was_written) {
  const std::vector<std::string> words{"",
                                       " ",
                                       "a b",
                                       "c\nd",
                                       "tab\there",
                                       "it's",
                                       "\"",
                                       "\\",
                                       "\\n",
                                       "$x",
                                       "`id`",
                                       "!!",
                                       "~",
                                       "#no",
                                       "a=b",
                                       "*?[a]",
                                       "\x1b[m",
                                       "\x01"
                                       "2",
                                       "\x7f",
                                       "\xc2\x85",
                                       "\xff\xfe",
                                       "{a,b}",
                                       "<(x)",
                                       ";&|",
                                       "-n",
                                       "'\n'\\x41",
                                       "\r\n",
                                       "if",
                                       "\xe6\x9d\xb1\xe4\xba\xac",
                                       "%1",
                                       "\xf0\x9f\x98\x80"};
  EXPECT_THAT(read_by_bash(shell_line(words)), ElementsAreArray(words));
  for (const std::string& word : words) {
    EXPECT_THAT(read_by_bash(shell_line({word, word})), ElementsAreArray({word, word}));
  }
}

}  // namespace
}  // namespace muster::client
