#include "replay/sampling/composition.hpp"

namespace muster::sampling {

std::string Composition::fault(std::size_t workers) const {
  if (workers > 0) return {};
  return "needs a fixed fleet: set master.fleet, such as [\"4000*slot\"]";
}

}  // namespace muster::sampling
