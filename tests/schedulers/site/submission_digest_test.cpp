#include "model/submission_digest.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "tests/support/builders.hpp"

namespace muster {
namespace {

using test::JobBuilder;

Job plain() {
  return JobBuilder(1).tasks(2).demand(Resources::of(1, 2, 4)).build();
}

using Change = std::function<void(Job&)>;

/// Changes of a job's names, its tasks, its command and its kind, and one that changes nothing.
std::vector<Change> changes_of_what_runs() {
  return {
      [](Job&) {},
      [](Job& job) { job.name = "another"; },
      [](Job& job) { job.user = "bob"; },
      [](Job& job) { job.workload_class = "b"; },
      [](Job& job) { job.priority = -1; },
      [](Job& job) { job.gang = !job.gang; },
      [](Job& job) { job.runtime_hint = Duration{}; },
      [](Job& job) { job.runtime_hint = Duration{1}; },
      [](Job& job) { job.tasks.pop_back(); },
      [](Job& job) { job.tasks.push_back(job.tasks.back()); },
      [](Job& job) { job.tasks.back().array_index += 1; },
      [](Job& job) { job.tasks.back().image = "python"; },
      [](Job& job) { job.tasks.back().delays.stop = Duration{1}; },
      [](Job& job) { job.tasks.back().delays.upload = Duration{1}; },
      [](Job& job) { job.tasks.back().demands = Demands(Resources::of(1, 2, 5)); },
      [](Job& job) { job.tasks.back().demands = Demands(Resources::of(1, 4, 2)); },
      [](Job& job) {
        job.program.argv = {"ab", "c"};
      },
      [](Job& job) {
        job.program.argv = {"a", "bc"};
      },
      [](Job& job) {
        job.program.env = {{"A", "1"}};
      },
      [](Job& job) {
        job.program.env = {{"A", ""}};
      },
      [](Job& job) { job.program.work_dir = "/srv"; },
      [](Job& job) { job.program.make_work_dir = true; },
      [](Job& job) { job.program.script = "#!/bin/sh"; },
      [](Job& job) { job.kind = ElasticSpec{}; },
      [](Job& job) {
        job.kind = ElasticSpec{1, 4, {}};
      },
      [](Job& job) {
        job.kind = ElasticSpec{1, 4, {1, 1.8}};
      },
  };
}

/// Changes of where, how long and how often a job may run.
std::vector<Change> changes_of_how_it_runs() {
  return {
      [](Job& job) { job.program.time_limit = Duration{1}; },
      [](Job& job) { job.program.stop_grace = Duration{1}; },
      [](Job& job) { job.program.baseline_rate_per_s = 1; },
      [](Job& job) { job.markets = MarketChoice::spot; },
      [](Job& job) { job.markets = MarketChoice::on_demand; },
      [](Job& job) { job.max_running = 1; },
      [](Job& job) { job.retries = 0; },
      [](Job& job) { job.retries = 1; },
      [](Job& job) { job.max_fails = 0; },
      [](Job& job) { job.max_fails = 1; },
      [](Job& job) { job.origin = GeoPoint{}; },
      [](Job& job) {
        job.origin = GeoPoint{0, 1};
      },
      [](Job& job) { job.movable = false; },
      [](Job& job) { job.checkpoints = false; },
      [](Job& job) { job.most_an_instance = 1; },
      [](Job& job) { job.most_an_instance = 2; },
      [](Job& job) { job.done_on_stop = true; },
      [](Job& job) { job.retry_on = {"75"}; },
      [](Job& job) {
        job.retry_on = {"75", "signal"};
      },
      [](Job& job) { job.program.warn_signal = 10; },
      [](Job& job) { job.program.warn_before = Duration{1}; },
      [](Job& job) { job.program.warn_program_only = true; },
  };
}

TEST(SubmissionDigest, OfTheSameJobIsTheSameWhateverNumbersAndTokenItHas) {
  Job again = JobBuilder(7).tasks(2).demand(Resources::of(1, 2, 4)).build();
  again.name = plain().name;
  again.token = "a token";
  again.prediction.length = JobLength::short_run;
  EXPECT_EQ(submission_digest(again), submission_digest(plain()));
}

TEST(SubmissionDigest, OfADifferenceInAnythingThatAUserSaysIsAnother) {
  std::vector<Change> changes = changes_of_what_runs();
  for (Change& change : changes_of_how_it_runs()) changes.push_back(std::move(change));
  std::set<std::uint64_t> digests;
  for (const auto& change : changes) {
    Job job = plain();
    change(job);
    digests.insert(submission_digest(job));
  }
  EXPECT_EQ(digests.size(), changes.size());
}

TEST(SubmissionDigest, IsWhatStoresHave) {
  Job job = plain();
  job.priority = 3;
  job.program.argv = {"python3", "train.py"};
  job.program.env = {{"A", "1"}};
  job.markets = MarketChoice::spot;
  job.checkpoints = false;  // as of a request that does not speak of them
  EXPECT_EQ(submission_digest(job), 2634294271353593096U)
      << "tokens in stores would be refused to their owners";
}

TEST(SubmissionDigest, PartsOfAJobThatWasSplitAnewAreOfTheSameJob) {
  const auto part = [](std::size_t tasks, std::uint32_t whole, const char* token = "t") {
    Job job = JobBuilder(1).tasks(tasks).build();
    job.total_tasks = whole;
    job.max_running = static_cast<std::uint32_t>(tasks);
    job.token = token;
    return job;
  };
  EXPECT_TRUE(same_submission(part(2, 5), part(3, 5)));
  EXPECT_TRUE(same_submission(part(2, 5), part(5, 0))) << "this time one master gets all of it";
  EXPECT_FALSE(same_submission(part(2, 5), part(3, 6)));
  EXPECT_FALSE(same_submission(part(2, 5), part(2, 5, "another")));
  EXPECT_FALSE(same_submission(part(2, 0), part(3, 0))) << "these are whole jobs";
}

}  // namespace
}  // namespace muster
