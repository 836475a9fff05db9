#include "masters/view/counterpart_text.hpp"

#include <fmt/format.h>

namespace muster::cell {

std::string counterparts_text(const Job& job) {
  std::string text;
  for (const AfterJob& each : job.after) {
    if (!each.by_index) continue;
    text += fmt::format("{} the task with its index of job {}", text.empty() ? ":" : " and",
                        each.job.value);
    if (each.end != AfterEnd::any) {
      text += each.end == AfterEnd::ok ? " to complete" : " to fail";
    } else {
      text += " to be over";
    }
  }
  return text;
}

}  // namespace muster::cell
