// What the parties of a sampling group say to each other, message by message, with stand-ins on the
// other side. Every message takes 0.5 ms.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/sampling/group_member.hpp"
#include "replay/sampling/scheduler_actor.hpp"
#include "tests/schedulers/sampling/group_builders.hpp"
#include "tests/support/virtual_system.hpp"

namespace muster::sampling {
namespace {

using test::batch_of;
using ::testing::ElementsAre;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

/// An executor of tasks that take 10 ms.
class TenMilliseconds final : public Executor {
 public:
  explicit TenMilliseconds(ExecutorHost host) : host_(std::move(host)) {}
  void start(const TaskOrder& execution) override {
    const TaskId task = execution.task.id;
    const Attempt attempt = execution.attempt;
    host_.started(task, attempt, {}, {});
    host_.at(host_.now() + std::chrono::milliseconds{10},
             [this, task, attempt] { host_.finished(task, attempt, {}); });
  }
  void stop(TaskId, Attempt) override {}
  std::vector<ExecutionSample> sample() override { return {}; }

 private:
  ExecutorHost host_;
};

class MessageTranscriptTest : public ::testing::Test {
 protected:
  MessageTranscriptTest() : book_(catalog_, journal_) {
    group_.catalog = &catalog_;
    group_.origin = system_.time().origin();
    group_.event_log = &book_;
  }
  ~MessageTranscriptTest() override {
    group_.clear();
    for (const caf::actor& actor : actors_) system_.end(actor);
  }

  void note(const std::string& what) {
    said_.push_back(fmt::format("{:g} ms: {}", to_seconds(system_.time().now()) * 1e3, what));
  }

  /// A stand-in for a worker: it notes what it hears.
  GroupWorker spawn_worker(WorkerIndex index) {
    const std::string me = " -> worker " + std::to_string(index);
    const GroupWorker worker =
        system_.actors().spawn([this, me](GroupWorker::pointer) -> GroupWorker::behavior_type {
          return {
              [this, me](start_atom, const TaskOrder& order) {
                note(fmt::format("task({})", order.task.id.value) + me);
              },
              [](stop_atom, TaskId, Attempt) {},
              [](ack_atom, TaskId, Attempt) {},
              [](greet_atom) {},
              [](sample_atom, std::uint64_t) {},
              [](const LogRequest&) {},
              [](const ExecRequest&) {},
              [](const UsageRequest&) {},
              [](const Wakeup&) {},
              [](const GroupMembership&) {},
              [this, me](const Reservation& reservation) {
                note(fmt::format("probe(job {})", reservation.job->id.value) + me);
              },
              [this, me](const Cancellation& cancellation) {
                note(fmt::format("cancel(job {})", cancellation.job.value) + me);
              },
              [this, me](const TaskAnswer& answer) {
                note((answer.order ? fmt::format("task({})", answer.order->task.id.value)
                                   : std::string("no task")) +
                     me);
              },
          };
        });
    actors_.push_back(caf::actor_cast<caf::actor>(worker));
    return worker;
  }

  /// A stand-in for a scheduler.
  GroupScheduler spawn_scheduler(const std::string& name) {
    const std::string to = " -> " + name;
    const GroupScheduler scheduler = system_.actors().spawn(
        [this, to](GroupScheduler::pointer) -> GroupScheduler::behavior_type {
          return {
              [](open_atom) {},
              [this, to](const TaskBatch& batch) {
                note(fmt::format("batch({} tasks)", batch.tasks.size()) + to);
              },
              [this, to](const TaskRequest& request) {
                requests_.push_back(request);
                note(fmt::format("request(job {})", request.job.value) + to);
              },
              [this, to](const Rejection& rejection) {
                note(fmt::format("rejection(job {})", rejection.job.value) + to);
              },
              [this, to](const TaskDone& done) {
                note(fmt::format("done(job {})", done.job.value) + to);
              },
              [](const Wakeup&) {},
          };
        });
    actors_.push_back(caf::actor_cast<caf::actor>(scheduler));
    return scheduler;
  }

  /// The scheduler under test, among stand-ins for so many workers.
  GroupScheduler open(std::unique_ptr<Scheduler> scheduler, std::size_t workers) {
    group_.roster = test::roster_of(catalog_, workers);
    for (WorkerIndex i = 0; i < workers; ++i) {
      group_.members.push_back({InstanceId{i}, spawn_worker(i)});
    }
    const GroupScheduler actor =
        system_.actors().spawn<SchedulerActor>(std::ref(group_), std::move(scheduler));
    actors_.push_back(caf::actor_cast<caf::actor>(actor));
    caf::anon_send(actor, open_atom_v);
    return actor;
  }

  /// A worker as a group's composer starts it; what it says to its master is in heard_.
  GroupWorker spawn_member() {
    WorkerSetup setup;
    setup.instance = InstanceId{0};
    setup.type = TypeId{0};
    setup.capacity = catalog_[TypeId{0}].capacity;
    setup.origin = system_.time().origin();
    setup.master = muster::test::spawn_listening_master(system_, heard_);
    actors_.push_back(caf::actor_cast<caf::actor>(setup.master));
    setup.make_executor = [](InstanceId, TypeId, ExecutorHost host) {
      return std::make_unique<TenMilliseconds>(std::move(host));
    };
    const GroupWorker worker = system_.actors().spawn<GroupMember>(std::move(setup));
    actors_.push_back(caf::actor_cast<caf::actor>(worker));
    return worker;
  }

  SharedJob submit(std::uint64_t id, std::size_t tasks) {
    return book_.submit(
        muster::test::JobBuilder(id).tasks(tasks).demand(Resources::of(0, 1, 0)).build(), {});
  }
  std::vector<std::string> said_until_ms(double ms) {
    system_.run_until_s(ms / 1e3);
    return std::exchange(said_, {});
  }

