#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/catalog.hpp"
#include "model/cluster_state.hpp"
#include "model/history.hpp"
#include "model/views.hpp"

// The attempts of a task as users are shown them, with sentences about why each of them left.

namespace muster::cell {

/// Why a plan or the master wants something, as a clause for those who do not know policies: "it
/// shares the instance with others, which costs less".
std::string cause_text(CauseCode cause);

/// Sets what a view's attempts have taken together, each figure where it is known.
template <class View>
void put_usage(View& view, const Usage& used) {
  if (used.cpu > Duration::zero()) view.cpu_s = to_seconds(used.cpu);
  if (used.peak_bytes > 0) view.peak_mib = mib_of(used.peak_bytes);
}

/// Why the attempt left its instance, or how it is there, without a subject: "failed: exit code 5".
/// `over`: how its job has ended; nothing: it has not.
std::string why_left(const AttemptHistory& attempt, std::optional<JobOutcome> over);

/// Facts of a task besides its history.
struct AttemptsNow {
  const Catalog& catalog;
  Money cost;                        ///< of the task until now
  std::optional<Instant> now{};      ///< nothing: nothing of the task runs any more
  std::optional<JobOutcome> over{};  ///< how its job has ended
};

/// Sets the attempts that are kept, by rising numbers, and how many are not.
void put_attempts(TaskView& view, const TaskHistory& task, const AttemptsNow& known);

/// How long all attempts of the task ran, until `now` where one runs; nothing: it is not known.
std::optional<double> wall_s(const TaskHistory& task, std::optional<Instant> now);

/// The life of an instance; `row`: of one that is not gone, else null.
InstanceLife life_of(const InstanceHistory& known, const InstanceRow* row, const Catalog& catalog,
                     Instant now);

}  // namespace muster::cell
