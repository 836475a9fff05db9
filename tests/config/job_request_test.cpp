#include "config/job_request.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "config/request_keys.hpp"
#include "tests/config/every_key.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temp_file.hpp"

namespace muster {
namespace {

using namespace std::chrono_literals;
using test::IsGolden;
using test::IsGoldenAt;
using test::kEveryKeyToml;
using test::TempFile;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::StartsWith;

std::string message_of(const Expected<JobRequest, ConfigError>& result,
                       ConfigError code = ConfigError::invalid) {
  return test::message_of(result, code);
}

/// What is wrong with a TOML job file that has a command and `more`.
std::string toml_error(const std::string& more, ConfigError code = ConfigError::invalid) {
  return message_of(job_request_from_toml("command = [\"true\"]\n" + more, "job.toml"), code);
}

/// The same in JSON, where `more` begins with a comma.
std::string json_error(const std::string& more, ConfigError code = ConfigError::invalid) {
  return message_of(job_request_from_json(R"({"command": ["true"])" + more + "}", "body"), code);
}

JobRequest toml(const std::string& more) {
  return job_request_from_toml("command = [\"true\"]\n" + more, "job.toml").value();
}

constexpr std::string_view kEveryKeyJson = R"({
"name": "sweep", "user": "ann", "class": "cpu-heavy", "priority": -3,
"command": ["python3", "sweep.py", ""], "env": {"A": "x y", "B": 7}, "work_dir": "/srv/sweep",
"array": "1,3,7-9", "max_running": 2, "cpus": 1.5, "memory_gib": 0.5, "gpus": 2.0,
"time_limit_s": 300, "runtime_hint_s": "90s", "stop_grace_s": 20.0, "baseline_rate_per_s": 0.25,
"market": "spot", "constraint": "zone=a|b,type!=c7i.*", "retries": 2,
"retry_on": "75,signal", "signal": "B:USR1@1min",
"done_on_stop": true, "from": "35.7,-139.5", "token": "t-1",
"movable": false, "checkpoints": true})";

TEST(JobRequest, NeedsNothingButACommand) {
  const JobRequest request = toml("");
  EXPECT_THAT(request.command, ElementsAre("true"));
  EXPECT_EQ(request.tasks, 1U);
  EXPECT_EQ(request.cpus, 1);
  EXPECT_EQ(request.memory_gib, 1);
  EXPECT_EQ(request.gpus, 0);
  EXPECT_FALSE(request.gang);
  EXPECT_FALSE(request.time_limit_s.has_value());
  EXPECT_FALSE(request.retries.has_value());
  EXPECT_EQ(request.market, MarketChoice::any);
  EXPECT_EQ(to_json(request), R"({"command":["true"]})");
}

TEST(JobRequest, ReadsEveryKeyAlikeFromTomlAndJson) {
  const JobRequest from_toml = job_request_from_toml(kEveryKeyToml, "job.toml").value();
  const JobRequest from_json = job_request_from_json(kEveryKeyJson, "body").value();
  EXPECT_EQ(to_json(from_toml), to_json(from_json));
  EXPECT_EQ(from_toml.name, "sweep");
  EXPECT_EQ(from_toml.user, "ann");
  EXPECT_EQ(from_toml.workload_class, "cpu-heavy");
  EXPECT_EQ(from_toml.priority, -3);
  EXPECT_THAT(from_toml.command, ElementsAre("python3", "sweep.py", ""));
  EXPECT_THAT(from_toml.env, ElementsAre(Pair("A", "x y"), Pair("B", "7")));
  EXPECT_EQ(from_toml.work_dir, "/srv/sweep");
  EXPECT_EQ(from_toml.array, "1,3,7-9");
  EXPECT_EQ(from_toml.max_running, 2U);
  EXPECT_EQ(from_toml.cpus, 1.5);
  EXPECT_EQ(from_toml.memory_gib, 0.5);
  EXPECT_EQ(from_toml.gpus, 2);
  EXPECT_EQ(from_toml.time_limit_s, 300);
  EXPECT_EQ(from_toml.runtime_hint_s, 90);
  EXPECT_EQ(from_toml.stop_grace_s, 20);
  EXPECT_EQ(from_toml.baseline_rate_per_s, 0.25);
  EXPECT_EQ(from_toml.market, MarketChoice::spot);
  EXPECT_EQ(from_toml.constraint, "zone=a|b,type!=c7i.*");
  EXPECT_EQ(make_job(from_toml).constraint, from_toml.constraint);
  EXPECT_EQ(request_of(make_job(from_toml)).constraint, from_toml.constraint);
  EXPECT_EQ(from_toml.retries, 2U);
  EXPECT_THAT(from_toml.retry_on, ElementsAre("75", "signal"));
  EXPECT_EQ(from_toml.signal, "B:USR1@1min");
  EXPECT_TRUE(from_toml.done_on_stop);
  EXPECT_EQ(make_job(from_toml).origin, (GeoPoint{35.7, -139.5}));
  EXPECT_EQ(from_toml.token, "t-1");
  EXPECT_FALSE(from_toml.movable);
  EXPECT_TRUE(from_toml.checkpoints);
}

