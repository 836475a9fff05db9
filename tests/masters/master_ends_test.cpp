#include "tests/masters/master_actor_fixture.hpp"

namespace muster {
namespace {

using test::JobBuilder;
using test::MasterActorTest;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Somebody who waits for jobs at the master of a test.
class Listener {
 public:
  explicit Listener(test::VirtualSystem& system) : system_(system) {
    actor_ = system.actors().spawn([this](JobListener::pointer) -> JobListener::behavior_type {
      return {[this](over_atom, const JobEnd& end) { told_.push_back(text(end)); }};
    });
  }
  ~Listener() { end(); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// What the master answers is told as well.
  void watch(const MasterActor& master, std::vector<JobId> jobs) {
    system_.actors().spawn([this, master, jobs = std::move(jobs)](caf::event_based_actor* self) {
      self->request(master, caf::infinite, watch_atom_v, actor_, jobs)
          .then(
              [this](const std::vector<JobEnd>& ends) {
                for (const JobEnd& end : ends) told_.push_back("at once: " + text(end));
              },
              [this](const caf::error&) { told_.emplace_back("refused"); });
    });
    system_.time().drain();
  }
  const JobListener& actor() const { return actor_; }
  void end() {
    if (actor_) system_.end(actor_);
    actor_ = nullptr;
  }
  std::vector<std::string> told() { return std::exchange(told_, {}); }

 private:
  static std::string text(const JobEnd& end) {
    return std::to_string(end.job.value) + " " + std::string(name_of(end.outcome)) + " " +
           std::to_string(end.tasks) + " of " + std::to_string(end.whole) + " from " +
           std::to_string(end.first);
  }

  test::VirtualSystem& system_;
  JobListener actor_;
  std::vector<std::string> told_;
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
  over.job.whole_tasks = 5;
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

}  // namespace
}  // namespace muster
