#include "tools/cli/job_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "config/request_value.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/temp_file.hpp"
#include "tests/tools/cli/run_command.hpp"
#include "tools/cli/request_options.hpp"

// Kinds of files that are submitted, and the requests that are made of them.

namespace muster::cli {
namespace {

namespace fs = std::filesystem;
using muster::test::IsGolden;
using muster::test::IsGoldenAt;
using testing::ElementsAre;
using testing::HasSubstr;

class JobSourceTest : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text, mode_t mode = 0644) {
    const std::string path = (files_.folder() / name).string();
    std::ofstream(path, std::ios::binary) << text;
    chmod(path.c_str(), mode);
    return path;
  }
  /// Whether it is taken for a script, both by who reads it and by who only looks.
  bool is_script(const std::string& path) {
    const auto source = read_source(path);
    EXPECT_TRUE(source.has_value()) << path;
    EXPECT_EQ(source->is_script, names_a_script(path)) << path;
    return source->is_script;
  }
  /// The requests that the words of a submission make; exit code and complaints are kept.
  std::optional<std::vector<JobRequest>> requests(RequestOptions options) {
    const Captured err(std::cerr);
    auto made = make_requests(options, exit_code_);
    said_ = err.text();
    return made;
  }

  test::TempFile files_{"kept", ""};
  int exit_code_ = kDone;
  std::string said_;
};

TEST_F(JobSourceTest, AScriptBeginsWithItsProgram) {
  EXPECT_TRUE(is_script(file("a", "#!/bin/sh\n")));
  EXPECT_FALSE(is_script(file("b", "# command\ncommand = [\"a\"]\n")));
  EXPECT_FALSE(is_script(file("c", "")));
}

TEST_F(JobSourceTest, APipeIsReadToItsEndAndWaitsForNobody) {
  const std::string pipe = (files_.folder() / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const auto alone = read_source(pipe);
  ASSERT_FALSE(alone);
  EXPECT_THAT(alone.error().message, IsGolden());
  std::thread writer([&] { std::ofstream(pipe) << "command = [\"a\"]\n"; });
  const auto source = read_source(pipe);
  writer.join();
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ(source->text, "command = [\"a\"]\n");
}

TEST_F(JobSourceTest, WhatIsCalledAJobFileIsOneWhateverItBeginsWith) {
  EXPECT_FALSE(is_script(file("a.toml", "#!/usr/bin/env muster\n", 0755)));
  EXPECT_FALSE(is_script(file("a.json", "#!/usr/bin/env muster\n", 0755)));
}

TEST_F(JobSourceTest, WhatMayBeExecutedIsAScriptUnlessItReadsAsAJobFile) {
  EXPECT_TRUE(is_script(file("a", "echo hi\n", 0755)));
  EXPECT_TRUE(is_script(file("others", "echo hi\n", 0645))) << "by anybody";
  EXPECT_FALSE(is_script(file("plain", "echo hi\n")));
  EXPECT_FALSE(is_script(file("job", "command = [\"a\"]\n", 0755)));
}

TEST_F(JobSourceTest, WhatIsNoFileNamesNoScript) {
  EXPECT_FALSE(names_a_script((files_.folder() / "absent").string()));
  EXPECT_FALSE(names_a_script(files_.folder().string()));
  EXPECT_FALSE(names_a_script("/dev/null"));
}

TEST_F(JobSourceTest, WhatCannotBeReadIsNamed) {
  const auto absent = read_source((files_.folder() / "absent").string());
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ConfigError::unreadable);
  EXPECT_THAT(absent.error().message, IsGolden());
  const auto folder = read_source(files_.folder().string());
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message, IsGolden());
}

TEST_F(JobSourceTest, ALargeFileIsReadOneByteFurtherThanAnyKindMayHave) {
  const auto source = read_source(file("a", std::string(kMaxBatchBytes + 10, '#')));
  ASSERT_TRUE(source);
  EXPECT_EQ(source->text.size(), kMaxBatchBytes + 1);
}

