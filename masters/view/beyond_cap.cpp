#include "masters/view/beyond_cap.hpp"

#include <fmt/format.h>

#include "masters/room_rules.hpp"
#include "masters/view/cell_pieces.hpp"
#include "model/rounded_text.hpp"
#include "schedulers/packing/types/never_fits.hpp"

namespace muster::cell {

bool is_beyond_cap(const Job& job, const Refusal& reason, const RentLimits& under) {
  // A reason may be from before a restart, since when there is no cap.
  const double cap = cap_of(reason.code, under.caps).value_or(0);
  if (cap <= 0 || reason.asked <= cap) return false;
  if (job.gang && job.tasks.size() > 1) return true;
  // A policy may have asked for a type that is not the cheapest one.
  return why_beyond_caps(job, under.catalog, {under.caps.max_instances, under.caps.max_usd_h})
      .has_value();
}

std::string sentence_under_caps(const Job& job, const Refusal& reason, const RentLimits& under) {
  if (!is_beyond_cap(job, reason, under)) return sentence(reason);
  const bool together = job.gang && job.tasks.size() > 1;
  return fmt::format(
      "never under the caps as they are: {} (asked {}, available {}); {} for more than the whole "
      "cap, which would have to be raised",
      muster::name_of(reason.code), rounded_text(reason.asked), rounded_text(reason.available),
      together ? "its tasks start together and ask" : "a task of it asks");
}

}  // namespace muster::cell
