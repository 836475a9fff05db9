#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/cluster_state.hpp"
#include "model/event.hpp"
#include "model/views.hpp"

namespace muster {

/// A distribution in buckets of fixed bounds.
class Histogram {
 public:
  /// Upper ends that rise; larger values have a bucket of their own.
  explicit Histogram(std::vector<double> bounds);
  void add(double value);
  HistogramView view(std::string name) const;

 private:
  std::vector<double> bounds_;
  std::vector<std::uint64_t> counts_;  ///< one more than the bounds
  double sum_ = 0;
};

/// Counts what a master's events say since it was started: how jobs and attempts ended, what was
/// launched and refused, how long starts and decisions took. Nothing of it is a decision's input.
class CellTally {
 public:
  CellTally();
  /// Takes over the attempts under way of a state that was restored; before any event.
  void recall(const ClusterState& state);
  /// `after` is the state in which all of the events are applied.
  void watch(const std::vector<Event>& events, const ClusterState& after);
  void decided(double seconds) { decisions_.add(seconds); }

  std::vector<CountView> counts() const;
  std::vector<HistogramView> histograms() const;

 private:
  void count(CountKind kind, std::string_view of) { ++counts_[{kind, of}]; }
  void count(const Event& event, const ClusterState& after);
  void note_start(const TaskStarted& start, Instant at, const ClusterState& after);
  void issue(TaskId task, InstanceId on, bool started, Attempt attempt);
  void end(TaskId task);
  void end_all_on(InstanceId instance);

  /// An attempt that has been told to start and has not ended.
  struct UnderWay {
    InstanceId on;
    Attempt attempt = 0;
    bool started = false;
  };

  /// By names that live as long as the program: every event passes here.
  std::map<std::pair<CountKind, std::string_view>, std::uint64_t> counts_;
  std::set<InstanceId> noticed_;  ///< counted already, and not gone yet
  std::map<TaskId, UnderWay> under_way_;
  std::set<std::pair<InstanceId, TaskId>> on_instances_;  ///< likewise, by their instances
  std::set<TaskId>
      unstarted_;  ///< of unfinished jobs: tasks with attempts, of which no attempt has started
  Histogram decisions_;
  Histogram starts_;
};

/// Keeps a sample of a master's figures for each of the last 1,440 minutes, for plots.
class CellHistory {
 public:
  static constexpr std::size_t kKept = 1'440;
  static constexpr Duration kPeriod = std::chrono::minutes{1};

  /// Takes over samples from before; they must rise in time, those that do not are dropped.
  void restore(const std::vector<HistorySample>& samples);
  /// A sample at this time would be a period after the last one, or the first.
  bool is_due(Instant now) const;
  void add(const HistorySample& sample);
  /// Those from this time on.
  HistoryView since(Instant from) const;

 private:
  std::vector<HistorySample> kept_;
};

}  // namespace muster
