// Requests and output of `muster logs`, against a server whose answers stand here.

#include "tools/cli/task_logs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden.hpp"
#include "tests/tools/cli/run_command.hpp"

namespace muster::cli {
namespace {

using muster::test::FakeServer;
using muster::test::IsGolden;
using muster::test::reply_of;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

/// The text printed for these pieces of output, each with its source.
std::string printed(const LogLabels& labels,
                    const std::vector<std::pair<LogSource, std::string>>& pieces) {
  const Captured out(std::cout);
  LogPrinter printer(labels);
  for (const auto& [source, text] : pieces) printer.print(source, text);
  printer.end_line();
  return out.text();
}

TEST(LogPrinterTest, OfOneTaskPrintsWhatItWroteAndNoMore) {
  EXPECT_EQ(printed({}, {{{3, false}, "a\nb"}, {{3, false}, "c"}}), "a\nbc");
  EXPECT_FALSE(LogPrinter(LogLabels{}).several());
  EXPECT_TRUE(LogPrinter(LogLabels{true}).several());
  EXPECT_TRUE(LogPrinter(LogLabels{false, true}).several());
}

TEST(LogPrinterTest, OfSeveralPutsTheTaskBeforeEachLine) {
  EXPECT_EQ(printed({true}, {{{3, false, 12}, "a\n\nb\n"}, {{4, false, 12}, "c\n"}}),
            "12:3 | a\n12:3 | \n12:3 | b\n12:4 | c\n");
  EXPECT_EQ(printed({true}, {{{3, true, 12}, "a\n"}}), "12:3 | a\n") << "one stream needs no name";
}

TEST(LogPrinterTest, OfSeveralGoesOnInALineOfItsOwnTaskAlone) {
  EXPECT_EQ(printed({true}, {{{3, false, 12}, "a"}, {{3, false, 12}, "b\n"}}), "12:3 | ab\n");
  EXPECT_EQ(printed({true}, {{{3, false, 12}, "a"}, {{4, false, 12}, "b"}}),
            "12:3 | a\n12:4 | b\n");
}

TEST(LogPrinterTest, OfBothStreamsSaysWhichLineIsOfTheErrors) {
  EXPECT_EQ(printed({false, true}, {{{3, false}, "a"}, {{3, true}, "b\n"}, {{3, false}, "c\n"}}),
            "[3] a\n[3 err] b\n[3] c\n");
}

TEST(LogPrinterTest, OfSeveralTasksAndBothStreamsSaysAllOfIt) {
  EXPECT_EQ(printed({true, true}, {{{3, false, 12}, "a\n"}, {{3, true, 12}, "b\n"}}),
            "12:3 | a\n12:3 err | b\n");
}

TEST(LogPrinterTest, EachTaskHasAColorAndTheTextHasNone) {
  EXPECT_EQ(printed({true, true, true},
                    {{{3, false, 12}, "a\n"}, {{4, false, 12}, "b\n"}, {{3, true, 12}, "c\n"}}),
            "\x1b[36m12:3 | \x1b[0ma\n\x1b[33m12:4 | \x1b[0mb\n\x1b[96m12:3 err | \x1b[0mc\n");
  EXPECT_EQ(printed({false, false, true}, {{{3, false, 12}, "a\n"}}), "a\n");
}

/// A part of a log as the API gives it.
struct Part {
  std::uint64_t offset = 0;
  std::string text;
  bool more = false;
  std::string headers{};
  int attempt = 1;
};

std::string reply(const Part& part) {
  return reply_of(200, part.text,
                  "Muster-Attempt: " + std::to_string(part.attempt) +
                      "\r\nMuster-Offset: " + std::to_string(part.offset) +
                      "\r\nMuster-Next-Offset: " + std::to_string(part.offset + part.text.size()) +
                      "\r\nMuster-More: " + (part.more ? "1" : "0") + "\r\n" + part.headers);
}

std::string size_header(std::uint64_t size) {
  return "Muster-Size: " + std::to_string(size) + "\r\n";
}

const std::string kNotFound =
    reply_of(404, R"({"error": {"code": "x", "message": "nothing there"}})");

/// A task as the API shows it.
std::string task(int index, const std::string& phase, int attempt = 1) {
  return R"({"task": )" + std::to_string(index) + R"(, "phase": ")" + phase + R"(", "attempt": )" +
         std::to_string(attempt) +
         R"(, "instance": 3, "instance_type": "c", "usd": 0.03, "exit_code": null,
            "reason": null, "moves": 0})";
}

