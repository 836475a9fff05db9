#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "tests/replay/workload/workload_compare.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::replay {
namespace {

using namespace std::chrono_literals;
using muster::test::IsGolden;
using muster::test::IsGoldenAt;
using muster::test::message_of;
using muster::test::TempFile;
using test::reading;
using testing::AllOf;
using testing::HasSubstr;

/// One job of one task, whose parts a test can replace.
std::string trace_with(const std::string& from = "", const std::string& to = "") {
  std::string text = R"({
  "4": {
    "name": "gpt2[3]",
    "arrival_time": 60,
    "duration": 1000,
    "init_delay": 15,
    "full_throughput": 2.5,
    "total_iters": 2500,
    "tasks": {
      "9": {
        "demand": {"any": [1, 8, 32]},
        "image_id": 3,
        "fetch_delay": 10,
        "build_image_delay": 11,
        "kill_delay": 1,
        "upload_delay": 20
      }
    }
  }
})";
  if (!from.empty()) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  }
  return text;
}

Expected<Workload, WorkloadError> read_text(const std::string& text) {
  const TempFile file("trace.json", text);
  return read_workload(reading("eva-json", file.path()), 1);
}

std::string error_with(const std::string& from, const std::string& to) {
  return message_of(read_text(trace_with(from, to)), WorkloadError::invalid);
}

TEST(EvaJson, ReadsAJobWithAllThatTheWorldKnowsOfIt) {
  const Workload workload = read_text(trace_with()).value();
  ASSERT_EQ(workload.jobs.size(), 1U);
  const WorkloadJob& job = workload.jobs[0];
  EXPECT_EQ(job.job.id, JobId{4});
  EXPECT_EQ(job.job.name, "gpt2[3]");
  EXPECT_EQ(job.job.workload_class, "gpt2[3]");
  EXPECT_EQ(job.job.runtime_hint, 1000s);
  EXPECT_TRUE(job.job.gang);
  EXPECT_EQ(job.submit, Instant{60s});
  EXPECT_EQ(job.truth.interference, "gpt2");
  EXPECT_EQ(job.truth.iterations, 2500);
  EXPECT_EQ(job.truth.iterations_per_s, 2.5);
  ASSERT_EQ(job.job.tasks.size(), 1U);
  const TaskSpec& task = job.job.tasks[0];
  EXPECT_EQ(task.id, TaskId{0});
  EXPECT_EQ(task.image, "3");
  EXPECT_EQ(task.demands, Demands(Resources::of(1, 8, 32)));
  EXPECT_EQ(task.delays, (Delays{10s, 11s, 15s, 1s, 20s}));
}

TEST(EvaJson, ReadsDemandsByFamily) {
  const Workload workload =
      read_text(trace_with(R"({"any": [1, 8, 32]})",
                           R"({"p3": [1, 10, 8], "c7i": [0, 4, 8], "any": [1, 1, 1]})"))
          .value();
  const Demands& demands = workload.jobs[0].job.tasks[0].demands;
  EXPECT_EQ(demands.on("p3")->amount, Resources::of(1, 10, 8));
  EXPECT_EQ(demands.on("c7i")->amount, Resources::of(0, 4, 8));
  EXPECT_EQ(demands.on("r7i")->amount, Resources::of(1, 1, 1));
  EXPECT_EQ(demands.entries()[0].family, "");
}

TEST(EvaJson, OrdersJobsByTimeAndThenByNumberAndCountsTasks) {
  const auto job = [](int number, int arrival) {
    std::string text =
        std::regex_replace(trace_with(), std::regex("\"4\""), "\"" + std::to_string(number) + "\"");
    text = std::regex_replace(text, std::regex("60"), std::to_string(arrival));
    return text.substr(1, text.size() - 2);
  };
  const Workload workload =
      read_text("{" + job(10, 50) + "," + job(9, 50) + "," + job(2, 70) + "}").value();
  ASSERT_EQ(workload.jobs.size(), 3U);
  EXPECT_EQ(workload.jobs[0].job.id, JobId{9});
  EXPECT_EQ(workload.jobs[1].job.id, JobId{10});
  EXPECT_EQ(workload.jobs[2].job.id, JobId{2});
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(workload.jobs[i].job.tasks[0].id, TaskId{i});
}

