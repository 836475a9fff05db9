#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "model/time.hpp"
#include "storage/events/log_sink.hpp"

namespace muster {

/// Whose output is brought across next. Instances are served in turn, a few attempts of each at
/// once. One whose worker leaves a question open, or whose output the disk did not take, is left
/// alone for a while and then asked for one attempt at a time.
class LogTurns {
 public:
  /// Something is to come of the attempt from there; it does not wait for its turn yet.
  void add(const LogName& name, InstanceId on);
  /// Nothing is any more. The instance is forgotten with the last attempt there.
  void remove(const LogName& name, InstanceId on);
  /// Whether something is to come from the instance.
  bool has(InstanceId id) const { return sources_.contains(id); }
  /// The attempts of which something is to come from there.
  std::set<LogName> of(InstanceId id) const;

  /// The attempt waits for its turn from now on.
  void wait(const LogName& name, InstanceId on);
  /// Whose turn it is: the attempt counts as active until leave(). Nothing: no log waits, or the
  /// bound of active ones is reached. Those that `waits` is false of have had theirs.
  std::optional<LogName> next(const std::function<bool(const LogName&, InstanceId)>& waits);
  /// An active attempt of the instance is active no more.
  void leave(InstanceId on);

  /// The instance is left alone until then.
  void rest(InstanceId on, Instant until);
  /// All instances are, as when the disk takes nothing.
  void rest_all(Instant until) { all_until_ = std::max(all_until_.value_or(until), until); }
  void end_rests(Instant now);
  /// When end_rests() has something to do.
  std::optional<Instant> next_rest() const;

  /// The instance's worker has answered; it has left a question open.
  void answered(InstanceId on);
  void left_open(InstanceId on) { sources_.at(on).silent = true; }
  bool is_silent(InstanceId id) const;
  /// Whether the disk took what was handed to it last.
  void written(InstanceId on, bool written);

 private:
  /// Of an instance from which something is to come.
  struct Source {
    std::set<LogName> names;
    std::deque<LogName> waiting;
    std::size_t active = 0;
    bool in_turn = false;
    bool silent = false;           ///< its worker left the last question open
    bool refused = false;          ///< the disk did not take what came from there last
    std::optional<Instant> until;  ///< it is left alone
  };

  void enlist(InstanceId id);

  std::map<InstanceId, Source> sources_;
  std::deque<InstanceId> turns_;                    ///< with attempts that wait
  std::set<std::pair<Instant, InstanceId>> rests_;  ///< when an instance is left alone no longer
  std::optional<Instant> all_until_;                ///< all are left alone
  std::size_t active_ = 0;
};

}  // namespace muster
