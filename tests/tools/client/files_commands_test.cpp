// The commands that bring files to a cluster and back: submit with `stage`, ls and fetch, against
// the API of files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "storage/files/folder_scan.hpp"
#include "tests/support/golden.hpp"
#include "tests/tools/cli/run_command.hpp"
#include "tests/tools/client/fake_files_api.hpp"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;
using client::FakeFilesApi;
using client::FilesRequest;
using files::ContentId;
using files::StagedFolder;
using muster::test::IsGolden;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const char* const kStages = "POST /v1/files/stages";

class FilesCommandsTest : public testing::Test {
 protected:
  FilesCommandsTest() {
    setenv("XDG_CACHE_HOME", (work_ / "cache").c_str(), 1);
    fs::current_path(work_.path());
    api_.before = [this](const FilesRequest& request) -> std::string {
      if (request.target == "POST /v1/jobs") return test::reply_of(201, taken_);
      if (request.target == "GET /v1/jobs/7") {
        return test::reply_of(200, "{\"job\": " + job(7, "running", tasks_) + "}");
      }
      return "";
    };
  }
  ~FilesCommandsTest() override {
    fs::current_path(before_);
    unsetenv("XDG_CACHE_HOME");
  }

  /// `command`: the words behind "--".
  Ran run(Words words, const Words& command = {}) {
    return run_at(api_.url(), std::move(words), command);
  }
  /// The jobs as they were sent last.
  json sent() {
    json body;
    for (const FilesRequest& request : api_.requests()) {
      if (request.target == "POST /v1/jobs") body = json::parse(request.body);
    }
    return body;
  }
  /// Puts these files into the store as outputs of the task's attempt.
  void keep(const StagedFolder& from, std::uint32_t task, std::uint32_t attempt,
            std::uint64_t skipped = 0) {
    files::ObjectBatch batch(api_.user().contents());
    const auto scanned = files::valid(files::scan_folder(from.open().get(), batch));
    ASSERT_FALSE(api_.user().outputs().put(7, {{task, attempt},
                                               api_.put(scanned.tree.encode()),
                                               scanned.count.files,
                                               scanned.count.bytes,
                                               1'790'000'000,
                                               skipped}));
  }

  const fs::path before_ = fs::current_path();
  StagedFolder work_;
  FakeFilesApi api_;
  std::string taken_ = R"({"jobs": [{"job": 7}]})";
  std::string tasks_;
};

TEST_F(FilesCommandsTest, SubmitSendsTheFolderAndNamesItsTree) {
  work_.file("code/main.py", "print()").file("code/lib/a.py", "pass");
  const Ran ran = run({"submit", "--stage", "./code", "--name", "train"}, {"python3", "main.py"});
  EXPECT_EQ(ran.exit_code, kDone) << ran.err;
  EXPECT_EQ(ran.out, "job 7: train, 1 task, with 2 files (11 B) of ./code\n");
  const auto tree = ContentId::parse(sent().value("stage", ""));
  ASSERT_TRUE(tree);
  EXPECT_TRUE(files::valid(api_.user().use_stage(tree.value())));
  EXPECT_FALSE(fs::is_empty(work_ / "cache/muster/stage"));
  EXPECT_EQ(run({"submit", "-q", "--stage", "code"}, {"a"}).out, "7\n");
}

TEST_F(FilesCommandsTest, AFolderInAJobFileIsOneBesideTheFile) {
  work_.file("jobs/code/a", "text").file("jobs/job.toml", "command = [\"a\"]\nstage = \"code\"\n");
  const Ran ran = run({"submit", "jobs/job.toml"});
  EXPECT_EQ(ran.exit_code, kDone) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("with 1 file (4 B) of jobs/code\n"));
  // That of the command line is meant from the current folder.
  work_.file("code/b", "other");
  EXPECT_THAT(run({"submit", "jobs/job.toml", "--stage", "code"}).out,
              HasSubstr("(5 B) of code\n"));
}

TEST_F(FilesCommandsTest, EachFolderIsSentOnceForEachUser) {
  work_.file("code/a", "text")
      .file("jobs.toml",
            "[[jobs]]\ncommand = [\"a\"]\nstage = \"code\"\n"
            "[[jobs]]\ncommand = [\"a\"]\nstage = \"./code\"\n"
            "[[jobs]]\ncommand = [\"a\"]\nstage = \"code\"\nuser = \"bob\"\n"
            "[[jobs]]\ncommand = [\"a\"]\n");
  taken_ = R"({"jobs": [{"job": 7}, {"job": 8}, {"job": 9}, {"job": 10}]})";
  const Ran ran = run({"submit", "jobs.toml"});
  EXPECT_EQ(ran.exit_code, kDone) << ran.err;
  EXPECT_EQ(api_.contents_taken(), 4) << "a list and a file for each of two users";
  const json jobs = sent().at("jobs");
  EXPECT_EQ(jobs.at(0).at("stage"), jobs.at(1).at("stage"));
  EXPECT_FALSE(jobs.at(3).contains("stage"));
  EXPECT_THAT(ran.out, HasSubstr("job 10: a, 1 task\n"));
}

