#pragma once

#include <cstdint>

#include "model/time.hpp"

namespace muster {

/// The config's settings of a site scheduler: how it chooses among masters and among other sites
/// (HCoop, Algorithm 3), and how it keeps its word. Plain values, handed down whole to whoever goes
/// by one of them.
struct SiteSettings {
  /// Masters that share the tasks of a job (r); 0: as many as the policy's module says.
  std::uint32_t masters_per_job = 0;
  double master_heavy = 0.85;       ///< from this load on a master gets no jobs if it can be helped
  double site_heavy = 0.85;         ///< likewise, of a site scheduler
  std::uint32_t capacity = 10'000;  ///< load = jobs that no master has yet / capacity; >= 1
  /// Time between two questions for the load of masters and sites; 0: they are not asked.
  Duration load_every{std::chrono::seconds{1}};
  Duration load_stale_after{std::chrono::seconds{10}};  ///< silence that makes one count as lost
  /// Time that an answer to a submission waits for masters to have the jobs, so that they outlive
  /// this site; then its own word stands.
  Duration promise_wait{std::chrono::seconds{1}};
  Duration hand_retry{std::chrono::milliseconds{500}};  ///< from a refused handing over to the next
  std::uint32_t max_waiting = 100'000;    ///< jobs that no master has taken; more are refused
  std::uint32_t max_dependent = 100'000;  ///< jobs that wait for others or a time; more are refused
  std::uint32_t max_recurring = 1'000;    ///< jobs that recur, of one user; more are refused
  std::uint32_t max_unrouted = 20'000;  ///< jobs that wait for loads to be heard; more are refused
  std::uint32_t tokens = 100'000;       ///< submissions whose repetition is recognised
  /// Jobs say when they were taken in. Replays go without: their logs say it of each job already.
  bool says_when = false;
};

}  // namespace muster
