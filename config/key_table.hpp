#pragma once

#include "config/key_kinds.hpp"
#include "config/replay_config.hpp"

namespace muster::config {

/// The keys of [master], wherever masters are configured: C has a MasterConfig `master`.
template <class C>
std::vector<KeySpecOf<C>> master_keys() {
  using Whole = WholeKeyOf<C>;
  using Number = NumberKeyOf<C>;
  using Time = TimeKeyOf<C>;
  constexpr Duration kHour = std::chrono::hours{1};
  constexpr Duration kNone{};
  constexpr Duration kShortest = std::chrono::milliseconds{1};
  constexpr std::uint64_t kMostInstances = 10'000'000;
  return {
      {"master.round_settle", "from a round's tick to the decision",
       Time{[](C& c) -> Duration& { return c.master.round_settle; }, kNone, kHour}},
      {"master.sample_timeout", "how long workers may take to answer",
       Time{[](C& c) -> Duration& { return c.master.sample_timeout; }, kShortest, kHour}},
      {"master.accept_timeout", "how long a master may take to accept a job",
       Time{[](C& c) -> Duration& { return c.master.accept_timeout; }, kShortest, kHour}},
      {"master.refusal_rest", "how long an instance type the cloud refused is not asked for again",
       Time{[](C& c) -> Duration& { return c.master.refusal_rest; }, kNone, 24 * kHour}},
      {"master.max_attempts", "failed attempts before a task's job is given up",
       Whole{[](C& c) -> std::uint32_t& { return c.master.max_attempts; }, 1, 1'000'000}},
      {"master.max_instances", "hard cap on instances at once; 0: none",
       Whole{[](C& c) -> std::uint32_t& { return c.master.max_instances; }, 0, kMostInstances}},
      {"master.max_usd_h", "hard cap on the rate of spending, in $/h; 0: none",
       Number{[](C& c) -> double& { return c.master.max_usd_h; }, {0, 1e9}}},
      {"master.max_usd_day", "hard cap on what a day (UTC) may cost, in $; 0: none",
       Number{[](C& c) -> double& { return c.master.max_usd_day; }, {0, 1e9}}},
      {"master.fleet",
       "instances that are there from the start and stay, of all masters together: COUNT*TYPE or "
       "COUNT*TYPE:spot; not given: rented as the policy wants",
       ListKeyOf<C>{[](C& c) -> std::vector<std::string>& { return c.master.fleet_texts; }}}};
}

/// The keys of a replay config.
template <>
const std::vector<KeySpecOf<ReplayConfig>>& key_table<ReplayConfig>();

}  // namespace muster::config
