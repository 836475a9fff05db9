#include "tools/client/answers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <optional>

#include "tests/support/golden.hpp"
#include "tests/support/line_with.hpp"
#include "tools/client/story_views.hpp"
#include "tools/client/views.hpp"

namespace muster::client {
namespace {

using muster::test::IsGolden;
using muster::test::line_with;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Answer answer(const char* text) {
  return {text, nlohmann::json::parse(text)};
}

template <class T>
std::string error_of(const Parsed<T>& parsed) {
  return parsed ? "no error" : parsed.error().message;
}

constexpr const char* kJob = R"({"job": 12, "name": "sweep", "user": "ann", "class": "sweep",
"state": "failed", "master": null, "tasks_total": 2, "waiting": 0, "held": 0, "capped": 0,
"starting": 0,
"running": 0, "finished": 1, "failed": 1, "failed_attempts": 3, "submitted_s": 1.5, "over_s": null,
"usd": 0.5, "market": "any", "gang": false, "exit_code": 9, "command": ["a", "b"], "tasks": [
{"task": 4, "phase": "pending", "attempt": 0, "instance": null, "instance_type": null, "usd": 0,
"exit_code": null, "reason": {"kind": "not now", "code": "held", "text": "held"}, "moves": 0}]})";

TEST(Answers, ReadAJobWithItsTasks) {
  const auto job = job_page(answer(kJob));
  ASSERT_TRUE(job.has_value()) << error_of(job);
  EXPECT_EQ(job->job.job, JobId{12});
  EXPECT_EQ(job->job.exit_code, 9);
  EXPECT_EQ(job->job.master, "");
  EXPECT_FALSE(job->job.over.has_value());
  EXPECT_TRUE(is_over(job->job));
  ASSERT_EQ(job->tasks.size(), 1U);
  EXPECT_EQ(job->tasks.front().index, 4U);
  EXPECT_EQ(job->tasks.front().reason->text, "held");
  EXPECT_FALSE(job->tasks.front().last_failure.has_value());
  EXPECT_FALSE(job->tasks.front().instance.valid());
  EXPECT_FALSE(job->tasks.front().exit_code.has_value());
}

TEST(Answers, ReadHowATaskFailedAndThatAJobHasNoExitCode) {
  Answer failed = answer(kJob);
  failed.document["exit_code"] = nullptr;
  failed.document["tasks"][0]["last_failure"] = {{"kind", "time limit"}, {"text", "too long"}};
  const auto job = job_page(failed);
  ASSERT_TRUE(job.has_value()) << error_of(job);
  EXPECT_FALSE(job->job.exit_code.has_value());
  EXPECT_EQ(job->job.failed, 1U);
  EXPECT_EQ(job->tasks.front().last_failure->text, "too long");
}

TEST(Answers, ReadAJobThatNoMasterHasHad) {
  Answer ended = answer(kJob);
  ended.document["state"] = "refused";
  const std::string why = "the task is not valid";
  ended.document["reason"] = why;
  ended.document["submitted_s"] = nullptr;
  const auto job = job_only(ended);
  ASSERT_TRUE(job.has_value()) << error_of(job);
  EXPECT_EQ(job->reason, why);
  EXPECT_FALSE(job->submitted.has_value());
  EXPECT_TRUE(is_over(job.value()));
}

