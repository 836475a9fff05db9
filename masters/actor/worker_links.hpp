#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/messages/interfaces.hpp"
#include "masters/view/cell_view.hpp"
#include "model/time.hpp"

namespace muster {

/// The workers of a master's instances: which of them can be spoken to, and until when one that is
/// silent may be. It does not speak to them.
class WorkerLinks {
 public:
  /// The instance's worker may have said hello to the master before that was started again.
  void expect(InstanceId id) { connections_[id] = {}; }
  /// A hello from before the last one of that process: its reports of attempts may be out of date.
  bool is_old(const WorkerHello& hello) const;
  /// The instance's worker can be spoken to, and is silent no more.
  void meet(const WorkerHello& hello, const WorkerActor& worker);
  /// The link is down: the instance whose worker cannot be spoken to any more. Nothing when it has
  /// another link by now, or is gone.
  std::optional<InstanceId> lose(const caf::actor_addr& link);
  /// The instance is gone.
  void forget(InstanceId id);
  void clear();

  /// The worker of an instance that can be spoken to now; null when there is no such worker.
  const WorkerActor* on(InstanceId id) const;
  /// Calls `use` for those that can be spoken to, by rising instances.
  template <class Use>
  void each(Use use) const {
    for (const auto& [id, connection] : connections_) {
      if (connection.worker) use(id, connection.worker);
    }
  }
  std::map<InstanceId, WorkerStanding> standings() const;

  /// Unless its worker can be spoken to, or is silent already, the instance counts as lost then.
  /// True: so it does from now on.
  bool await(InstanceId id, Instant lost_at);
  /// Takes those that count as lost from the silent ones.
  std::vector<InstanceId> take_lost(Instant now);
  /// When the next one counts as lost.
  std::optional<Instant> next_lost() const;
  bool any_silent() const { return !silent_.empty(); }
  /// Those of the silent instances whose workers have said hello before.
  std::vector<InstanceId> cut_off() const;

  /// The worker has started an attempt; it has not: how often in a row. Zero: it is not known.
  void note_start(InstanceId id);
  std::uint32_t note_rejection(InstanceId id);

 private:
  /// A worker that has said hello.
  struct Connection {
    WorkerActor worker;  ///< null while the link is down
    std::string limits;
    std::string isolation;
    std::uint64_t hello = 0;     ///< number of the last one
    std::uint32_t rejected = 0;  ///< attempts in a row that it has not started
  };

  std::map<InstanceId, Connection> connections_;     ///< of instances that are not gone
  std::map<caf::actor_addr, InstanceId> instances_;  ///< of the workers that are watched
  /// Instances that are up without a worker that can be spoken to, and when they count as lost.
  std::map<InstanceId, Instant> silent_;
};

}  // namespace muster
