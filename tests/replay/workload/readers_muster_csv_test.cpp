#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>

#include "tests/replay/workload/workload_compare.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::replay {
namespace {

using namespace std::chrono_literals;
using muster::test::IsGoldenAt;
using muster::test::message_of;
using muster::test::TempFile;
using test::reading;
using testing::HasSubstr;

constexpr std::string_view kNeeded =
    "id,submit_s,user,name,tasks,gpu,cpu,memory_gib,duration_s,class";

Expected<Workload, WorkloadError> read_text(const std::string& text) {
  const TempFile file("jobs.csv", text);
  return read_workload(reading("muster-csv", file.path()), 1);
}

Expected<Workload, WorkloadError> read_rows(const std::string& rows) {
  return read_text(std::string(kNeeded) + "\n" + rows);
}

/// One good row, with more columns at its end.
Expected<Workload, WorkloadError> read_extra(const std::string& columns,
                                             const std::string& fields) {
  return read_text(std::string(kNeeded) + "," + columns +
                   "\n7,10,ann,train,2,1,4,16,3600,gpt2[1]," + fields + "\n");
}

TEST(MusterCsv, ReadsTheNeededColumns) {
  const Workload workload = read_rows("7,10.5,ann,train,2,1,4,16,3600,gpt2[1]\n").value();
  const WorkloadJob& job = workload.jobs.at(0);
  EXPECT_EQ(job.job.id, JobId{7});
  EXPECT_EQ(job.submit, Instant{10500ms});
  EXPECT_EQ(job.job.user, "ann");
  EXPECT_EQ(job.job.name, "train");
  EXPECT_EQ(job.job.workload_class, "gpt2[1]");
  EXPECT_EQ(job.truth.interference, "gpt2");
  EXPECT_EQ(job.truth.iterations, 3600);
  EXPECT_EQ(job.truth.iterations_per_s, 1);
  EXPECT_EQ(job.job.priority, 0);
  EXPECT_TRUE(job.job.gang);
  EXPECT_EQ(job.job.runtime_hint, std::nullopt);
  ASSERT_EQ(job.job.tasks.size(), 2U);
  EXPECT_EQ(job.job.tasks[1].id, TaskId{1});
  EXPECT_EQ(job.job.tasks[1].demands, Demands(Resources::of(1, 4, 16)));
  EXPECT_EQ(job.job.tasks[1].delays, Delays{});
  EXPECT_EQ(job.job.tasks[1].image, "");
}

TEST(MusterCsv, ReadsTheOptionalColumns) {
  const Workload workload =
      read_extra(
          "interference,iterations,iterations_per_s,image,fetch_s,build_s,init_s,stop_s,upload_s,"
          "priority,gang,storage_gib,network_gbit_s,runtime_hint_s",
          "sage,500,0.25,img,1,2,3,4,5.5,-3,false,100,10,2000")
          .value();
  const WorkloadJob& job = workload.jobs.at(0);
  EXPECT_EQ(job.truth.interference, "sage");
  EXPECT_EQ(job.truth.iterations, 500);
  EXPECT_EQ(job.truth.iterations_per_s, 0.25);
  EXPECT_EQ(job.job.priority, -3);
  EXPECT_FALSE(job.job.gang);
  EXPECT_EQ(job.job.runtime_hint, 2000s);
  const TaskSpec& task = job.job.tasks.at(0);
  EXPECT_EQ(task.image, "img");
  EXPECT_EQ(task.delays, (Delays{1s, 2s, 3s, 4s, 5500ms}));
  Resources any = Resources::of(1, 4, 16);
  any[Resource::storage] = 100;
  any[Resource::network] = 10;
  EXPECT_EQ(task.demands.on("c7i")->amount, any);
}

TEST(MusterCsv, ReadsTheWorkOfEachTask) {
  const Workload workload = read_extra("gang,task_iterations", "false,1.5;3").value();
  const JobTruth& truth = workload.jobs.at(0).truth;
  EXPECT_EQ(truth.task_iterations, (std::vector<double>{1.5, 3}));
  EXPECT_EQ(truth.iterations, 3600);
  EXPECT_EQ(truth.work_of(1), 3);
}

TEST(MusterCsv, RejectsWorkOfTasksThatDoesNotSuitTheJob) {
  EXPECT_THAT(message_of(read_extra("gang,task_iterations", "false,1;2;3"), WorkloadError::invalid),
              IsGoldenAt("jobs.csv:2: task_iterations"));
  EXPECT_THAT(message_of(read_extra("gang,task_iterations", "false,1;-2"), WorkloadError::invalid),
              IsGoldenAt("jobs.csv:2: task_iterations"));
  EXPECT_THAT(message_of(read_extra("task_iterations", "1;2"), WorkloadError::invalid),
              IsGoldenAt("jobs.csv:2: task_iterations"));
}

TEST(MusterCsv, LetsFamiliesStandAlone) {
  const Workload workload =
      read_text(std::string(kNeeded) + ",families\n0,0,,,1,,,,60,a,\"p3:1/2/3;c7i:0/4/8\"\n")
          .value();
  const Demands& demands = workload.jobs.at(0).job.tasks.at(0).demands;
  EXPECT_EQ(demands.on("p3")->amount, Resources::of(1, 2, 3));
  EXPECT_EQ(demands.on("r7i"), nullptr);
}

TEST(MusterCsv, TakesDemandsForAnyFamilyAmongThoseByFamily) {
  const Workload workload =
      read_text(std::string(kNeeded) + ",families\n0,0,,,1,,,,60,a,any:1/2/3;p3:2/8/16@1.5\n")
          .value();
  const Demands& demands = workload.jobs.at(0).job.tasks.at(0).demands;
  EXPECT_EQ(demands.on("c7i")->amount, Resources::of(1, 2, 3));
  EXPECT_EQ(*demands.on("p3"), (FamilyDemand{"p3", Resources::of(2, 8, 16), 1.5}));
}

TEST(MusterCsv, RejectsDemandsThatAreSaidTwice) {
  const std::string said_twice =
      "jobs.csv:2: families: stands in the place of gpu, cpu, memory_gib, storage_gib and "
      "network_gbit_s, which have to be empty; write 'any:...' for all other families";
  for (const char* row : {"0,0,,,1,1,4,16,60,a,p3:1/2/3,", "0,0,,,1,,4,,60,a,p3:1/2/3,",
                          "0,0,,,1,0,,,60,a,any:1/2/3,", "0,0,,,1,,,,60,a,p3:1/2/3,100"}) {
    EXPECT_THAT(message_of(read_text(std::string(kNeeded) + ",families,storage_gib\n" + row + "\n"),
                           WorkloadError::invalid),
                HasSubstr(said_twice))
        << row;
  }
}

TEST(MusterCsv, SortsBySubmissionAndKeepsTheOrderOfEqualOnes) {
  const Workload workload =
      read_rows("1,50,,,1,0,1,1,1,a\n2,10,,,2,0,1,1,1,a\n3,50,,,1,0,1,1,1,a\n4,10,,,1,0,1,1,1,a\n")
          .value();
  std::vector<std::uint64_t> order;
  for (const WorkloadJob& job : workload.jobs) order.push_back(job.job.id.value);
  EXPECT_EQ(order, (std::vector<std::uint64_t>{2, 4, 1, 3}));
  EXPECT_EQ(workload.jobs[0].job.tasks[1].id, TaskId{1});
  EXPECT_EQ(workload.jobs[1].job.tasks[0].id, TaskId{2});
  EXPECT_EQ(workload.jobs[3].job.tasks[0].id, TaskId{4});
}

TEST(MusterCsv, RejectsARepeatedId) {
  EXPECT_THAT(
      message_of(read_rows("1,0,,,1,0,1,1,1,a\n1,5,,,1,0,1,1,1,a\n"), WorkloadError::invalid),
      IsGoldenAt("jobs.csv:3: id"));
}

TEST(MusterCsv, RejectsBadNumbersInEveryColumn) {
  const std::string error = message_of(
      read_rows("x,0,,,1,0,1,1,1,a\n2,-5,,,1,0,1,1,1,a\n3,0,,,0,0,1,1,1,a\n4,0,,,1.5,0,1,1,1,a\n"
                "5,0,,,1,nan,1,1,1,a\n6,0,,,1,0,-1,1,1,a\n7,0,,,1,0,1,inf,1,a\n"
                "8,0,,,1,0,1,1,-1,a\n9,0,,,1,0,1,1,1,\n10,,,,1,0,1,1,1,a\n11,0,,,1,0,1,1,,a\n"),
      WorkloadError::invalid);
  EXPECT_THAT(error,
              IsGoldenAt("jobs.csv:2: id", "jobs.csv:3: submit_s", "jobs.csv:4: tasks",
                         "jobs.csv:5: tasks", "jobs.csv:6: gpu", "jobs.csv:7: cpu",
                         "jobs.csv:8: memory_gib", "jobs.csv:9: duration_s", "jobs.csv:10: class",
                         "jobs.csv:11: submit_s", "jobs.csv:12: duration_s"));
}

TEST(MusterCsv, RejectsBadOptionalFields) {
  const auto most_of = [](const Workload& workload) {
    return workload.jobs[0].job.most_an_instance;
  };
  EXPECT_EQ(most_of(read_extra("distinct_instances", "true").value()), 1U);
  const Workload apart = read_extra("distinct_instances", "true").value();
  EXPECT_EQ(most_of(read_text(test::csv_of(apart)).value()), 1U);
  const Workload two = read_extra("most_an_instance", "2").value();
  EXPECT_EQ(most_of(two), 2U);
  EXPECT_EQ(most_of(read_text(test::csv_of(two)).value()), 2U);
  EXPECT_THAT(message_of(read_extra("distinct_instances,most_an_instance", "true,2"),
                         WorkloadError::invalid),
              IsGoldenAt("jobs.csv:2: most_an_instance"));
  EXPECT_THAT(message_of(read_extra("distinct_instances", "1"), WorkloadError::invalid),
              IsGoldenAt("jobs.csv:2: distinct_instances"));
  EXPECT_THAT(message_of(read_extra("gang", "maybe"), WorkloadError::invalid),
              IsGoldenAt("jobs.csv:2: gang"));
  EXPECT_THAT(message_of(read_extra("priority", "1.5"), WorkloadError::invalid),
              IsGoldenAt("jobs.csv:2: priority"));
  EXPECT_THAT(message_of(read_extra("iterations,iterations_per_s", "5,0"), WorkloadError::invalid),
              IsGoldenAt("jobs.csv:2: iterations_per_s"));
  EXPECT_THAT(message_of(read_extra("iterations_per_s", "2"), WorkloadError::invalid),
              IsGoldenAt("jobs.csv:2: iterations_per_s"));
  EXPECT_THAT(message_of(read_extra("upload_s", "5min"), WorkloadError::invalid),
              IsGoldenAt("jobs.csv:2: upload_s"));
  EXPECT_THAT(message_of(read_extra("families", "p3:1/2"), WorkloadError::invalid),
              IsGoldenAt("jobs.csv:2: families"));
}

TEST(MusterCsv, RejectsUnknownAndMissingColumns) {
  const std::string error = message_of(read_text("id,submit,user,name,tasks,gpu,cpu,memory_gib\n"),
                                       WorkloadError::invalid);
  EXPECT_THAT(error, IsGoldenAt("jobs.csv:1: header"));
}

TEST(MusterCsv, ReportsMalformedQuotes) {
  const auto result = read_rows("1,0,\"ann,x,1,0,1,1,1,a\n");
  EXPECT_EQ(result.error().code, WorkloadError::malformed);
  EXPECT_THAT(result.error().message, HasSubstr("jobs.csv:2: "));
}

TEST(MusterCsv, ShowsTwentyErrorsAndCountsTheRest) {
  std::string rows;
  for (int i = 0; i < 23; ++i) rows += std::to_string(i) + ",0,,,0,0,1,1,1,a\n";
  const std::string error = message_of(read_rows(rows), WorkloadError::invalid);
  EXPECT_THAT(error, HasSubstr("jobs.csv:21: tasks:"));
  EXPECT_THAT(error, HasSubstr("... and 3 more"));
}

TEST(MusterCsv, HoldsTheShippedExtractExactlyAsItWouldBeWritten) {
  const std::filesystem::path path = muster::test::source_dir() / "config/workloads/pai-200.csv";
  const Workload workload = read_workload(reading("muster-csv", path), 1).value();
  EXPECT_EQ(workload.jobs.size(), 200U);
  std::ostringstream content;
  content << std::ifstream(path).rdbuf();
  EXPECT_EQ(test::csv_of(workload), content.str());
}

/// A number as workloads have them: often whole, sometimes not.
rc::Gen<double> amount() {
  return rc::gen::map(rc::gen::pair(rc::gen::inRange(0, 100000), rc::gen::element(1.0, 7.0, 1e4)),
                      [](const auto& p) { return p.first / p.second; });
}

rc::Gen<Duration> some_time() {
  return rc::gen::map(rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000'000'000),
                      [](std::int64_t ns) { return Duration{ns}; });
}