TEST_F(JobSourceTest, JsonIsReadAsSuchByItsEnding) {
  const auto json = read_source(file("a.json", R"({"command": ["a"], "cpus": 2})"));
  const auto toml = read_source(file("a", "command = [\"b\"]\n"));
  ASSERT_TRUE(json && toml);
  EXPECT_TRUE(is_written_as_job(json.value()));
  EXPECT_TRUE(is_written_as_job(toml.value()));
  EXPECT_THAT(requests_from(json.value())->front().command, ElementsAre("a"));
  EXPECT_THAT(requests_from(toml.value())->front().command, ElementsAre("b"));
  EXPECT_FALSE(is_written_as_job({"a.json", "command = [\"b\"]\n", false}));
  EXPECT_FALSE(is_written_as_job({"a", R"({"command": ["a"]})", false}));
}

TEST_F(JobSourceTest, TheStandardInputIsJsonWhereItBeginsWithABrace) {
  EXPECT_TRUE(is_written_as_job({"-", " \t\r\n{\"command\": [\"a\"]}", false}));
  EXPECT_TRUE(is_written_as_job({"-", "command = [\"a\"]\n", false}));
  EXPECT_TRUE(is_written_as_job({"-", "", false}));
  EXPECT_FALSE(is_written_as_job({"-", "[\"a\"]x", false}));
}

TEST_F(JobSourceTest, TheStandardInputIsNamedInWords) {
  EXPECT_EQ(shown_name({"-", "", false}), "standard input");
  EXPECT_EQ(shown_name({"a.toml", "", false}), "a.toml");
}

TEST_F(JobSourceTest, AScriptIsSentWithItsNameAndItsArguments) {
  const JobRequest named = request_from({"./a.sh", "#!/bin/sh\n", true}, {"-x", "b c"});
  EXPECT_THAT(named.command, ElementsAre("./a.sh", "-x", "b c"));
  EXPECT_EQ(named.script, "#!/bin/sh\n");
  EXPECT_THAT(request_from({"-", "#!/bin/sh\n", true}, {}).command, ElementsAre("stdin"));
}

TEST_F(JobSourceTest, ASubmissionSaysEitherFilesOrACommand) {
  const std::string job = file("a.toml", "command = [\"a\"]\n");
  EXPECT_FALSE(requests({}));
  EXPECT_EQ(exit_code_, kUsage);
  EXPECT_THAT(said_, IsGolden());
  RequestOptions both;
  both.files = {job};
  both.command = {"b"};
  EXPECT_FALSE(requests(both));
  EXPECT_EQ(exit_code_, kUsage);
  EXPECT_THAT(said_, IsGolden());
  RequestOptions command;
  command.command = {"b", "c"};
  const auto made = requests(command);
  ASSERT_TRUE(made && made->size() == 1);
  EXPECT_THAT(made->front().command, ElementsAre("b", "c"));
}

TEST_F(JobSourceTest, AScriptIsSubmittedAloneWithAllThatStandsBehindIt) {
  const std::string script = file("a.sh", "#!/bin/sh\ntrue\n");
  const std::string job = file("a.toml", "command = [\"a\"]\n");
  RequestOptions options;
  options.files = {script, "x", job};
  options.command = {"y"};
  const auto made = requests(options);
  ASSERT_TRUE(made && made->size() == 1);
  EXPECT_THAT(made->front().command, ElementsAre(script, "x", job, "y"));
  EXPECT_EQ(said_, "");
  options.command.clear();
  options.files = {job, script};
  EXPECT_FALSE(requests(options));
  EXPECT_EQ(exit_code_, kUsage);
  EXPECT_THAT(said_, IsGolden());
}

TEST_F(JobSourceTest, EveryFileIsLookedAtBeforeAnyIsRefused) {
  const std::string wrong = file("wrong.toml", "command = [\"a\"]\ncpus = 0\n");
  const std::string good = file("a.toml", "command = [\"a\"]\n");
  RequestOptions options;
  options.files = {wrong, good, (files_.folder() / "absent").string()};
  EXPECT_FALSE(requests(options));
  EXPECT_EQ(exit_code_, kFailed) << "that one is missing is no fault of the words";
  EXPECT_THAT(said_, IsGolden());
  options.files = {wrong, good};
  EXPECT_FALSE(requests(options));
  EXPECT_EQ(exit_code_, kUsage);
  options.files = {good, good};
  EXPECT_EQ(requests(options)->size(), 2U);
}