TEST(Views, SayWhatAJobWasSubmittedWith) {
  nlohmann::json document = nlohmann::json::parse(kJob);
  document["command"] = {"sh", "-c", "echo $A"};
  document["submission"] = nlohmann::json::parse(R"({"array": "0-100:10", "checkpoints": false,
      "class": "c", "cpus": 2.0, "distinct_instances": false, "env_names": ["A", "node.name"],
      "gang": false, "gpus": 1.0, "market": "spot", "max_fails": null, "max_running": 3,
      "memory_gib": 4.0, "movable": true, "priority": -7, "retries": 2, "runtime_hint_s": null,
      "stop_grace_s": 20.0, "tasks": 11, "time_limit_s": 600.0, "work_dir": "/srv",
      "retry_on": [75, "signal"]})");
  const auto job = job_page(Answer{document.dump(), document});
  ASSERT_TRUE(job.has_value()) << error_of(job);
  const std::string text = TaskTable().next(job.value());
  EXPECT_THAT(text, HasSubstr("2 cpus, 4 GiB, 1 gpu, spot"));
  EXPECT_THAT(text, AllOf(HasSubstr(" 10min"), HasSubstr(" 20s\n")));
  EXPECT_THAT(text, HasSubstr("priority -7, 11 tasks (array 0-100:10)"));
  EXPECT_THAT(text, AllOf(HasSubstr(" 3 at once"), HasSubstr("retries 2")));
  EXPECT_THAT(text, HasSubstr("[75,\"signal\"]\n"));
  EXPECT_THAT(text, HasSubstr(" /srv\n"));
  EXPECT_THAT(text, HasSubstr(" A, node.name\n"));
  EXPECT_THAT(text, HasSubstr("\n  sh -c 'echo $A'\n"));
  for (const char* of : {"2 cpus", "priority", "/srv", "node.name"}) {
    EXPECT_THAT(line_with(text, of), IsGolden());
  }
}

TEST(Answers, SayWhoHasNotConfirmedACancel) {
  const auto under_way = unconfirmed_by(answer(R"({"job": 1, "unconfirmed": ["m1"]})"));
  ASSERT_TRUE(under_way.has_value());
  EXPECT_EQ(under_way.value(), std::vector<std::string>{"m1"});
  EXPECT_TRUE(unconfirmed_by(answer(R"({"job": 1})"))->empty());
}

constexpr const char* kPart = R"({"total_usd": 2, "idle_usd": {"boot": 0, "idle": 0, "drain": 0,
"fragmentation": 0}, "by": [{"name": "ann", "usd": 2}], "complete": false, "silent": [
{"master": "m0", "since_s": 12.4, "last": {"usd_h": 0.1323, "today_usd": 1, "total_usd": 3,
"instances": 2, "active_jobs": 4, "pending_tasks": 1}}, {"site": "oslo", "since_s": 3}]})";

TEST(Answers, SayWhosePartIsMissingAndWhatTheySaidLast) {
  const auto silent = silent_in(answer(kPart));
  ASSERT_TRUE(silent.has_value()) << error_of(silent);
  ASSERT_EQ(silent->size(), 2U);
  EXPECT_THAT(silence_text(silent->front()),
              AllOf(HasSubstr("12 s"), HasSubstr("$0.1323"), HasSubstr("$1.0000"),
                    HasSubstr("$3.0000"), IsGolden()));
  EXPECT_THAT(silence_text(silent->back()),
              AllOf(StartsWith("site oslo"), HasSubstr("3 s"), IsGolden()));
  const auto cloud = silent_in(answer(R"({"silent": [{"cloud": "n4"}]})"));
  EXPECT_THAT(silence_text(cloud->front()), AllOf(HasSubstr("n4"), IsGolden()));
  EXPECT_TRUE(silent_in(answer("{}"))->empty()) << "an earlier version says nothing of it";
}

TEST(Views, SayOfATotalThatLacksAPartThatItIsAtLeastSoMuch) {
  const std::string cost = view(cost_of(answer(kPart)).value(), "user");
  EXPECT_THAT(cost, AllOf(HasSubstr("at least $2.0000\nmaster m0 "), IsGolden()));
  StatusAnswer status;
  status.usd_h = 0.0892;
  EXPECT_THAT(view(status), HasSubstr("cost:      $0.0892 an hour now"));
  status.silent = silent_in(answer(kPart)).value();
  EXPECT_THAT(view(status),
              AllOf(HasSubstr("cost:      at least $0.0892 an hour now"),
                    HasSubstr("jobs:      at least 0 running"), HasSubstr("instances: none"),
                    HasSubstr("silent:    master m0 "), IsGolden()));
  JobPage job;
  job.complete = false;
  EXPECT_THAT(TaskTable().next(job), HasSubstr("; at least $0.0000\n"));
}

