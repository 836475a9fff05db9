#pragma once

#include <caf/all.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <cstdint>
#include <optional>

#include "actors/time/clock.hpp"
#include "model/rng.hpp"

namespace muster {

/// Runs all actors of a system one by one on the calling thread, in virtual time that jumps from
/// one deadline to the next. Same messages, same order, every time. Load it with
/// `cfg.load<VirtualTime>()`, and never beside I/O modules or detached actors.
class VirtualTime : public caf::scheduler::test_coordinator {
 public:
  using Base = caf::scheduler::test_coordinator;
  explicit VirtualTime(caf::actor_system& system) : Base(system) {}

  static caf::actor_system::module* make(caf::actor_system& system, caf::detail::type_list<>);
  static VirtualTime& of(caf::actor_system& system);

  /// From now on ready actors run in an order drawn from the seed: explores interleavings, each of
  /// them repeatable.
  void shuffle(std::uint64_t seed) { shuffle_.emplace(seed); }

  /// Runs ready actors until all of them wait; time stands still.
  void drain();

  /// Jumps to the next deadline that is not after `end` and drains; false without such a deadline.
  bool step(Instant end);

  /// Lets everything happen that is due by then; afterwards it is that time.
  void run_until(Instant end);

  Instant now() { return origin().instant(clock().now()); }
  ClockOrigin origin() const { return origin_; }

  /// Forgets all deadlines, so that the actor system can end.
  void drop_timers();

 private:
  ClockOrigin origin_{caf::actor_clock::time_point{} + std::chrono::nanoseconds{1}};
  std::optional<Rng> shuffle_;
};

}  // namespace muster
