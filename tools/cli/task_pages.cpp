#include "tools/cli/task_pages.hpp"

#include <fmt/format.h>

#include <limits>

#include "model/shown_states.hpp"

// Which tasks of a job a command shows, and how the line is worded that says how to see the others.

namespace muster::cli {
namespace {

constexpr std::uint64_t kShown = 100;
constexpr std::uint64_t kHighestIndex = std::numeric_limits<std::uint32_t>::max();

}  // namespace

std::uint64_t TaskChoice::shown() const {
  return limit.value_or(kShown);
}

void add_task_choice(CLI::App& command, TaskChoice& choice) {
  command.add_option("--limit", choice.limit, "most tasks; default: 100")
      ->check(CLI::Range(std::uint64_t{1}, kHighestIndex));
  command.add_option("--from", choice.from, "only tasks from this index on")
      ->check(CLI::Range(std::uint64_t{0}, kHighestIndex));
  command.add_option("--phase", choice.phase, "only tasks in this phase, like running or failed")
      ->check(CLI::IsMember(choices_of<ShownPhase>()));
}

client::Pages task_pages(const std::string& path, const TaskChoice& choice, bool all) {
  constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
  client::Pages pages{path + "?", "tasks", all ? choice.limit.value_or(kAny) : choice.shown()};
  if (!choice.phase.empty()) pages.path += "phase=" + client::url_escaped(choice.phase);
  // Pages begin behind an index: index 0 has no index before it, so that the parameter is left out.
  if (choice.from.value_or(0) > 0) pages.after = std::to_string(*choice.from - 1);
  return pages;
}

std::string more_tasks_line(const std::string& command, const TaskChoice& choice,
                            const client::JobPage& last) {
  if (!last.next) return "";
  std::string again = command;
  if (!choice.phase.empty()) {
    // "not run" has a blank: the line is meant to be pasted into a shell.
    const char* quote = choice.phase.find(' ') == std::string::npos ? "" : "'";
    again += fmt::format(" --phase {0}{1}{0}", quote, choice.phase);
  }
  again += fmt::format(" --from {}", *last.next + 1);
  if (choice.limit) again += fmt::format(" --limit {}", *choice.limit);
  return fmt::format("{} more task{}: `{}`{}\n", last.tasks_behind,
                     last.tasks_behind == 1 ? "" : "s", again,
                     choice.limit ? "" : "; --limit N shows N at once");
}

}  // namespace muster::cli
