#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/workload/offered_load.hpp"
#include "replay/workload/training.hpp"
#include "replay/workload/training_truth.hpp"
#include "tests/replay/workload/workload_compare.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temp_file.hpp"
#include "tests/support/training_tables.hpp"

namespace muster::replay {
namespace {

using namespace std::chrono_literals;
using muster::test::message_of;
using muster::test::TempFile;
using test::reading;
using testing::HasSubstr;

constexpr std::string_view kTrace =
    "name,time,application,num_replicas,batch_size\n"
    "bert-0,107.5,bert,8,320\n"
    "ncf-1,110,ncf,1,32768\n"
    "bert-2,300,bert,2,64\n";

WorkloadConfig training(const TempFile& file) {
  WorkloadConfig config = reading("training", file.path());
  config.own.of<TrainingSettings>().profiles = muster::test::small_training_data();
  config.task.cpu = 4;
  config.task.memory_gib = 16;
  return config;
}

const ElasticSpec& spec_of(const WorkloadJob& job) {
  return std::get<ElasticSpec>(job.job.kind);
}

TEST(TrainingJobs, AreElasticGangsOfOneTaskAWorker) {
  const TempFile file("trace.csv", kTrace);
  const Workload workload = read_workload(training(file), 1).value();
  ASSERT_EQ(workload.jobs.size(), 3U);
  EXPECT_THAT(workload.description, HasSubstr("calibration osdi21, agent oracle"));
  const WorkloadJob& first = workload.jobs[0];
  EXPECT_EQ(first.job.name, "bert-0");
  EXPECT_EQ(first.job.workload_class, "bert");
  EXPECT_EQ(first.submit, Instant{107500ms});
  EXPECT_TRUE(first.job.gang);
  EXPECT_EQ(first.job.tasks.size(), 64U);
  EXPECT_EQ(spec_of(first).min_width, 1U);
  EXPECT_EQ(spec_of(first).max_width, 64U);
  EXPECT_EQ(spec_of(first).batch, (BatchLimits{12, 384, 4, 12}));
  EXPECT_EQ(first.job.tasks[63].demands, Demands(Resources::of(1, 4, 16)));
  EXPECT_EQ(first.job.tasks[63].delays.init, 30s);
  EXPECT_EQ(workload.jobs[1].job.tasks.size(), 1U) << "ncf runs on one worker";
}

TEST(TrainingJobs, OfAClassShareEpochsAndTruth) {
  const TempFile file("trace.csv", kTrace);
  const CompactWorkload workload = read_compact_workload(training(file), 1).value();
  const WorkloadJob one = workload.job(0);
  const WorkloadJob other = workload.job(2);
  EXPECT_EQ(spec_of(one).epochs.all().data(), spec_of(other).epochs.all().data());
  EXPECT_EQ(one.truth.elastic, other.truth.elastic);
  EXPECT_NE(one.truth.elastic, workload.job(1).truth.elastic);
}

TEST(TrainingJobs, StateWhatIsTrueOrOnlyTheEpochs) {
  const TempFile file("trace.csv", kTrace);
  WorkloadConfig config = training(file);
  const WorkloadJob told = read_workload(config, 1)->jobs[0];
  const ElasticEpoch& epoch = spec_of(told).epochs.all()[1];
  EXPECT_EQ(epoch.until, 14774);
  EXPECT_GT(speedup_of(epoch, 4), 4) << "superlinear up to a node";
  EXPECT_LT(speedup_of(epoch, 4, true), speedup_of(epoch, 4)) << "over two nodes";
  const auto pace = told.truth.elastic->begin();
  pace->place(WorkerCounts{4, 4}, 4);
  EXPECT_NEAR(pace->rate_per_s(1), epoch.rate_per_s * speedup_of(epoch, 8), 1e-12);
  EXPECT_EQ(pace->rechoose_every(), 0s) << "the truth stays the same all through an epoch";
  config.own.of<TrainingSettings>().states_speedups = false;
  const WorkloadJob silent = read_workload(config, 1)->jobs[0];
  EXPECT_EQ(spec_of(silent).epochs.all()[1].until, 14774);
  EXPECT_TRUE(spec_of(silent).epochs.all()[1].speedup.empty());
  EXPECT_EQ(spec_of(silent).epochs.all()[1].rate_per_s, 0);
}

TEST(TrainingJobs, LearnEachForItself) {
  const TempFile file("trace.csv", kTrace);
  WorkloadConfig config = training(file);
  config.own.of<TrainingSettings>().agent = "learned";
  const WorkloadJob job = read_workload(config, 1)->jobs[0];
  const auto pace = job.truth.elastic->begin();
  const auto other = job.truth.elastic->begin();
  for (const auto& each : {pace.get(), other.get()}) each->place(WorkerCounts{4}, 4);
  const double first = pace->rate_per_s(0);
  EXPECT_GT(pace->rate_per_s(0), first) << "a larger batch";
  EXPECT_EQ(other->rate_per_s(0), first);
  EXPECT_EQ(pace->rechoose_every(), 60s);
  ASSERT_TRUE(pace->sample().has_value());
  EXPECT_EQ(pace->sample()->replicas, 4U);
}

TEST(TrainingJobs, RunAsFastAsPackedWherePlacementsWereNotMeasured) {
  const TempFile file("trace.csv", kTrace);
  const WorkloadJob job = read_workload(training(file), 1)->jobs[0];
  const auto packed = job.truth.elastic->begin();
  const auto spread = job.truth.elastic->begin();
  packed->place(WorkerCounts{4, 1}, 4);
  spread->place(WorkerCounts(5, 1), 4);
  EXPECT_EQ(spread->rate_per_s(0), packed->rate_per_s(0));
}

TEST(TrainingJobs, AreFasterOnFamiliesThatTheConfigSaysAre) {
  const TempFile file("trace.csv", kTrace);
  WorkloadConfig config = training(file);
  auto& settings = config.own.of<TrainingSettings>();
  settings.families = {"p3@3", "old@0.5"};
  const Demands demands = read_workload(config, 1)->jobs[0].job.tasks[0].demands;
  EXPECT_EQ(demands.on("g4dn")->speed, 1);
  EXPECT_EQ(demands.on("p3")->speed, 3);
  EXPECT_EQ(demands.on("p3")->amount, demands.on("g4dn")->amount);
  EXPECT_EQ(demands.on("old")->speed, 0.5);
  for (const char* wrong : {"p3", "@3", "p3@", "p3@0", "p3@-1", "p3@fast", "p3@1001"}) {
    settings.families = {wrong};
    EXPECT_THAT(message_of(read_workload(config, 1), WorkloadError::invalid),
                HasSubstr("workload.training.families"));
  }
}

TEST(TrainingJobs, AreHeldUpAsTheConfigHasIt) {
  const TempFile file("trace.csv", kTrace);
  WorkloadConfig config = training(file);
  auto& settings = config.own.of<TrainingSettings>();
  const auto delay = [&] { return read_workload(config, 1)->jobs[0].job.tasks[0].delays.init; };
  settings.calibration = "sia23";
  EXPECT_EQ(delay(), 120s);
  settings.rescale = 20s;
  EXPECT_EQ(delay(), 20s);
  settings.rescale_factor = 1.5;
  EXPECT_EQ(delay(), 30s);
  settings.rescale_factor = 0;
  EXPECT_EQ(delay(), 0s);
}

TEST(TrainingJobs, AreNoWiderThanTheConfigAllows) {
  const TempFile file("trace.csv", kTrace);
  WorkloadConfig config = training(file);
  config.own.of<TrainingSettings>().max_width = 8;
  const WorkloadJob narrow = read_workload(config, 1)->jobs[0];
  EXPECT_EQ(narrow.job.tasks.size(), 8U);
  EXPECT_EQ(spec_of(narrow).epochs.all()[0].speedup.size(), 8U);
  config.max_tasks = 5;
  const WorkloadJob cut = read_workload(config, 1)->jobs[0];
  EXPECT_EQ(cut.job.tasks.size(), 5U);
  EXPECT_EQ(spec_of(cut).max_width, 5U);
}

TEST(TrainingJobs, CountWithTheWorkOfOneWorker) {
  const TempFile file("trace.csv", kTrace);
  const Workload workload = read_workload(training(file), 1).value();
  EXPECT_NEAR(workload.jobs[0].truth.mean_task_s() / 3600, 3.75932394, 1e-6);
  InstanceType node;
  node.name = "node";
  node.capacity = Resources::of(4, 48, 192);
  const Catalog catalog({node});
  const Fleet fleet = {FleetShare{.type = TypeId{0}, .count = 1}};
  const double span_h = 192.5 / 3600;
  EXPECT_NEAR(offered_load(workload, fleet, catalog).value(),
              (2 * 3.75932394 + 0.0127598201) / (4 * span_h), 1e-5);
}

TEST(TrainingJobs, NameFileLineAndFieldOfWhatCannotBe) {
  const TempFile file("trace.csv", "name,time,application\na,1,bert\nb,2,brt\nc,-1,bert\nd,,ncf\n");
  const std::string error = message_of(read_workload(training(file), 1), WorkloadError::invalid);
  EXPECT_THAT(error, HasSubstr("trace.csv:3: application: "));
  EXPECT_THAT(error, HasSubstr("bert"));
  EXPECT_THAT(error, HasSubstr("trace.csv:4: time: "));
  EXPECT_THAT(error, HasSubstr("trace.csv:5: time: "));
  WorkloadConfig config = training(file);
  config.own.of<TrainingSettings>().profiles = "/nowhere";
  EXPECT_THAT(message_of(read_workload(config, 1), WorkloadError::unreadable),
              HasSubstr("/nowhere"));
}

}  // namespace
}  // namespace muster::replay
