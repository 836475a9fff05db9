#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::cli {

/// The numbers of JOB or JOB:TASK.
struct NamedTask {
  std::uint64_t job = 0;
  std::optional<std::uint64_t> task{};
};
/// Nothing for another text.
std::optional<NamedTask> named_task(std::string_view text);
/// Check for such a text.
CLI::Validator is_task();

/// A job and some of its tasks: JOB, or JOB:TASKS as 12:0-9,12.
struct NamedTasks {
  std::uint64_t job = 0;
  std::string tasks{};  ///< as of an array; empty: all
};
std::optional<NamedTasks> named_tasks(std::string_view text);
CLI::Validator are_tasks();

/// Whether the file is a terminal that obeys more than line breaks: not with TERM=dumb, or without
/// TERM.
bool is_able_terminal(int file);

/// Whether output to that file is coloured. `wish`: auto, always or never; auto goes by the
/// terminal and by the variable NO_COLOR.
bool wants_color(const std::string& wish, int file);

}  // namespace muster::cli