TEST(JobRequest, TakesASignalBeforeTheTimeLimitAsSlurmDoes) {
  const auto program = [](const std::string& signal) {
    return make_job(toml("time_limit_s = \"10min\"\nsignal = \"" + signal + "\"\n")).program;
  };
  EXPECT_EQ(program("USR1").warn_signal, SIGUSR1);
  EXPECT_EQ(program("USR1").warn_before, 60s);
  EXPECT_FALSE(program("USR1").warn_program_only);
  EXPECT_EQ(program("SIGINT@90").warn_signal, SIGINT);
  EXPECT_EQ(program("SIGINT@90").warn_before, 90s);
  EXPECT_EQ(program("B:12@5min").warn_signal, SIGUSR2);
  EXPECT_EQ(program("B:12@5min").warn_before, 300s);
  EXPECT_TRUE(program("B:12@5min").warn_program_only);
  Job job = make_job(toml("time_limit_s = 600\nsignal = \"B:12@5min\"\n"));
  EXPECT_EQ(make_job(request_of(job)).program, job.program);
}

TEST(JobRequest, SaysWhatIsWrongWithASignalBeforeTheTimeLimit) {
  for (const char* wrong : {"KILL@60", "9", "USR3", "USR1@", "USR1@0", "@60", "R:USR1@60", "64"}) {
    EXPECT_THAT(toml_error(std::string("time_limit_s = 600\nsignal = \"") + wrong + "\"\n"),
                IsGoldenAt("signal"))
        << wrong;
  }
  EXPECT_THAT(toml_error("signal = \"USR1\"\n"), IsGoldenAt("signal"));
  EXPECT_THAT(toml_error("time_limit_s = 30\nsignal = \"USR1\"\n"), IsGolden());
}

TEST(JobRequest, SaysWhatIsWrongWithAConstraint) {
  for (const char* wrong : {"\"zone\"", "\"market=spot\"", "\"\"", "7"}) {
    EXPECT_THAT(toml_error(std::string("constraint = ") + wrong + "\n"), IsGoldenAt("constraint"))
        << wrong;
  }
}

TEST(JobRequest, SaysWhatIsWrongWithTheFailuresToTryAgainAfter) {
  for (const char* wrong : {"[0]", "[256]", "[\"exit\"]", "[1.5]", "\"\"", "\"75,\"", "75"}) {
    EXPECT_THAT(toml_error(std::string("retries = 1\nretry_on = ") + wrong + "\n"),
                IsGoldenAt("retry_on"))
        << wrong;
  }
  EXPECT_THAT(toml_error("retry_on = [75]\n"), IsGoldenAt("retry_on"));
}