TEST(EvaJson, ReadsTheJobsOfTheArtifact) {
  const Workload workload =
      read_workload(reading("eva-json", test::data_file("eva-jobs.json")), 1).value();
  ASSERT_EQ(workload.jobs.size(), 6U);
  const WorkloadJob& seq = workload.jobs[3];
  EXPECT_EQ(seq.job.id, JobId{6});
  EXPECT_EQ(seq.truth.interference, "seq");
  EXPECT_EQ(seq.truth.iterations, 1495);
  EXPECT_EQ(seq.truth.iterations_per_s, 0.008324104361236095);
  EXPECT_EQ(seq.job.runtime_hint, 179681s);
  EXPECT_EQ(seq.job.tasks[0].demands, Demands(Resources::of(1, 4, 16)));
  EXPECT_EQ(seq.job.tasks[0].delays, (Delays{3s, 10s, 12s, 1s, 5s}));
}

TEST(EvaJson, SurvivesTheConversionToMustersCsv) {
  const Workload trace =
      read_workload(reading("eva-json", test::data_file("eva-jobs.json")), 1).value();
  const TempFile file("jobs.csv", test::csv_of(trace));
  const Workload converted = read_workload(reading("muster-csv", file.path()), 1).value();
  EXPECT_EQ(test::all_text(converted), test::all_text(trace));
}

TEST(EvaJson, ReadsOnlyTheFirstJobsWhenAskedTo) {
  WorkloadConfig config = reading("eva-json", test::data_file("eva-jobs.json"));
  config.max_jobs = 2;
  const Workload workload = read_workload(config, 1).value();
  ASSERT_EQ(workload.jobs.size(), 2U);
  EXPECT_EQ(workload.jobs[1].job.id, JobId{1});
}

TEST(EvaJson, SaysWhereTheJsonIsMalformed) {
  const auto result = read_text("{\n  \"1\": {\n    \"name\" \"x\"\n  }\n}");
  EXPECT_EQ(result.error().code, WorkloadError::malformed);
  EXPECT_THAT(result.error().message, HasSubstr("trace.json:3:"));
  EXPECT_THAT(result.error().message, HasSubstr("expected ':'"));
}

TEST(EvaJson, RejectsANumberThatNoMachineCanHold) {
  EXPECT_EQ(read_text(trace_with("2.5", "1e999")).error().code, WorkloadError::malformed);
}

TEST(EvaJson, RejectsAnythingButAnObjectOfJobs) {
  EXPECT_THAT(message_of(read_text("[1, 2]"), WorkloadError::invalid), IsGoldenAt("trace.json:1"));
  EXPECT_THAT(message_of(read_text("{\"1\": 3}"), WorkloadError::invalid),
              IsGoldenAt("trace.json:1: 1"));
}

TEST(EvaJson, NamesLineAndFieldOfABadNumber) {
  EXPECT_THAT(error_with("1000", "-1"), IsGoldenAt("trace.json:5: 4.duration"));
  EXPECT_THAT(error_with("2.5", "0"), IsGoldenAt("trace.json:7: 4.full_throughput"));
  EXPECT_THAT(error_with("\"upload_delay\": 20", "\"upload_delay\": \"long\""),
              IsGoldenAt("trace.json:16: 4.tasks.9.upload_delay"));
  EXPECT_THAT(error_with("60", "1e10"), HasSubstr("trace.json:4: 4.arrival_time: has to be"));
}

TEST(EvaJson, NamesWhatIsMissing) {
  EXPECT_THAT(error_with("\"total_iters\"", "\"total\""),
              HasSubstr("trace.json:2: 4: 'total_iters' is missing"));
  EXPECT_THAT(error_with("\"kill_delay\"", "\"stop_delay\""),
              HasSubstr("trace.json:10: 4.tasks.9: 'kill_delay' is missing"));
}

