#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "actors/clock.hpp"
#include "actors/messages.hpp"
#include "masters/cell_view.hpp"
#include "masters/master.hpp"
#include "storage/history.hpp"
#include "storage/journal.hpp"

namespace muster {

/// How long each round's decision took.
struct DecisionTimes {
  std::vector<double> ms;
};

/// What a live master has besides what a replayed one has. All of it may be left out.
struct MasterLife {
  History* history = nullptr;
  /// What the master was before it was started again.
  std::optional<MasterImage> image;
  std::vector<Event> tail;
  Duration remind_every{};              ///< orders to the cloud are repeated so often; 0: never
  std::uint32_t full_remind_every = 6;  ///< each so-manieth time it asks after every instance
  Duration worker_lost_after{};  ///< an instance whose worker is silent so long is ended; 0: never
  std::uint64_t snapshot_every = 0;  ///< events from one snapshot to the next; 0: none are made
  std::function<void(MasterImage)> save_snapshot;
  std::string name;  ///< of the master, in documents
  /// Is told what its user should know of; nothing: nobody is.
  std::function<void(const std::string&)> note;
};

struct MasterSetup {
  MasterParts parts;
  Journal* journal = nullptr;
  CloudActor cloud;
  ClusterEpoch epoch;
  Duration
      round_settle{};  ///< from a round's tick to its decision: what comes meanwhile takes part
  Duration
      sample_timeout{};  ///< how long workers may take to answer before a round goes on without
  std::uint64_t queue_room = 10'000;    ///< so many waiting tasks are a load of 1; >= 1
  std::function<Duration()> stopwatch;  ///< any steady clock; measures, never decides
  DecisionTimes* times = nullptr;
  MasterLife life;
};

/// The actor around a Master: messages in, effects out, rounds at the policy's cadence. Effects and
/// answers leave it when the events that led to them are durable.
class MasterNode : public MasterActor::base {
 public:
  MasterNode(caf::actor_config& config, MasterSetup setup);
  const char* name() const override { return "muster.master"; }
  void on_exit() override;

 protected:
  behavior_type make_behavior() override;

 private:
  /// A worker that has said hello.
  struct Connection {
    WorkerActor worker;  ///< null while the link is down
    Instant lost_at;     ///< when it went down
    std::string limits;
    std::uint64_t hello = 0;  ///< number of the last one
  };
  /// Somebody who waits for a part of a log.
  struct LogReader {
    caf::typed_response_promise<LogAnswer> promise;
    std::uint64_t number = 0;  ///< in the reader's own count
  };

  Instant now();
  LoadReport load_report(const caf::actor_addr& asker);
  caf::result<JobId> accept(Job job, const JobListener& listener);
  caf::result<std::vector<AcceptVerdict>> take_over(std::vector<Job> jobs);
  caf::result<JobId> hold(JobId id, bool held);
  caf::result<InstanceId> drain(InstanceId id);
  void hear_hello(const WorkerHello& hello, const WorkerActor& worker);
  void hear_worker(const WorkerReport& report);
  bool is_there(TaskId task, InstanceId instance) const;
  void take_report(const WorkerReport& report);
  void hear_cloud(const CloudReport& report);
  void lose_worker(const caf::actor_addr& address);
  void tick();
  void remind();
  void want_round();
  void gather();
  void hear_samples(const SampleAnswer& answer);
  void decide();
  caf::result<LogAnswer> read_log(const LogRequest& request);
  void hear_log(const LogAnswer& answer);
  std::string answer(const Query& query);
  void carry_out(std::function<void()> then = {});
  void now_durable();
  void save_snapshot_if_due();
  WorkerActor* worker_on(InstanceId id);
  void perform(const StartTask& effect);
  void perform(const StopTask& effect);
  void perform(const LaunchInstance& effect);
  void perform(const EndInstance& effect);
  void perform(const SettleAttempt& effect);
  void perform(const TellJobOver& effect);

  /// What happens when a batch of events is durable.
  struct Pending {
    std::vector<Effect> effects;
    std::function<void()> then;
  };

  MasterSetup setup_;
  Master master_;
  Cadence cadence_;
  ActorTimer<MasterActor, MasterNode> timer_;
  std::map<InstanceId, Connection> workers_;
  std::map<JobId, JobListener> listeners_;
  std::deque<Pending> pending_;  ///< in the order of their batches
  std::map<std::uint64_t, LogReader> log_readers_;
  std::map<caf::actor_addr, std::uint64_t> told_;  ///< completed jobs, by who asked for the load
  std::uint64_t next_log_ = 0;
  Instant newest_;  ///< no event is older than the one before it, whatever the clock does
  bool round_wanted_ = false;
  std::vector<ThroughputSample> samples_;
  std::uint64_t asking_ = 0;     ///< number of the last asking for samples
  std::set<InstanceId> silent_;  ///< asked, and not heard of yet
  DecisionLog decisions_;
  std::uint64_t reminders_ = 0;
  std::uint64_t events_since_snapshot_ = 0;
};

}  // namespace muster