TEST(Views, SayOfElasticJobsWhatTheyAreToHaveAndNotThatItRuns) {
  StatusAnswer status;
  status.elastic.jobs = 2;
  status.elastic.workers = 5;
  EXPECT_THAT(view(status), AllOf(HasSubstr("tasks:     0 running"),
                                  HasSubstr("elastic:   2 jobs, to have 5 workers together\n")));
}

TEST(Answers, NameTheFirstFieldThatIsWrong) {
  const auto with = [](const char* key, const nlohmann::json& value) {
    Answer changed = answer(kJob);
    changed.document[key] = value;
    return error_of(job_page(changed));
  };
  EXPECT_THAT(with("job", "x"), AllOf(HasSubstr("/job "), IsGolden()));
  EXPECT_THAT(with("job", -1), AllOf(HasSubstr("/job "), IsGolden()));
  EXPECT_THAT(with("job", 1.5), AllOf(HasSubstr("/job "), IsGolden()));
  EXPECT_THAT(with("usd", nullptr), AllOf(HasSubstr("/usd "), IsGolden()));
  EXPECT_THAT(with("command", "a"), AllOf(HasSubstr("/command "), IsGolden()));
  EXPECT_THAT(with("tasks", {1}), AllOf(HasSubstr("/tasks/0 "), IsGolden()));
  EXPECT_THAT(with("tasks", nlohmann::json::parse(R"([{"task": 1}])")),
              HasSubstr("/tasks/0/phase is missing"));
  EXPECT_THAT(error_of(job_page(answer("{}"))), AllOf(HasSubstr("/job "), IsGolden()));
}

TEST(Answers, TakeNoNumberForAnotherOne) {
  const auto with = [](const char* key, const nlohmann::json& value) {
    Answer changed = answer(kJob);
    changed.document[key] = value;
    return error_of(job_page(changed));
  };
  EXPECT_THAT(with("exit_code", std::int64_t{1} << 32), HasSubstr("/exit_code has to be"))
      << "its last 32 bits are 0, which would be success";
  EXPECT_THAT(with("max_fails", std::int64_t{1} << 32), HasSubstr("/max_fails has to be"));
  EXPECT_THAT(with("submitted_s", 1e300), HasSubstr("/submitted_s has to be"));
}

TEST(Answers, TakeWordsOfLaterVersions) {
  Answer later = answer(kJob);
  later.document["state"] = "hibernating";
  const auto job = job_page(later);
  ASSERT_TRUE(job.has_value()) << error_of(job);
  EXPECT_EQ(shown_word(job->job.state), "unknown (a later version)");
  EXPECT_EQ(shown_word(ShownState::running), "running");
  EXPECT_FALSE(is_over(job->job)) << "whoever waits for it goes on waiting";
}

TEST(Answers, GoOnInALogWhereTheServerSays) {
  const auto part = log_part(answer(
      R"({"attempt": 2, "offset": 10, "next_offset": 14, "size": null, "text": "abc",
          "more": true, "lost": false, "lost_reason": null})"));
  ASSERT_TRUE(part);
  EXPECT_EQ(part->next, 14u) << "a character may be longer than its mark";
  EXPECT_EQ(part->attempt, 2u);
  EXPECT_FALSE(part->size);
  EXPECT_TRUE(part->lost.empty());
  BytesAnswer bytes{"\xFF",
                    {{"muster-attempt", "1"},
                     {"muster-offset", "7"},
                     {"muster-next-offset", "8"},
                     {"muster-more", "0"},
                     {"muster-size", "8"},
                     {"muster-lost", "gone"}}};
  const auto raw = raw_log_part(bytes);
  ASSERT_TRUE(raw);
  EXPECT_EQ(raw->text, "\xFF");
  EXPECT_EQ(raw->offset, 7u);
  EXPECT_EQ(raw->size, 8u);
  EXPECT_EQ(raw->lost, "gone");
  bytes.headers["muster-next-offset"] = "-1";
  const auto wrong = raw_log_part(bytes);
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, ::testing::HasSubstr("muster-next-offset"));
}

