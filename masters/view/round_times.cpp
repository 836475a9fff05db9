#include "masters/view/cell_pieces.hpp"
#include "model/time_text.hpp"

// Times in the sentences of a cell's views.

namespace muster::cell {

std::string next_round_text(const TaskRow& row, const Master& master, Instant now) {
  const Duration period = master.cadence().period;
  if (row.phase != TaskPhase::pending || period <= Duration::zero()) return {};
  return "; the next round is at " + utc_text(floor_to(now, period) + period);
}

}  // namespace muster::cell