TEST(JobRequest, StaysTheSameThroughItsJson) {
  const JobRequest request = job_request_from_toml(kEveryKeyToml, "job.toml").value();
  const std::string json = to_json(request);
  EXPECT_EQ(to_json(job_request_from_json(json, "body").value()), json);
  const JobRequest gang = toml("tasks = 4\ngang = true\nmarket = \"on-demand\"\n");
  const JobRequest again = job_request_from_json(to_json(gang), "body").value();
  EXPECT_EQ(again.tasks, 4U);
  EXPECT_TRUE(again.gang);
  EXPECT_EQ(again.market, MarketChoice::on_demand);
}

TEST(JobRequest, RunsACommandInOneTextByTheShell) {
  const auto request = job_request_from_toml("command = \"sleep 1 && echo hi\"", "job.toml");
  EXPECT_THAT(request->command, ElementsAre("/bin/sh", "-c", "sleep 1 && echo hi"));
  EXPECT_EQ(make_job(request.value()).name, "sleep");
}

TEST(JobRequest, NamesEveryFaultOfATomlFileWithItsPlace) {
  const std::string message = message_of(
      job_request_from_toml("nmae = \"x\"\ncpus = 0\ntasks = \"many\"\n\nmarket = \"cheap\"\n"
                            "[env]\n\"1=A\" = \"x\"\n",
                            "job.toml"));
  EXPECT_THAT(message, IsGoldenAt("job.toml:1:1: nmae", "job.toml:2:8: cpus", "job.toml:3:9: tasks",
                                  "job.toml:5:10: market", "env"));
  EXPECT_THAT(message, HasSubstr("job.toml: command: is missing"));
}

TEST(JobRequest, NamesEveryFaultOfAJsonDocumentWithItsPlaceAndField) {
  const std::string message = message_of(job_request_from_json(
      "{\"cpu\": 2,\n \"retries\": -1,\n \"gang\": \"yes\",\n \"env\": {\"1=A\": \"x\"},\n"
      " \"time_limit_s\": [\n  1\n ]}",
      "body"));
  EXPECT_THAT(message, IsGoldenAt("body:1:2: /cpu", "body:2:13: /retries", "body:3:10: /gang",
                                  "body:4:10: /env", "body:5:18: /time_limit_s"));
  EXPECT_THAT(message, HasSubstr("body: /command: is missing"));
}

TEST(JobRequest, SaysWhereADocumentIsNoneAtAll) {
  EXPECT_THAT(toml_error("cpus = = 2", ConfigError::malformed), HasSubstr("job.toml:2:"));
  EXPECT_THAT(message_of(job_request_from_json("{\n  \"cpus\": ]", "body"), ConfigError::malformed),
              StartsWith("body:2:11: is no JSON: "));
  EXPECT_THAT(message_of(job_request_from_json("", "body"), ConfigError::malformed),
              HasSubstr("is no JSON"));
  EXPECT_THAT(message_of(job_request_from_json("[]", "body")), IsGolden());
  EXPECT_THAT(
      message_of(job_request_from_json("{\"name\": \"\xff\"}", "body"), ConfigError::malformed),
      HasSubstr("is no JSON"));
  EXPECT_THAT(json_error(R"(, "cpus": 1e999)", ConfigError::malformed), IsGolden());
  EXPECT_THAT(json_error(R"(, "cpus": 1, "cpus": 2)", ConfigError::malformed),
              IsGoldenAt("body:1:34: cpus"));
}

