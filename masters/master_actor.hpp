#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "actors/clock.hpp"
#include "actors/messages.hpp"
#include "masters/master.hpp"

namespace muster {

/// How long each round's decision took.
struct DecisionTimes {
  std::vector<double> ms;
};

struct MasterSetup {
  MasterParts parts;
  CloudActor cloud;
  ClusterEpoch epoch;
  Duration
      round_settle{};  ///< from a round's tick to its decision: what comes meanwhile takes part
  Duration
      sample_timeout{};  ///< how long workers may take to answer before a round goes on without
  std::function<Duration()> stopwatch;  ///< any steady clock; measures, never decides
  DecisionTimes* times = nullptr;
};

/// The actor around a Master: messages in, effects out, rounds at the policy's cadence.
class MasterNode : public MasterActor::base {
 public:
  MasterNode(caf::actor_config& config, MasterSetup setup);
  const char* name() const override { return "muster.master"; }
  void on_exit() override;

 protected:
  behavior_type make_behavior() override;

 private:
  Instant now() const { return timer_.now(); }
  caf::result<JobId> accept(Job job, const JobListener& listener);
  void hear_worker(const WorkerReport& report);
  void hear_cloud(const CloudReport& report);
  void tick();
  void want_round();
  void gather();
  void hear_samples(const SampleAnswer& answer);
  void decide();
  void carry_out();
  void perform(const StartTask& effect);
  void perform(const StopTask& effect);
  void perform(const LaunchInstance& effect);
  void perform(const EndInstance& effect);
  void perform(const TellJobOver& effect);

  MasterSetup setup_;
  Master master_;
  Cadence cadence_;
  ActorTimer<MasterActor, MasterNode> timer_;
  std::map<InstanceId, WorkerActor> workers_;
  std::map<JobId, JobListener> listeners_;
  bool round_wanted_ = false;
  std::vector<ThroughputSample> samples_;
  std::uint64_t asking_ = 0;     ///< number of the last asking for samples
  std::set<InstanceId> silent_;  ///< asked, and not heard of yet
};

}  // namespace muster