TEST(EvaJson, RejectsBadDemands) {
  EXPECT_THAT(error_with("[1, 8, 32]", "[1, 8]"),
              IsGoldenAt("trace.json:11: 4.tasks.9.demand.any"));
  EXPECT_THAT(error_with("[1, 8, 32]", "[1, -8, 32]"), HasSubstr("it is [1,-8,32]"));
  EXPECT_THAT(error_with("{\"any\": [1, 8, 32]}", "{}"),
              IsGoldenAt("trace.json:11: 4.tasks.9.demand"));
  EXPECT_THAT(error_with("\"any\"", "\"p3;c7i\""),
              IsGoldenAt("trace.json:11: 4.tasks.9.demand.p3;c7i"));
}

TEST(EvaJson, RejectsAJobThatIsNotNumbered) {
  EXPECT_THAT(error_with("\"4\"", "\"four\""), IsGoldenAt("trace.json:2: four"));
}

TEST(EvaJson, RejectsRepeatedKeysAndNumbers) {
  EXPECT_THAT(error_with("\"duration\": 1000,", "\"duration\": 1000, \"duration\": 7,"),
              HasSubstr("trace.json:5: 4.duration: appears twice"));
  const std::string job = trace_with().substr(1, trace_with().size() - 2);
  const std::string again = std::regex_replace(job, std::regex("\"4\""), "\"04\"");
  EXPECT_THAT(message_of(read_text("{" + job + "," + again + "}"), WorkloadError::invalid),
              AllOf(HasSubstr("line 2"), IsGolden()));
  EXPECT_THAT(message_of(read_text("{" + job + "," + job + "}"), WorkloadError::invalid),
              AllOf(HasSubstr("line 2"), IsGolden()));
}

TEST(EvaJson, RejectsAJobWithoutTasksOrWithUnlikeOnes) {
  const std::string task = R"("demand": {"any": [1, 8, 32]}, "image_id": 3, "fetch_delay": 1,
    "build_image_delay": 1, "kill_delay": 1, "upload_delay": )";
  const auto tasks = [&](const std::string& inside) {
    std::string text = trace_with();
    const std::size_t from = text.find("\"tasks\"");
    return text.substr(0, from) + "\"tasks\": {" + inside + "}}}";
  };
  EXPECT_THAT(message_of(read_text(tasks("")), WorkloadError::invalid), IsGoldenAt("4.tasks"));
  EXPECT_THAT(message_of(read_text(tasks("\"0\": {" + task + "1}, \"1\": {" + task + "2}")),
                         WorkloadError::invalid),
              IsGoldenAt("4.tasks.1"));
  EXPECT_EQ(message_of(read_text(tasks("\"0\": {" + task + "1}, \"1\": {" + task + "1}")),
                       WorkloadError::invalid),
            "no error");
}

TEST(EvaJson, ShowsTheFirstErrorsAndCountsTheRest) {
  std::string text = "{";
  for (int i = 0; i < 30; ++i) text += (i > 0 ? ",\n\"" : "\"") + std::to_string(i) + "\": 1";
  const std::string error = message_of(read_text(text + "}"), WorkloadError::invalid);
  EXPECT_THAT(error, AllOf(HasSubstr("10 more"), IsGoldenAt("trace.json:20: 19")));
}

TEST(EvaJson, NamesAFileThatCannotBeRead) {
  const auto result = read_workload(reading("eva-json", "/nonexistent/a.json"), 1);
  EXPECT_EQ(result.error().code, WorkloadError::unreadable);
  EXPECT_THAT(result.error().message, IsGoldenAt("/nonexistent/a.json"));
}

TEST(Workload, RejectsAFormatThatIsNotKnown) {
  EXPECT_THAT(message_of(read_workload(reading("eva-jsn", "x"), 1), WorkloadError::invalid),
              AllOf(HasSubstr("'eva-json'"), IsGolden()));
}

}  // namespace
}  // namespace muster::replay