std::string details(const std::string& state, int tasks, const std::string& some) {
  return reply_of(200, R"({"job": 12, "name": "n", "user": "ann", "class": "c", "state": ")" +
                           state + R"(", "master": null, "tasks_total": )" + std::to_string(tasks) +
                           R"(, "waiting": 0, "held": 0, "capped": 0,
      "starting": 0, "running": 0, "finished": 0, "failed": 0, "failed_attempts": 0,
      "submitted_s": null, "over_s": null, "usd": 0.5, "market": "any", "gang": false,
      "command": ["a"], "exit_code": null, "tasks": [)" +
                           some + "]}");
}

TEST(LogsCommand, ReadsOnUntilNothingMoreIsThere) {
  const FakeServer server(
      {reply({0, "one\n", true}), reply({4, "two\n", true}), reply({8, "", true})});
  const Ran ran = run(server, {"logs", "12", "--task", "0"});
  EXPECT_EQ(ran.exit_code, kDone);
  EXPECT_EQ(ran.out, "one\ntwo\n");
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(
      asked(server),
      ElementsAre("GET /v1/jobs/12/tasks/0/log?stream=out&offset=0&max=262144&raw=1",
                  "GET /v1/jobs/12/tasks/0/log?stream=out&offset=4&max=262144&attempt=1&raw=1",
                  "GET /v1/jobs/12/tasks/0/log?stream=out&offset=8&max=262144&attempt=1&raw=1"))
      << "the rest is that of the attempt that was begun with";
}

TEST(LogsCommand, AsksForTheStreamAndTheAttemptThatAreWanted) {
  const FakeServer server({reply({0, "x", false, "", 2})});
  EXPECT_EQ(run(server, {"logs", "12", "--task", "5", "--err", "--attempt", "2"}).out, "x");
  EXPECT_THAT(
      asked(server),
      ElementsAre("GET /v1/jobs/12/tasks/5/log?stream=err&offset=0&max=262144&attempt=2&raw=1"));
}

TEST(LogsCommand, OfBothStreamsReadsOneAfterTheOther) {
  const FakeServer server({reply({0, "a", false}), reply({0, "b\n", false})});
  EXPECT_EQ(run(server, {"logs", "12", "--task", "5", "--both"}).out, "[5] a\n[5 err] b\n");
  EXPECT_EQ(asked(server).size(), 2U);
}

TEST(LogsCommand, SaysHowMuchIsNoLongerKept) {
  const FakeServer server({reply({100, "late\n", false})});
  const Ran ran = run(server, {"logs", "12", "--task", "0"});
  EXPECT_EQ(ran.out, "late\n");
  EXPECT_THAT(ran.err, IsGolden());
  const FakeServer one({reply({1, "late\n", false})});
  EXPECT_THAT(run(one, {"logs", "12", "--task", "0"}).err, IsGolden());
}

TEST(LogsCommand, FailsOnceForWhatIsLost) {
  const FakeServer server({reply({0, "some\n", false, "Muster-Lost: it was gone\r\n"})});
  const Ran ran = run(server, {"logs", "12", "--task", "0"});
  EXPECT_EQ(ran.exit_code, kFailed);
  EXPECT_EQ(ran.out, "some\n");
  EXPECT_THAT(ran.err, IsGolden());
}

TEST(LogsCommand, OfSeveralTasksGoesOnAfterOneThatWroteNothing) {
  const FakeServer server({kNotFound, reply({0, "c", false})});
  const Ran ran = run(server, {"logs", "12", "--task", "3,9"});
  EXPECT_EQ(ran.exit_code, kFailed) << "something of what was asked for is not there";
  EXPECT_EQ(ran.out, "12:9 | c\n");
  EXPECT_EQ(ran.err, "muster: nothing there\n");
  const FakeServer refuses({reply_of(403, R"({"error": {"code": "x", "message": "no"}})")});
  EXPECT_EQ(run(refuses, {"logs", "12", "--task", "3,9"}).exit_code, kFailed);
  EXPECT_EQ(refuses.requests().size(), 1U) << "another fault is one of all of them";
}

TEST(LogsCommand, TakesIndicesAsAnArrayHasThemButNoBound) {
  const FakeServer server({reply({0, "c\n", false})});
  EXPECT_EQ(run(server, {"logs", "12", "--task", "0-1,7"}).out, "12:0 | c\n12:1 | c\n12:7 | c\n");
  for (const char* wrong : {"x", "3-1", "0-9%2", "-"}) {
    const Ran ran = run(server, {"logs", "12", "--task", wrong});
    EXPECT_EQ(ran.exit_code, kUsage) << wrong;
    EXPECT_THAT(ran.err, HasSubstr("--task")) << wrong;
  }
  EXPECT_EQ(server.requests().size(), 3U);
}

