// Waiting for jobs at a server whose answers stand here: its questions, words and exit codes.

#include "tools/cli/wait_for_jobs.hpp"

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
using testing::HasSubstr;

std::string state_of(int number, const std::string& state, const std::string& more = "") {
  return reply_of(200,
                  job(number, state, R"(, "exit_code": null, "tasks": [], "next": null)" + more));
}

/// An empty part of a task's output, or one of a byte.
std::string output(const std::string& text, bool more = false) {
  return reply_of(200, text,
                  "Muster-Attempt: 1\r\nMuster-Offset: 0\r\nMuster-Next-Offset: " +
                      std::to_string(text.size()) + "\r\nMuster-More: " + (more ? "1" : "0") +
                      "\r\n");
}

TEST(WaitForJobs, LetsTheServerWait) {
  const FakeServer server({state_of(1, "completed"), state_of(2, "completed")});
  EXPECT_EQ(run(server, {"wait", "1", "2"}).exit_code, kDone);
  EXPECT_THAT(asked(server),
              ElementsAre("GET /v1/jobs/1?wait_s=20&limit=1", "GET /v1/jobs/2?wait_s=20&limit=1"));
}

TEST(WaitForJobs, WaitsNoLongerThanItMay) {
  const FakeServer server({state_of(1, "completed")});
  EXPECT_EQ(run(server, {"wait", "1", "--timeout", "3s"}).exit_code, kDone);
  EXPECT_EQ(run(server, {"wait", "1", "--timeout", "60s"}).exit_code, kDone);
  EXPECT_EQ(run(server, {"wait", "1", "--timeout", "0s"}).exit_code, kDone)
      << "over is over, also without a wait";
  EXPECT_THAT(asked(server),
              ElementsAre("GET /v1/jobs/1?wait_s=3&limit=1", "GET /v1/jobs/1?wait_s=20&limit=1",
                          "GET /v1/jobs/1?limit=1"));
}

TEST(WaitForJobs, AsksAgainUntilAllAreOver) {
  const FakeServer server({state_of(1, "waiting"), state_of(1, "running"), state_of(1, "completed"),
                           state_of(2, "completed")});
  EXPECT_EQ(run(server, {"wait", "1", "2"}).exit_code, kDone);
  EXPECT_EQ(server.requests().size(), 4U);
}

TEST(WaitForJobs, NamesTheFirstOfThoseThatAreNotOverInTime) {
  const FakeServer server({state_of(1, "running")});
  Words words{"wait", "--timeout", "0s"};
  for (int i = 1; i <= 10; ++i) words.push_back(std::to_string(i));
  Ran ran = run(server, words);
  EXPECT_EQ(ran.exit_code, 124);
  EXPECT_THAT(ran.err, IsGolden());
  words.insert(words.end(), {"11", "12"});
  EXPECT_THAT(run(server, words).err, IsGolden());
}

TEST(WaitForJobs, PrintsTheDocumentsOfAllAtTheEnd) {
  const FakeServer server({state_of(1, "completed"), state_of(2, "completed"),
                           state_of(1, "completed"), state_of(2, "completed")});
  const Ran ran = run(server, {"wait", "1", "2", "--json"});
  const auto printed = nlohmann::json::parse(ran.out);
  ASSERT_EQ(printed.at("jobs").size(), 2U);
  EXPECT_EQ(printed["jobs"][0]["job"], 1);
  EXPECT_EQ(printed["jobs"][1]["job"], 2);
}

TEST(WaitForJobs, SaysOfAJobThatDidNotCompleteWhy) {
  const auto said = [](const std::string& more) {
    const FakeServer server({reply_of(200, job(7, "failed", more + R"(, "tasks": [])"))});
    return run(server, {"wait", "7"}).err;
  };
  EXPECT_THAT(said(R"(, "exit_code": 3)"), IsGolden());
  EXPECT_THAT(said(R"(, "exit_code": 3, "reason": "too much")"), IsGolden());
  EXPECT_THAT(said(R"(, "exit_code": 3, "reason": "task 0 has failed: exit code 3")"), IsGolden());
  EXPECT_THAT(said(R"(, "exit_code": null, "reason": "too much")"), IsGolden());
}

TEST(WaitForJobs, PointsToTheOutputOfTheTaskThatFailed) {
  const auto said = [](const std::vector<std::string>& outputs) {
    std::vector<std::string> answers{
        reply_of(200, job(7, "failed", R"(, "exit_code": 3, "failed_task": 4, "tasks": [])"))};
    answers.insert(answers.end(), outputs.begin(), outputs.end());
    const FakeServer server(answers);
    const Ran ran = run(server, {"wait", "7"});
    EXPECT_EQ(ran.exit_code, 3);
    EXPECT_EQ(asked(server).at(1), "GET /v1/jobs/7/tasks/4/log?stream=err&offset=0&max=1&raw=1");
    return ran.err;
  };
  EXPECT_THAT(said({output("x")}), IsGolden());
  EXPECT_THAT(said({output("", true)}), HasSubstr("--err")) << "more may come";
  EXPECT_THAT(said({output(""), output("x")}), IsGolden());
  EXPECT_THAT(said({output(""), output("")}), Not(HasSubstr("muster logs")));
  EXPECT_THAT(said({reply_of(404, "{}")}), HasSubstr("--err")) << "it is not known to be empty";
}

TEST(WaitForJobs, FailsWithWhatTheServerSays) {
  const FakeServer server({reply_of(404, R"({"error": {"code": "x", "message": "gone"}})")});
  const Ran ran = run(server, {"wait", "7"});
  EXPECT_EQ(ran.exit_code, kFailed);
  EXPECT_EQ(ran.err, "muster: gone\n");
}

TEST(WaitForJobs, AfterASubmissionSaysThatTheJobsGoOn) {
  const test::TempFile file("a.toml", "command = [\"a\"]\n");
  const std::string taken = reply_of(201, R"({"jobs": [{"job": 9}]})");
  const FakeServer server({taken, state_of(9, "completed")});
  EXPECT_EQ(run(server, {"submit", file.path(), "--wait", "-q"}).exit_code, kDone);
  EXPECT_EQ(asked(server).back(), "GET /v1/jobs/9?wait_s=20&limit=1");
  const FakeServer refuses({taken, reply_of(403, R"({"error": {"code": "x", "message": "no"}})")});
  const Ran ran = run(refuses, {"submit", file.path(), "--wait", "-q"});
  EXPECT_EQ(ran.exit_code, kFailed);
  EXPECT_THAT(ran.err, IsGolden());
}

}  // namespace
}  // namespace muster::cli