TEST_F(JobSourceTest, AJobThatAFileNamesAndThatIsNotThereIsAFaultOfItsLine) {
  const std::string two =
      "[[jobs]]\nname = \"a\"\ncommand = [\"a\"]\n[[jobs]]\ncommand = [\"a\"]\nafter = \"A\"\n";
  RequestOptions options;
  options.files = {file("one.toml", "command = [\"a\"]\nafter = [\n  \"1\",\n  \"x\"]\n"),
                   file("two.toml", two),
                   file("a.json", R"({"jobs": [{"command": ["a"], "after": ["y"]},
                                              {"command": ["a"], "after": ["#9"]}]})")};
  EXPECT_FALSE(requests(options));
  EXPECT_EQ(exit_code_, kUsage);
  EXPECT_THAT(said_, IsGolden());
}

TEST_F(JobSourceTest, WhatIsWrittenForAShellSaysHowItIsRead) {
  RequestOptions options;
  options.files = {file("plain", "echo hi\n")};
  EXPECT_FALSE(requests(options));
  EXPECT_THAT(said_, IsGolden());
  options.files = {file("other", "#SBATCH -n 4\n")};
  EXPECT_FALSE(requests(options));
  EXPECT_THAT(said_, HasSubstr("#!")) << "a job file says nothing of other schedulers";
  options.files = {file("wrong.toml", "cpus = 0\n")};
  EXPECT_FALSE(requests(options));
  EXPECT_THAT(said_, Not(HasSubstr("#!"))) << "it is a job file with a fault";
}

TEST_F(JobSourceTest, FlagsTakeThePlaceOfWhatTheFileSays) {
  RequestOptions options;
  options.files = {file("a.toml",
                        "command = [\"a\"]\narray = \"0-9%3\"\nenv = {A = \"1\", B = \"2\"}\n"
                        "market = \"spot\"\n")};
  options.flags = {{"tasks", "4"}};
  options.env = {"B=x=y", "C="};
  options.on_demand = true;
  auto made = requests(options);
  ASSERT_TRUE(made) << said_;
  EXPECT_EQ(made->front().tasks, 4U);
  EXPECT_TRUE(made->front().array.empty());
  EXPECT_EQ(made->front().env.at("A"), "1");
  EXPECT_EQ(made->front().env.at("B"), "x=y");
  EXPECT_EQ(made->front().env.at("C"), "");
  EXPECT_EQ(made->front().market, MarketChoice::on_demand);
  options = {};
  options.files = {file("b.toml", "command = [\"a\"]\ntasks = 3\nmarket = \"spot\"\n")};
  options.flags = {{"array", "0-1"}};
  options.any = true;
  made = requests(options);
  ASSERT_TRUE(made) << said_;
  EXPECT_EQ(made->front().market, MarketChoice::any);
}

TEST_F(JobSourceTest, AWorkFolderIsThatOfTheCallerWhereItIsRelative) {
  RequestOptions options;
  options.command = {"a"};
  options.work_dir = "/x/../y/./z";
  EXPECT_EQ(requests(options)->front().work_dir, "/y/z");
  const fs::path before = fs::current_path();
  fs::create_directory(files_.folder() / "50%");
  fs::current_path(files_.folder() / "50%");
  options.work_dir = "runs/%a";
  const auto made = requests(options);
  fs::current_path(before);
  ASSERT_TRUE(made);
  EXPECT_THAT(made->front().work_dir, testing::EndsWith("/50%%/runs/%a"));
}

TEST_F(JobSourceTest, AJobThatTheFlagNamesAndThatIsNotThereIsAFaultOfTheFlag) {
  RequestOptions command;
  command.command = {"true"};
  RequestOptions script;
  script.files = {file("a.sh", "#!/bin/sh\n")};
  RequestOptions files;
  files.files = {file("a.toml", "command = [\"a\"]\nname = \"a\"\n"),
                 file("b.toml", "command = [\"b\"]\nname = \"b\"\n")};
  for (RequestOptions options : {command, script, files}) {
    for (const char* after : {"1:bad", "prep", "#7", "#1"}) {
      options.flags["after"] = after;
      EXPECT_FALSE(requests(options)) << after;
      EXPECT_EQ(exit_code_, kUsage) << after;
      EXPECT_THAT(said_, IsGoldenAt("--after")) << after;
    }
    options.flags["after"] = "1:any";
    EXPECT_TRUE(requests(options)) << said_;
  }
}

}  // namespace
}  // namespace muster::cli
