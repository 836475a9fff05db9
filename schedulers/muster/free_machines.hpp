#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "schedulers/muster/gather_pieces.hpp"
#include "schedulers/muster/offers.hpp"

namespace muster::own {

/// The free machines of counted types (PricedTypes). A round has them as hosts and not as offers,
/// so that no search takes more of them than there are, and one empty one of a type at a time:
/// where there are many, searches would look at nothing else.
class FreeMachines {
 public:
  FreeMachines(const RoundParts& parts, double horizon_h);

  /// Those of which any is free, by rising numbers.
  std::vector<TypeId> types() const;
  /// One more machine of the type; nothing when all are taken.
  std::optional<Host> take(TypeId type);

 private:
  struct Free {
    Host host;
    std::uint32_t left = 0;
  };
  std::map<TypeId, Free> free_;
};

}  // namespace muster::own
