#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/cli/client_options.hpp"
#include "tools/client/pages.hpp"

namespace muster::cli {

/// Which of a job's tasks are to be shown.
struct TaskChoice {
  std::optional<std::uint64_t> limit;  ///< nothing: the first of them; as JSON, all
  std::optional<std::uint64_t> from;   ///< the lowest index
  std::string phase;                   ///< empty: any

  /// How many a person is shown.
  std::uint64_t shown() const;
};

/// Adds --limit, --from and --phase.
void add_task_choice(CLI::App& command, TaskChoice& choice);

/// The pages of the tasks that are chosen. `path`: of the job's document; `all`: unless there is a
/// limit, all of them.
client::Pages task_pages(const std::string& path, const TaskChoice& choice, bool all);

/// A line that says what else there is behind the last page and how to see it, or nothing.
/// `command`: "muster job 12".
std::string more_tasks_line(const std::string& command, const TaskChoice& choice,
                            const client::JobPage& last);

}  // namespace muster::cli
