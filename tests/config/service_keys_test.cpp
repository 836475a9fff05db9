// The table [service] of a job request.

#include "config/service_keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/job_request.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"

namespace muster {
namespace {

using namespace std::chrono_literals;
using test::IsGolden;
using ::testing::ElementsAre;

Expected<JobRequest, ConfigError> read(const std::string& service, const std::string& more = "") {
  return job_request_from_toml(
      "name = \"web\"\ncommand = [\"serve\"]\n" + more + "\n[service]\n" + service, "web.toml");
}

Job job_of(const std::string& service) {
  const auto request = read(service);
  EXPECT_TRUE(request) << (request ? "" : request.error().message);
  return request ? make_job(request.value()) : Job{};
}

std::string error_of(const std::string& service, const std::string& more = "") {
  return test::message_of(read(service, more), ConfigError::invalid);
}

TEST(ServiceRequest, MakesAServiceWithTasksToSpareBesideItsReplicas) {
  const Job job = job_of("replicas = 3\nports = [\"http\", \"admin\"]\n");
  ASSERT_NE(job.service(), nullptr);
  EXPECT_THAT(job.service()->ports, ElementsAre("http", "admin"));
  EXPECT_EQ(job.service()->replicas, 3U);
  ASSERT_EQ(job.tasks.size(), 9U) << "it may be scaled to 8, and one stands in for others";
  EXPECT_EQ(job.tasks[2].array_index, 2U);
  const Job large = job_of("replicas = 20\nmost_replicas = 30\nsurge = 4\n");
  EXPECT_EQ(large.tasks.size(), 34U);
  EXPECT_EQ(job_of("replicas = 20\n").tasks.size(), 41U);
}

TEST(ServiceRequest, SaysHowItIsUpdated) {
  const Job job = job_of(
      "replicas = 4\nsurge = 0\nmax_unavailable = 2\nhealthy_for_s = 9\n"
      "update_within_s = \"2min\"\n");
  EXPECT_EQ(job.service()->surge, 0U);
  EXPECT_EQ(job.service()->max_unavailable, 2U);
  EXPECT_EQ(job.service()->healthy_for, 9s);
  EXPECT_EQ(job.service()->update_within, 2min);
  EXPECT_THAT(error_of("replicas = 9\nmost_replicas = 3\nsurge = 0\n"), IsGolden());
}

TEST(ServiceRequest, HasAGoalThatAProbeMeasures) {
  const Job job = job_of(
      "goal = { metric = \"p99_ms\", at_most = 50, probe = [\"./probe\", \"-q\"], every_s = "
      "\"1min\" }\n");
  const ServiceGoal& goal = job.service()->goal;
  EXPECT_EQ(goal.metric, "p99_ms");
  EXPECT_EQ(goal.bound, 50);
  EXPECT_FALSE(goal.at_least);
  EXPECT_THAT(goal.probe, ElementsAre("./probe", "-q"));
  EXPECT_EQ(goal.every, 1min);
  EXPECT_TRUE(goal.is_met(50));
  EXPECT_FALSE(goal.is_met(51));
  EXPECT_FALSE(job.service()->scales());
  const Job often =
      job_of("goal = { metric = \"a\", at_least = 1, probe = [\"p\"], every_s = 3 }\n");
  EXPECT_EQ(often.service()->goal.timeout, 3s) << "no longer than from one to the next";
}

TEST(ServiceRequest, ItsGoalChoosesBetweenNumbersOfReplicas) {
  const std::string goal = "goal = { metric = \"hits_s\", at_least = 2000, reported = true }\n";
  const Job job = job_of(goal + "scale = { min = 2, max = 12 }\n");
  EXPECT_TRUE(job.service()->goal.at_least);
  EXPECT_EQ(job.service()->least, 2U);
  EXPECT_EQ(job.service()->most, 12U);
  EXPECT_EQ(job.service()->replicas, 2U) << "as few as may be, at first";
  EXPECT_EQ(job.tasks.size(), 13U);
  EXPECT_EQ(job_of(goal + "scale = { min = 2, max = 12 }\nreplicas = 5\n").service()->replicas, 5U);
}

TEST(ServiceRequest, SaysAllThatIsWrongWithAGoalTogether) {
  EXPECT_THAT(error_of("goal = { metric = \"p99_ms\", at_most = 50 }\n"
                       "scale = { min = 9, max = 4 }\nmost_replicas = 3\nreplicas = 20\n"),
              IsGolden());
  EXPECT_THAT(error_of("goal = { metric = \"P99\", at_most = 1, at_least = 2, every_s = 0 }\n"
                       "scale = { max = 2, mim = 1 }\n"),
              IsGolden());
  EXPECT_THAT(error_of("scale = { min = 1, max = 2 }\n"), IsGolden());
  EXPECT_THAT(error_of("goal = { metric = \"a\", at_most = 0, probe = [\"p\"], reported = true, "
                       "every_s = 5, timeout_s = 6 }\n"),
              IsGolden());
  EXPECT_THAT(error_of("goal = 5\nscale = 7\n"), IsGolden());
}

TEST(ServiceRequest, APolicyMayMakeItsReplicasSmaller) {
  const std::string goal = "goal = { metric = \"a\", at_least = 1, reported = true }\n";
  const auto request = read(goal + "size = { least_cpus = 0.5 }\n", "cpus = 4\nmemory_gib = 8\n");
  ASSERT_TRUE(request);
  const Job job = make_job(request.value());
  EXPECT_EQ(job.service()->size.least_cpus, 0.5);
  EXPECT_EQ(job.service()->size.least_memory_gib, 8) << "as asked for";
  EXPECT_EQ(make_job(request_of(job)).service()->size, job.service()->size);
  EXPECT_FALSE(job_of(goal).service()->size.is_there());
}

TEST(ServiceRequest, SaysAllThatIsWrongWithASizeTogether) {
  EXPECT_THAT(error_of("size = { least_cpus = 2, least_memory_gib = 3 }\n"), IsGolden());
  EXPECT_THAT(error_of("goal = { metric = \"a\", at_least = 1, reported = true }\n"
                       "scale = { min = 1, max = 2 }\nsize = { least_cpus = 0.5 }\n"),
              IsGolden());
  EXPECT_THAT(error_of("size = { least_cpu = 1, least_memory_gib = 0 }\n"), IsGolden());
  EXPECT_THAT(error_of("size = {}\n"), IsGolden());
}

TEST(ServiceRequest, NamesThePlaceOfAMemberOfATableInTheTable) {
  EXPECT_THAT(error_of("replicas = 1\n"
                       "[service.size]\nleast_cpus = 2\nleast = 1\n"
                       "[service.goal]\nmetric = \"P\"\n  at_most = 0\n"
                       "[service.scale]\nmin = 0\n"
                       "[service.ready]\nhttp = \"/\"\n  every_s = 0\n"),
              IsGolden());
}

TEST(ServiceRequest, HasOneReplicaThatIsWellWhileItRunsUnlessItSaysMore) {
  const Job job = job_of("");
  ASSERT_NE(job.service(), nullptr);
  ServiceSpec plain;
  plain.replicas = 1;
  EXPECT_EQ(*job.service(), plain);
}

TEST(ServiceRequest, AJobWithoutTheTableIsNone) {
  const auto request = job_request_from_toml("command = [\"true\"]\n", "job.toml");
  ASSERT_TRUE(request);
  EXPECT_EQ(make_job(request.value()).service(), nullptr);
}

TEST(ServiceRequest, NamesOneOfTheChecks) {
  const Job http = job_of("ports = [\"p\"]\nready = { http = \"/healthz\", port = \"p\" }\n");
  EXPECT_EQ(http.service()->ready.kind, CheckKind::http);
  EXPECT_EQ(http.service()->ready.path, "/healthz");
  EXPECT_EQ(http.service()->ready.port, "p");
  const Job tcp = job_of("ports = [\"p\"]\nalive = { tcp = \"p\" }\n");
  EXPECT_EQ(tcp.service()->alive.kind, CheckKind::tcp);
  EXPECT_EQ(tcp.service()->alive.port, "p");
  const Job command = job_of("ready = { command = [\"probe\", \"-q\"] }\n");
  EXPECT_EQ(command.service()->ready.kind, CheckKind::command);
  EXPECT_THAT(command.service()->ready.command, ElementsAre("probe", "-q"));
  EXPECT_EQ(job_of("ready = { line = true }\n").service()->ready.kind, CheckKind::line);
}

TEST(ServiceRequest, ItsTimesAreSecondsOrTexts) {
  const Job job = job_of(
      "start_within_s = \"2min\"\ndrain_s = 5\n"
      "ready = { command = [\"c\"], every_s = \"500ms\", timeout_s = 0.25, successes = 2, "
      "failures = 4 }\n");
  const ServiceSpec& spec = *job.service();
  EXPECT_EQ(spec.start_within, 2min);
  EXPECT_EQ(spec.drain, 5s);
  EXPECT_EQ(spec.ready.every, 500ms);
  EXPECT_EQ(spec.ready.timeout, 250ms);
  EXPECT_EQ(spec.ready.successes, 2U);
  EXPECT_EQ(spec.ready.failures, 4U);
}

TEST(ServiceRequest, ComesBackFromItsJobAndThroughJson) {
  const Job job = job_of(
      "replicas = 2\nports = [\"p\"]\ndrain_s = 3\n"
      "ready = { http = \"/ok\", port = \"p\" }\nalive = { tcp = \"p\" }\n");
  const JobRequest request = request_of(job);
  const auto again = job_request_from_json(to_json(request), "body");
  ASSERT_TRUE(again) << again.error().message;
  const Job same = make_job(again.value());
  EXPECT_EQ(same.kind, job.kind);
  EXPECT_EQ(same.tasks.size(), job.tasks.size());
}

TEST(ServiceRequest, AllOfItsFaultsAreToldTogether) {
  EXPECT_THAT(error_of("replicas = 0\nports = [\"p\", \"p\", \"No\"]\nready = { http = \"x\" }\n"
                       "alive = { tcp = \"q\", command = [\"c\"] }\nstart_within_s = \"soon\"\n"
                       "speed = 3\n"),
              IsGolden());
}

TEST(ServiceRequest, KeysOfJobsThatEndDoNotGoWithIt) {
  EXPECT_THAT(error_of("",
                       "array = \"0-3\"\ngang = true\ntime_limit_s = 5\nretries = 2\n"
                       "max_fails = 1\nmax_running = 1\nruntime_hint_s = 9\n"),
              IsGolden());
}

TEST(ServiceRequest, ItsNameGoesIntoAPath) {
  const auto unnamed = job_request_from_toml("command = [\"a\"]\n[service]\n", "web.toml");
  ASSERT_FALSE(unnamed);
  const auto spaced =
      job_request_from_toml("name = \"my web\"\ncommand = [\"a\"]\n[service]\n", "web.toml");
  ASSERT_FALSE(spaced);
}

TEST(ServiceRequest, AHangingProgramSaysNoLineSoThatAliveAsksOtherwise) {
  EXPECT_FALSE(read("alive = { line = true }\n"));
}

}  // namespace
}  // namespace muster
