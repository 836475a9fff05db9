#pragma once

#include <string>

#include "tools/client/views.hpp"

// Attempts of tasks, lives of instances, and decisions, as people read them.

namespace muster::client {

/// A job and a table of the attempts of its tasks, page by page.
class AttemptTable {
 public:
  std::string next(const JobPage& page);

 private:
  std::optional<TextTable> table_{};  ///< made with the first page
  bool measured_ = false;             ///< the usage of some attempt is known
};

/// A line for each attempt of the task. Empty where there is no more to say of them than that one
/// runs or has finished, unless `whole` wants that, too.
std::string attempt_lines(const TaskView& task, bool whole = false);

/// The life of an instance: its times, why it came and went, its bill, and the attempts there.
std::string view(const InstanceLife& life);

/// A line for each decision, the newest first; `details`: with the policy's choice and figures.
std::string view(const DecisionsView& shown, bool details);

}  // namespace muster::client