TEST(Answers, TakeANodeThatSaysOnlyWhatItsRolesKnow) {
  const auto nodes = view_of<NodesView>(answer(
      R"({"nodes": [{"node": "n0", "roles": [], "connected": false, "load": null},
                    {"node": "n1", "roles": ["api"], "connected": true, "load": {"jobs": 3}}]})"));
  ASSERT_TRUE(nodes.has_value()) << error_of(nodes);
  ASSERT_EQ(nodes->nodes.size(), 2U);
  EXPECT_EQ(nodes->nodes[1].load.jobs, 3U);
  EXPECT_THAT(view(nodes.value()), HasSubstr("NO"));
}

TEST(Answers, TakeDecisionsAndShowEachInAWholeSentence) {
  const std::string sentence =
      "Reconfigures all instances: moves 2 tasks; reconfiguring all would save $0.1200 an hour, "
      "with migrations for $0.0080, what is set up is expected to last 1.5 h.";
  const std::string text = R"({"decisions": [{"at_s": 1800000000, "master": "m0", "round": 7,
                              "choice": "full", "sentence": ")" +
                           sentence + R"(", "details": "Reconfigures all."}]})";
  const auto decisions = view_of<DecisionsView>(answer(text.c_str()));
  ASSERT_TRUE(decisions);
  const std::string row = "2027-01-15 08:00:00  m0          7  " + sentence;
  EXPECT_THAT(view(decisions.value(), false),
              AllOf(HasSubstr(row), Not(HasSubstr("Reconfigures all."))));
  EXPECT_THAT(view(decisions.value(), true), AllOf(HasSubstr(row), HasSubstr("Reconfigures all.")));
}

TEST(Views, ShowAmountsOfMoneyThatAreSmall) {
  EXPECT_EQ(usd_text(0), "$0.0000");
  EXPECT_EQ(usd_text(0.00001), "<$0.0001");
  EXPECT_EQ(usd_text(0.0123), "$0.0123");
  EXPECT_EQ(usd_text(1234.567), "$1234.57");
}

TEST(Views, ShowTimesByTheZoneOfTheReaderAndSurviveStrangeOnes) {
  const char* before = std::getenv("TZ");
  const std::optional<std::string> zone =
      before ? std::optional<std::string>(before) : std::nullopt;
  const auto set = [](const char* name) {
    name ? setenv("TZ", name, 1) : unsetenv("TZ");
    tzset();
  };
  set("EST5EDT,M3.2.0,M11.1.0");  // New York's, without the system's tables
  EXPECT_EQ(time_text(1800000000), "2027-01-15 03:00:00");
  EXPECT_EQ(time_text(1782900000), "2026-07-01 06:00:00");
  set("UTC0");
  EXPECT_EQ(time_text(0), "1970-01-01 00:00:00");
  EXPECT_EQ(time_text(1800000000.9), "2027-01-15 08:00:00");
  EXPECT_EQ(time_text(-1), "?");
  EXPECT_EQ(time_text(1e300), "?");
  set(zone ? zone->c_str() : nullptr);
}

TEST(Views, ShowHowWideAnElasticJobIsAndNotTheWorkersThatItIsNotToHave) {
  auto wide = answer(kJob);
  wide.document["state"] = "running";
  wide.document["tasks_total"] = 8U;
  wide.document["capped"] = 6U;
  wide.document["running"] = 2U;
  wide.document["elastic"] = {{"least", 1U},   {"most", 8U},      {"width", 2U},
                              {"done", 120.5}, {"whole", 1000.0}, {"unit", "samples"}};
  const auto job = job_page(wide);
  ASSERT_TRUE(job.has_value()) << error_of(job);
  EXPECT_THAT(TaskTable().next(job.value()),
              HasSubstr("elastic: 2 workers of 1 to 8; 120.5 of 1000 "
                        "samples done\n"));
  EXPECT_THAT(JobTable().next({job->job}), HasSubstr("2 of 1-8     0    2"));
  EXPECT_EQ(progress_line({job->job}), "0 waiting, 2 running, 1 of 2 finished");
  wide.document["elastic"]["width"] = nullptr;
  EXPECT_THAT(JobTable().next({job_page(wide).value().job}), HasSubstr(" 1-8 "));
}

