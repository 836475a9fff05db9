#include "tools/client/shell_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "config/request_text.hpp"

// Words are quoted only where the shell would read them otherwise. Characters that cannot be seen
// are written byte by byte in $'...', which needs no locale.

namespace muster::client {
namespace {

constexpr std::string_view kPlain =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";

// As the first word these are the shell's own.
constexpr std::array<std::string_view, 17> kReserved = {
    "if",  "then", "else", "elif",  "fi",    "do",     "done",     "case",  "esac",
    "for", "in",   "time", "while", "until", "select", "function", "coproc"};

bool is_seen(const std::string& word) {
  std::size_t bytes = 0;
  for (std::string_view rest = word; !rest.empty(); rest.remove_prefix(bytes)) {
    const auto character = config::first_character(rest, bytes);
    if (!character || config::is_hidden(*character)) return false;
  }
  return true;
}

std::string in_quotes(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string with_escapes(const std::string& word) {
  std::string text = "$'";
  std::size_t bytes = 0;
  for (std::string_view rest = word; !rest.empty(); rest.remove_prefix(bytes)) {
    const auto character = config::first_character(rest, bytes);
    const std::string_view part = rest.substr(0, bytes);
    if (part == "\n") {
      text += "\\n";
    } else if (part == "\t") {
      text += "\\t";
    } else if (part == "\r") {
      text += "\\r";
    } else if (part == "'" || part == "\\") {
      text += fmt::format("\\{}", part);
    } else if (character && !config::is_hidden(*character)) {
      text += part;
    } else {
      for (const char c : part) text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return text + "'";
}

bool is_first_plain(const std::string& word) {
  return word.find('=') == std::string::npos && !word.starts_with('%') &&
         std::find(kReserved.begin(), kReserved.end(), word) == kReserved.end();
}

}  // namespace

std::string shell_word(const std::string& word) {
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  return is_seen(word) ? in_quotes(word) : with_escapes(word);
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += ' ';
    const std::string word = shell_word(words[i]);
    text += i == 0 && word == words[i] && !is_first_plain(word) ? in_quotes(word) : word;
  }
  return text;
}

}  // namespace muster::client
