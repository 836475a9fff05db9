#pragma once

#include <optional>
#include <vector>

#include "masters/services/services.hpp"
#include "tests/masters/master_commands.hpp"

namespace muster::test {

/// A master's services on one instance that has room for all, with workers that do what they are
/// told at once. Replicas become ready when the test says so.
class ServicesTest : public MasterCommandsTest {
 protected:
  ServicesTest() {
    begin_commands();
    ends_.emplace(*recorder_, *tasks_, settings_, false);
    services_.emplace(*recorder_, *tasks_, *releases_, *ends_);
    for (std::uint64_t i = 0; i < 12; ++i) ready(i);
  }

  struct Wish {
    std::uint32_t replicas = 2;
    std::size_t tasks = 8;
    std::uint32_t surge = 1;
    std::uint32_t max_unavailable = 0;
    std::uint64_t replaces = 0;  ///< 0: it is the first revision
    ServiceGoal goal{};
    std::uint32_t least = 0;
    std::uint32_t most = 0;
    std::string name = "web";
    SizeRange size{};
  };
  void accept(std::uint64_t id, const Wish& wish) {
    Job job = JobBuilder(id).tasks(wish.tasks).gang(false).build();
    job.name = wish.name;
    job.user = "ann";
    ServiceSpec spec;
    spec.replicas = wish.replicas;
    spec.surge = wish.surge;
    spec.max_unavailable = wish.max_unavailable;
    spec.goal = wish.goal;
    spec.least = wish.least;
    spec.most = wish.most;
    spec.size = wish.size;
    spec.healthy_for = healthy_for_;
    spec.update_within = std::chrono::hours{1};
    if (wish.replaces > 0) spec.replaces = JobId{wish.replaces};
    job.kind = spec;
    happen(JobAccepted{job});
    settle();
  }

  /// Until nothing more comes of it: places, starts and stops are carried out at once.
  void settle() {
    bool more = true;
    while (more) {
      services_->advance(now());
      check();
      more = false;
      for (const TaskId id : all_tasks()) more |= act_on(id);
    }
  }
  bool act_on(TaskId id) {
    const TaskRow* task = state().find(id);
    if (task == nullptr) return false;
    if (task->phase == TaskPhase::pending) {
      const InstanceId to = roomiest();
      happen(TaskAssigned{id, to, {}, kGrant});
      happen(StartIssued{id, to, state().find(id)->attempt + 1, kGrant});
      happen(TaskStarted{id, state().find(id)->attempt, {}, {}});
      return true;
    }
    if (task->phase != TaskPhase::stopping) return false;
    const JobId job = state().job(task->job).job.id;
    happen(TaskCheckpointed{id, task->attempt, {}, {}});
    ends_->end_if_done(job, now());
    return true;
  }
  InstanceId roomiest() const {
    InstanceId best;
    std::size_t least = 1000;
    for (const InstanceRow& row : state().instances()) {
      if (row.released || row.occupants.size() >= least) continue;
      least = row.occupants.size();
      best = row.id;
    }
    return best;
  }
  std::vector<TaskId> all_tasks() const {
    std::vector<TaskId> ids;
    for (const JobRow& row : state().jobs()) {
      for (const Slot slot : row.tasks) ids.push_back(state().task(slot).id);
    }
    return ids;
  }
  /// Running replicas of the job, in their order.
  std::vector<TaskId> running(std::uint64_t id) const {
    std::vector<TaskId> ids;
    const JobRow* row = state().find(JobId{id});
    for (const Slot slot : row == nullptr ? std::vector<Slot>{} : row->tasks) {
      if (state().task(slot).phase == TaskPhase::running) ids.push_back(state().task(slot).id);
    }
    return ids;
  }
  void say(TaskId id, bool is_ready, const std::string& trouble = "") {
    ReplicaState said;
    said.ready = is_ready;
    said.trouble = trouble;
    happen(ReplicaChanged{id, state().find(id)->attempt, said});
  }
  /// Begins there with less than the others have.
  void begin_small(TaskId id, InstanceId at) {
    const Grant small = Grant::of(Resources::of(0, 0.1, 0.1));
    happen(TaskAssigned{id, at, {}, small});
    happen(StartIssued{id, at, 1, small});
    happen(TaskStarted{id, 1, {}, {}});
  }
  /// The first program of the replica has ended.
  void end_program(TaskId id) {
    ReplicaState ended;
    ended.restarts = 1;
    happen(ReplicaChanged{id, 1, ended});
    settle();
  }
  /// All replicas of the job that run become ready, again and again, until all is quiet.
  void all_ready(std::uint64_t id) {
    bool more = true;
    while (more) {
      more = false;
      for (const TaskId each : running(id)) {
        if (is_endpoint(*state().find(each))) continue;
        say(each, true);
        more = true;
      }
      settle();
    }
  }
  std::size_t ready_count() const {
    std::size_t count = 0;
    for (const TaskId id : all_tasks()) count += is_endpoint(*state().find(id));
    return count;
  }
  /// A place of that task like the one that it has.
  Placing elsewhere(TaskId id) const {
    const TaskRow& task = *state().find(id);
    const InstanceRow& row = state().instance(task.at);
    return {&task, row.type, row.market, task.held};
  }
  void fail(TaskId id) {
    TaskFailed news{id, state().find(id)->attempt, "it fell"};
    happen(news);
  }
  void check() { EXPECT_EQ(state().inconsistencies(), std::vector<std::string>{}); }
  bool is_over(std::uint64_t id) const { return state().find(JobId{id}) == nullptr; }

  Duration healthy_for_{};
  std::optional<JobEnds> ends_;
  std::optional<Services> services_;
};

}  // namespace muster::test
