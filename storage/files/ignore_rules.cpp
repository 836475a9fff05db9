#include "storage/files/ignore_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "storage/files/file_io.hpp"

namespace muster::files {
namespace {

/// Blanks at the end are no part of a pattern, but one behind a backslash is.
std::string_view without_blanks_behind(std::string_view line) {
  if (line.ends_with(" ")) {
    const std::size_t last = line.find_last_not_of(' ');
    if (last == line.npos) return {};
    // An even number of backslashes stands for themselves.
    std::size_t backslashes = 0;
    while (backslashes <= last && line[last - backslashes] == '\\') ++backslashes;
    return line.substr(0, last + 1 + backslashes % 2);
  }
  return line;
}

}  // namespace

Expected<IgnoreRules, FileError> IgnoreRules::parse(std::string_view text) {
  const auto too_large = [](const char* most) {
    return Failure<FileError>{FileError::too_large,
                              fmt::format("{} may have at most {}", kIgnoreFile, most)};
  };
  if (text.size() > kMostIgnoreBytes) return too_large("1 MiB");
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  IgnoreRules made;
  for (std::size_t number = 1; !text.empty(); ++number) {
    if (number > kMostIgnoreLines) return too_large("10000 lines");
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (auto fault = made.add(line)) {
      return Failure<FileError>{fault->code,
                                fmt::format("{}:{}: {}", kIgnoreFile, number, fault->message)};
    }
  }
  return made;
}

Expected<IgnoreRules, FileError> IgnoreRules::of_folder(int folder) {
  const auto text = read_small_file(folder, kIgnoreFile, kMostIgnoreBytes);
  if (text) return parse(text.value());
  if (text.error().code == FileError::missing) return IgnoreRules{};
  return text.error();
}

FileTrouble IgnoreRules::add(std::string_view line) {
  if (line.starts_with('#')) return std::nullopt;
  line = without_blanks_behind(line);
  if (line.empty()) return std::nullopt;
  const bool takes_back = line.starts_with('!');
  if (takes_back) line.remove_prefix(1);
  const bool folders_only = line.ends_with('/');
  if (folders_only) line.remove_suffix(1);
  const bool of_names = line.find('/') == line.npos;
  if (line.starts_with('/')) line.remove_prefix(1);
  auto pattern = PathPattern::compile(line);
  if (!pattern) return pattern.error();
  const auto name = of_names ? pattern->only_name() : std::nullopt;
  if (name) {
    LastOfName& last = of_one_name_[*name];
    (folders_only ? last.of_folders : last.of_all) = rules_.size();
  } else {
    others_.push_back(rules_.size());
  }
  rules_.push_back({std::move(pattern).value(), takes_back, folders_only, of_names});
  return std::nullopt;
}

bool IgnoreRules::ignores(std::string_view path, bool is_folder) const {
  for (std::size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1)) {
    if (ignores_itself(path.substr(0, slash), true)) return true;
  }
  return ignores_itself(path, is_folder);
}

std::optional<std::size_t> IgnoreRules::last_of_name(std::string_view name, bool is_folder) const {
  const auto found = of_one_name_.find(name);
  if (found == of_one_name_.end()) return std::nullopt;
  // An empty optional is before every number.
  return is_folder ? std::max(found->second.of_all, found->second.of_folders)
                   : found->second.of_all;
}

bool IgnoreRules::ignores_itself(std::string_view path, bool is_folder) const {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  auto last = last_of_name(name, is_folder);
  if (!others_.empty()) {
    const PathLetters name_letters(name), path_letters(path);
    const auto other = std::find_if(others_.rbegin(), others_.rend(), [&](std::size_t number) {
      const Rule& rule = rules_[number];
      if (last && number < *last) return true;  // and it is not looked at any more
      if (rule.folders_only && !is_folder) return false;
      return rule.pattern.matches(rule.of_names ? name_letters : path_letters);
    });
    if (other != others_.rend()) last = std::max(last, std::optional(*other));
  }
  return last && !rules_[*last].takes_back;
}

}  // namespace muster::files
