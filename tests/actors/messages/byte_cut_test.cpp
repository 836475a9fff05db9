// Whatever crosses a link as a list goes into messages that any link carries, however large its
// elements are.

#include "actors/messages/byte_cut.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "actors/messages/job_bytes.hpp"
#include "actors/messages/messages.hpp"
#include "model/live_ids.hpp"
#include "model/views.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/virtual_system.hpp"

namespace muster {
namespace {

using test::IsGoldenAt;
using test::JobBuilder;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// Room for what CAF puts around a message.
constexpr std::size_t kEnvelope = 4096;

template <class T>
T through_the_wire(test::VirtualSystem& system, T value) {
  std::vector<char> bytes;
  caf::binary_serializer out{system.actors(), bytes};
  EXPECT_FALSE(out(value));
  EXPECT_EQ(bytes.size(), encoded_bytes(value)) << "the count is that of what is sent";
  caf::binary_deserializer in{system.actors(), bytes};
  T again;
  EXPECT_FALSE(in(again));
  return again;
}

/// A job of so many tasks with indices that `index` makes of their positions.
template <class Index>
Job array_of(std::uint32_t tasks, Index index) {
  Job job = JobBuilder(7).build();
  job.gang = false;
  job.tasks.resize(tasks, job.tasks.front());
  number_job(job, JobId{7});
  for (std::uint32_t i = 0; i < tasks; ++i) job.tasks[i].array_index = index(i);
  return job;
}

/// As large as a job may be: the most tasks, in no order, and the longest command and environment.
Job largest_job() {
  Job job = array_of(100'000, [](std::uint32_t i) { return 3 * i + i % 2; });
  job.program.argv = {std::string(128U << 10U, 'a')};
  job.program.env = {{"E", std::string(128U << 10U, 'e')}};
  return job;
}

TEST(ByteCut, TheTasksOfAnArrayTakeNoMoreThanOne) {
  test::VirtualSystem system;
  const Job job = array_of(100'000, [](std::uint32_t i) { return 5 + 2 * i; });
  EXPECT_LT(encoded_bytes(job), 1024U);
  EXPECT_EQ(through_the_wire(system, job), job);
}

TEST(ByteCut, AJobThatHasNoNumbersYetTakesNoMore) {
  test::VirtualSystem system;
  Job job = array_of(100'000, [](std::uint32_t i) { return i; });
  job.id = {};
  for (TaskSpec& task : job.tasks) task.id = {};
  EXPECT_LT(encoded_bytes(job), 1024U);
  EXPECT_EQ(through_the_wire(system, job), job);
}

TEST(ByteCut, APartOfAnArrayTakesNoMore) {
  test::VirtualSystem system;
  Job job = array_of(100'000, [](std::uint32_t i) { return i; });
  // As a site deals them out to three masters.
  std::erase_if(job.tasks, [](const TaskSpec& task) { return position_of(task.id) % 3 != 1; });
  EXPECT_LT(encoded_bytes(job), 1024U);
  EXPECT_EQ(through_the_wire(system, job), job);
}

TEST(ByteCut, TasksThatDifferArriveAsTheyWere) {
  test::VirtualSystem system;
  Job job = array_of(9, [](std::uint32_t i) { return i * i; });
  job.tasks[3].image = "other";
  job.tasks[4].runtime_hint = std::chrono::seconds{3};
  job.tasks[6].id = task_id_of(JobId{7}, 40);
  EXPECT_EQ(through_the_wire(system, job), job);
}

TEST(ByteCut, RunsThatCanBeNoTasksAreRefused) {
  const TaskSpec task = JobBuilder(1).build().tasks.front();
  std::vector<TaskSpec> tasks;
  EXPECT_FALSE(put_tasks(tasks, {{task, 0, {}}}));
  EXPECT_FALSE(put_tasks(tasks, {{task, 5, {1, 2}}}));
  EXPECT_FALSE(put_tasks(tasks, {{task, 4'000'000'000U, {1}}}));
  EXPECT_TRUE(put_tasks(tasks, {{task, 5, {1}}}));
  EXPECT_EQ(tasks.size(), 5U);
}

TEST(ByteCut, TheLargestJobGoesIntoTheSmallestMessage) {
  const Job job = largest_job();
  EXPECT_FALSE(why_too_large(job));
  EXPECT_LT(encoded_bytes(std::vector<Job>{job}) + kEnvelope, kLeastMessageBytes);
}

TEST(ByteCut, AJobThatNoMessageCarriesIsToldWithItsSizeAndTheBound) {
  Job job = largest_job();
  job.name = std::string(kElementBytes, 'n');
  const auto why = why_too_large(std::vector<Job>{JobBuilder(1).build(), job});
  ASSERT_TRUE(why);
  std::string text = *why;
  const std::string bytes = std::to_string(encoded_bytes(job));
  ASSERT_THAT(text, AllOf(HasSubstr(bytes), HasSubstr(std::to_string(kElementBytes))));
  text.replace(text.find(bytes), bytes.size(), "{bytes}");
  EXPECT_THAT(text, IsGoldenAt("/jobs/1"));
}

TEST(ByteCut, TheQuickCountOfAJobIsNeverBelowWhatItTakes) {
  Job plain = JobBuilder(7).build();
  Job told = plain;
  told.program.argv = {"run", "--all", std::string(300, 'x')};
  told.program.env = {{"HOME", "/srv/ann"}, {"EMPTY", ""}};
  told.program.script = std::string(1'000, 's');
  told.runtime_hint = std::chrono::hours{3};
  told.retries = 4;
  told.token = "ann-1";
  told.origin = GeoPoint{52.5, 13.4};
  told.prediction.runtime = std::chrono::seconds{90};
  told.retry_on = {"75", "signal"};
  told.tasks.resize(3, told.tasks.front());
  told.tasks[1].id = TaskId{900};
  told.tasks[2].demands = Demands({{"p3", Resources::of(1, 10, 8), 1}, {"c7i", {}, 1.2}});
  told.tasks[2].runtime_hint = std::chrono::seconds{1};
  for (const Job& job : {plain, told}) {
    EXPECT_GE(job_bytes(job), encoded_bytes(job));
    EXPECT_LE(job_bytes(job), encoded_bytes(job) + 400);
  }
  const Job wide = array_of(1'000, [](std::uint32_t i) { return i; });
  EXPECT_EQ(job_bytes(wide), encoded_bytes(wide));
  told.program.script = std::string(100'000, 's');
  EXPECT_EQ(job_bytes(told), encoded_bytes(told));
}

TEST(ByteCut, AListIsCutByItsBytesAndNoElementIsLeftOut) {
  std::vector<Job> jobs(9, JobBuilder(1).build());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].id = JobId{i};
    if (i % 2 == 0) jobs[i].program.argv = {std::string(200U << 10U, 'a')};
  }
  jobs[4] = largest_job();
  std::size_t next = 0;
  for (const std::vector<Job>& piece : in_messages(jobs)) {
    EXPECT_LT(encoded_bytes(piece) + kEnvelope, kLeastMessageBytes);
    for (const Job& job : piece) EXPECT_EQ(job, jobs[next++]);
  }
  EXPECT_EQ(next, jobs.size());
}

TEST(ByteCut, TheEndsOfTheMostTasksGoIntoOneMessageWithTheirJob) {
  test::VirtualSystem system;
  RequestView view;
  view.known = true;
  view.job = largest_job();
  view.job.tasks.resize(1);
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    view.tasks.push_back({i, 3 * i + i % 2, static_cast<TaskEnd::Kind>(i % 3)});
  }
  EXPECT_LT(encoded_bytes(view) + kEnvelope, kLeastMessageBytes);
  const RequestView again = through_the_wire(system, view);
  ASSERT_EQ(again.tasks.size(), view.tasks.size());
  for (std::size_t i = 0; i < view.tasks.size(); ++i) {
    EXPECT_EQ(again.tasks[i].position, view.tasks[i].position);
    EXPECT_EQ(again.tasks[i].index, view.tasks[i].index);
    EXPECT_EQ(again.tasks[i].kind, view.tasks[i].kind);
  }
  view.tasks.resize(3);
  for (TaskEnd& end : view.tasks) end.kind = TaskEnd::Kind::failed;
  EXPECT_EQ(through_the_wire(system, view).tasks.back().kind, TaskEnd::Kind::failed);
  view.tasks.clear();
  EXPECT_TRUE(through_the_wire(system, view).tasks.empty());
}

}  // namespace
}  // namespace muster
