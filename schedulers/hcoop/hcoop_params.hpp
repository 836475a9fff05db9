#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "model/time.hpp"

namespace muster::hcoop {

/// More tasks are never packed together.
inline constexpr std::size_t kMaxGroup = 3;

/// How companions are found.
enum class Pairing : std::uint8_t {
  greedy,  ///< each task in the order of the queue takes the best of those still there
  exact    ///< the largest sum of deviations over the first tasks without a companion; greedy then
};

/// Parameters of HCoop. Where the paper gives no number, schedulers/hcoop/README.md says why.
struct HcoopParams {
  std::uint32_t group = 2;  ///< tasks packed together at most, 1 to 3; 1: no packing
  Pairing pairing = Pairing::greedy;
  std::uint32_t exact_tasks = 200;      ///< that many are paired exactly at once, at most
  bool backfill = true;                 ///< tasks that fit go before those that do not
  bool on_demand_fallback = true;       ///< spot tasks use regular instances when no spot one fits
  std::uint32_t max_interruptions = 2;  ///< number that makes a task regular only
  Duration threshold{std::chrono::seconds{90}};  ///< T_th for jobs whose site said nothing
  Duration idle_release{std::chrono::seconds{60}};
  Duration period{std::chrono::seconds{30}};
};

}  // namespace muster::hcoop
