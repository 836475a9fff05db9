#pragma once

#include <cstddef>
#include <cstdint>
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

/// Everything that is wrong with an input, so that a person can mend it in one go.
class ErrorList {
 public:
  static constexpr std::size_t kAll = static_cast<std::size_t>(-1);

  /// Adds "file:line:column: field: message"; an empty field is left out.
  void add(const TextPlace& place, std::string_view field, std::string_view message);

  bool empty() const { return errors_.empty(); }
  std::size_t size() const { return errors_.size(); }

  /// Brings the errors into the order of their lines; those without a line come last.
  void sort_by_line();

  /// One error a line, at most `limit` of them and then how many more there are.
  std::string text(std::size_t limit = kAll) const;

 private:
  struct Error {
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    std::string text;
  };
  std::vector<Error> errors_;
};

/// How many errors the readers of long files show.
inline constexpr std::size_t kShownErrors = 20;

/// The known word that `word` is most likely a misspelling of; empty when none is close.
std::string nearest_word(std::string_view word, const std::vector<std::string>& known);

/// Says that `word` is not a known `what`, which one may be meant, and which ones there are.
std::string unknown_word(std::string_view what, std::string_view word,
                         const std::vector<std::string>& known);

}  // namespace muster
