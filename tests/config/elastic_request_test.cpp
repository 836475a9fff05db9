// What users say of elastic jobs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/job_request.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"

namespace muster {
namespace {

using test::IsGolden;
using test::IsGoldenAt;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// What is wrong with a TOML job file that has a command and `more`.
std::string error_of(const std::string& more) {
  return test::message_of(job_request_from_toml("command = [\"true\"]\n" + more, "job.toml"),
                          ConfigError::invalid);
}

JobRequest toml(const std::string& more) {
  return job_request_from_toml("command = [\"true\"]\n" + more, "job.toml").value();
}

Job job_of(const std::string& more) {
  return make_job(toml(more));
}

const ElasticSpec& spec_of(const Job& job) {
  return std::get<ElasticSpec>(job.kind);
}

constexpr const char* kFull = R"(
elastic = "2-8"
progress_unit = "samples"
progress_ends = [100, 250.5]
speedup = "1, 1.9,2.7"
rescale_s = "2min"
baseline_rate_per_s = 0.5
batch = 128
batch_max = 4096
local_batch_min = 16
local_batch_max = 256
)";

TEST(ElasticRequest, MakesAJobWithATaskForEachWorkerThatItMayHave) {
  const Job job = job_of("elastic = \"2-8\"");
  EXPECT_EQ(spec_of(job), (ElasticSpec{2, 8}));
  ASSERT_EQ(job.tasks.size(), 8U);
  EXPECT_EQ(job.tasks[7].array_index, 7U);
  EXPECT_TRUE(job.gang);
  EXPECT_TRUE(job.checkpoints);
  EXPECT_EQ(job.tasks[0].delays.init, std::chrono::seconds{30}) << "no change of width is free";
}

TEST(ElasticRequest, SaysWhatIsKnownOfItsSpeed) {
  const Job job = job_of(kFull);
  const ElasticSpec& spec = spec_of(job);
  EXPECT_EQ(spec.unit, "samples");
  EXPECT_THAT(spec.speedup, ElementsAre(1, 1.9, 2.7));
  ASSERT_EQ(spec.epochs.all().size(), 2U);
  EXPECT_EQ(spec.epochs.all()[1], (ElasticEpoch{250.5, 0.5, {1, 1.9, 2.7}, {}}));
  EXPECT_EQ(spec.batch, (BatchLimits{128, 4096, 16, 256}));
  EXPECT_EQ(job.tasks[3].delays.init, std::chrono::minutes{2});
}

TEST(ElasticRequest, IsAskedForAgainAsItWas) {
  for (const char* said : {kFull, "elastic = \"1-3\""}) {
    JobRequest again = request_of(job_of(said));
    EXPECT_THAT(faults(again), IsEmpty());
    EXPECT_EQ(make_job(again), job_of(said));
    const std::string json = to_json(again);
    EXPECT_EQ(to_json(job_request_from_json(json, "body").value()), json);
  }
}

TEST(ElasticRequest, TakesTheFirstBatchForWhatIsNotSaid) {
  EXPECT_EQ(spec_of(job_of("elastic = \"1-2\"\nbatch = 64")).batch, (BatchLimits{64, 64, 1, 64}));
}

TEST(ElasticRequest, RefusesWidthsThatAreNoRange) {
  for (const char* wrong : {"\"0-4\"", "\"4-2\"", "\"4\"", "\"1-1025\"", "\"1-\"", "\"a-b\"",
                            "\"1-2-3\"", "4", "\"1.5-2\"", "\"-1-2\"", "\"1-1e300\""}) {
    EXPECT_THAT(error_of("elastic = " + std::string(wrong)), IsGoldenAt("job.toml:2:11: elastic"))
        << wrong;
  }
}

TEST(ElasticRequest, RefusesEndsThatDoNotRiseOrGoTooFar) {
  const auto error = [](const std::string& ends) {
    return error_of("elastic = \"1-2\"\nprogress_ends = " + ends);
  };
  EXPECT_THAT(error("[5, 5]"), HasSubstr("job.toml:3:17: progress_ends: has to rise; 5 comes"));
  EXPECT_THAT(error("[0]"), HasSubstr("to 1000000000000; one is 0"));
  EXPECT_THAT(error("[1e13]"), HasSubstr("one is 1e+13"));
  EXPECT_THAT(error("[inf]"), HasSubstr("progress_ends"));
  EXPECT_THAT(error("[]"), IsGolden());
  EXPECT_THAT(error("\"1,x\""), HasSubstr("it is \"1,x\""));
  EXPECT_THAT(error("[1]\nbaseline_rate_per_s = 1e-300"), HasSubstr("at most 315360000 s, 10"));
  std::string many = "[1";
  for (int i = 2; i <= 101; ++i) many += "," + std::to_string(i);
  EXPECT_THAT(error(many + "]"), HasSubstr("at most 100 numbers; it has 101"));
}

TEST(ElasticRequest, RefusesSpeedupsThatAreNone) {
  const auto error = [](const std::string& speedup) {
    return error_of("elastic = \"1-2\"\nspeedup = " + speedup);
  };
  EXPECT_THAT(error("[1.5, 2]"), IsGolden());
  EXPECT_THAT(error("[1, 0]"), HasSubstr("from 0.001 to 1024; one is 0"));
  EXPECT_THAT(error("[1, 2, 3]"), IsGolden());
}

TEST(ElasticRequest, RefusesBatchesThatNobodyTrainsWith) {
  const auto error = [](const std::string& more) { return error_of("elastic = \"4-8\"\n" + more); };
  EXPECT_THAT(error("batch = 16777217"), IsGolden());
  EXPECT_THAT(error("batch = 8\nbatch_max = 4"), IsGolden());
  EXPECT_THAT(error("batch = 8\nlocal_batch_min = 4\nlocal_batch_max = 2"),
              IsGoldenAt("job.toml:5:19: local_batch_max"));
  EXPECT_THAT(error("batch = 15\nlocal_batch_min = 4"), IsGolden());
  EXPECT_THAT(error("batch_max = 4"), HasSubstr("job.toml:3:13: batch_max: needs batch"));
}

TEST(ElasticRequest, RefusesWhatOtherKindsOfJobsHave) {
  const std::string elastic = "elastic = \"1-2\"\n";
  for (const std::string other :
       {"tasks = 1", "array = \"0-3\"", "gang = true", "max_running = 1", "max_fails = 1",
        "movable = false", "distinct_instances = true", "most_an_instance = 2"}) {
    const std::string key = other.substr(0, other.find(' '));
    EXPECT_THAT(error_of(elastic + other),
                testing::AllOf(HasSubstr("job.toml:3:"), HasSubstr(": " + key + ": cannot be"),
                               HasSubstr("beside elastic")));
  }
  for (const std::string alone : {"progress_unit = \"x\"", "progress_ends = [1]", "speedup = [1]",
                                  "rescale_s = 1", "batch = 1", "local_batch_min = 1"}) {
    EXPECT_THAT(error_of(alone), IsGolden());
  }
  EXPECT_THAT(error_of(elastic + "rescale_s = \"2d\""), HasSubstr("rescale_s: has to be"));
}

}  // namespace
}  // namespace muster
