#include "masters/actor/counterpart_answers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/live_ids.hpp"
#include "tests/masters/actor/part_host.hpp"
#include "tests/masters/scripted_master.hpp"

namespace muster {
namespace {

using test::JobBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A job that is over, and has its place in the history or not any more.
class OneJobHistory final : public History {
 public:
  void add(JobHistory job) override { known = std::move(job); }
  std::size_t size() const override { return known ? 1 : 0; }
  std::optional<JobHistory> find(JobId id) const override {
    return known && known->job.id == id ? known : std::nullopt;
  }
  Expected<std::optional<JobEnding>, StoreError> ending(JobId id) const override {
    if (is_unreadable) return Failure<StoreError>{StoreError::unreadable, {}};
    return kept && kept->job == id ? kept : History::ending(id);
  }
  void newest(std::size_t, const Use&) const override {}
  bool contains(JobId id) const override { return known && known->job.id == id; }
  bool read_apart(std::function<void()> read) const override {
    if (is_full) return false;
    read();
    return true;
  }

  std::optional<JobHistory> known;
  std::optional<JobEnding> kept;  ///< of one that is known no more
  bool is_full = false;
  bool is_unreadable = false;
};

class CounterpartAnswersTest : public test::MasterTest {
 protected:
  static Job array_of(std::uint64_t id, std::size_t tasks) {
    Job job = JobBuilder(id).tasks(tasks).gang(false).build();
    for (std::uint32_t i = 0; i < tasks; ++i) job.tasks[i].array_index = 10 + i;
    return job;
  }
  static Job awaiting(std::uint64_t id, std::size_t tasks, std::uint64_t other) {
    Job job = array_of(id, tasks);
    job.after = {{JobId{other}, AfterEnd::any, 0, false, true}};
    return job;
  }
  CounterpartReport ask(CounterpartQuestion question) {
    test::Answered<CounterpartReport> heard;
    answers_.answer(question, heard.answer());
    host_.hear_posted();
    return heard.values.empty() ? CounterpartReport{} : heard.values.at(0);
  }
  CounterpartReport ask_for(std::uint64_t job, std::uint32_t ended = 0, std::uint32_t from = 0) {
    CounterpartQuestion question;
    question.asked = {{JobId{job}, ended, from}};
    return ask(question);
  }
  /// The first tasks of a job of three run; of these the first one has finished.
  void run_array() {
    master_->submit(array_of(1, 3), now());
    const TaskId first{array_of(1, 3).tasks[0].id};
    const TaskId second{array_of(1, 3).tasks[1].id};
    round(together({first.value, second.value}));
    const InstanceId on = master_->state().instances().begin()->id;
    master_->instance_up(on, {}, now());
    master_->instance_ready(on, now());
    commit();
    master_->task_started({first, 1, {}, {}}, now());
    master_->task_started({second, 1, {}, {}}, now());
    master_->task_finished({first, 1, {}}, now());
    commit();
  }

