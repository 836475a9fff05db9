#include "masters/view/beyond_cap.hpp"

#include <fmt/format.h>

#include "masters/room_rules.hpp"
#include "masters/view/cell_pieces.hpp"
#include "model/rounded_text.hpp"

namespace muster::cell {

bool is_beyond_cap(const Job& job, const Refusal& reason, const MasterCaps& caps) {
  if (!job.gang || job.tasks.size() < 2) return false;
  // A reason may be from before a restart, since when there is no cap.
  const double cap = cap_of(reason.code, caps).value_or(0);
  return cap > 0 && reason.asked > cap;
}

std::string sentence_under_caps(const Job& job, const Refusal& reason, const MasterCaps& caps) {
  if (!is_beyond_cap(job, reason, caps)) return sentence(reason);
  return fmt::format(
      "never under the caps as they are: {} (asked {}, available {}); its tasks start together and "
      "ask for more than the whole cap, which would have to be raised",
      muster::name_of(reason.code), rounded_text(reason.asked), rounded_text(reason.available));
}

}  // namespace muster::cell
