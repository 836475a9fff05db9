#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/service.hpp"
#include "model/task_order.hpp"
#include "tests/simulation/timeline.hpp"

// The keepers of services' replicas, as processes beside their programs: they outlive the worker.
// Their programs become ready after a while and crash after another one, over and over.

namespace muster::ring {

using AttemptKey = std::pair<TaskId, Attempt>;

/// By which clients reach what is on the instance.
std::string address_of(InstanceId instance);

class Keepers {
 public:
  /// The one who hears of a replica.
  struct Listener {
    std::function<void(const ReplicaState&)> tell;  ///< each word of a keeper, at once
    std::function<void()> died;                     ///< the keeper has been killed
  };

  Keepers(Timeline& timeline, std::uint64_t seed) : timeline_(timeline), seed_(seed) {}

  void begin(AttemptKey key, const ServiceSpec& service, InstanceId at, Listener listener);
  /// The replica leaves the list; how long its program has from then on.
  Duration stop(AttemptKey key);
  /// The keeper is gone, with its program.
  void end(AttemptKey key);

  /// How a replica is doing whose keeper runs; null: its keeper does not run.
  const ReplicaState* state(AttemptKey key) const;
  /// The newest word of the attempt's keeper, and when it came; of one that runs.
  Instant said_at(AttemptKey key) const;
  /// The place of a word among all that the keeper of the attempt has said; nothing: it never did.
  std::optional<std::size_t> place_of(AttemptKey key, const ReplicaState& word) const;

 private:
  struct Keeper {
    ServiceSpec service;
    Listener listener;
    ReplicaState state;
    std::vector<ReplicaState> said;  ///< each is another text of `trouble`
    Instant said_at;
    std::uint64_t programs = 0;  ///< starts and ends: a step of an older one does nothing
    std::uint32_t ends = 0;      ///< in a row
    std::optional<Instant> ready_since;
    bool runs = true;
    bool stops = false;
  };

  double draw_of(AttemptKey key, const Keeper& keeper, std::uint64_t what) const;
  void say(Keeper& keeper);
  void start(AttemptKey key);
  void get_ready(AttemptKey key);
  void crash(AttemptKey key);
  void later(AttemptKey key, Duration wait, void (Keepers::*step)(AttemptKey));

  Timeline& timeline_;
  std::uint64_t seed_;
  std::map<AttemptKey, Keeper> keepers_;  ///< of all attempts that ever were
};

}  // namespace muster::ring
