#pragma once

#include <vector>

#include "masters/master.hpp"
#include "model/usage_views.hpp"

namespace muster::cell {

/// Running tasks of a page, in the order of lists of jobs, without what they take.
struct RunningPage {
  UsageView view;
  std::vector<TaskId> tasks{};  ///< of each row of the view
};

/// The page of a question among the tasks that run. Looks at a bounded number of jobs and tasks, so
/// that a filter through which few come does not hold up the master: the asker goes on behind them.
RunningPage running_page(const Master& master, const UsageQuestion& wanted, Instant now);

}  // namespace muster::cell
