// What is shown of a submission, and what names a job that has none.

#include "config/submission.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "config/job_request.hpp"
#include "config/script.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temp_file.hpp"

namespace muster {
namespace {

using nlohmann::json;
using test::IsGoldenAt;
using test::TempFile;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

JobRequest request(const std::string& more) {
  return job_request_from_toml("command = [\"/opt/run\"]\n" + more, "job.toml").value();
}

/// Collects the members that `fields` names, as documents have them.
struct InJson {
  json out = json::object();

  template <class T>
  void operator()(ViewKey key, const T& value) {
    const bool quiet = key.shown == InDocument::or_null && says_nothing(value);
    out[std::string(key.name)] = quiet ? json() : of(value);
  }
  void operator()(OthersKey, const std::vector<NamedJson>& members) {
    for (const NamedJson& each : members) out[each.name] = json::parse(each.json);
  }
  template <class T>
  static json of(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      return name_of(value);
    } else {
      return value;
    }
  }
  template <class T>
  static json of(const std::optional<T>& value) {
    return value ? json(*value) : json();
  }
};

json shown(const Job& job, std::uint64_t tasks) {
  InJson members;
  const SubmittedAs said = config::submitted_as(config::shown_submission(job), tasks);
  fields(members, said);
  return members.out;
}

TEST(Submission, ShowsNoCommandNoScriptNoTokenAndNoValueOfTheEnvironment) {
  Job job =
      make_job(request("script = \"#!/bin/sh\\nsecret\"\ntoken = \"once\"\n"
                       "env = { KEY = \"secret\" }\n"));
  const SubmissionView view = config::shown_submission(job);
  EXPECT_THAT(view.job.program.argv, IsEmpty());
  EXPECT_EQ(view.job.program.script, "");
  EXPECT_EQ(view.job.token, "");
  const json all = shown(job, 1);
  EXPECT_EQ(all.dump().find("secret"), std::string::npos);
  EXPECT_EQ(all.at("env_names"), json::array({"KEY"}));
  for (const char* kept : {"command", "script", "token", "env", "name", "user"}) {
    EXPECT_FALSE(all.contains(kept)) << kept;
  }
}

TEST(Submission, SaysNullOfWhatWasNotAskedFor) {
  const json all = shown(make_job(request("")), 1);
  for (const char* name :
       {"max_fails", "retries", "runtime_hint_s", "stop_grace_s", "time_limit_s", "work_dir"}) {
    EXPECT_TRUE(all.at(name).is_null()) << name;
  }
  EXPECT_EQ(all.at("array"), "0");
  EXPECT_EQ(all.at("tasks"), 1);
  EXPECT_EQ(all.at("priority"), 0);
  EXPECT_EQ(all.at("gang"), false);
  EXPECT_EQ(all.at("movable"), true);
  EXPECT_EQ(all.at("checkpoints"), false);
  EXPECT_EQ(all.at("distinct_instances"), false);
  EXPECT_EQ(all.at("most_an_instance"), 0);
  EXPECT_EQ(all.at("class"), "run");
  EXPECT_EQ(all.at("market"), "any");
}

TEST(Submission, SaysWhatWasAskedFor) {
  const json all = shown(make_job(request("tasks = 3\ngang = true\nmax_fails = 0\nretries = 4\n"
                                          "runtime_hint_s = 9\nstop_grace_s = 2\n"
                                          "time_limit_s = 60\nwork_dir = \"/w\"\n"
                                          "distinct_instances = true\n")),
                         3);
  EXPECT_EQ(all.at("array"), "0-2");
  EXPECT_EQ(all.at("tasks"), 3);
  EXPECT_EQ(all.at("gang"), true);
  EXPECT_EQ(all.at("max_fails"), 0);
  EXPECT_EQ(all.at("retries"), 4);
  EXPECT_EQ(all.at("runtime_hint_s"), 9);
  EXPECT_EQ(all.at("stop_grace_s"), 2);
  EXPECT_EQ(all.at("time_limit_s"), 60);
  EXPECT_EQ(all.at("work_dir"), "/w");
  EXPECT_EQ(all.at("distinct_instances"), true);
  EXPECT_EQ(all.at("most_an_instance"), 1);
  const json two = shown(make_job(request("tasks = 3\nmost_an_instance = 2\n")), 3);
  EXPECT_EQ(two.at("distinct_instances"), false);
  EXPECT_EQ(two.at("most_an_instance"), 2);
}

TEST(MakeJob, NamesAJobAfterItsProgram) {
  const auto name_of = [](std::vector<std::string> command) {
    JobRequest made;
    made.command = std::move(command);
    return make_job(made).name;
  };
  EXPECT_EQ(name_of({"/usr/bin/train.py", "--fast"}), "train.py");
  EXPECT_EQ(name_of({"/bin/sh", "-c", " \t/opt/a.out | tee x"}), "a.out");
  EXPECT_EQ(name_of({"/bin/sh", "-c", "make;ls"}), "make");
  EXPECT_EQ(name_of({"/bin/sh", "-e", "x"}), "sh");
  EXPECT_EQ(name_of({}), "job");
  EXPECT_EQ(name_of({"/opt/"}), "job");
  EXPECT_EQ(name_of({"a b"}), "job");
  EXPECT_EQ(name_of({"caf\xC3\xA9"}), "job");
  EXPECT_EQ(name_of({std::string(65, 'x')}), std::string(64, 'x'));
}

TEST(MakeJob, NamesALineForAShellAfterItsFirstProgram) {
  const auto name_of = [](const std::string& shell, const std::string& line) {
    JobRequest made;
    made.command = {shell, "-c", line};
    return make_job(made).name;
  };
  for (const char* shell : {"sh", "bash", "dash", "/bin/sh", "/usr/bin/bash"}) {
    EXPECT_EQ(name_of(shell, "echo hello"), "echo");
  }
  EXPECT_EQ(name_of("zsh", "echo hello"), "zsh");
  EXPECT_EQ(name_of("sh", "cd /data && A=1 exec ./train.py --fast"), "train.py");
  EXPECT_EQ(name_of("bash", "set -e; export B=2\n(make all)"), "make");
  EXPECT_EQ(name_of("sh", "A='x y' python3 t.py"), "sh") << "a quoted word is not taken apart";
  EXPECT_EQ(name_of("sh", "while :; do x; done"), "sh") << "a word of the shell says nothing";
  EXPECT_EQ(name_of("bash", "[ $A = 2 ] && x"), "bash");
  EXPECT_EQ(name_of("sh", "\"$@\""), "sh");
  EXPECT_EQ(name_of("sh", "cd /data"), "sh");
  EXPECT_EQ(name_of("sh", "  "), "sh") << "there is no word";
  JobRequest made;
  made.command = {"bash", "-ec", "./run.sh $1", "bash", "7"};
  EXPECT_EQ(make_job(made).name, "run.sh");
}

TEST(MakeJob, HasTheMaximumOfTheArrayOrOfTheKey) {
  EXPECT_EQ(make_job(request("array = \"0-9%3\"")).max_running, 3U);
  EXPECT_EQ(request("array = \"0-9%3\"").array, "0-9");
  EXPECT_EQ(make_job(request("tasks = 9\nmax_running = 4")).max_running, 4U);
  EXPECT_EQ(make_job(request("tasks = 9")).max_running, 0U);
}

TEST(LoadJobFile, TakesNoMoreBytesThanARequestMayHave) {
  const std::string command = "command = [\"true\"]\n#";
  const TempFile most("a.toml", command + std::string(kMaxRequestBytes - command.size(), 'x'));
  EXPECT_EQ(test::message_of(load_job_file(most.path()), ConfigError::invalid), "no error");
  const TempFile more("a.toml", command + std::string(kMaxRequestBytes - command.size() + 1, 'x'));
  EXPECT_THAT(test::message_of(load_job_file(more.path()), ConfigError::invalid),
              IsGoldenAt("a.toml"));
}

TEST(JobRequests, OfABatchMayBeLargerThanOneAlone) {
  const std::string filler(kMaxRequestBytes - 200, ' ');
  const std::string one = R"({"command": ["true"]})";
  const auto batch = R"({"jobs": [)" + one + filler + "," + filler + one + "]}";
  EXPECT_EQ(job_requests_from_json(batch, "body").value().size(), 2U);
  const auto alone = job_requests_from_json(one + filler + filler, "body");
  EXPECT_THAT(test::message_of(alone, ConfigError::invalid), IsGoldenAt("body"));
  const auto huge = job_requests_from_json(std::string(kMaxBatchBytes + 1, ' '), "body");
  EXPECT_THAT(test::message_of(huge, ConfigError::invalid), IsGoldenAt("body"));
}

TEST(JobRequests, StopAtMoreFaultsThanAreShown) {
  std::string many = R"({"jobs": [{})";
  for (int i = 1; i < 900; ++i) many += ",{}";
  const auto result = job_requests_from_json(many + "]}", "body");
  const std::string message = test::message_of(result, ConfigError::invalid);
  EXPECT_THAT(message, StartsWith("body:1:11: /jobs/0/command: "));
  EXPECT_LT(std::count(message.begin(), message.end(), '\n'), 60);
}

TEST(JobRequests, WithAMemberBesideTheListAreARequestThatHasNoSuchKey) {
  const auto result = job_requests_from_json(R"({"jobs": [], "name": "x"})", "body");
  EXPECT_THAT(test::message_of(result, ConfigError::invalid), IsGoldenAt("body:1:2: /jobs"));
}

}  // namespace
}  // namespace muster
