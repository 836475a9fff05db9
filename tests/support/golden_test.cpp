#include "tests/support/golden.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/places.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kFile =
    "# Texts.\n"
    "\n"
    "Ports.AreNumbers\n"
    "  - no number\n"
    "  - too large:\n"
    "    65536\n"
    "\n"
    "    at most 65535\n"
    "\n"
    "Ports.MayBeLeftOut\n"
    "  - \\empty\n";

std::string content_of(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class GoldenTextsTest : public testing::Test {
 protected:
  std::string fault(std::string_view text) { return texts_.fault(texts_.next(), text); }

  TempFile file_{"ports.txt", kFile};
  GoldenTexts texts_{file_.folder()};
};

TEST_F(GoldenTextsTest, TakesTheTextsOfATestInTheirOrder) {
  texts_.begin({"ports", "Ports.AreNumbers"});
  EXPECT_EQ(fault("no number"), "");
  EXPECT_EQ(fault("too large:\n65536\n\nat most 65535"), "");
  texts_.begin({"ports", "Ports.MayBeLeftOut"});
  EXPECT_EQ(fault(""), "");
}

TEST_F(GoldenTextsTest, RefusesATextThatChanged) {
  texts_.begin({"ports", "Ports.AreNumbers"});
  EXPECT_THAT(fault("not a number"),
              AllOf(HasSubstr("text 1 of Ports.AreNumbers in tests/golden/ports.txt"),
                    HasSubstr("\nno number\n"), HasSubstr("\nnot a number\n"),
                    HasSubstr("tests/golden/regenerate ports")));
}

TEST_F(GoldenTextsTest, RefusesATextThatIsMissing) {
  texts_.begin({"ports", "Ports.MayBeLeftOut"});
  EXPECT_EQ(fault(""), "");
  EXPECT_THAT(fault("one more"), HasSubstr("no text 2 of Ports.MayBeLeftOut"));
  texts_.begin({"ports", "Ports.AreNew"});
  EXPECT_THAT(fault("no number"), HasSubstr("no text 1 of Ports.AreNew"));
  texts_.begin({"no_file", "Ports.AreNumbers"});
  EXPECT_THAT(fault("no number"), HasSubstr("tests/golden/regenerate no_file"));
}

TEST_F(GoldenTextsTest, RefusesATestThatAsksForFewerTextsThanThereAre) {
  texts_.begin({"ports", "Ports.AreNumbers"});
  EXPECT_EQ(fault("no number"), "");
  EXPECT_THAT(texts_.fault_of_rest(), HasSubstr("1 texts, and has 2"));
  texts_.begin({"ports", "Ports.MayBeLeftOut"});
  EXPECT_EQ(fault(""), "");
  EXPECT_EQ(texts_.fault_of_rest(), "");
}

TEST_F(GoldenTextsTest, WriteNothingInATestRun) {
  texts_.begin({"ports", "Ports.AreNumbers"});
  EXPECT_NE(fault("another text"), "");
  texts_.begin({"new", "Ports.AreNew"});
  EXPECT_NE(fault("another text"), "");
  EXPECT_EQ(content_of(file_.path()), kFile);
  const std::filesystem::directory_iterator files(file_.folder());
  EXPECT_EQ(std::distance(files, {}), 1);
}

TEST_F(GoldenTextsTest, WriteTheTextsOfARunOnlyToItsOutput) {
  const TempFile beside("beside", "");
  GoldenTexts said(file_.folder(), beside.folder());
  said.begin({"ports", "Ports.AreNumbers"});
  EXPECT_EQ(said.fault(said.next(), "a \"new\" text\n"), "");
  EXPECT_EQ(said.fault_of_rest(), "");
  EXPECT_EQ(content_of(file_.path()), kFile);
  const std::string line = content_of(beside.folder() / (std::to_string(getpid()) + ".jsonl"));
  EXPECT_EQ(nlohmann::json::parse(line), nlohmann::json({{"file", "ports"},
                                                         {"test", "Ports.AreNumbers"},
                                                         {"number", 0},
                                                         {"text", "a \"new\" text\\n"}}));
}

TEST(GoldenForm, LosesNoByteAndShowsThoseThatCannotBeSeen) {
  EXPECT_EQ(golden_form("a\tb\r\n\\n \nc "), "a\\tb\\r\n\\\\n\\x20\nc\\x20");
  EXPECT_EQ(golden_form("\n\na\n\nb\n"), "\\n\\na\n\nb\\n");
  EXPECT_EQ(golden_form("\n\n"), "\\n\\n");
  EXPECT_EQ(golden_form(std::string_view("\0\x1b[1m", 5)), "\\x00\\x1b[1m");
  EXPECT_EQ(golden_form("5 \u00b5s"), "5 \u00b5s");
  EXPECT_EQ(golden_form("\xff"), "\\xff");
}

TEST(GoldenForm, HasNoFolderOfThisMachine) {
  const TempFile file("a.txt", "");
  EXPECT_EQ(
      without_folders("in " + file.path().string() + ":1: and " + (source_dir() / "docs").string()),
      "in {dir}/a.txt:1: and {source}/docs");
}

TEST(IsGolden, TakesTheTextsOfTheRunningTest) {
  EXPECT_THAT("the first text", IsGolden());
  EXPECT_THAT("jobs.csv:1: id: is missing\nuser: is missing", IsGoldenAt("jobs.csv:1: id", "user"));
  EXPECT_THAT(std::vector<std::string>({"jobs.csv:3: gpu: is missing", "jobs.csv:4: cpu: is 0"}),
              ElementsAre(IsGoldenAt("jobs.csv:3: gpu"), IsGoldenAt("cpu")));
}

TEST(IsGolden, WantsThePlaceNamed) {
  const auto matcher = IsGoldenAt("gpu");
  EXPECT_THAT("jobs.csv:3: no_gpu: is missing", Not(matcher));
}

class IsGoldenOf : public testing::TestWithParam<int> {};

TEST_P(IsGoldenOf, KeepsTheTextsOfParametersApart) {
  for (int i = 0; i < GetParam(); ++i) {
    EXPECT_THAT("text " + std::to_string(i) + " of " + std::to_string(GetParam()), IsGolden());
  }
}

INSTANTIATE_TEST_SUITE_P(Counts, IsGoldenOf, testing::Values(1, 3));

}  // namespace
}  // namespace muster::test
