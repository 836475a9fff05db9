// Questions to a master have bounds: no user, and no silent worker, takes all places; and what it
// tells sites comes again until they have heard it.

#include "model/live_ids.hpp"
#include "tests/masters/actor/master_actor_fixture.hpp"
#include "tests/support/golden.hpp"

namespace muster {
namespace {

using test::IsGolden;
using test::JobBuilder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class MasterQuestionsTest : public test::MasterActorTest {
 protected:
  template <class Answer, class... Words>
  void ask(Words... words) {
    system_.actors().spawn([=, this](caf::event_based_actor* self) {
      self->request(master_, caf::infinite, words...)
          .then([this](const Answer&) { answers_.push_back("answered"); },
                [this](const caf::error& error) {
                  const caf::message& more = error.context();
                  answers_.push_back(
                      more.match_elements<std::string>() ? more.get_as<std::string>(0) : "refused");
                });
    });
  }
  std::vector<JobEnd> ends_of(std::uint64_t job) {
    std::vector<JobEnd> told;
    caf::scoped_actor self{system_.actors()};
    const JobListener listener =
        system_.actors().spawn([](JobListener::pointer) -> JobListener::behavior_type {
          return {[](over_atom, const JobEnd&) {}};
        });
    auto asked = self->request(master_, caf::infinite, watch_atom_v, listener,
                               std::vector<JobId>{JobId{job}});
    system_.time().drain();
    history_.read_all();
    system_.time().drain();
    asked.receive([&](const std::vector<JobEnd>& heard) { told = heard; },
                  [](const caf::error&) { ADD_FAILURE() << "nobody answers"; });
    system_.end(listener);
    return told;
  }
  LoadReport load(const LoadQuestion& question) {
    LoadReport told;
    caf::scoped_actor self{system_.actors()};
    auto asked = self->request(master_, caf::infinite, question);
    system_.time().drain();
    asked.receive([&](const LoadReport& report) { told = report; },
                  [](const caf::error&) { ADD_FAILURE(); });
    return told;
  }

  std::vector<std::string> answers_;
};

TEST_F(MasterQuestionsTest, ASilentWorkerTakesItsShareOfLogReadersAndGivesItBack) {
  start([](MasterSetup& setup) { setup.settings.log_readers = {3, 2, std::chrono::seconds{10}}; });
  run_one();
  LogRequest request;
  request.task = TaskId{1};
  request.max_bytes = 100;
  for (int i = 0; i < 3; ++i) ask<LogAnswer>(request);
  system_.time().drain();
  EXPECT_THAT(answers_, ElementsAre(AllOf(HasSubstr("instance 0"), IsGolden())));
  answers_.clear();
  system_.run_until_s(111);
  ask<LogAnswer>(request);
  system_.time().drain();
  EXPECT_THAT(answers_, ElementsAre("refused", "refused")) << "nobody waits for these any more";
}

TEST_F(MasterQuestionsTest, AQuestionAboutACommandGoesToTheWorkerOfItsTask) {
  ExecRequest request;
  request.task = TaskId{1};
  request.argv = {"sh"};
  caf::scoped_actor self{system_.actors()};
  const auto ask = [&] {
    auto asked = self->request(master_, caf::infinite, request);
    system_.time().drain();
    if (asked_exec_.number != 0) {
      ExecAnswer made;
      made.instance = InstanceId{0};
      made.number = std::exchange(asked_exec_, {}).number;
      made.command = exec_number(InstanceId{0}, 3);
      caf::anon_send(master_, made);
      system_.time().drain();
    }
    ExecAnswer told;
    asked.receive([&](const ExecAnswer& answer) { told = answer; },
                  [](const caf::error&) { ADD_FAILURE() << "nobody answers"; });
    return told;
  };
  EXPECT_EQ(ask().trouble, ExecTrouble::not_running);
  run_one();
  EXPECT_EQ(ask().command, exec_number(InstanceId{0}, 3));
  request.command = exec_number(InstanceId{9}, 3);
  EXPECT_EQ(ask().trouble, ExecTrouble::unknown) << "of an instance that is not there";
}

TEST_F(MasterQuestionsTest, ASilentWorkerTakesItsShareOfQuestionsAboutCommands) {
  run_one();
  ExecRequest request;
  request.task = TaskId{1};
  for (std::uint32_t i = 0; i <= ExecQuestions::kMostOfInstance; ++i) ask<ExecAnswer>(request);
  system_.time().drain();
  EXPECT_THAT(answers_, ElementsAre(HasSubstr("instance 0")));
}

TEST_F(MasterQuestionsTest, AQuestionAboutACommandWhoseWorkerIsGoneIsAnsweredAtOnce) {
  run_one();
  ExecRequest request;
  request.task = TaskId{1};
  ask<ExecAnswer>(request);
  system_.time().drain();
  EXPECT_TRUE(answers_.empty());
  system_.end(worker_);
  system_.time().drain();
  EXPECT_THAT(answers_, ElementsAre("refused"));
}

TEST_F(MasterQuestionsTest, AQuestionAboutACommandIsAnsweredWhenItsWorkerIsAnotherProcess) {
  run_one();
  ExecRequest request;
  request.task = TaskId{1};
  ask<ExecAnswer>(request);
  system_.time().drain();
  EXPECT_TRUE(answers_.empty());
  const WorkerActor again = spawn_worker();
  caf::anon_send(master_, hello_atom_v, hello(3), again);
  system_.time().drain();
  EXPECT_THAT(answers_, ElementsAre("refused"));
  system_.end(again);
}

TEST_F(MasterQuestionsTest, AWatchOfAJobThatHistoryHasForgottenIsAnswered) {
  run_one();
  tell(WorkerReportKind::finished, 1);
  system_.run_until_s(200);
  start([&](MasterSetup& setup) { setup.tail = journal_.take(); });
  history_.jobs.clear();
  const std::vector<JobEnd> ends = ends_of(1);
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].job, JobId{1});
  EXPECT_TRUE(ends_of(2).empty()) << "it may be on its way";
}

