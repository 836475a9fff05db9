#include "masters/master_recorder.hpp"

#include <algorithm>
#include <utility>

// One event after the other: those who have to see the state before it, the facts, those who see
// the state after it, and the commit, in that order. A listener records nothing itself, so that no
// event can come between the two halves of another.

namespace muster {

MasterRecorder::MasterRecorder(const MasterSettings& settings, const MasterDependencies& parts)
    : period_(parts.policy->cadence().period),
      round_settle_(settings.round_settle),
      memory_(settings, parts) {}

void MasterRecorder::record(EventBody body, Instant now) {
  if (memory_.ends_calm(body)) end_calm(now, 0);
  commit_.events.push_back({now, std::move(body)});
  replay(commit_.events.back());
  if (part_size_ == 0 || commit_.events.size() < part_size_) return;
  take_part_(std::exchange(commit_.events, {}));
}

void MasterRecorder::replay(const Event& event) {
  for (EventListener* listener : listeners_) listener->before(event, facts());
  memory_.absorb(event);
  for (EventListener* listener : listeners_) listener->after(event, facts());
}

void MasterRecorder::restore(MasterSnapshot&& snapshot) {
  memory_.restore(std::move(snapshot));
  for (EventListener* listener : listeners_) listener->restored(facts());
}

/// Each of the rounds that were not held would have measured what the last one did.
void MasterRecorder::end_calm(Instant now, std::uint64_t held) {
  if (!facts().calm) return;
  Calm calm = memory_.end_calm();
  if (period_ <= Duration::zero()) return;
  const auto rounds_by = [&](Instant t) {
    return static_cast<std::uint64_t>((t - round_settle_).time_since_epoch() / period_);
  };
  const std::uint64_t passed = rounds_by(now) - rounds_by(calm.since);
  calm.measured.quiet = passed - std::min(passed, held);
  calm.measured.progress.clear();  // jobs have gone on since then
  // A decision that was lost leaves its measurements to the next one, which is settled although
  // their tasks have ended.
  std::erase_if(calm.measured.samples, [this](const ThroughputSample& sample) {
    return facts().state.find(sample.task) == nullptr;
  });
  if (calm.measured.quiet > 0) record(std::move(calm.measured), now);
}

}  // namespace muster