TEST(JobRequest, TakesNoValueOfAnotherKindOrBeyondItsRange) {
  for (const char* line : {"tasks = 0",
                           "tasks = 100001",
                           "tasks = 1.5",
                           "tasks = -1",
                           "cpus = nan",
                           "cpus = inf",
                           "cpus = -1",
                           "cpus = true",
                           "memory_gib = 0",
                           "memory_gib = \"1023KiB\"",
                           "memory_gib = 0.0009",
                           "memory_gib = \"4 gigs\"",
                           "gpus = -0.5",
                           "time_limit_s = 0",
                           "time_limit_s = \"5 minutes\"",
                           "time_limit_s = \"11000d\"",
                           "runtime_hint_s = -5",
                           "stop_grace_s = []",
                           "baseline_rate_per_s = 0",
                           "retries = 10001",
                           "priority = 1000001",
                           "priority = 0.5",
                           "from = \"35.7\"",
                           "from = \"91,0\"",
                           "name = \"\"",
                           "name = 7",
                           "name = \"a\\nb\"",
                           "user = 1979-05-27",
                           "class = [\"a\"]",
                           "market = \"Spot\"",
                           "gang = 1",
                           "array = 5",
                           "array = \"\"",
                           "env = \"A=1\"",
                           "env = { A = 1.5 }",
                           "env = { A = [1] }",
                           "work_dir = \"\"",
                           "work_dir = \"relative\"",
                           "max_running = -1",
                           "token = 5"}) {
    const std::string text = line;
    const std::string field = text.substr(0, text.find(' '));
    EXPECT_THAT(toml_error(text),
                AllOf(StartsWith("job.toml:2:"), HasSubstr(": " + field + ": has")))
        << line;
  }
}

TEST(JobRequest, TakesNoCommandThatNoProcessCouldHave) {
  const auto error = [](const std::string& command) {
    return message_of(job_request_from_json("{\"command\": " + command + "}", "body"));
  };
  EXPECT_THAT(error("[]"), IsGoldenAt("/command"));
  EXPECT_THAT(error("\"\""), HasSubstr("/command: has to be"));
  EXPECT_THAT(error("[\"\"]"), IsGolden());
  EXPECT_THAT(error("[\"a\", 1]"), IsGoldenAt("/command"));
  EXPECT_THAT(error(R"(["a\u0000b"])"), HasSubstr("zero byte"));
  const std::string longest(kMaxCommandBytes - 3, 'x');
  EXPECT_EQ(error("[\"a\", \"" + longest + "\"]"), "no error");
  EXPECT_THAT(error("[\"a\", \"" + longest + "x\"]"),
              HasSubstr("at most 131072 bytes; it is 131073"));
}

TEST(JobRequest, BoundsTheEnvironmentAndTheDocument) {
  const std::string longest(kMaxEnvBytes - 3, 'x');
  EXPECT_EQ(json_error(R"(, "env": {"A": ")" + longest + "\"}"), "no error");
  EXPECT_THAT(json_error(R"(, "env": {"A": ")" + longest + "x\"}"), IsGoldenAt("/env"));
  EXPECT_THAT(toml_error("#" + std::string(kMaxRequestBytes, ' ')), IsGolden());
  EXPECT_THAT(json_error(std::string(kMaxRequestBytes, ' ')), IsGolden());
  EXPECT_THAT(json_error(R"(, "name": ")" + std::string(257, 'x') + "\""), IsGoldenAt("/name"));
}

TEST(JobRequest, TakesAnyNameOfAVariableThatAnEnvironmentCanHave) {
  EXPECT_EQ(json_error(R"(, "env": {"node.name": "x", "BASH_FUNC_f%%": "() { :; }", "a b": "1"})"),
            "no error");
  EXPECT_THAT(json_error(R"(, "env": {"": "x"})"), IsGolden());
  EXPECT_THAT(json_error(R"(, "env": {"a=b": "x"})"), IsGolden());
  EXPECT_THAT(json_error(R"(, "env": {"a\u0000": "x"})"), IsGolden());
}

TEST(JobRequest, RefusesNamesThatCannotBeSeenOrLeadAstray) {
  for (const char* field : {"name", "user", "class", "token"}) {
    for (const char* bad : {" ", "\u00a0\u3000", "\u202eabc", "a\u200bb", "x\u2028y", "x\u2029y",
                            "\ufeffa", "a\u2066b", "a\u0085b", "a\u00adb", "\u3164", "a\\u001bb"}) {
      EXPECT_THAT(json_error(fmt::format(R"(, "{}": "{}")", field, bad)), IsGolden())
          << field << bad;
    }
    EXPECT_EQ(json_error(fmt::format(R"(, "{}": "stra\u00dfe \u6771\u4eac \u2764\ufe0f")", field)),
              "no error");
  }
}

