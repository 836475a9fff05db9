#include "replay/run_log.hpp"

#include <variant>

// The journal of a replay. Batches are durable at once, and events go to their readers one by one
// instead of being kept; only accepted jobs stay while they are open, because readers point into
// them.

namespace muster::replay {

void RunLog::append(std::vector<Event>&& batch, Durable durable) {
  for (Event& event : batch) take(std::move(event));
  batch.clear();
  durable();
}

void RunLog::take(Event&& event) {
  if (rename_) rename_(event);
  if (const auto* accepted = std::get_if<JobAccepted>(&event.body)) {
    const std::pair key{event.cell, accepted->job.id};
    // Shown from where it is kept: readers may keep the address of its job.
    return show(open_.emplace(key, std::move(event))->second);
  }
  // Before the erasure: at the end of a job its readers still look at it.
  show(event);
  const auto* over = std::get_if<JobFinished>(&event.body);
  if (over != nullptr) open_.erase({event.cell, over->job});
}

void RunLog::show(const Event& event) const {
  for (const Reader& reader : readers_) reader(event);
}

}  // namespace muster::replay
