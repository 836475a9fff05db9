#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "model/event.hpp"
#include "schedulers/policy.hpp"

namespace muster::own {

/// Figure of a round's note: the round is to be held again though nothing may have changed.
inline constexpr const char* kAgain = "again";
inline constexpr double kLater = 1;       ///< since time alone may change what it would do
inline constexpr double kUnfinished = 2;  ///< since it has not looked at everything

/// Figure of a round's note: the first of the tasks that wait by choice may wait no longer than
/// that many seconds.
inline constexpr const char* kLeftToWait = "left_to_wait";

/// Note of a round that looks for a better distribution of all but timed tasks.
inline constexpr const char* kRepartition = "repartition";

/// Note of a round that only gives empty instances back, between regular ones.
inline constexpr const char* kAtOnce = "at once";

/// The note's figure of that name; nothing where it has no such figure.
std::optional<double> figure_of(const RoundNote& note, std::string_view name);

/// The policy's memory of tasks and instances: a fold over the events.
class Memory {
 public:
  void observe(const Event& event, const ClusterView& view);

  /// How long the task has been without an instance so far, over its life.
  Duration waited(TaskId task, Instant now) const;
  /// Something has left the instance or it has become ready since the last round.
  bool is_dirty(InstanceId instance) const { return dirty_.contains(instance); }
  /// Something has happened since the last round.
  bool has_changed() const { return changed_; }
  /// Likewise, but that parts of its plan were refused: a round that asked for them again at once
  /// would be refused again.
  bool has_news() const { return news_; }
  /// A task that the last round let wait may wait no longer.
  bool has_waited_out(Instant now) const { return waits_until_ && now >= *waits_until_; }
  std::optional<Instant> waits_until() const { return waits_until_; }
  /// The last round is to be held again.
  bool asks_again() const { return again_; }
  bool is_quiet() const { return !has_changed() && !asks_again(); }
  /// The moves that the last round wanted together were refused.
  bool was_refused() const { return refused_; }

  /// Waits of a task: in all before now, and since when it waits now.
  struct Wait {
    Duration before{};
    std::optional<Instant> since{};
    InstanceId on{};  ///< where it was last meant to be

    friend bool operator==(const Wait&, const Wait&) = default;
  };
  const std::map<TaskId, Wait>& waits() const { return waits_; }
  const std::set<InstanceId>& dirty() const { return dirty_; }
  /// Something has changed since the last round, with news or without; a group of its plan was
  /// refused, and it asked to be held again.
  struct News {
    bool changed = false;
    bool news = false;
    bool refused = false;
    bool again = false;
    std::optional<Instant> waits_until{};
  };
  void restore(std::map<TaskId, Wait> waits, std::set<InstanceId> dirty, News news);

 private:
  void end_round(const RoundNote& note, Instant at, const ClusterState& state);
  void forget_dirty(const ClusterState& state);
  /// O(instances): for a change of terms, which is seldom.
  void touch_all_of(const Offering& changed, const ClusterView& view);
  void begin(TaskId task, Instant at);
  void end(TaskId task, Instant at);

  std::map<TaskId, Wait> waits_;  ///< of the tasks of unfinished jobs
  std::set<InstanceId> dirty_;
  bool changed_ = false;
  bool news_ = false;
  bool again_ = false;
  bool refused_ = false;
  std::optional<Instant> waits_until_;
};

}  // namespace muster::own
