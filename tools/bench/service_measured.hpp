#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tools/bench/service_choices.hpp"
#include "tools/train/past_services.hpp"

// Services that were measured, in the place of drawn ones: each is left out once and arrives,
// while the learner knows the others.

namespace muster::bench {

/// By whom a learner is taught of services before.
enum class Teachers : std::uint8_t {
  others,  ///< the other measured services
  drawn,   ///< those of the family that Muster draws
  both
};

/// The sizes of the first service, as shares of the largest size of the family: only shares count
/// for learners, and prices are then those of large instances.
ServiceSizes measured_sizes(const PastService& first);

/// A world for each service, in which it arrives. A service that was measured at other sizes than
/// the first is interpolated. There have to be two services or more.
std::vector<ServiceWorld> measured_worlds(std::span<const PastService> services, std::uint64_t seed,
                                          Teachers teachers);

/// Prints the tables of these services. All learners probe the largest size first.
Json measured_tables(const train::MeasuredServices& measured, const Seeds& seeds);

}  // namespace muster::bench
