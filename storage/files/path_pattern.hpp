#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/files/file_error.hpp"

namespace muster::files {

/// Bytes of a pattern's text.
inline constexpr std::size_t kMostPatternBytes = 1024;

/// A path as patterns look at it: made once, it serves many of them.
class PathLetters {
 public:
  explicit PathLetters(std::string_view path);

 private:
  friend class PathPattern;
  std::vector<std::vector<char32_t>> parts_;
};

/// A glob of paths below a folder. In a part of a path `*` stands for any text, `?` for a
/// character, `[a-z]` and `[!a-z]` for one of or outside a set, `\` takes the next character as it
/// is; `**` as a part stands for any number of parts, at the end for at least one.
class PathPattern {
 public:
  /// `invalid` with the rule that the text breaks: it is empty, absolute, too long, no UTF-8, has
  /// an empty part, a part `.` or `..`, an open bracket, or a set without sense.
  static Expected<PathPattern, FileError> compile(std::string_view text);

  /// Whether the whole path is one of the pattern's. At most (bytes of the path) x (bytes of the
  /// pattern) steps, whatever they are.
  bool matches(const PathLetters& path) const;
  bool matches(std::string_view path) const { return matches(PathLetters(path)); }
  /// Whether some path below this folder may match: else no walk has to go into it.
  bool may_match_below(const PathLetters& folder) const;
  bool may_match_below(std::string_view folder) const {
    return may_match_below(PathLetters(folder));
  }
  /// The only path of a pattern that has one part and no wildcard.
  std::optional<std::string> only_name() const;
  const std::string& text() const { return text_; }

 private:
  struct Range {
    char32_t first = 0, last = 0;
  };
  enum class TokenKind : std::uint8_t { letter, any_letter, set, other_set, any_text };
  struct Token {
    TokenKind kind = TokenKind::letter;
    char32_t letter = 0;
    std::vector<Range> set{};
  };
  /// The tokens of a part, or any number of parts.
  struct Part {
    bool any_parts = false;
    std::vector<Token> tokens{};
  };

  FileTrouble add_part(std::string_view text);
  static FileTrouble add_set(std::string_view& text, std::vector<Token>& tokens);
  static bool takes(const Token& token, char32_t letter);
  static bool takes(const Part& part, const std::vector<char32_t>& name);
  std::vector<bool> places_behind(const PathLetters& path) const;

  std::string text_;
  std::vector<Part> parts_;
};

}  // namespace muster::files