TEST(LogsCommand, OfAJobReadsTheTasksThatHaveBegun) {
  const FakeServer server({details("running", 2, task(0, "pending", 0) + "," + task(1, "running")),
                           reply({0, "b\n", false})});
  EXPECT_EQ(run(server, {"logs", "12"}).out, "12:1 | b\n");
  EXPECT_EQ(asked(server).size(), 2U);
  const FakeServer alone({details("running", 1, task(0, "running")), reply({0, "b\n", false})});
  EXPECT_EQ(run(alone, {"logs", "12"}).out, "b\n");
  const FakeServer page({details("running", 9, task(0, "running")), reply({0, "b\n", false})});
  EXPECT_EQ(run(page, {"logs", "12"}).out, "12:0 | b\n") << "others may come on the next page";
}

TEST(LogsCommand, OfAJobWithoutTasksSaysSo) {
  const FakeServer server({details("waiting", 0, "")});
  for (const Words& words : {Words{"logs", "12"}, Words{"logs", "12", "-f"}}) {
    const Ran ran = run(server, words);
    EXPECT_EQ(ran.exit_code, kFailed);
    EXPECT_THAT(ran.err, IsGolden());
  }
}

TEST(LogsCommand, PointsToTheStreamThatHasSomething) {
  const auto said = [](const std::string& other, const std::string& headers, Words more) {
    const FakeServer server({reply({0, "", false}), reply({0, other, false, headers})});
    Words words{"logs", "12", "--task", "0"};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = run(server, words);
    EXPECT_EQ(ran.exit_code, kDone);
    EXPECT_EQ(ran.out, "");
    return ran.err;
  };
  EXPECT_THAT(said("a\n", "", {}), IsGolden());
  EXPECT_THAT(said("a\nb", "", {}), IsGolden());
  EXPECT_THAT(said("a\nb", size_header(1000), {}), IsGolden());
  EXPECT_THAT(said("a\n", "", {"--err"}), IsGolden());
  EXPECT_EQ(said("", "", {}), "");
}

TEST(LogsCommand, OfNoLinesAsksForNoOtherStream) {
  const FakeServer server({reply({4, "", false, size_header(4)}), reply({4, "", false})});
  const Ran ran = run(server, {"logs", "12", "--task", "0", "--tail", "0"});
  EXPECT_EQ(ran.exit_code, kDone);
  EXPECT_EQ(ran.out + ran.err, "");
  EXPECT_EQ(server.requests().size(), 2U);
}

TEST(LogsCommand, PointsToOtherStreamsAFewTimesOnly) {
  // In turn, for each task: nothing here, and something there.
  std::vector<std::string> answers;
  for (int i = 0; i < 5; ++i) {
    answers.push_back(reply({0, "", false}));
    answers.push_back(reply({0, "a\n", false}));
  }
  const FakeServer server(answers);
  const Ran ran = run(server, {"logs", "12", "--task", "0-4"});
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 3);
  const FakeServer silent({reply({0, "", false})});
  run(silent, {"logs", "12", "--task", "0-19"});
  EXPECT_EQ(silent.requests().size(), 20U + 10U);
}

TEST(LogsCommand, OfTheLastLinesReadsNoMoreThanItHasTo) {
  const std::string text = "one\ntwo\nthree\n";
  const auto last = [&](const std::string& count, const std::vector<std::string>& behind) {
    std::vector<std::string> answers{reply({text.size(), "", false, size_header(text.size())})};
    if (count != "0") answers.push_back(reply({0, text, false}));
    answers.insert(answers.end(), behind.begin(), behind.end());
    const FakeServer server(answers);
    const Ran ran = run(server, {"logs", "12", "--task", "0", "--tail", count});
    EXPECT_EQ(ran.exit_code, kDone);
    EXPECT_EQ(ran.err, "");
    EXPECT_THAT(asked(server).front(), HasSubstr("offset=9223372036854775807&max=1&"));
    return std::pair(ran.out, asked(server).back());
  };
  const auto rest = [&](std::size_t from) {
    return std::vector{reply({from, text.substr(from), false})};
  };
  EXPECT_THAT(last("1", rest(8)), testing::Pair("three\n", HasSubstr("offset=8&")));
  EXPECT_THAT(last("2", rest(4)), testing::Pair("two\nthree\n", HasSubstr("offset=4&")));
  EXPECT_THAT(last("3", rest(0)), testing::Pair(text, HasSubstr("offset=0&")));
  EXPECT_THAT(last("9", rest(0)), testing::Pair(text, HasSubstr("offset=0&")));
  EXPECT_THAT(last("0", rest(14)), testing::Pair("", HasSubstr("offset=14&")));
}

TEST(LogsCommand, OfTheLastLinesOfAnUnfinishedOneCountsThatToo) {
  const FakeServer server({reply({5, "", false, size_header(5)}), reply({0, "a\nb\nc", false}),
                           reply({2, "b\nc", false})});
  EXPECT_EQ(run(server, {"logs", "12", "--task", "0", "--tail", "2"}).out, "b\nc");
  EXPECT_THAT(asked(server).back(), HasSubstr("offset=2&"));
}