Demands any_demands() {
  std::vector<FamilyDemand> entries;
  for (const char* family : {"", "p3", "c7i"}) {
    if (*rc::gen::inRange(0, 2) == 0) continue;
    FamilyDemand& entry = entries.emplace_back();
    entry.family = family;
    for (const Resource kind : kAllResources) entry.amount[kind] = *amount();
    entry.speed = *rc::gen::element(1.0, 1.0 / 3);
  }
  if (entries.empty()) entries.emplace_back();
  return Demands(std::move(entries));
}

std::string any_text() {
  return *rc::gen::container<std::string>(rc::gen::inRange<char>(' ', '~'));
}

WorkloadJob any_job(std::uint64_t id) {
  WorkloadJob job;
  job.job.id = JobId{id};
  job.job.user = any_text();
  job.job.name = any_text();
  job.job.workload_class = "c" + any_text();
  job.job.priority = *rc::gen::arbitrary<int>();
  job.job.gang = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>()) job.job.runtime_hint = *some_time();
  job.truth.iterations = *amount();
  job.truth.iterations_per_s = *rc::gen::element(1.0, 0.008324104361236095, 12.7);
  job.truth.interference = "i" + any_text();
  job.submit = Instant{std::chrono::seconds{id / 2}};
  TaskSpec task;
  task.demands = any_demands();
  task.image = any_text();
  task.delays = {*some_time(), *some_time(), *some_time(), *some_time(), *some_time()};
  job.job.tasks.assign(static_cast<std::size_t>(*rc::gen::inRange(1, 4)), task);
  if (!job.job.gang && *rc::gen::arbitrary<bool>()) {
    for (std::size_t i = 0; i < job.job.tasks.size(); ++i) {
      job.truth.task_iterations.push_back(*amount());
    }
  }
  return job;
}

