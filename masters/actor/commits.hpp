#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "masters/actor/part_host.hpp"
#include "masters/effects.hpp"
#include "storage/stores/history.hpp"
#include "storage/stores/journal.hpp"

namespace muster {

/// The way of a master's events to its journal. Effects and answers wait, in the
/// order of their batches, until the events that led to them are durable.
class Commits {
 public:
  struct Host {
    /// Ends do not wait for the disk that would cost more than the day's money if they did.
    std::function<void(InstanceId)> end_now;
    /// The events are about to go on record.
    std::function<void(const std::vector<Event>&)> watch;
    /// Those of a whole commit have been watched.
    std::function<void()> watched;
    std::function<void(const Effect&)> perform;
    /// The journal has the events, which may not be durable yet.
    std::function<void()> appended;
  };
  /// Journal and history have to outlive it; no history is kept where that is null.
  Commits(Journal* journal, History* history, PartHost& host, Host hooks);

  /// Hands what has happened to the journal; effects and `then` follow when it is durable.
  void take(Commit commit, PartHost::Step then);
  /// A part of what has happened, ahead of the rest of its commit.
  void take_part(std::vector<Event>&& events);
  /// Nothing that waits is done any more.
  void clear() { pending_.clear(); }

 private:
  /// Follows when a batch of events is durable.
  struct Pending {
    std::vector<Effect> effects;
    PartHost::Step then;
  };

  void carry_out(const Pending& durable) const;
  void on_durable();

  Journal* journal_;
  History* history_;
  PartHost& host_;
  Host hooks_;
  std::deque<Pending> pending_;  ///< in the order of their batches
};

}  // namespace muster