TEST(LogsCommand, GoesBackPieceByPieceForTheLastLines) {
  constexpr std::size_t kPiece = 65'536;
  const std::string end = std::string(kPiece - 2, 'b') + "c\n";
  const std::string text = "x\na" + end;
  const FakeServer server({reply({text.size(), "", false, size_header(text.size())}),
                           reply({3, end, false}), reply({0, "x\na", true}),
                           reply({2, text.substr(2), false})});
  EXPECT_EQ(run(server, {"logs", "12", "--task", "0", "--tail", "1"}).out, text.substr(2));
  EXPECT_THAT(asked(server),
              ElementsAre(HasSubstr("max=1&"), HasSubstr("offset=3&max=65536&"),
                          HasSubstr("offset=0&max=3&"), HasSubstr("offset=2&max=262144&")));
}

TEST(LogsCommand, OfLinesWhoseBeginningIsGoneHasWhatIsLeft) {
  const FakeServer server({reply({14, "", false, size_header(14)}), reply({10, "cde\n", false}),
                           reply({10, "cde\n", false})});
  const Ran ran = run(server, {"logs", "12", "--task", "0", "--tail", "5"});
  EXPECT_EQ(ran.out, "cde\n");
  EXPECT_EQ(ran.err, "") << "nothing that was to be shown is missing";
  EXPECT_THAT(asked(server).back(), HasSubstr("offset=10&"));
}

TEST(LogsCommand, FollowsATaskThroughItsAttemptsToItsEnd) {
  const FakeServer server({details("running", 1, task(0, "running", 1)), reply({0, "one\n", true}),
                           reply({4, "", true}), details("completed", 1, task(0, "finished", 2)),
                           reply({4, "", false}), reply({4, "", false}),
                           reply({0, "two", false, "", 2}), reply({3, "", false, "", 2})});
  const Ran ran = run(server, {"logs", "12", "--task", "0", "-f"});
  EXPECT_EQ(ran.exit_code, kDone);
  EXPECT_EQ(ran.out, "one\ntwo");
  EXPECT_THAT(ran.err, IsGolden());
  EXPECT_THAT(asked(server).back(), HasSubstr("offset=3&max=262144&attempt=2&"));
}

TEST(LogsCommand, FollowsWhatEndsWithItsJob) {
  const FakeServer server({details("cancelled", 1, task(0, "pending", 1)), reply({0, "a", false}),
                           reply({1, "", false})});
  EXPECT_EQ(run(server, {"logs", "12", "--task", "0", "-f"}).out, "a");
  const FakeServer absent({details("running", 1, task(0, "running", 1))});
  const Ran ran = run(absent, {"logs", "12", "--task", "7", "-f"});
  EXPECT_EQ(ran.exit_code, kFailed);
  EXPECT_THAT(ran.err, IsGolden());
  EXPECT_THAT(asked(absent), ElementsAre("GET /v1/jobs/12?limit=1&after=6"));
}

TEST(LogsCommand, AsksForTheRangeOfTheTasksThatItFollows) {
  const FakeServer server({details("completed", 9, task(2, "finished") + "," + task(5, "finished")),
                           reply({0, "a\n", false}), reply({2, "", false}),
                           reply({0, "b\n", false}), reply({2, "", false})});
  EXPECT_EQ(run(server, {"logs", "12", "--task", "2,5", "-f"}).out, "12:2 | a\n12:5 | b\n");
  EXPECT_EQ(asked(server).front(), "GET /v1/jobs/12?limit=4&after=1");
}

TEST(LogsCommand, FollowingFailsForWhatIsLost) {
  const FakeServer server({details("completed", 1, task(0, "finished", 1)),
                           reply({0, "a\n", false}),
                           reply({2, "", false, "Muster-Lost: it was gone\r\n"})});
  const Ran ran = run(server, {"logs", "12", "--task", "0", "-f"});
  EXPECT_EQ(ran.exit_code, kFailed);
  EXPECT_THAT(ran.err, IsGolden());
}

TEST(LogsCommand, PrintsTheDocumentsAsTheyCome) {
  const auto document = [](const std::string& text, int offset) {
    return reply_of(200, R"({"attempt": 1, "offset": )" + std::to_string(offset) +
                             R"(, "next_offset": )" + std::to_string(offset + 2) +
                             R"(, "text": ")" + text + R"(", "more": )" +
                             (text.empty() ? "false" : "true") + R"(, "lost": false})");
  };
  const FakeServer server({document("ab", 0), document("", 2)});
  const Ran ran = run(server, {"logs", "12", "--task", "0", "--json"});
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 2) << ran.out;
  EXPECT_THAT(asked(server), ElementsAre(EndsWith("offset=0&max=262144"),
                                         EndsWith("offset=2&max=262144&attempt=1")));
}

}  // namespace
}  // namespace muster::cli