TEST_F(FilesCommandsTest, NothingIsSubmittedWithoutTheFiles) {
  Ran ran = run({"submit", "--stage", "missing"}, {"a"});
  EXPECT_EQ(ran.exit_code, kFailed);
  EXPECT_THAT(ran.err, IsGolden());
  EXPECT_THAT(api_.requests(), IsEmpty());
  // An id is taken as it is: the API knows whether there is such a tree.
  const std::string id = ContentId::of("tree").text();
  EXPECT_EQ(run({"submit", "--stage", id}, {"a"}).exit_code, kDone);
  EXPECT_EQ(sent().at("stage"), id);
  EXPECT_THAT(api_.asked(kStages), IsEmpty());
}

TEST_F(FilesCommandsTest, APlanSendsNoFiles) {
  work_.file("code/a", "text");
  run({"plan", "--stage", "code"}, {"a"});
  const auto requests = api_.requests();
  ASSERT_THAT(requests, SizeIs(1));
  EXPECT_EQ(requests[0].target, "POST /v1/plan");
  EXPECT_THAT(requests[0].body, testing::Not(HasSubstr("stage")));
}

TEST_F(FilesCommandsTest, ListsTheFilesOfATask) {
  StagedFolder from;
  from.file("a/b.txt", "one").link("l", "a/b.txt").file("evil\x1b[2J", "x");
  keep(from, 0, 1, 2);
  const Ran ran = run({"ls", "7"});
  EXPECT_EQ(ran.exit_code, kDone) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr(" 3 B  a/b.txt\n"), HasSubstr("l -> a/b.txt\n"),
                             testing::Not(HasSubstr("\x1b"))));
  EXPECT_THAT(ran.err, IsGolden());
  const json document = json::parse(run({"ls", "7:0", "--json"}).out);
  EXPECT_EQ(document.at("outputs").at(0).at("entries").size(), 4U);
}

TEST_F(FilesCommandsTest, ListsTheTasksOfAJob) {
  StagedFolder from;
  from.file("a", "one");
  for (const auto& [task, attempt] :
       std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 1}, {0, 2}, {3, 1}}) {
    keep(from, task, attempt);
  }
  const std::string table = run({"ls", "7"}).out;
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 3) << table;
  EXPECT_THAT(table, AllOf(HasSubstr("TASK  ATTEMPT  FILES  SIZE  KEPT\n"),
                           HasSubstr("   0        2      1   3 B  2026-")));
  const std::string all = run({"ls", "7", "--all"}).out;
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 4) << all;
  EXPECT_EQ(json::parse(run({"ls", "7", "--json"}).out).at("outputs").size(), 2U);
}

TEST_F(FilesCommandsTest, SaysWhyAJobMayHaveNoOutputs) {
  const Ran none = run({"ls", "7:3", "--attempt", "2"});
  EXPECT_EQ(none.exit_code, kFailed);
  EXPECT_THAT(none.err, IsGolden());
  const Ran unknown = run({"fetch", "8"});
  EXPECT_EQ(unknown.exit_code, kFailed);
  EXPECT_THAT(unknown.err, HasSubstr("no such job"));
}

TEST_F(FilesCommandsTest, FetchesASingleTaskIntoTheFolderItself) {
  StagedFolder from;
  from.file("a", "one");
  keep(from, 0, 1);
  const Ran ran = run({"fetch", "7"});
  EXPECT_EQ(ran.exit_code, kDone) << ran.err;
  EXPECT_EQ(ran.out, "task 0: 1 file, 3 B in job-7\n");
  EXPECT_EQ(work_.text("job-7/a"), "one");
  EXPECT_EQ(run({"fetch", "7:0"}).out, "task 0: 1 file, 3 B in job-7, already there\n");
  work_.file("job-7/mine");
  const Ran other = run({"fetch", "7"});
  EXPECT_EQ(other.exit_code, kFailed);
  EXPECT_THAT(other.err, IsGolden());
  EXPECT_EQ(run({"fetch", "7", "--force"}).exit_code, kDone);
  EXPECT_FALSE(fs::exists(work_ / "job-7/mine"));
}

TEST_F(FilesCommandsTest, FetchesSeveralTasksIntoFoldersOfTheirOwn) {
  StagedFolder from;
  from.file("a", "one");
  for (const std::uint32_t task : {0U, 3U, 12U}) keep(from, task, 1);
  work_.file("out/3/mine");
  const Ran ran = run({"fetch", "7", "-o", "out"});
  EXPECT_EQ(ran.exit_code, kFailed);
  EXPECT_EQ(ran.out, "task 0: 1 file, 3 B in out/0\ntask 12: 1 file, 3 B in out/12\n");
  EXPECT_THAT(ran.err, IsGolden());
  const json document = json::parse(run({"fetch", "7", "-o", "out", "--force", "--json"}).out);
  ASSERT_THAT(document.at("fetched"), SizeIs(3));
  EXPECT_EQ(document.at("fetched").at(0).at("already_there"), true);
  EXPECT_EQ(document.at("fetched").at(1).at("folder"), "out/3");
  for (std::uint32_t task = 20; task < 40; ++task) keep(from, task, 1);
  EXPECT_EQ(run({"fetch", "7"}).out, "23 of 23 tasks: 23 files, 69 B in job-7\n");
}

}  // namespace
}  // namespace muster::cli
