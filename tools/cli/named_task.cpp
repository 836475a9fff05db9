#include "tools/cli/named_task.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>

#include "config/array_indices.hpp"

namespace muster::cli {
namespace {

std::optional<std::uint64_t> whole_number(std::string_view digits) {
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, value);
  return parsed.ec == std::errc{} && parsed.ptr == end ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<NamedTask> named_task(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto job = whole_number(text.substr(0, colon));
  if (!job) return std::nullopt;
  if (colon == std::string_view::npos) return NamedTask{*job};
  const auto task = whole_number(text.substr(colon + 1));
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
  const auto job = whole_number(text.substr(0, colon));
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
