#include <fmt/format.h>

#include <chrono>

#include "masters/view/cell_pieces.hpp"

// Times in the sentences of a cell's views.

namespace muster::cell {

std::string utc_text(Instant at) {
  const std::chrono::sys_seconds seconds{
      std::chrono::floor<std::chrono::seconds>(at.time_since_epoch())};
  const auto day = std::chrono::floor<std::chrono::days>(seconds);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss time{seconds - day};
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", int{date.year()},
                     unsigned{date.month()}, unsigned{date.day()}, time.hours().count(),
                     time.minutes().count(), time.seconds().count());
}

std::string next_round_text(const TaskRow& row, const Master& master, Instant now) {
  const Duration period = master.cadence().period;
  if (row.phase != TaskPhase::pending || period <= Duration::zero()) return {};
  return "; the next round is at " + utc_text(floor_to(now, period) + period);
}

}  // namespace muster::cell