  muster::test::VirtualSystem system_{add_sampling_messages};
  Catalog catalog_ = test::slots();
  MemoryJournal journal_;
  GroupEventLog book_;
  GroupShared group_;
  std::vector<caf::actor> actors_;
  std::vector<std::string> said_;
  std::vector<TaskRequest> requests_;
  std::vector<muster::test::Heard> heard_;
};

TEST_F(MessageTranscriptTest, SparrowsSchedulerProbesAnswersAndCallsBack) {
  ProbeRules rules;
  rules.cancellation = true;
  const GroupScheduler sparrow = open(std::make_unique<ProbeScheduler>(rules, 1), 2);
  caf::anon_send(sparrow, batch_of(submit(1, 1)));
  EXPECT_THAT(said_until_ms(1), UnorderedElementsAre("0.5 ms: probe(job 1) -> worker 0",
                                                     "0.5 ms: probe(job 1) -> worker 1"));
  caf::anon_send(sparrow, TaskRequest{1, 0, JobId{1}, std::nullopt});
  EXPECT_THAT(said_until_ms(2),
              ElementsAre("1.5 ms: task(1) -> worker 1", "1.5 ms: cancel(job 1) -> worker 0"));
  caf::anon_send(sparrow, TaskRequest{0, 0, JobId{1}, std::nullopt});
  EXPECT_THAT(said_until_ms(3), ElementsAre("2.5 ms: no task -> worker 0"));
}

TEST_F(MessageTranscriptTest, TheStepsAreInTheBookWhenTheMessagesLeave) {
  const GroupScheduler sparrow = open(std::make_unique<ProbeScheduler>(ProbeRules{}, 1), 2);
  caf::anon_send(sparrow, batch_of(submit(1, 1)));
  caf::anon_send(sparrow, TaskRequest{1, 0, JobId{1}, std::nullopt});
  system_.time().drain();
  ASSERT_EQ(journal_.events().size(), 3U);
  EXPECT_EQ(std::get<TaskAssigned>(journal_.events()[1].body).cause.code, CauseCode::sampled);
  EXPECT_EQ(std::get<StartIssued>(journal_.events()[2].body).instance, InstanceId{1});
  EXPECT_TRUE(said_.empty());
}

TEST_F(MessageTranscriptTest, AWorkerAsksWhenItIsFreeAndNotBefore) {
  const GroupWorker worker = spawn_member();
  GroupMembership group;
  group.network_delay = std::chrono::microseconds{500};
  group.short_jobs = spawn_scheduler("scheduler");
  caf::anon_send(worker, group);
  const SharedJob first = submit(1, 1);
  caf::anon_send(worker, test::probe(first));
  caf::anon_send(worker, test::probe(submit(2, 1)));
  EXPECT_THAT(said_until_ms(5), ElementsAre("0.5 ms: request(job 1) -> scheduler"));
  const TaskOrder order = book_.start({JobId{1}, 0}, {InstanceId{0}, TypeId{0}}, {});
  caf::anon_send(worker, TaskAnswer{requests_.at(0).ticket, order});
  EXPECT_THAT(said_until_ms(20), ElementsAre("15.5 ms: request(job 2) -> scheduler"));
  caf::anon_send(worker, TaskAnswer{requests_.at(1).ticket, std::nullopt});
  EXPECT_TRUE(said_until_ms(40).empty());
}

TEST_F(MessageTranscriptTest, AMemberWithoutAGroupIsAWorkerLikeAnyOther) {
  const GroupWorker worker = spawn_member();
  const SharedJob job = submit(1, 1);
  caf::anon_send(worker, test::probe(job));
  caf::anon_send(worker, Cancellation{JobId{1}});
  caf::anon_send(worker, TaskAnswer{0, std::nullopt});
  caf::anon_send(worker, start_atom_v, book_.start({JobId{1}, 0}, {InstanceId{0}, TypeId{0}}, {}));
  EXPECT_TRUE(said_until_ms(20).empty()) << "it asks nobody";
  std::vector<std::string> told;
  for (const muster::test::Heard& heard : heard_) told.push_back(heard.what);
  EXPECT_THAT(told,
              ElementsAre(StartsWith("hello"), StartsWith("started"), StartsWith("finished")));
}

TEST_F(MessageTranscriptTest, PigeonsDistributorSpreadsAndItsMasterServes) {
  PigeonRules rules;
  rules.groups = 2;
  rules.reserved = 0;
  const GroupScheduler distributor = open(std::make_unique<PigeonDistributor>(rules, 1), 2);
  group_.schedulers = {distributor, spawn_scheduler("master 0"), spawn_scheduler("master 1")};
  caf::anon_send(distributor, batch_of(submit(1, 4)));
  EXPECT_THAT(said_until_ms(1), UnorderedElementsAre("0.5 ms: batch(2 tasks) -> master 0",
                                                     "0.5 ms: batch(2 tasks) -> master 1"));
}

TEST_F(MessageTranscriptTest, PigeonsMasterKeepsWhatItsWorkersHaveNoRoomFor) {
  PigeonRules rules;
  rules.groups = 1;
  rules.reserved = 0;
  const GroupScheduler master = open(std::make_unique<PigeonMaster>(rules, 0), 1);
  caf::anon_send(master, batch_of(submit(1, 2)));
  EXPECT_THAT(said_until_ms(4), ElementsAre("0.5 ms: task(1) -> worker 0"));
  caf::anon_send(master, TaskDone{0, JobId{1}});
  EXPECT_THAT(said_until_ms(6), ElementsAre("4.5 ms: task(101) -> worker 0"));
}

}  // namespace
}  // namespace muster::sampling
