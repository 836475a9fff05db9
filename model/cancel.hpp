#pragma once

#include <cstdint>

namespace muster {

/// How a job whose cancel is asked for stands with one who is asked, in the order of what counts
/// most when several are.
enum class CancelStanding : std::uint8_t {
  unknown,    ///< it has never been here, as far as is remembered
  passed_on,  ///< a site has left all of it to others
  over,       ///< it was over before
  ended,      ///< it is ended by this or an earlier cancel, for good
  in_hand     ///< a site: some of it may be on its way, and has to arrive before it can be ended
};

}  // namespace muster
