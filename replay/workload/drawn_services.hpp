#pragma once

#include <cstdint>
#include <string>

#include "replay/workload/formats.hpp"

namespace muster::replay {

/// Sizes that the users of drawn services ask for.
enum class StatedSize : std::uint8_t {
  right,    ///< the cheapest at which the service reaches its goal
  drawn,    ///< any of the family's, each as likely
  largest,  ///< the largest of the family's
  over      ///< the right one's cores and memory times a factor; policies may choose a smaller one
};
constexpr auto words_of(StatedSize) {
  using E = StatedSize;
  return std::to_array<EnumWord<E>>(
      {{E::right, "right"}, {E::drawn, "drawn"}, {E::largest, "largest"}, {E::over, "over"}});
}

/// How services are drawn, and the batch jobs beside them.
struct DrawnServices {
  std::uint32_t services = 40;
  std::uint32_t jobs = 200;               ///< batch jobs
  Duration span{std::chrono::hours{24}};  ///< in which all are submitted, uniformly
  double min_life_h = 6;  ///< the lives of services are drawn between the two, log-uniformly
  double max_life_h = 72;
  std::uint32_t min_replicas = 1;
  std::uint32_t max_replicas = 8;
  StatedSize size = StatedSize::right;
  double over = 2.5;  ///< factor of the size that is asked for, of StatedSize::over
  double min_goal = 0.5;
  double max_goal = 0.9;
  Duration longest_start{std::chrono::minutes{2}};  ///< of a replica, until it is ready
  double day_depth = 0;         ///< by how much of it the load falls from the day's peak to its low
  double min_duration_h = 0.1;  ///< the durations of jobs are drawn likewise
  double max_duration_h = 8;
  std::uint32_t max_tasks = 4;  ///< of a job
};

}  // namespace muster::replay
