#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "masters/actor/master_actor.hpp"
#include "schedulers/registry.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/virtual_system.hpp"

// A master between a cloud and workers that the test speaks for.

namespace muster::test {

/// Jobs that are over, on a disk that takes its time.
class SlowHistory final : public History {
 public:
  void add(JobHistory job) override { jobs.push_back(std::move(job)); }
  void drop(JobId id) override {
    std::erase_if(jobs, [&](const JobHistory& job) { return job.job.id == id; });
  }
  std::size_t size() const override { return jobs.size(); }
  std::optional<JobHistory> find(JobId id) const override {
    EXPECT_TRUE(reading) << "the master does not wait for the disk";
    for (const JobHistory& job : jobs) {
      if (job.job.id == id) return job;
    }
    return std::nullopt;
  }
  void newest(std::size_t limit, const Use& use) const override {
    EXPECT_TRUE(reading) << "the master does not wait for the disk";
    for (auto it = jobs.rbegin(); it != jobs.rend() && limit > 0; ++it, --limit) use(*it);
  }
  bool contains(JobId id) const override {
    return std::any_of(jobs.begin(), jobs.end(),
                       [&](const JobHistory& job) { return job.job.id == id; });
  }
  std::map<std::string, Money> spent_by_user() const override { return {}; }
  bool read_apart(std::function<void()> read) const override {
    if (waiting.size() >= 2) return false;
    waiting.push_back(std::move(read));
    return true;
  }
  void read_all() const {
    reading = true;
    for (const auto& read : std::exchange(waiting, {})) read();
    reading = false;
  }

  std::vector<JobHistory> jobs;
  mutable std::vector<std::function<void()>> waiting;
  mutable bool reading = false;
};

/// A master under No-Packing, with a cloud and workers that the test speaks for.
class MasterActorTest : public ::testing::Test {
 protected:
  MasterActorTest() {
    cloud_ =
        system_.actors().spawn([this](CloudForMasters::pointer) -> CloudForMasters::behavior_type {
          return {
              [this](launch_atom, const LaunchOrder& order, const MasterForCloud&) {
                note("launch " + std::to_string(order.instance.value));
              },
              [this](end_atom, InstanceId id, const MasterForCloud&) {
                note("end " + std::to_string(id.value));
              },
              [this](greet_atom, const MasterForCloud& master) {
                ++greeted_;
                if (clock_is_told_) caf::anon_send(master, report(CloudReportKind::clock, {}));
              },
          };
        });
    worker_ = spawn_worker();
    start([](MasterSetup&) {});
  }
  ~MasterActorTest() override {
    system_.end(master_);
    system_.end(cloud_);
    system_.end(worker_);
  }

  WorkerActor spawn_worker() {
    return system_.actors().spawn([this](WorkerActor::pointer) -> WorkerActor::behavior_type {
      return {
          [this](start_atom, const TaskOrder& order) {
            note("start " + std::to_string(order.task.id.value) + "." +
                 std::to_string(order.attempt));
          },
          [this](stop_atom, TaskId task, Attempt) { note("stop " + std::to_string(task.value)); },
          [this](ack_atom, TaskId, Attempt) { ++settled_; },
          [this](greet_atom) { note("greet"); },
          [this](sample_atom, std::uint64_t sample_round) { asked_ = sample_round; },
          [this](const LogRequest& request) { asked_log_ = request; },
          [this](const ExecRequest& request) { asked_exec_ = request; },
          [this](const UsageRequest& request) { asked_usage_.push_back(request); },
          [](const Wakeup&) {},
      };
    });
  }

  /// Starts the master anew. Unless told otherwise it repeats nothing.
  void start(const std::function<void(MasterSetup&)>& change) {
    if (master_) system_.end(master_);
    MasterSetup setup;
    setup.settings.watch.remind_every = std::chrono::hours{10};
    setup.settings.watch.ask_pause = std::chrono::hours{100};
    setup.parts.catalog = &catalog_;
    setup.parts.policy = make_policy({"no-packing", {}}, catalog_).value();
    setup.journal = &journal_;
    setup.cloud = cloud_;
    setup.origin = system_.time().origin();
    setup.settings.round_settle = std::chrono::milliseconds{1};
    setup.settings.sample_timeout = std::chrono::seconds{2};
    setup.stopwatch = [] { return Duration{}; };
    setup.times = &times_;
    setup.parts.keep_history = true;
    setup.history = &history_;
    change(setup);
    master_ = system_.actors().spawn<MasterActorImpl>(std::move(setup));
    system_.time().drain();
  }

  void note(const std::string& what) { heard_.push_back({to_seconds(system_.time().now()), what}); }
  void accept(std::uint64_t job) {
    caf::anon_send(master_, hand_atom_v, std::vector<Job>{JobBuilder(job).build()});
  }
  void tell(CloudReportKind kind, std::uint64_t instance) {
    caf::anon_send(master_, report(kind, InstanceId{instance}));
  }
  CloudReport report(CloudReportKind kind, InstanceId instance) {
    const Instant clock = system_.time().now() + cloud_ahead_;
    return {instance, kind, clock, {}, clock};
  }
  void tell(WorkerReportKind kind, std::uint64_t task) {
    WorkerReport report;
    report.instance = InstanceId{0};
    report.task = TaskId{task};
    report.attempt = 1;
    report.kind = kind;
    caf::anon_send(master_, report);
  }
  static WorkerHello hello(std::uint64_t number = 1) {
    WorkerHello hello;
    hello.instance = InstanceId{0};
    hello.number = number;
    return hello;
  }
  void say(const WorkerHello& hello) {
    caf::anon_send(master_, hello_atom_v, hello, worker_);
    system_.time().drain();
  }
  std::size_t times_heard(const std::string& what) const {
    return static_cast<std::size_t>(std::count_if(
        heard_.begin(), heard_.end(), [&](const Heard& heard) { return heard.what == what; }));
  }
  /// The events of the kind so far.
  template <class Kind>
  std::vector<Kind> all() const {
    std::vector<Kind> found;
    for (const Event& event : journal_.events()) {
      if (const auto* one = std::get_if<Kind>(&event.body)) found.push_back(*one);
    }
    return found;
  }
  /// Job 1 runs on instance 0 from second 100 on.
  void run_one() {
    accept(1);
    system_.run_until_s(50);
    tell(CloudReportKind::up, 0);
    system_.run_until_s(100);
    caf::anon_send(master_, hello_atom_v, hello(), worker_);
    system_.time().drain();
    tell(WorkerReportKind::started, 1);
    system_.time().drain();
  }

  VirtualSystem system_;
  Catalog catalog_ = table3_catalog();
  MemoryJournal journal_;
  DecisionTimes times_;
  SlowHistory history_;
  std::vector<Heard> heard_;
  std::uint64_t asked_ = 0;
  LogRequest asked_log_;    ///< the last one
  ExecRequest asked_exec_;  ///< likewise
  std::vector<UsageRequest> asked_usage_;
  int settled_ = 0;
  int greeted_ = 0;
  bool clock_is_told_ = true;
  Duration cloud_ahead_{};  ///< of the cloud's clock
  CloudForMasters cloud_;
  WorkerActor worker_;
  MasterActor master_;
};

}  // namespace muster::test
