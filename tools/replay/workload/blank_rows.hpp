#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/error_list.hpp"
#include "config/numbers.hpp"

namespace muster::replay {

/// The lines of a text as numbers with blanks between them. Empty lines are skipped, and those that
/// begin with `comment`. What is wrong goes to the error list.
class BlankRows {
 public:
  /// The text has to outlive the rows.
  BlankRows(std::string file, std::string_view text, char comment, ErrorList& errors)
      : file_(std::move(file)), rest_(text), comment_(comment), errors_(errors) {}

  /// Turns to the next line with something on it; false after the last one.
  bool next();

  std::uint32_t line() const { return line_; }
  std::size_t size() const { return fields_.size(); }
  /// The field as a number in the range; `low` after an error, which names it `name`.
  double number(std::size_t index, std::string_view name, const NumberRange& range);
  /// Adds an error about a field of the line.
  void complain(std::string_view name, std::string_view message);

 private:
  std::string file_;
  std::string_view rest_;
  char comment_;
  ErrorList& errors_;
  std::uint32_t line_ = 0;
  std::vector<std::string_view> fields_;
};

}  // namespace muster::replay