TEST_F(MasterQuestionsTest, CompletedJobsAreToldUntilASiteHasHeardOfThem) {
  run_one();
  tell(WorkerReportKind::finished, 1);
  system_.run_until_s(200);
  const LoadReport first = load({});
  ASSERT_EQ(first.completed.size(), 1U);
  EXPECT_EQ(first.completed_to, 1U);
  EXPECT_EQ(load({}).completed.size(), 1U) << "the first answer was lost";
  EXPECT_TRUE(load({first.run, first.completed_to, {}}).completed.empty());
  EXPECT_EQ(load({first.run + 1, 7, {}}).completed.size(), 1U) << "heard of another run";
}

TEST_F(MasterQuestionsTest, WhatWasRecordedBeforeItWasOverIsNoHistoryAfterARestart) {
  run_one();
  const std::vector<Event> log = journal_.take();
  JobHistory too_early;
  too_early.job = JobBuilder(1).build();
  history_.jobs = {too_early};
  start([&](MasterSetup& setup) { setup.tail = log; });
  EXPECT_EQ(history_.size(), 0U) << "it would count twice";
}

TEST_F(MasterQuestionsTest, DryRunsWaitForARoundAndOneUserCannotTakeAllPlaces) {
  start([](MasterSetup& setup) {
    setup.planner = PlannerPlace::beside;
    setup.settings.dry_runs = {3, 2, std::chrono::seconds{5}};
  });
  for (std::uint64_t i = 0; i < 3; ++i) ask<PlanView>(plan_atom_v, JobBuilder(100 + i).build());
  system_.time().drain();
  EXPECT_EQ(std::count(answers_.begin(), answers_.end(), "answered"), 2);
  EXPECT_THAT(answers_, ::testing::Contains(HasSubstr("(2 of 'ann')")));
}

TEST_F(MasterQuestionsTest, AnOrderOfAUserGoesBeforeAReportAndAQuestionBehindIt) {
  run_one();
  bool held = false;
  InstancesView shown;
  // All of it is in the mailbox before any of it is heard. Of a job that is over there is nothing
  // to hold.
  system_.actors().spawn([&](caf::event_based_actor* self) {
    tell(WorkerReportKind::finished, 1);
    tell(CloudReportKind::notice, 0);
    self->request(master_, caf::infinite, instances_atom_v, InstanceId{})
        .then([&](const InstancesView& view) { shown = view; });
    self->request(master_, caf::infinite, hold_atom_v, JobId{1}, true)
        .then([&](JobId) { held = true; }, [](const caf::error&) {});
  });
  system_.time().drain();
  EXPECT_TRUE(held) << "the report was heard before the order";
  ASSERT_EQ(shown.instances.size(), 1u);
  EXPECT_THAT(shown.instances[0].tasks, ::testing::IsEmpty())
      << "the question was heard before the report";
  EXPECT_TRUE(shown.instances[0].released) << "the question was heard before the cloud's notice";
}

}  // namespace
}  // namespace muster
