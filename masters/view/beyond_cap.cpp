#include "masters/view/beyond_cap.hpp"

#include <fmt/format.h>

#include <cmath>

#include "masters/room_rules.hpp"
#include "masters/view/cell_pieces.hpp"
#include "model/rounded_text.hpp"
#include "schedulers/packing/types/never_fits.hpp"

namespace muster::cell {

bool CapSentences::is_beyond(const Job& job, const TaskSpec& task, const Refusal& reason) {
  // A reason may be from before a restart, since when there is no cap.
  const double cap = cap_of(reason.code, caps_).value_or(0);
  if (cap <= 0 || reason.asked <= cap) return false;
  if (job.gang && job.tasks.size() > 1) return true;
  if (reason.code != RefusalCode::spend_cap) return false;
  // A policy may have asked for a type that is not the cheapest one. The tasks of a job are mostly
  // alike, and one answer is for all of these.
  if (looked_at_ == nullptr || looked_at_->demands != task.demands) {
    looked_at_ = &task;
    least_usd_h_ = least_usd_h(job, task, catalog_);
  }
  return std::isfinite(least_usd_h_) && least_usd_h_ > cap;
}

std::string CapSentences::of(const Job& job, const TaskSpec& task, const Refusal& reason) {
  if (!is_beyond(job, task, reason)) return sentence(reason);
  const bool together = job.gang && job.tasks.size() > 1;
  return fmt::format(
      "never under the caps as they are: {} (asked {}, available {}); {} for more than the whole "
      "cap, which would have to be raised",
      muster::name_of(reason.code), rounded_text(reason.asked), rounded_text(reason.available),
      together ? "its tasks start together and ask" : "a task of it asks");
}

}  // namespace muster::cell
