#pragma once

#include <chrono>
#include <cstdint>

#include "model/time.hpp"
#include "schedulers/market_view.hpp"

namespace muster::eva {

/// Which of the two layouts a round may adopt.
enum class Choice : std::uint8_t { ensemble, full_only, partial_only };

/// Parameters of Eva. The defaults are the paper's.
struct EvaParams {
  bool artifact = false;   ///< decide as the paper's published simulator does, not as its text says
  bool full_only = false;  ///< excludes partial_only
  bool partial_only = false;
  bool interference = true;    ///< false ("rp"): tasks are taken never to slow each other
  bool gangs = true;           ///< false ("single"): tasks of a multi-task job count as independent
  double default_pair = 0.95;  ///< t: expected throughput beside a neighbour never observed
  bool cheapest_types = true;  ///< false ("paper"): rent the types that Algorithm 1 found
  Duration period{std::chrono::seconds{300}};
  bool eager = false;  ///< rounds at once on arrivals and on resources that come free, too
  SpotUse spot = SpotUse::asked;

  Choice choice() const {
    if (full_only) return Choice::full_only;
    return partial_only ? Choice::partial_only : Choice::ensemble;
  }
};

}  // namespace muster::eva
