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

TEST(ServiceRequest, MakesAServiceWithAReplicaATask) {
  const Job job = job_of("replicas = 3\nports = [\"http\", \"admin\"]\n");
  ASSERT_NE(job.service(), nullptr);
  EXPECT_THAT(job.service()->ports, ElementsAre("http", "admin"));
  ASSERT_EQ(job.tasks.size(), 3U);
  EXPECT_EQ(job.tasks[2].array_index, 2U);
}

TEST(ServiceRequest, HasOneReplicaThatIsWellWhileItRunsUnlessItSaysMore) {
  const Job job = job_of("");
  ASSERT_NE(job.service(), nullptr);
  EXPECT_EQ(job.tasks.size(), 1U);
  EXPECT_EQ(*job.service(), ServiceSpec{});
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
  EXPECT_EQ(same.tasks.size(), 2U);
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
