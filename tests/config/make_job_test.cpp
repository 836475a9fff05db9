#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "config/job_request.hpp"
#include "config/submission.hpp"
#include "tests/config/every_key.hpp"

namespace muster {
namespace {

using namespace std::chrono_literals;
using test::kEveryKeyToml;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::vector<std::uint32_t> indices(const Job& job) {
  std::vector<std::uint32_t> all;
  for (const TaskSpec& task : job.tasks) all.push_back(task.array_index);
  return all;
}

TEST(Submission, ShowsWhatWasAskedForAndNoSecrets) {
  const Job job = make_job(job_request_from_toml(kEveryKeyToml, "job.toml").value());
  const SubmittedAs said = config::submitted_as(config::shown_submission(job), job.tasks.size());
  EXPECT_EQ(said.array, "1,3,7-9");
  EXPECT_EQ(said.cpus, 1.5);
  EXPECT_EQ(said.memory_gib, 0.5);
  EXPECT_EQ(said.time_limit_s, 300.0);
  EXPECT_EQ(said.stop_grace_s, 20.0);
  EXPECT_EQ(said.env_names, (std::vector<std::string>{"A", "B"}));
  EXPECT_EQ(said.work_dir, "/srv/sweep");
  EXPECT_EQ(said.retries, 2u);
  EXPECT_EQ(said.priority, -3);
  EXPECT_EQ(said.tasks, 5u);
  EXPECT_EQ(said.max_running, 2u);
  EXPECT_EQ(said.market, MarketChoice::spot);
  EXPECT_EQ(said.gpus, 2);
  std::map<std::string, std::string> others;
  for (const auto& [name, json] : said.others) others[name] = json;
  EXPECT_EQ(others["done_on_stop"], "true") << "what has no member of its own is said, too";
  for (const char* kept : {"env", "command", "token", "name", "user", "script"}) {
    EXPECT_FALSE(others.contains(kept)) << kept;
  }
}

TEST(MakeJob, FillsEverythingButTheIds) {
  const Job job = make_job(job_request_from_toml(kEveryKeyToml, "job.toml").value());
  EXPECT_FALSE(job.id.valid());
  EXPECT_EQ(job.name, "sweep");
  EXPECT_EQ(job.user, "ann");
  EXPECT_EQ(job.workload_class, "cpu-heavy");
  EXPECT_EQ(job.priority, -3);
  EXPECT_FALSE(job.gang);
  EXPECT_EQ(job.runtime_hint, 90s);
  EXPECT_THAT(indices(job), ElementsAre(1, 3, 7, 8, 9));
  EXPECT_FALSE(job.tasks.front().id.valid());
  EXPECT_EQ(job.tasks.back().demands, Demands(Resources::of(2, 1.5, 0.5)));
  EXPECT_EQ(job.program.argv.size(), 3U);
  EXPECT_THAT(job.program.env, ElementsAre(Pair("A", "x y"), Pair("B", "7")));
  EXPECT_EQ(job.program.work_dir, "/srv/sweep");
  EXPECT_EQ(job.program.time_limit, 5min);
  EXPECT_EQ(job.program.stop_grace, 20s);
  EXPECT_EQ(job.program.baseline_rate_per_s, 0.25);
  EXPECT_EQ(job.markets, MarketChoice::spot);
  EXPECT_EQ(job.max_running, 2U);
  EXPECT_EQ(job.retries, 2U);
  EXPECT_EQ(job.token, "t-1");
  EXPECT_FALSE(job.movable);
  EXPECT_TRUE(job.checkpoints);
}

TEST(MakeJob, NumbersTasksFromZeroAndMakesUpNameAndClass) {
  const Job job = make_job(
      job_request_from_toml("command = [\"/opt/bin/train.py\"]\ntasks = 3\ngang = true", "f")
          .value());
  EXPECT_THAT(indices(job), ElementsAre(0, 1, 2));
  EXPECT_TRUE(job.gang);
  EXPECT_EQ(job.name, "train.py");
  EXPECT_EQ(job.workload_class, "train.py");
  EXPECT_FALSE(job.runtime_hint.has_value());
  EXPECT_FALSE(job.retries.has_value());
  EXPECT_TRUE(job.movable);
  EXPECT_FALSE(job.checkpoints) << "a program that says nothing keeps none";
  EXPECT_EQ(job.program.time_limit, Duration{});
}

TEST(RequestOf, AsksForAJobLikeTheOneThatItIsOf) {
  JobRequest request = job_request_from_toml(kEveryKeyToml, "job.toml").value();
  request.max_fails = 4;
  Job job = make_job(request);
  Job again = make_job(job_request_from_json(to_json(request_of(job)), "again").value());
  ASSERT_EQ(again.tasks.size(), 1U);
  EXPECT_EQ(again.tasks.front().demands, job.tasks.front().demands);
  EXPECT_EQ(again.program, job.program);
  EXPECT_EQ(again.name, job.name);
  EXPECT_EQ(again.user, job.user);
  EXPECT_EQ(again.workload_class, job.workload_class);
  EXPECT_EQ(again.priority, job.priority);
  EXPECT_EQ(again.runtime_hint, job.runtime_hint);
  EXPECT_EQ(again.markets, job.markets);
  EXPECT_EQ(again.retries, job.retries);
  EXPECT_EQ(again.max_fails, 4U);
  EXPECT_EQ(again.movable, job.movable);
  EXPECT_EQ(again.checkpoints, job.checkpoints);
  EXPECT_EQ(again.origin, job.origin);
  EXPECT_TRUE(again.token.empty());
}

}  // namespace
}  // namespace muster
