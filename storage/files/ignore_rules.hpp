#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/files/file_error.hpp"
#include "storage/files/path_pattern.hpp"

namespace muster::files {

/// The file of a folder that says which of its files stay where they are.
inline constexpr const char* kIgnoreFile = ".musterignore";
inline constexpr std::size_t kMostIgnoreBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMostIgnoreLines = 10'000;

/// Rules as of a .gitignore at the top of a folder: a line is a pattern, the last one that fits
/// decides, `!` in front takes back. A pattern with a slash at its beginning or inside is one of
/// whole paths, else of names; with a slash at its end, of folders.
class IgnoreRules {
 public:
  /// Nothing is ignored.
  IgnoreRules() = default;
  /// Errors name the line.
  static Expected<IgnoreRules, FileError> parse(std::string_view text);
  /// Of the folder's own file; no rules when it has no such file.
  static Expected<IgnoreRules, FileError> of_folder(int folder);

  /// Whether the path is ignored, itself or by a folder above it: a file below an ignored folder
  /// is, whatever the rules say of the file.
  bool ignores(std::string_view path, bool is_folder) const;
  /// Only by the rules that fit the path itself: for a walk that enters no ignored folder.
  bool ignores_itself(std::string_view path, bool is_folder) const;

 private:
  struct Rule {
    PathPattern pattern;
    bool takes_back = false;
    bool folders_only = false;
    bool of_names = false;
  };

  /// Numbers of the last rules that are of one name.
  struct LastOfName {
    std::optional<std::size_t> of_all, of_folders;
  };

  FileTrouble add(std::string_view line);
  std::optional<std::size_t> last_of_name(std::string_view name, bool is_folder) const;

  std::vector<Rule> rules_;
  /// Rules of names without wildcards, which are most of them: they need no look at each.
  std::map<std::string, LastOfName, std::less<>> of_one_name_;
  std::vector<std::size_t> others_;  ///< numbers, in their order
};

}  // namespace muster::files
