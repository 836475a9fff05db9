#include "config/work_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace muster {
namespace {

/// More digits than any number has would only make names longer.
constexpr std::size_t kMostDigits = 10;

/// A '%' and what belongs to it.
struct Placeholder {
  char kind = 0;  ///< '%' for itself; 0: it is not a placeholder
  std::size_t digits = 0;
  std::size_t length = 1;  ///< in the pattern
};

Placeholder placeholder_at(std::string_view pattern, std::size_t at) {
  Placeholder found;
  std::size_t next = at + 1;
  for (; next < pattern.size() && pattern[next] >= '0' && pattern[next] <= '9'; ++next) {
    found.digits = std::min(found.digits * 10 + static_cast<std::size_t>(pattern[next] - '0'),
                            kMostDigits + 1);
  }
  if (next >= pattern.size() || found.digits > kMostDigits) return {};
  const char kind = pattern[next];
  const bool number = kind == 'j' || kind == 'A' || kind == 'a';
  const bool plain = (kind == 'u' || kind == '%') && next == at + 1;
  if (!number && !plain) return {};
  found.kind = kind;
  found.length = next + 1 - at;
  return found;
}

/// A name as one part of a path.
std::string as_name(std::string name) {
  std::replace(name.begin(), name.end(), '/', '_');
  if (name.starts_with('.')) name.front() = '_';
  return name;
}

std::string text_of(const Placeholder& placeholder, const WorkFolderOf& task) {
  switch (placeholder.kind) {
    case 'j':
    case 'A':
      return fmt::format("{:0{}}", task.job.value, placeholder.digits);
    case 'a':
      return fmt::format("{:0{}}", task.index, placeholder.digits);
    case 'u':
      return as_name(task.user);
    default:
      return "%";
  }
}

}  // namespace

bool has_placeholder(std::string_view pattern) {
  for (std::size_t at = pattern.find('%'); at != std::string_view::npos;) {
    const Placeholder found = placeholder_at(pattern, at);
    if (found.kind != 0 && found.kind != '%') return true;
    at = pattern.find('%', at + found.length);
  }
  return false;
}

std::string placeholder_fault(std::string_view pattern) {
  for (std::size_t at = pattern.find('%'); at != std::string_view::npos;) {
    const Placeholder found = placeholder_at(pattern, at);
    if (found.kind == 0) {
      return fmt::format(
          "has '{:.8}', which is no placeholder: %j is the job's number, %a the task's index, %u "
          "the user, %% a '%'",
          pattern.substr(at));
    }
    at = pattern.find('%', at + found.length);
  }
  return {};
}

std::string work_folder(std::string_view pattern, const WorkFolderOf& task) {
  std::string path;
  for (std::size_t at = 0; at < pattern.size();) {
    const Placeholder found = pattern[at] == '%' ? placeholder_at(pattern, at) : Placeholder{};
    if (found.kind == 0) {
      path += pattern[at];
    } else {
      path += text_of(found, task);
    }
    at += found.length;
  }
  return path;
}

std::string common_work_folder(std::string_view pattern) {
  std::size_t end = pattern.size();
  for (std::size_t at = pattern.find('%'); at != std::string_view::npos;) {
    const Placeholder found = placeholder_at(pattern, at);
    if (found.kind != 0 && found.kind != '%') {
      end = pattern.rfind('/', at);
      break;
    }
    at = pattern.find('%', at + found.length);
  }
  if (end == std::string_view::npos || end == 0) return "/";
  return path_of_pattern(pattern.substr(0, end));
}

std::string pattern_of_path(std::string_view path) {
  std::string pattern;
  for (const char c : path) {
    pattern += c;
    if (c == '%') pattern += c;
  }
  return pattern;
}

std::string path_of_pattern(std::string_view pattern) {
  return work_folder(pattern, {});
}

}  // namespace muster
