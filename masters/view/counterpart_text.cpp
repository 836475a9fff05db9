#include "masters/view/counterpart_text.hpp"

#include <fmt/format.h>

namespace muster::cell {

std::string counterparts_text(const Job& job, const TaskSpec& task) {
  std::string text;
  for (const AfterJob& each : job.after) {
    if (!each.by_index) continue;
    text += fmt::format("{} task {} of job {}", text.empty() ? ":" : " and", task.array_index,
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
