#include "tools/cli/named_task.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "config/array_indices.hpp"
#include "config/numbers.hpp"

namespace muster::cli {

std::optional<NamedTask> named_task(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto job = parse_whole(text.substr(0, colon));
  if (!job) return std::nullopt;
  if (colon == std::string_view::npos) return NamedTask{*job};
  const auto task = parse_whole(text.substr(colon + 1));
  return task ? std::optional(NamedTask{*job, *task}) : std::nullopt;
}

CLI::Validator is_task() {
  const auto check = [](const std::string& text) -> std::string {
    if (named_task(text)) return "";
    return fmt::format(
        "has to be the id of a job, or of a job and a task in it: 12 or 12:3; it is "
        "'{}'",
        text);
  };
  return CLI::Validator(check, "JOB[:TASK]");
}

std::optional<NamedTasks> named_tasks(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto job = parse_whole(text.substr(0, colon));
  if (!job) return std::nullopt;
  if (colon == std::string_view::npos) return NamedTasks{*job};
  std::string tasks(text.substr(colon + 1));
  const auto wanted = parse_array(tasks);
  if (!wanted || wanted->max_running > 0) return std::nullopt;
  return NamedTasks{*job, std::move(tasks)};
}

CLI::Validator are_tasks() {
  const auto check = [](const std::string& text) -> std::string {
    if (named_tasks(text)) return "";
    return fmt::format(
        "has to be the id of a job, or of a job and tasks in it: 12, 12:3 or 12:0-9; it is '{}'",
        text);
  };
  return CLI::Validator(check, "JOB[:TASKS]");
}

bool is_able_terminal(int file) {
  const char* terminal = std::getenv("TERM");
  const std::string_view name = terminal == nullptr ? "" : terminal;
  return isatty(file) == 1 && !name.empty() && name != "dumb";
}

bool wants_color(const std::string& wish, int file) {
  if (wish != "auto") return wish == "always";
  const char* none = std::getenv("NO_COLOR");
  return is_able_terminal(file) && (none == nullptr || *none == '\0');
}

}  // namespace muster::cli
