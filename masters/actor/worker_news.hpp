#pragma once

#include <cstdint>
#include <functional>
#include <set>

#include "actors/time/alarm.hpp"
#include "masters/actor/exec_questions.hpp"
#include "masters/actor/master_logs.hpp"
#include "masters/actor/part_host.hpp"
#include "masters/actor/worker_links.hpp"
#include "masters/master.hpp"

namespace muster {

/// Hears a master's workers: their hellos, their reports of attempts, and that they cannot be
/// spoken to.
class WorkerNews {
 public:
  struct Host {
    /// lose() is to be called when the link is down.
    std::function<void(const WorkerActor&)> monitor;
    std::function<void(const WorkerActor&, TaskId, Attempt)> stop;
    std::function<void(const WorkerActor&)> greet;  ///< asks for a new hello
    std::function<void(const WorkerActor&, std::uint64_t)> sample;
    /// An attempt of the task is over, and goes on record as such next.
    std::function<void(TaskId)> ends;
    /// The cloud is to end the instance.
    std::function<void(InstanceId)> end;
    /// The cloud is to be asked after the instance whose link is down.
    std::function<void()> remind;
  };
  /// The parts that it works with; they outlive it.
  struct Parts {
    Master& master;
    WorkerLinks& links;
    MasterLogs& logs;
    ExecQuestions& execs;
    PartHost& host;
  };
  WorkerNews(const Parts& parts, Host host);

  /// The steps of services that time alone brings come in their time, after a restart, too.
  void begin() { watch_next(); }
  void greet(const WorkerHello& hello, const WorkerActor& worker);
  void hear(const WorkerReport& report);
  /// A link is down, which may mean that the instance is gone.
  void lose(const caf::actor_addr& link);
  /// The instance is gone.
  void forget(InstanceId id);
  /// The instance is up and its worker cannot be spoken to: from now on it counts as silent. `more`
  /// is what it may take besides.
  void await(InstanceId id, Duration more);
  /// Replicas that rest are started again at their times, and services take their next steps at
  /// theirs, of which there may be new ones; replicas that came to be wanted wait for a place.
  void watch_services(const std::vector<Event>& events);
  /// Asks the workers that run something for samples; of which instances they are.
  std::set<InstanceId> ask_samples(std::uint64_t sample_round) const;

 private:
  /// Questions to the instance's worker that are open get no answer from it.
  void cut(InstanceId id) const;
  void turn_away(const WorkerHello& hello, const WorkerActor& worker) const;
  void take(const WorkerReport& report);
  void note_rejection(const WorkerReport& report);
  void end_lost();
  void services_due();
  void watch_next();
  void relieve_silent();

  Master& master_;
  WorkerLinks& links_;
  MasterLogs& logs_;
  ExecQuestions& execs_;
  PartHost& host_;
  Host workers_;
  Alarm<PartHost> silence_, services_, relief_;
  std::map<InstanceId, Instant> to_relieve_;  ///< of silent workers, and when
};

/// A worker may speak of attempts on its own instance only, whatever key it has got hold of.
bool is_there(const ClusterState& state, TaskId task, InstanceId instance);

}  // namespace muster
