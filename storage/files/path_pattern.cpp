#include "storage/files/path_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "storage/files/path_text.hpp"

namespace muster::files {
namespace {

Failure<FileError> pattern_fault(std::string_view text, std::string_view rule) {
  return {FileError::invalid, fmt::format("the pattern '{}' {}", shown_path(text), rule)};
}

/// Takes a character off the front of valid UTF-8; of any other text, a byte.
char32_t take_letter(std::string_view& text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char first = byte(0);
  const std::size_t size = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  char32_t letter = first;
  if (size > 1 && size <= text.size()) {
    letter = first & (0xffU >> (size + 1));
    for (std::size_t at = 1; at < size; ++at) letter = (letter << 6) | (byte(at) & 0x3fU);
  }
  text.remove_prefix(std::min(size, text.size()));
  return letter;
}

/// As `take_letter`, with a backslash before it left out; nothing at the end of the text.
std::optional<char32_t> take_escaped(std::string_view& text) {
  if (!text.empty() && text.front() == '\\') text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  return take_letter(text);
}

/// Takes the text up to the next slash off the path, with the slash.
std::string_view take_part(std::string_view& path) {
  const std::size_t end = std::min(path.find('/'), path.size());
  const std::string_view part = path.substr(0, end);
  path.remove_prefix(std::min(end + 1, path.size()));
  return part;
}

}  // namespace

PathLetters::PathLetters(std::string_view path) {
  while (!path.empty()) {
    parts_.emplace_back();
    for (std::string_view rest = take_part(path); !rest.empty();) {
      parts_.back().push_back(take_letter(rest));
    }
  }
}

Expected<PathPattern, FileError> PathPattern::compile(std::string_view text) {
  if (text.empty()) return Failure<FileError>{FileError::invalid, "a pattern must not be empty"};
  if (text.size() > kMostPatternBytes) return pattern_fault(text, "has more than 1024 bytes");
  if (!is_utf8(text)) return pattern_fault(text, "is not valid UTF-8");
  if (text.find('\0') != text.npos) return pattern_fault(text, "has a zero byte");
  if (text.front() == '/') return pattern_fault(text, "has to be relative to the folder");
  if (text.back() == '/') return pattern_fault(text, "must not end with a slash");
  PathPattern made;
  made.text_ = text;
  for (std::string_view rest = text; !rest.empty();) {
    if (auto fault = made.add_part(take_part(rest))) return *fault;
  }
  // "a/**" stands for all that is in "a" and not for "a" itself.
  if (made.parts_.back().any_parts) made.parts_.push_back({false, {{TokenKind::any_text}}});
  return made;
}

FileTrouble PathPattern::add_part(std::string_view text) {
  if (text.empty()) return pattern_fault(text_, "has an empty part between two slashes");
  if (text == "." || text == "..") return pattern_fault(text_, "must not have a part '.' or '..'");
  Part part;
  part.any_parts = text == "**";
  if (part.any_parts) {
    if (parts_.empty() || !parts_.back().any_parts) parts_.push_back(std::move(part));
    return std::nullopt;
  }
  while (!text.empty()) {
    const char next = text.front();
    if (next == '[') {
      text.remove_prefix(1);
      if (auto fault = add_set(text, part.tokens)) return pattern_fault(text_, fault->message);
    } else if (next == '*') {
      text.remove_prefix(1);
      const bool again = !part.tokens.empty() && part.tokens.back().kind == TokenKind::any_text;
      if (!again) part.tokens.push_back({TokenKind::any_text});
    } else if (next == '?') {
      text.remove_prefix(1);
      part.tokens.push_back({TokenKind::any_letter});
    } else {
      const auto letter = take_escaped(text);
      if (!letter) return pattern_fault(text_, "must not have a part that ends with a backslash");
      part.tokens.push_back({TokenKind::letter, *letter});
    }
  }
  parts_.push_back(std::move(part));
  return std::nullopt;
}

FileTrouble PathPattern::add_set(std::string_view& text, std::vector<Token>& tokens) {
  const auto fault = [](const char* rule) -> FileTrouble {
    return Failure<FileError>{FileError::invalid, rule};
  };
  Token token{TokenKind::set};
  if (!text.empty() && (text.front() == '!' || text.front() == '^')) {
    token.kind = TokenKind::other_set;
    text.remove_prefix(1);
  }
  // A bracket at the beginning of a set is one of its characters.
  for (bool first = true; first || text.empty() || text.front() != ']'; first = false) {
    if (text.starts_with("[:")) return fault("must not name classes such as [:digit:]");
    const auto letter = take_escaped(text);
    if (!letter) return fault("has a bracket '[' that is not closed before the next slash");
    Range range{*letter, *letter};
    if (text.size() > 1 && text[0] == '-' && text[1] != ']') {
      text.remove_prefix(1);
      const auto last = take_escaped(text);
      if (!last) return fault("has a bracket '[' that is not closed before the next slash");
      if (*last < range.first) return fault("has a range in brackets that ends before it begins");
      range.last = *last;
    }
    token.set.push_back(range);
  }
  text.remove_prefix(1);
  tokens.push_back(std::move(token));
  return std::nullopt;
}

bool PathPattern::takes(const Token& token, char32_t letter) {
  const auto has = [&](const Range& range) {
    return range.first <= letter && letter <= range.last;
  };
  switch (token.kind) {
    case TokenKind::letter:
      return token.letter == letter;
    case TokenKind::set:
      return std::any_of(token.set.begin(), token.set.end(), has);
    case TokenKind::other_set:
      return std::none_of(token.set.begin(), token.set.end(), has);
    case TokenKind::any_letter:
    case TokenKind::any_text:
      break;
  }
  return true;
}

bool PathPattern::takes(const Part& part, const std::vector<char32_t>& name) {
  // Where the rest does not fit, only the last star has to take one character more: stars before
  // it have found the earliest place for what follows them, which leaves the most.
  const std::vector<Token>& tokens = part.tokens;
  std::size_t at = 0, token = 0;
  std::optional<std::size_t> star;
  std::size_t behind_star = 0;
  while (at < name.size()) {
    if (token < tokens.size() && tokens[token].kind == TokenKind::any_text) {
      star = ++token;
      behind_star = at;
    } else if (token < tokens.size() && takes(tokens[token], name[at])) {
      ++token;
      ++at;
    } else if (star) {
      token = *star;
      at = ++behind_star;
    } else {
      return false;
    }
  }
  while (token < tokens.size() && tokens[token].kind == TokenKind::any_text) ++token;
  return token == tokens.size();
}

/// Of each number of the pattern's parts, whether the path may be these.
std::vector<bool> PathPattern::places_behind(const PathLetters& path) const {
  std::vector<bool> places(parts_.size() + 1, false);
  const auto pass_any_parts = [&](std::vector<bool>& of) {
    for (std::size_t at = 0; at < parts_.size(); ++at) {
      if (of[at] && parts_[at].any_parts) of[at + 1] = true;
    }
  };
  places[0] = true;
  pass_any_parts(places);
  for (const std::vector<char32_t>& name : path.parts_) {
    std::vector<bool> next(places.size(), false);
    bool any = false;
    for (std::size_t at = 0; at < parts_.size(); ++at) {
      if (!places[at]) continue;
      const bool stays = parts_[at].any_parts;
      const bool goes_on = !stays && takes(parts_[at], name);
      if (stays) next[at] = true;
      if (goes_on) next[at + 1] = true;
      any = any || stays || goes_on;
    }
    if (!any) return next;
    pass_any_parts(next);
    places = std::move(next);
  }
  return places;
}

bool PathPattern::matches(const PathLetters& path) const {
  return !path.parts_.empty() && places_behind(path).back();
}

bool PathPattern::may_match_below(const PathLetters& folder) const {
  const std::vector<bool> places = places_behind(folder);
  return std::find(places.begin(), places.end() - 1, true) != places.end() - 1;
}

std::optional<std::string> PathPattern::only_name() const {
  if (parts_.size() != 1 || parts_[0].any_parts) return std::nullopt;
  const auto is_letter = [](const Token& token) { return token.kind == TokenKind::letter; };
  if (!std::all_of(parts_[0].tokens.begin(), parts_[0].tokens.end(), is_letter)) {
    return std::nullopt;
  }
  std::string name;
  for (std::size_t at = 0; at < text_.size(); ++at) {
    if (text_[at] == '\\') ++at;
    name += text_[at];
  }
  return name;
}

}  // namespace muster::files
