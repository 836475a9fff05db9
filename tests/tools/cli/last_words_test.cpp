#include "tools/cli/last_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/golden.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::cli {
namespace {

using muster::test::IsGolden;
using testing::HasSubstr;

/// The logs of a cluster with the nodes n1 and n2.
class LastWordsTest : public ::testing::Test {
 protected:
  LastWordsTest() {
    config_.state = files_.folder() / "state";
    for (const char* name : {"n1", "n2"}) {
      NodeConfig node;
      node.name = name;
      config_.nodes.push_back(node);
      std::filesystem::create_directories(config_.state / name);
    }
  }
  void keeper(const std::string& lines) { write(files_.folder() / "keeper.log", lines); }
  void node(const std::string& name, const std::string& lines) {
    write(config_.state / name / "node.log", lines);
  }
  LastWords words() { return {files_.folder(), config_}; }
  static void write(const std::filesystem::path& file, const std::string& lines) {
    std::ofstream(file, std::ios::app) << lines;
  }

  test::TempFile files_{"kept", ""};
  ClusterConfig config_;
};

TEST_F(LastWordsTest, WhereNothingIsSaidThereAreNone) {
  const LastWords said = words();
  EXPECT_EQ(said.of("n1"), "none");
  EXPECT_EQ(said.ends("n1"), "");
  EXPECT_EQ(said.node_that_gives_up(), "");
}

TEST_F(LastWordsTest, OfEarlierStartsNothingCounts) {
  keeper("muster: node n1: of before\nmuster: node n1 ended (1)\n");
  node("n1", "of before\n");
  const LastWords said = words();
  EXPECT_EQ(said.of("n1"), "none");
  EXPECT_EQ(said.ends("n1"), "");
  keeper("muster: node n1: of now\n");
  EXPECT_EQ(said.of("n1"), "muster: node n1: of now");
}

TEST_F(LastWordsTest, ALogThatWasBegunAnewIsNewAsAWhole) {
  keeper("a line that is longer than what comes\n");
  const LastWords said = words();
  std::ofstream(files_.folder() / "keeper.log") << "muster: node n1: new\n";
  EXPECT_EQ(said.of("n1"), "muster: node n1: new");
}

TEST_F(LastWordsTest, ItsOwnComplaintComesBeforeThoseOfOthers) {
  const LastWords said = words();
  node("n2", "time: turns n1 away: old\ntime: turns n1 away: another version\n");
  EXPECT_EQ(said.of("n1"), "node n2 turns n1 away: another version");
  keeper("time muster: node n1: first\ntime muster: node n1: last\nmuster: node n2: other\n");
  EXPECT_EQ(said.of("n1"), "muster: node n1: last");
  EXPECT_EQ(said.of(""), "muster: node n2: other") << "of any node";
}

TEST_F(LastWordsTest, OfALinkThatIsMissingTheOtherEndSays) {
  const LastWords said = words();
  node("n1", "no link with n1: itself\n");
  node("n2", "x no link with n1: refused\n");
  EXPECT_THAT(said.of("n1"), IsGolden());
}

TEST_F(LastWordsTest, EndsOfTheLogsAreTheirLastNewLines) {
  node("n1", "before\n");
  const LastWords said = words();
  keeper("a\nb\n");
  node("n1", "1\n2\n3\n4\n5\n6\n");
  node("n2", "of another\n");
  EXPECT_THAT(said.ends("n1"), IsGolden());
}

TEST_F(LastWordsTest, WhereNoNodeIsNamedThoseAreMeantThatHaveEnded) {
  const LastWords said = words();
  node("n1", "one\n");
  node("n2", "two\n");
  EXPECT_EQ(said.ends(""), "");
  keeper("muster: node n2 ended (1)\n");
  EXPECT_THAT(said.ends(""), AllOf(HasSubstr("two"), Not(HasSubstr("one")), IsGolden()));
}

TEST_F(LastWordsTest, ANodeThatHasEndedOftenGivesUp) {
  const LastWords said = words();
  for (std::size_t i = 1; i < LastWords::kVainStarts; ++i) keeper("muster: node n2 ended (1)\n");
  EXPECT_EQ(said.node_that_gives_up(), "");
  keeper("muster: node n2 ended (1)\n");
  EXPECT_EQ(said.node_that_gives_up(), "n2");
}

}  // namespace
}  // namespace muster::cli
