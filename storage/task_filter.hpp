#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace muster {

/// Which tasks of a job somebody asks for: what the text of a query says.
struct TaskFilter {
  static constexpr std::uint32_t kUnlessAsked = 1'000;
  static constexpr std::uint32_t kMost = 10'000;

  std::optional<std::uint32_t> after{};  ///< only those of higher indices
  std::string phase{};                   ///< only those in it; empty: in any
  bool tasks_only = false;               ///< what is said of the job has been heard already
  std::size_t most = kUnlessAsked;

  TaskFilter() = default;
  /// A JSON object with `after_task`, `phase` and `tasks_only`, all of which may be left out; a
  /// text that is none asks for all. A limit of 0 is none that was asked for.
  TaskFilter(const std::string& text, std::uint32_t limit);
  /// The text that says so.
  std::string text() const;
};

}  // namespace muster
