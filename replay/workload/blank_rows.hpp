#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/error_list.hpp"
#include "config/numbers.hpp"
#include "config/text_file.hpp"
#include "config/time_text.hpp"

namespace muster::replay {

/// The lines of a file as numbers with blanks between them, read line by line. Empty lines are
/// skipped, and those that begin with `comment`. Errors go to the error list.
class BlankRows {
 public:
  BlankRows(const std::filesystem::path& file, char comment, ErrorList& errors)
      : text_(file, kAnyTextBytes),
        file_(text_file_name(file)),
        comment_(comment),
        errors_(errors) {}

  /// Turns to the next line with something on it; false after the last one, and when the file
  /// cannot be read on, which failure() tells.
  bool next();
  const std::optional<Failure<TextFileError>>& failure() const { return failure_; }

  std::uint32_t line() const { return line_; }
  std::size_t size() const { return fields_.size(); }
  /// The field as a number in the range; `low` after an error, which names it `name`.
  double number(std::size_t index, std::string_view name, const NumberRange& range);
  /// The field as it is written; empty where the line ends before it.
  std::string_view text(std::size_t index) const {
    return index < fields_.size() ? fields_[index] : std::string_view{};
  }
  /// The field as a point in time, by parse_moment(); nothing after an error.
  std::optional<Moment> moment(std::size_t index, std::string_view name);
  /// Adds an error about a field of the line.
  void complain(std::string_view name, std::string_view message);

 private:
  bool next_line();

  TextStream text_;
  std::string file_;
  std::string_view rest_;  ///< of the present piece of the file
  std::string line_text_;
  bool at_end_ = false;
  std::optional<Failure<TextFileError>> failure_;
  char comment_;
  ErrorList& errors_;
  std::uint32_t line_ = 0;
  std::vector<std::string_view> fields_;
};

}  // namespace muster::replay