  OneJobHistory history_;
  test::FakePartHost host_;
  ApartReads reads_{&history_, host_};
  CounterpartAnswers answers_{{*master_, reads_, host_}};
};

TEST_F(CounterpartAnswersTest, TellWhichTasksOfAJobAreOver) {
  run_array();
  const CounterpartReport report = ask_for(1);
  ASSERT_EQ(report.over.size(), 1U);
  EXPECT_TRUE(report.over[0].known);
  EXPECT_TRUE(report.over[0].started);
  EXPECT_FALSE(report.over[0].over);
  EXPECT_EQ(report.over[0].ended, 1U);
  EXPECT_THAT(report.over[0].completed, ElementsAre(IndexRange{10, 10}));
  EXPECT_THAT(ask_for(1, 1).over[0].completed, IsEmpty()) << "nothing is new";
  EXPECT_THAT(ask_for(1, 1, 1).over[0].completed, IsEmpty()) << "from the second task on";
  EXPECT_EQ(host_.commits, 3) << "what is told is durable";
}

TEST_F(CounterpartAnswersTest, AJobThatNoTaskOfHasStartedSaysSo) {
  master_->submit(array_of(1, 3), now());
  EXPECT_TRUE(ask_for(1).over.at(0).known);
  EXPECT_FALSE(ask_for(1).over.at(0).started);
  EXPECT_FALSE(ask_for(2).over.at(0).known);
}

TEST_F(CounterpartAnswersTest, ATaskThatIsLostHasNotStarted) {
  master_->submit(awaiting(5, 2, 1), now());
  CounterpartQuestion question;
  question.told = {{JobId{5}, {}, {{JobId{1}, {{10, 10}}, "has failed"}}}};
  ask(question);
  EXPECT_EQ(ask_for(5).over.at(0).ended, 1U);
  EXPECT_FALSE(ask_for(5).over.at(0).started);
}

TEST_F(CounterpartAnswersTest, WideJobsThatHaveNothingNewKeepNoOthersFromTheirAnswers) {
  CounterpartQuestion question;
  for (std::uint64_t id = 1'000; id <= 5'000; id += 1'000) {
    ASSERT_EQ(master_->submit(array_of(id, 60'000), now()), SubmitResult::accepted);
    question.asked.push_back({JobId{id}});
  }
  EXPECT_EQ(ask(question).over.size(), 5U);
  for (CounterpartsAsked& each : question.asked) each.ended = 1;  // there is something new
  const CounterpartReport report = ask(question);
  EXPECT_EQ(report.over.size(), 4U);
  EXPECT_EQ(report.asked_to, JobId{4'000});
}

TEST_F(CounterpartAnswersTest, TheHistoryTellsOfJobsThatAreOver) {
  JobHistory known;
  known.job = array_of(7, 3);
  known.tasks.resize(3);
  known.tasks[0].finished = true;
  known.tasks[2].failed = true;
  history_.known = known;
  const TasksOver over = ask_for(7).over.at(0);
  EXPECT_TRUE(over.over);
  EXPECT_EQ(over.tasks, 3U);
  EXPECT_THAT(over.completed, ElementsAre(IndexRange{10, 10}));
  EXPECT_THAT(over.failed, ElementsAre(IndexRange{12, 12}));
  history_.is_full = true;
  EXPECT_THAT(ask_for(7).over, IsEmpty()) << "too many wait to read it";
}

TEST_F(CounterpartAnswersTest, EndsOfTasksAreToldWhenTheHistoryHasDroppedTheirJob) {
  run_array();
  master_->cancel(JobId{1}, now());
  commit();
  master_->task_checkpointed({array_of(1, 3).tasks[1].id, 1, std::chrono::seconds{0}}, now());
  commit();
  ASSERT_EQ(master_->state().find(JobId{1}), nullptr);
  EXPECT_THAT(ask_for(1).over.at(0).completed, IsEmpty()) << "nothing is kept";
  history_.kept = JobEnding{.job = JobId{1},
                            .outcome = JobOutcome::cancelled,
                            .tasks = 3,
                            .whole = 3,
                            .broken = true,
                            .completed = {{10, 10}},
                            .failed = {{12, 12}}};
  TasksOver over = ask_for(1).over.at(0);
  EXPECT_TRUE(over.over);
  EXPECT_EQ(over.tasks, 3U);
  EXPECT_THAT(over.completed, ElementsAre(IndexRange{10, 10}));
  EXPECT_THAT(over.failed, ElementsAre(IndexRange{12, 12}));
  over = ask_for(1, 0, 1).over.at(0);
  EXPECT_THAT(over.completed, IsEmpty()) << "from the second range on";
  EXPECT_THAT(over.failed, ElementsAre(IndexRange{12, 12}));
  history_.is_unreadable = true;
  EXPECT_THAT(ask_for(1).over, IsEmpty()) << "the site asks for it again";
}

TEST_F(CounterpartAnswersTest, ListTheJobsOfTheSiteWhoseTasksWait) {
  master_->submit(awaiting(5, 2, 1), now());
  master_->submit(awaiting(6, 2, 1), now());
  master_->submit(awaiting(kIdBlock + 5, 2, 1), now());
  CounterpartQuestion question;
  CounterpartReport report = ask(question);
  ASSERT_EQ(report.awaiting.size(), 2U);
  EXPECT_EQ(report.awaiting[0].job, JobId{5});
  EXPECT_THAT(report.awaiting[0].after, ElementsAre(AwaitedJob{JobId{1}, AfterEnd::any}));
  EXPECT_FALSE(report.more_await);
  question.after = JobId{5};
  EXPECT_EQ(ask(question).awaiting.size(), 1U);
  question = {};
  question.site = 1;
  report = ask(question);
  ASSERT_EQ(report.awaiting.size(), 1U);
  EXPECT_EQ(report.awaiting[0].job, JobId{kIdBlock + 5});
}

TEST_F(CounterpartAnswersTest, TasksMayBeginWhenTheSiteSaysSo) {
  master_->submit(awaiting(5, 2, 1), now());
  CounterpartQuestion question;
  question.told = {{JobId{5}, {{10, 10}}, {}}};
  EXPECT_THAT(ask(question).unfinished, IsEmpty());
  EXPECT_EQ(master_->state().find(JobId{5})->pending, 1U);
  question.told = {{JobId{5}, {{11, 11}}, {}}};
  EXPECT_THAT(ask(question).awaiting, IsEmpty()) << "no task waits any more";
  question.told = {{JobId{99}, {{11, 11}}, {}}};
  EXPECT_THAT(ask(question).unfinished, IsEmpty()) << "no such job is here";
}

TEST_F(CounterpartAnswersTest, SomeHundredTasksOfAllJobsBeginAtOnce) {
  CounterpartQuestion question;
  // The tasks of an array have numbers from a hundred times that of its job on.
  for (const std::uint64_t id : {10, 20, 30}) {
    ASSERT_EQ(master_->submit(awaiting(id, 300, 1), now()), SubmitResult::accepted);
    question.told.push_back({JobId{id}, {{0, 1000}}, {}});
  }
  EXPECT_THAT(ask(question).unfinished, ElementsAre(JobId{20}, JobId{30}));
  EXPECT_EQ(master_->state().find(JobId{20})->pending, 200U);
  EXPECT_EQ(master_->state().find(JobId{30})->pending, 0U);
  EXPECT_THAT(ask(question).unfinished, IsEmpty());
}

TEST_F(CounterpartAnswersTest, EndsOfAWideJobComeInPieces) {
  JobHistory known;
  known.job = array_of(7, 20'000);
  known.tasks.resize(20'000);
  for (std::size_t i = 0; i < known.tasks.size(); i += 2) known.tasks[i].finished = true;
  history_.known = known;
  IndexRanges all;
  std::uint32_t from = 0;
  int pieces = 0;
  do {
    const TasksOver over = ask_for(7, 0, from).over.at(0);
    all.add(over.completed);
    from = over.next;
    ++pieces;
  } while (from > 0 && pieces < 10);
  EXPECT_EQ(all.list().size(), 10'000U);
  EXPECT_EQ(pieces, 3);
}

}  // namespace
}  // namespace muster
