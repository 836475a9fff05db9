#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// Where something is wrong; a line or column of zero is not known and not shown.
struct TextPlace {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// "file:line:column"
std::string to_text(const TextPlace& place);

/// Bytes of a value from outside that a message shows.
inline constexpr std::size_t kShownBytes = 120;

/// A value from outside as messages show it: on one line, without what steers a terminal, and cut
/// to about `most` bytes with its size told.
std::string brief(std::string_view value, std::size_t most = kShownBytes);

/// Everything that is wrong with an input, so that a person can mend it in one go. Texts are added
/// as brief() in parts: an input cannot flood the terminal or steer it. Beyond kKept errors only
/// their number is kept.
class ErrorList {
 public:
  static constexpr std::size_t kAll = static_cast<std::size_t>(-1);
  static constexpr std::size_t kKept = 1000;

  /// Adds "file:line:column: field: message"; an empty field is left out.
  void add(const TextPlace& place, std::string_view field, std::string_view message);

  bool empty() const { return errors_.empty(); }
  std::size_t size() const { return errors_.size() + dropped_; }
  /// The field and the text of an error that is kept.
  const std::string& field(std::size_t index) const { return errors_[index].field; }
  const std::string& text_of(std::size_t index) const { return errors_[index].text; }
  /// Forgets all errors but the first `count`, which must all be kept ones.
  void shrink(std::size_t count) { errors_.resize(count); }

  /// Brings the errors into the order of their lines; those without a line come last.
  void sort_by_line();

  /// One error a line, at most `limit` of them and then how many more there are.
  std::string text(std::size_t limit = kAll) const;

 private:
  struct Error {
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    std::string field;
    std::string text;
  };
  std::vector<Error> errors_;
  std::size_t dropped_ = 0;
};

/// How many errors the readers of long files show.
inline constexpr std::size_t kShownErrors = 20;

/// Says that `word` is not a known `what`, which one may be meant, and which ones there are.
std::string unknown_word(std::string_view what, std::string_view word,
                         const std::vector<std::string>& known);

/// "a, b or c": the words, each between two of `quote`.
std::string one_of(std::span<const std::string_view> words, std::string_view quote = "");

}  // namespace muster
