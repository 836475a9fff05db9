#include "replay/idle_limit.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "replay/metrics/labels.hpp"

namespace muster::replay {

IdleLimit::IdleLimit(const WorldConfig& world, const Catalog& catalog) : max_idle_(world.max_idle) {
  for (const InstanceType& type : catalog.types()) {
    longest_launch_ = std::max(longest_launch_, type.acquire + type.setup + type.terminate);
  }
}

void IdleLimit::accept(const Job& job) {
  for (const TaskSpec& task : job.tasks) {
    const Delays& delays = task.delays;
    longest_start_ = std::max(
        longest_start_, delays.fetch + delays.build + delays.init + delays.stop + delays.upload);
  }
}

Duration IdleLimit::limit() const {
  // Twice: a task that is stopped in its place may have to start elsewhere.
  return std::max(max_idle_, 2 * (longest_launch_ + longest_start_));
}

Duration IdleLimit::giving_back() const {
  // Policies keep instances for hours: that no job waits is no reason to end before.
  constexpr Duration kLeast = std::chrono::hours{24};
  return std::max(limit(), kLeast);
}

std::string IdleLimit::reason() const {
  return fmt::format("given up: nothing ran for {}, which ends a run (world.max_idle)",
                     metrics::length_text(limit()));
}

}  // namespace muster::replay
