#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/job_request.hpp"
#include "config/script.hpp"
#include "config/work_folder.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"

namespace muster {
namespace {

using test::IsGolden;
using test::IsGoldenAt;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// What is wrong with a request that says this besides its command.
std::string toml_error(const std::string& more) {
  return test::message_of(job_request_from_toml("command = [\"true\"]\n" + more, "job.toml"),
                          ConfigError::invalid);
}

TEST(ScriptRequest, TakesAScriptWithItsNameAndArguments) {
  const JobRequest request =
      job_request_from_json(
          R"({"command": ["./train.sh", "--fast"], "script": "#!/bin/sh\necho $1\n"})", "body")
          .value();
  const Job job = make_job(request);
  EXPECT_EQ(job.program.script, "#!/bin/sh\necho $1\n");
  EXPECT_THAT(job.program.argv, ElementsAre("./train.sh", "--fast"));
  EXPECT_EQ(job.name, "train.sh");
  EXPECT_EQ(make_job(request_of(job)).program, job.program);
}

TEST(ScriptRequest, SaysWhatIsWrongWithAScript) {
  const auto error = [](const std::string& script) {
    JobRequest request;
    request.command = {"a.sh"};
    request.script = script;
    return faults(request);
  };
  EXPECT_THAT(error("#!/bin/bash\r\necho hi\r\n"), ElementsAre(IsGolden()));
  EXPECT_THAT(error("#!/bin/sh\necho a\r\n"), ElementsAre(IsGolden()));
  EXPECT_THAT(error(std::string("\x7f"
                                "ELF\0",
                                5)),
              ElementsAre(IsGolden()));
  EXPECT_THAT(error("\xEF\xBB\xBF#!/bin/sh\n"), ElementsAre(HasSubstr("byte order mark")));
  EXPECT_THAT(error("#!/bin/sh\n#\xff\n"), ElementsAre(HasSubstr("UTF-8")));
  EXPECT_THAT(error(std::string(kMaxScriptBytes + 1, 'a')), ElementsAre(IsGolden()));
  EXPECT_THAT(error(std::string(kMaxScriptBytes, 'a')), IsEmpty());
  EXPECT_TRUE(job_request_from_toml("command = [\"a.sh\"]\nscript = \"#!/bin/sh\"", "f"));
  EXPECT_THAT(
      job_request_from_toml("command = \"a.sh --x\"\nscript = \"#!/bin/sh\"", "f").error().message,
      IsGolden());
}

TEST(ScriptRequest, CountsTheLinesOfOtherSchedulersInAScript) {
  EXPECT_EQ(unread_lines("#!/bin/sh\n# SBATCH\necho\n"), "");
  EXPECT_THAT(unread_lines("#!/bin/sh\n#SBATCH -n 4\n#SBATCH --mem=2G\n"),
              HasSubstr("its #SBATCH lines (line 2 and 1 more) are not read"));
}

TEST(ScriptRequest, TellsPlaceholdersOfAWorkFolderFromAPercentSign) {
  const auto program = [](const std::string& folder) {
    JobRequest request;
    request.command = {"x"};
    request.work_dir = folder;
    EXPECT_THAT(faults(request), IsEmpty());
    const Job job = make_job(request);
    EXPECT_EQ(make_job(request_of(job)).program, job.program);
    return job.program;
  };
  EXPECT_EQ(program("/srv/50%%").work_dir, "/srv/50%");
  EXPECT_FALSE(program("/srv/50%%").make_work_dir);
  EXPECT_TRUE(program("/srv/%%/%j").make_work_dir);
  const WorkFolderOf task{JobId{12}, 7, "ann/../x"};
  EXPECT_EQ(work_folder(program("/srv/%%/job-%j/%4a").work_dir, task), "/srv/%/job-12/0007");
  EXPECT_EQ(work_folder("/srv/%u/%A", task), "/srv/ann_.._x/12");
  EXPECT_EQ(common_work_folder("/srv/a%%/b-%j/c"), "/srv/a%");
  EXPECT_EQ(common_work_folder("/srv/a"), "/srv/a");
  EXPECT_EQ(common_work_folder("/%j"), "/");
  EXPECT_THAT(toml_error("work_dir = \"/srv/%x\"\n"), IsGoldenAt("work_dir"));
  EXPECT_THAT(toml_error("make_work_dir = true\n"), IsGoldenAt("make_work_dir"));
}

}  // namespace
}  // namespace muster
