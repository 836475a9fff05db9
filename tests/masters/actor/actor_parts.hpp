#pragma once

#include <optional>
#include <string>
#include <vector>

#include "masters/actor/cloud_watch.hpp"
#include "tests/masters/actor/deaf_worker.hpp"
#include "tests/masters/actor/part_host.hpp"
#include "tests/masters/scripted_master.hpp"

namespace muster::test {

/// A master between its cloud and its workers, without its actor. The cloud is greeted and
/// asked by what the test finds among the effects.
class ActorPartsTest : public MasterTest {
 protected:
  ActorPartsTest() {
    settings_.watch.remind_every = std::chrono::seconds{2};
    settings_.watch.worker_lost_after = std::chrono::seconds{100};
    make_master({});
    make_parts();
  }
  ~ActorPartsTest() override {
    links_.clear();
    system_.end(worker_);
  }

  void make_parts() {
    host_.on_commit = [this] { note(master_->commit()); };
    logs_.emplace(LogCare{}, *master_, places_, host_, MasterLogs::Workers{});
    CloudLink::Host link;
    link.greet = [this] { say("greet the cloud"); };
    link.now = [this] { return host_.now(); };
    link.wake = [this](Instant when) { cloud_->ask_at(when); };
    link_.emplace(settings_.watch, std::move(link));
    WorkerNews::Host workers;
    workers.monitor = [this](const WorkerActor&) { say("monitor"); };
    workers.stop = [this](const WorkerActor&, TaskId task, Attempt) {
      say("stop " + std::to_string(task.value));
    };
    workers.greet = [this](const WorkerActor&) { say("greet the worker"); };
    workers.sample = [](const WorkerActor&, std::uint64_t) {};
    workers.ends = [](TaskId) {};
    workers.end = [this](InstanceId id) { say("end " + std::to_string(id.value)); };
    workers.remind = [this] { cloud_->remind_later(); };
    workers_.emplace(WorkerNews::Parts{*master_, links_, *logs_, execs_, host_},
                     std::move(workers));
    CloudWatch::Host cloud;
    cloud.takes_more = [this] { return journal_takes_; };
    cloud.order_fleet = [] {};
    cloud.await_tick = [] {};
    cloud_.emplace(CloudWatch::Parts{*master_, *link_, links_, *workers_, *logs_, host_},
                   std::move(cloud));
  }
  void say(const std::string& what) { said_.push_back(what); }
  std::vector<std::string> said() { return std::exchange(said_, {}); }
  void note(const Commit& commit) {
    cloud_->watch(commit.events);
    for (const Event& event : commit.events) {
      if (std::holds_alternative<InstanceGone>(event.body)) say("gone");
      if (std::holds_alternative<OfferingChanged>(event.body)) say("price");
    }
    for (const Effect& effect : commit.effects) {
      if (const auto* end = std::get_if<EndInstance>(&effect)) {
        say("end " + std::to_string(end->instance.value));
      }
      if (const auto* launch = std::get_if<LaunchInstance>(&effect)) {
        say("launch " + std::to_string(launch->instance.value));
      }
    }
  }
  /// One job, placed on instance 0, which is ordered.
  void order_one() {
    ASSERT_EQ(master_->submit(JobBuilder(1).build(), host_.stamp()), SubmitResult::accepted);
    script_.plans.push_back(together({1}));
    master_->round({}, host_.stamp());
    host_.commit();
  }
  CloudReport report(CloudReportKind kind, std::uint64_t instance = 0) const {
    CloudReport report;
    report.kind = kind;
    report.instance = InstanceId{instance};
    report.at = report.now = host_.now();
    return report;
  }
  static WorkerHello hello(std::uint64_t number, std::uint64_t instance = 0) {
    WorkerHello hello;
    hello.instance = InstanceId{instance};
    hello.number = number;
    return hello;
  }
  WorkerReport attempt(WorkerReportKind kind) const {
    WorkerReport report;
    report.instance = InstanceId{0};
    report.task = TaskId{1};
    report.attempt = 1;
    report.kind = kind;
    return report;
  }

  VirtualSystem system_;
  WorkerActor worker_ = spawn_deaf_worker(system_);
  FakePartHost host_;
  ApartReads reads_{nullptr, host_};
  MasterPlaces places_{*master_, reads_};
  WorkerLinks links_;
  ExecQuestions execs_{places_, {}};
  bool journal_takes_ = true;
  std::optional<MasterLogs> logs_;
  std::optional<CloudLink> link_;
  std::optional<WorkerNews> workers_;
  std::optional<CloudWatch> cloud_;
  std::vector<std::string> said_;
};

}  // namespace muster::test
