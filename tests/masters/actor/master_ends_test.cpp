#include "tests/masters/actor/master_actor_fixture.hpp"
#include "tests/support/job_waiter.hpp"

namespace muster {
namespace {

using test::JobBuilder;
using test::MasterActorTest;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Somebody who waits for jobs at the master of a test.
struct Listener : test::JobWaiter {
  explicit Listener(test::VirtualSystem& system) : JobWaiter(system, test::text_of_part) {}
};

TEST_F(MasterActorTest, TellsAListenerOnceWhenItsJobIsOver) {
  Listener listener(system_);
  listener.watch(master_, {JobId{1}});  // before the master has it
  run_one();
  listener.watch(master_, {JobId{1}});  // again
  EXPECT_THAT(listener.told(), IsEmpty());
  tell(WorkerReportKind::finished, 1);
  system_.time().drain();
  EXPECT_THAT(listener.told(), ElementsAre("1 completed 1 of 1 from 1"));
}

TEST_F(MasterActorTest, AWatchThatComesAfterTheEndIsAnsweredAtOnce) {
  run_one();
  tell(WorkerReportKind::finished, 1);
  system_.time().drain();
  Listener listener(system_);
  listener.watch(master_, {JobId{1}, JobId{2}});
  EXPECT_THAT(listener.told(), ElementsAre("at once: 1 completed 1 of 1 from 1"));
}

TEST_F(MasterActorTest, AWatchForWhatEndedBeforeARestartIsAnsweredFromTheHistory) {
  JobHistory over;
  over.job = JobBuilder(7).tasks(2).build();
  over.job.total_tasks = 5;
  over.outcome = JobOutcome::failed;
  history_.add(over);
  Listener listener(system_);
  listener.watch(master_, {JobId{7}});
  EXPECT_THAT(listener.told(), IsEmpty()) << "the disk has not answered";
  history_.read_all();
  system_.time().drain();
  EXPECT_THAT(listener.told(), ElementsAre("at once: 7 failed 2 of 5 from 7"));
}

TEST_F(MasterActorTest, AListenerThatHasEndedOrUnwatchedIsToldNothing) {
  Listener dead(system_), changed_its_mind(system_), patient(system_);
  for (Listener* each : {&dead, &changed_its_mind, &patient}) each->watch(master_, {JobId{1}});
  dead.end();
  caf::anon_send(master_, unwatch_atom_v, changed_its_mind.actor(), std::vector<JobId>{JobId{1}});
  run_one();
  tell(WorkerReportKind::finished, 1);
  system_.time().drain();
  EXPECT_THAT(changed_its_mind.told(), IsEmpty());
  EXPECT_THAT(patient.told(), ElementsAre("1 completed 1 of 1 from 1"));
}

TEST_F(MasterActorTest, WatchesNoMoreJobsThanThereIsRoomFor) {
  start([](MasterSetup& setup) { setup.max_watches = 2; });
  Listener first(system_), second(system_);
  first.watch(master_, {JobId{1}, JobId{2}});
  second.watch(master_, {JobId{3}});
  EXPECT_THAT(second.told(), ElementsAre("refused"));
  first.end();
  second.watch(master_, {JobId{3}});
  EXPECT_THAT(second.told(), IsEmpty()) << "who has ended takes no room";
}

/// Writes everything down, and may say that the disk is full.
class StrainedJournal final : public Journal {
 public:
  void append(std::vector<Event>&&, Durable durable) override { durable(); }
  std::string strain() const override { return strained; }
  std::string strained;
};

TEST_F(MasterActorTest, WhileItsStoreLivesOnItsReserveItTakesNoJobAndGoesOnWithTheOthers) {
  StrainedJournal journal;
  start([&](MasterSetup& setup) { setup.journal = &journal; });
  run_one();
  journal.strained = "the disk is full";
  caf::scoped_actor self{system_.actors()};
  const auto offer = [&] {
    auto asked =
        self->request(master_, caf::infinite, hand_atom_v, std::vector<Job>{JobBuilder(2).build()});
    system_.time().drain();
    bool taken = false;
    asked.receive([&](const std::vector<SubmitVerdict>&) { taken = true; },
                  [&](const caf::error& error) { EXPECT_EQ(error, ActorError::store_failed); });
    return taken;
  };
  EXPECT_FALSE(offer());
  tell(WorkerReportKind::finished, 1);
  system_.time().drain();
  EXPECT_EQ(history_.size(), 1U) << "what ends is written down";
  journal.strained.clear();
  EXPECT_TRUE(offer());
  system_.end(master_);
}

TEST_F(MasterActorTest, AnInstanceThatIsGoneWithItsTasksCallsForARoundAtOnce) {
  start([&](MasterSetup& setup) {
    setup.parts.policy = make_policy({"no-packing", {{"eager", "true"}}}, catalog_).value();
  });
  run_one();
  tell(CloudReportKind::gone, 0);
  system_.run_until_s(to_seconds(system_.time().now()) + 1);
  EXPECT_EQ(times_heard("launch 1"), 1U) << "and not after the period of the policy";
}

}  // namespace
}  // namespace muster