TEST(CompactWorkload, SaysOnceWhatManyJobsShare) {
  const TempFile file("jobs.csv", std::string(kNeeded) +
                                      "\n1,0,ann,a,2,0,1,1,10,c\n2,5,ann,b,1,0,1,1,20,c\n"
                                      "3,6,bob,b,1,0,1,1,20,c\n");
  const auto jobs = read_compact_workload(test::reading("muster-csv", file.path()), 1).value();
  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_EQ(jobs.rows[0].like, jobs.rows[1].like);
  EXPECT_NE(jobs.rows[0].like, jobs.rows[2].like) << "another user";
  EXPECT_EQ(jobs.job(0).job.tasks.at(1).id, TaskId{1});
  EXPECT_EQ(jobs.job(1).job.name, "b");
  EXPECT_EQ(jobs.job(1).job.tasks.at(0).id, TaskId{2});
  EXPECT_EQ(jobs.submit(2), Instant{6s});
}

RC_GTEST_PROP(MusterCsv, ReadsBackWhateverItWrites, ()) {
  Workload workload;
  const int jobs = *rc::gen::inRange(1, 5);
  std::uint64_t next_task = 0;
  for (int i = 0; i < jobs; ++i) {
    workload.jobs.push_back(any_job(static_cast<std::uint64_t>(i)));
    for (TaskSpec& task : workload.jobs.back().job.tasks) task.id = TaskId{next_task++};
  }
  const auto again = read_text(test::csv_of(workload));
  RC_ASSERT(message_of(again, WorkloadError::invalid) == "no error");
  RC_ASSERT(test::all_text(again.value()) == test::all_text(workload));
}

}  // namespace
}  // namespace muster::replay
