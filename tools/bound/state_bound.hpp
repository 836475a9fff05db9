#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "model/expected.hpp"
#include "model/time.hpp"
#include "schedulers/packing/bound/whole_bound.hpp"
#include "tools/bound/fluid_workload.hpp"
#include "tools/bound/hosting_bounds.hpp"

namespace muster::bound {

/// Lower bound of the cost of the tasks that held resources at one moment, beside the rent of that
/// moment.
struct StateBound {
  Instant at{};
  HostingNow now;
  std::uint64_t tasks = 0;
  std::uint64_t instances = 0;
  double rented_usd_h = 0;
  FluidBound divided;               ///< with parts of instances
  std::optional<WholeBound> whole;  ///< with whole instances; for up to kWholeTasks tasks
  std::optional<Instant> log_ends;  ///< of an event log that has nothing after the moment
};

/// Up to as many tasks the bound of whole instances is looked for.
inline constexpr std::uint64_t kWholeTasks = 40;

/// The bound of the newest state in the store of a master, a folder, or of an event log at a time
/// after its beginning; none: when it ends. `nodes`: sets of tasks that the searches look at.
Expected<StateBound, NoBound> state_bound(const std::filesystem::path& path,
                                          std::optional<Duration> at, std::uint64_t nodes);

/// The moment, what was rented, and the bounds below it.
std::string state_table(const StateBound& bound);
/// Likewise, for programs.
std::string state_json(const StateBound& bound);

}  // namespace muster::bound
