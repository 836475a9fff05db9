#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "schedulers/registry.hpp"
#include "schedulers/sampling/local_queue.hpp"
#include "schedulers/sampling/pigeon.hpp"
#include "schedulers/sampling/probe_scheduler.hpp"

namespace muster::sampling {

/// The design that a group follows.
enum class System : std::uint8_t { sparrow, eagle, pigeon };

/// What a sampling group is made of. The parts that the system does not have mean nothing.
struct GroupParams {
  System system = System::sparrow;
  Duration network_delay{std::chrono::microseconds{500}};  ///< between any two parties, one way
  double cutoff_s = 0;  ///< a job whose tasks take longer by its hint is long; 0: none is
  ProbeRules probes;
  QueueRules queue;
  PigeonRules pigeon;

  bool is_long(double estimate_s) const { return cutoff_s > 0 && estimate_s > cutoff_s; }
};

/// All groups, in the order in which they are shown.
const std::vector<PolicyInfo>& known_groups();

/// The parameters of a group by name; absent when the name is no group's. Errors list what is known
/// or allowed.
std::optional<Expected<GroupParams, PolicyError>> read_group(const PolicySpec& spec);

/// The worker is for short tasks alone.
bool is_reserved(const GroupParams& params, std::size_t workers, WorkerIndex worker);

/// What keeps such a group from working with so many workers; empty when nothing does.
std::string fault_of(const GroupParams& params, std::size_t workers);

/// The schedulers of the group. Jobs go to the first one, long jobs of Eagle to the second.
std::vector<std::unique_ptr<Scheduler>> make_schedulers(const GroupParams& params,
                                                        std::uint64_t seed);

}  // namespace muster::sampling