TEST(Views, ListInstancesOnceWithAllThatTheyCost) {
  CostAnswer cost;
  cost.total_usd = 3;
  cost.by = {{"1 c7i.large", 3}};
  cost.idle = {{"boot", 1}};
  EXPECT_THAT(view(cost, "user"), HasSubstr("(boot)"));
  EXPECT_THAT(view(cost, "instance"), Not(HasSubstr("(boot)")));
}

TEST(Views, ListInstancesByAmountsThatAddUpToTheBill) {
  CostAnswer cost;
  cost.by = {{"1 m4.large", 0.00004}, {"2 m4.large", 0.00004}, {"3 m4.large", 0.33338}};
  cost.total_usd = 0.33346;
  // Four digits would say 0.0000, 0.0000 and 0.3334 of 0.3335.
  EXPECT_EQ(view(cost, "instance"),
            "INSTANCE        COST\n"
            "1 m4.large  $0.00004\n"
            "2 m4.large  $0.00004\n"
            "3 m4.large  $0.33338\n"
            "total       $0.33346\n");
  cost.by = {{"1 m4.large", 1.0 / 3}, {"2 m4.large", 1.0 / 3}, {"3 m4.large", 1.0 / 3}};
  cost.total_usd = 1;
  EXPECT_THAT(view(cost, "instance"), HasSubstr("1 m4.large  $0.3334\n2 m4.large  $0.3333\n"));
}

TEST(Views, HaveAColumnForLabelsWhereSomeInstanceHasAny) {
  InstancesView shown;
  shown.instances.resize(2);
  shown.instances[0].type = "c7i.large";
  EXPECT_THAT(view(shown), Not(HasSubstr("LABELS")));
  shown.instances[1].labels = {{"disk", "nvme"}, {"zone", "eu-1a"}};
  EXPECT_THAT(view(shown), AllOf(HasSubstr("LABELS"), HasSubstr("disk=nvme zone=eu-1a")));
}

TEST(Views, SumUpWhatAPlanDoesWithAnArray) {
  PlanView plan;
  plan.launches = {{"c7i.xlarge", Market::spot, 0.07}, {"c7i.xlarge", Market::spot, 0.07}};
  for (const std::uint32_t task : {3, 0, 1, 2}) plan.places.push_back({task, "a new c7i.xlarge"});
  plan.places.push_back({5, "instance 4 (c7i.large)"});
  plan.places.push_back({9, "a new c7i.xlarge"});
  for (const std::uint32_t task : {6, 7, 8}) {
    plan.refusals.push_back({task, RefusalKind::not_now, "no room"});
  }
  plan.refusals.push_back({4, RefusalKind::never, "too large"});
  EXPECT_THAT(view(plan), AllOf(StartsWith("launch 2 x c7i.xlarge (spot) at $0.0700"),
                                HasSubstr("tasks 0-3, 9 "), HasSubstr("\ntask 4 "),
                                HasSubstr("\ntasks 6-8 "), IsGolden()));
  plan.places.clear();
  for (std::uint32_t task = 0; task < 40; task += 2) plan.places.push_back({task, "instance 1"});
  EXPECT_THAT(view(plan), HasSubstr("tasks 0, 2, 4, 6, 8, 10, ... (20 tasks) to instance 1\n"));
}

TEST(Views, SumUpHowFarJobsAre) {
  JobView one;
  one.state = ShownState::running;
  one.tasks = 5;
  one.running = 2;
  one.waiting = 1;
  one.finished = 2;
  EXPECT_EQ(progress_line({one}), "1 waiting, 2 running, 2 of 5 finished");
  JobView other = one;
  other.state = ShownState::completed;
  EXPECT_EQ(progress_line({one, other}),
            "2 waiting, 4 running, 4 of 10 finished; 1 of 2 jobs over");
}

}  // namespace
}  // namespace muster::client