TEST(JobRequest, ListsTheUnitsWhereATimeOrAnAmountIsWrong) {
  EXPECT_THAT(toml_error("time_limit_s = \"5 fortnights\""), IsGolden());
  EXPECT_THAT(toml_error("memory_gib = \"4X\""), HasSubstr("a unit like \"4G\" or \"512MiB\""));
  EXPECT_EQ(toml_error("time_limit_s = \"1-00:00:00\"\nmemory_gib = \"4G\""), "no error");
}

TEST(JobRequest, LeavesMustersOwnVariablesToMuster) {
  EXPECT_THAT(toml_error("env = { MUSTER_TASK_INDEX = \"3\" }"), IsGolden());
  EXPECT_EQ(toml_error("env = { MUSTER_API = \"http://a\", MUSTERED = \"1\" }"), "no error");
}

TEST(JobRequest, ShowsOnlyTheBeginningOfWhatIsLong) {
  const std::string message = toml_error("cpus = \"" + std::string(5000, 'x') + "\"");
  EXPECT_LT(message.size(), 300U);
  EXPECT_THAT(message, HasSubstr("xxx..."));
  // With the list of the keys that there are.
  std::size_t keys = 0;
  for (const config::RequestKey& key : config::request_keys()) keys += key.name.size() + 2;
  EXPECT_LT(json_error(", \"" + std::string(50'000, 'k') + "\": 1").size(), keys + 170);
}

TEST(JobRequest, IsNotUpsetByDeepNesting) {
  const std::string deep(100'000, '[');
  EXPECT_THAT(json_error(", \"cpus\": " + deep + std::string(100'000, ']')),
              HasSubstr("/cpus: has to be a number"));
  EXPECT_THAT(toml_error("cpus = " + deep, ConfigError::malformed), StartsWith("job.toml:"));
}

TEST(JobRequest, RefusesWhatDoesNotGoTogether) {
  EXPECT_THAT(toml_error("gang = true\narray = \"0-3\""), IsGoldenAt("job.toml:2:8: gang"));
  EXPECT_THAT(toml_error("gang = true\ntasks = 4\nmax_running = 2"), IsGoldenAt("gang"));
  EXPECT_THAT(toml_error("tasks = 1\narray = \"0-3\""), IsGoldenAt("tasks"));
  EXPECT_THAT(toml_error("array = \"0-3%2\"\nmax_running = 3"),
              HasSubstr("max_running: is 3 here and 2 in array"));
  EXPECT_EQ(toml_error("array = \"0-3%2\"\nmax_running = 2"), "no error");
  EXPECT_THAT(toml_error("distinct_instances = true\nmost_an_instance = 2"),
              IsGoldenAt("most_an_instance"));
  EXPECT_EQ(toml_error("distinct_instances = true\nmost_an_instance = 1"), "no error");
  EXPECT_THAT(toml_error("most_an_instance = 0"), IsGoldenAt("most_an_instance"));
}

TEST(JobRequest, ComesFromAFileOfEitherKind) {
  const TempFile in_toml("a.toml", "command = [\"true\"]\ncpus = 2\n");
  const TempFile in_json("a.json", R"({"command": ["true"], "cpus": 3})");
  EXPECT_EQ(load_job_file(in_toml.path())->cpus, 2);
  EXPECT_EQ(load_job_file(in_json.path())->cpus, 3);
  EXPECT_THAT(message_of(load_job_file(in_toml.folder() / "absent.toml"), ConfigError::unreadable),
              HasSubstr("absent.toml"));
  EXPECT_THAT(message_of(load_job_file(in_toml.folder()), ConfigError::unreadable),
              HasSubstr("is a folder"));
}

TEST(JobRequests, ComeAloneOrAsABatch) {
  EXPECT_EQ(job_requests_from_json(R"({"command": ["true"]})", "body")->size(), 1U);
  const auto batch = job_requests_from_json(
      R"({"jobs": [{"command": ["true"]}, {"command": "ls", "array": "5-6%1"}]})", "body");
  ASSERT_EQ(batch->size(), 2U);
  EXPECT_EQ(batch.value()[1].max_running, 1U);
  const auto bad = job_requests_from_json(
      R"({"jobs": [{"command": ["true"]}, {"command": "ls", "cpus": 0}, {}]})", "body");
  EXPECT_THAT(bad.error().message, AllOf(HasSubstr("body:1:60: /jobs/1/cpus: has to be"),
                                         HasSubstr("body:1:64: /jobs/2/command: is missing")));
  EXPECT_FALSE(job_requests_from_json(R"({"jobs": []})", "body").has_value());
  EXPECT_FALSE(job_requests_from_json(R"({"jobs": 3})", "body").has_value());
  std::string many = R"({"jobs": [{})";
  for (std::size_t i = 0; i < kMaxJobsPerBatch; ++i) many += ",{}";
  EXPECT_THAT(job_requests_from_json(many + "]}", "body").error().message,
              HasSubstr("a list of 1 to 10000 job requests"));
}

TEST(ParseMemory, UnderstandsUnits) {
  EXPECT_EQ(parse_memory_gib("4"), 4);
  EXPECT_EQ(parse_memory_gib("4GiB"), 4);
  EXPECT_EQ(parse_memory_gib("1.5 GiB"), 1.5);
  EXPECT_EQ(parse_memory_gib("512MiB"), 0.5);
  EXPECT_EQ(parse_memory_gib("2TiB"), 2048);
  for (const char* four : {"4G", "4GB", "4g", "4 GB", "4Gi", "4096M", "4194304kb"}) {
    EXPECT_EQ(parse_memory_gib(four), 4) << four;
  }
  EXPECT_EQ(parse_memory_gib("512M"), 0.5);
  EXPECT_EQ(parse_memory_gib("1.5G"), 1.5);
  EXPECT_EQ(parse_memory_gib("2T"), 2048);
  EXPECT_EQ(parse_memory_gib("1073741824B"), 1);
  for (const char* bad : {"GiB", "4X", "4GBB", "4 G B", "4G ", "G4", "4,5G", "4Gib/s", "nanG"}) {
    EXPECT_FALSE(parse_memory_gib(bad).has_value()) << bad;
  }
  EXPECT_FALSE(parse_memory_gib("").has_value());
}

TEST(Faults, AreFoundInARequestThatWasNotRead) {
  JobRequest request;
  request.command = {"true"};
  EXPECT_THAT(faults(request), IsEmpty());
  request.array = "0-9%2";
  EXPECT_THAT(faults(request), IsEmpty());
  EXPECT_EQ(make_job(request).max_running, 2U);
  request.name = "\xff";
  request.cpus = -1;
  request.tasks = 7;
  request.time_limit_s = 0;
  request.command = {"\xff"};
  EXPECT_THAT(faults(request),
              ElementsAre(IsGoldenAt("command"), IsGoldenAt("name"), IsGoldenAt("cpus"),
                          IsGoldenAt("time_limit_s"), IsGoldenAt("tasks")));
}

TEST(Faults, OfTextThatIsNoUtf8DoNotKeepItFromBeingShown) {
  JobRequest request;
  request.command = {"a\xff"};
  EXPECT_THAT(to_json(request), Not(HasSubstr("\xff")));
}

TEST(JobsDocument, HasTheTableOfEveryKey) {
  std::ifstream in(test::source_dir() / "docs/jobs.md");
  std::ostringstream document;
  document << in.rdbuf();
  EXPECT_THAT(document.str(), HasSubstr(describe_job_request()));
}

TEST(ShippedJobFiles, AreAllValid) {
  int read = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(test::source_dir() / "docs/examples")) {
    if (entry.path().extension() != ".toml") continue;
    EXPECT_EQ(message_of(load_job_file(entry.path())), "no error");
    ++read;
  }
  EXPECT_GE(read, 3);
}

}  // namespace
}  // namespace muster
