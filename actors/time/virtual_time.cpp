#include "actors/time/virtual_time.hpp"

#include <algorithm>
#include <utility>

// Drives CAF's test coordinator: one thread, a queue of ready actors and a clock that stands still
// while any of them is ready. Deadlines of one instant fire in the order in which they were set.

namespace muster {

caf::actor_system::module* VirtualTime::make(caf::actor_system& system, caf::detail::type_list<>) {
  return new VirtualTime(system);  // NOLINT: the actor system takes ownership
}

VirtualTime& VirtualTime::of(caf::actor_system& system) {
  return static_cast<VirtualTime&>(system.scheduler());
}

void VirtualTime::drain() {
  while (!jobs.empty()) {
    // Swaps one drawn job to the front: any ready actor may be next, as on real threads.
    if (shuffle_ && jobs.size() > 1) std::swap(jobs.front(), jobs[shuffle_->below(jobs.size())]);
    run_once();
  }
}

bool VirtualTime::step(Instant end) {
  drain();
  const auto& deadlines = clock().schedule();
  if (deadlines.empty() || origin().instant(deadlines.begin()->first) > end) return false;
  // One deadline at a time: its consequences at this instant come before the next one.
  clock().trigger_timeout();
  drain();
  return true;
}

void VirtualTime::run_until(Instant end) {
  while (step(end)) continue;
  // Time goes on to the end even when nothing is due.
  clock().current_time = std::max(clock().current_time, origin_.start + end.time_since_epoch());
}

void VirtualTime::drop_timers() {
  clock().cancel_all();
  drain();
}

}  // namespace muster
