#pragma once

#include <string>

#include "config/master_settings.hpp"
#include "model/catalog.hpp"
#include "model/job.hpp"
#include "model/refusal.hpp"

// Jobs that the caps hold up for ever, in words.

namespace muster::cell {

/// Says why the tasks of one job wait, under caps that may be too low for them.
class CapSentences {
 public:
  /// The catalog has what may be rented. Both have to outlive the object.
  CapSentences(const MasterCaps& caps, const Catalog& catalog) : caps_(caps), catalog_(catalog) {}

  /// The job asks for more than all of a cap, so that nothing that others do gives it room: a gang,
  /// or a task that no type holds for so little. O(types), and O(1) for a task like the last one.
  bool is_beyond(const Job& job, const TaskSpec& task, const Refusal& reason);
  /// sentence() of the reason, which of a job beyond a cap says that it is never while the caps are
  /// as they are.
  std::string of(const Job& job, const TaskSpec& task, const Refusal& reason);

 private:
  const MasterCaps& caps_;
  const Catalog& catalog_;
  const TaskSpec* looked_at_ = nullptr;
  double least_usd_h_ = 0;  ///< of that task
};

}  // namespace muster::cell
