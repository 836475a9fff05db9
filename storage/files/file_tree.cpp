#include "storage/files/file_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "storage/files/path_text.hpp"

namespace muster::files {
namespace {

constexpr std::string_view kTreeHead = "muster-tree 1 ";
constexpr std::uint16_t kModeBits = 0777;

Failure<FileError> invalid(std::string message) {
  return {FileError::invalid, std::move(message)};
}

Failure<FileError> too_large(const std::string& most) {
  return {FileError::too_large, "a tree may have at most " + most};
}

Failure<FileError> manifest_too_large(const TreeLimits& limits) {
  return too_large(fmt::format("{} bytes in its manifest", limits.manifest_bytes));
}

/// '/' comes before every other byte: a path has no NUL.
unsigned char order_of(char byte) {
  return byte == '/' ? 0 : static_cast<unsigned char>(byte);
}

/// Takes the component at the beginning off the path.
std::string_view take_component(std::string_view& path) {
  const std::size_t end = std::min(path.find('/'), path.size());
  const std::string_view component = path.substr(0, end);
  path.remove_prefix(std::min(end + 1, path.size()));
  return component;
}

std::string_view parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

/// A number without signs and leading zeros.
std::optional<std::uint64_t> number_of(std::string_view digits, int base) {
  std::uint64_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number, base);
  if (error != std::errc{} || stop != end || (digits.size() > 1 && digits[0] == '0')) {
    return std::nullopt;
  }
  return number;
}

FileTrouble entry_fault(const TreeEntry& entry) {
  if (auto fault = path_fault(entry.path)) return fault;
  if (entry.kind == EntryKind::link) return link_fault(entry.path, entry.target);
  if (entry.kind == EntryKind::file && (entry.mode & ~kModeBits) != 0) {
    return invalid(fmt::format("{}: the mode has to be at most 0777, not {:#o}",
                               shown_path(entry.path), entry.mode));
  }
  return std::nullopt;
}

std::string head_of(std::size_t entries) {
  return fmt::format("{}{}\n", kTreeHead, entries);
}

std::string line_of(const TreeEntry& entry) {
  const std::string path = escaped_field(entry.path);
  switch (entry.kind) {
    case EntryKind::folder:
      return fmt::format("d {}\n", path);
    case EntryKind::file:
      return fmt::format("f {:03o} {} {} {}\n", entry.mode, entry.bytes, entry.content.text(),
                         path);
    case EntryKind::link:
      return fmt::format("l {}\t{}\n", path, escaped_field(entry.target));
  }
  return {};
}

/// The text up to the next blank, which is taken off with it.
std::string_view take_word(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

/// Sets a field of an entry from its text; false when no text is written so.
bool set_text(std::string& field, std::string_view text) {
  auto found = unescaped_field(text);
  if (found) field = std::move(*found);
  return found.has_value();
}

FileTrouble read_file_line(std::string_view line, TreeEntry& entry) {
  entry.kind = EntryKind::file;
  const std::string_view mode = take_word(line);
  const bool octal = mode.size() == 3 && mode.find_first_not_of("01234567") == mode.npos;
  if (!octal) return invalid("the mode of a file has to be three octal digits");
  for (const char digit : mode) {
    entry.mode = static_cast<std::uint16_t>(8 * entry.mode + (digit - '0'));
  }
  const auto bytes = number_of(take_word(line), 10);
  if (!bytes) return invalid("the size of a file has to be a number of bytes");
  entry.bytes = *bytes;
  const auto content = ContentId::parse(take_word(line));
  if (!content) return content.error();
  entry.content = content.value();
  if (!set_text(entry.path, line)) return invalid("the path has a wrong escape");
  return std::nullopt;
}

FileTrouble read_line(std::string_view line, TreeEntry& entry) {
  const std::string_view kind = take_word(line);
  if (kind == "f") return read_file_line(line, entry);
  if (kind == "l") {
    entry.kind = EntryKind::link;
    const std::size_t tab = line.find('\t');
    if (tab == line.npos) return invalid("a link has to have a target behind a tab");
    if (!set_text(entry.target, line.substr(tab + 1))) {
      return invalid("the target has a wrong escape");
    }
    line = line.substr(0, tab);
  } else if (kind != "d") {
    return invalid(fmt::format("a line has to begin with 'd ', 'f ' or 'l ', not with '{}'",
                               shown_path(kind)));
  }
  if (!set_text(entry.path, line)) return invalid("the path has a wrong escape");
  return std::nullopt;
}

}  // namespace

/// Adds entries in the tree's order and sees to the tree's rules.
class TreeMaker {
 public:
  explicit TreeMaker(const TreeLimits& limits) : limits_(limits) {}

  FileTrouble add(TreeEntry entry) {
    // A field of another kind would make two trees of one text.
    if (entry.kind != EntryKind::file) {
      entry.mode = 0;
      entry.bytes = 0;
      entry.content = {};
    }
    if (entry.kind != EntryKind::link) entry.target.clear();
    if (auto fault = entry_fault(entry)) return fault;
    if (!tree_.entries_.empty()) {
      const std::string& before = tree_.entries_.back().path;
      if (before == entry.path) return invalid(shown_path(entry.path) + " is there twice");
      if (!path_before(before, entry.path)) {
        return invalid(
            fmt::format("{} has to stand before {}", shown_path(entry.path), shown_path(before)));
      }
    }
    if (auto fault = parent_fault(entry.path)) return fault;
    if (tree_.entries_.size() == limits_.entries) {
      return too_large(fmt::format("{} entries", limits_.entries));
    }
    if (entry.bytes > limits_.content_bytes - tree_.content_bytes_) {
      return too_large(fmt::format("{} bytes in its files", limits_.content_bytes));
    }
    tree_.content_bytes_ += entry.bytes;
    text_bytes_ += manifest_bytes_of(entry);
    if (entry.kind == EntryKind::folder) folders_.push_back(tree_.entries_.size());
    tree_.entries_.push_back(std::move(entry));
    return std::nullopt;
  }

  /// Of the tree as it is so far, as `encode` writes it.
  std::size_t text_bytes() const { return head_of(tree_.entries_.size()).size() + text_bytes_; }
  FileTree finish() { return std::move(tree_); }

 private:
  /// The folder of an entry is the last one that was added but for those that it lies beside.
  FileTrouble parent_fault(std::string_view path) {
    const std::string_view parent = parent_of(path);
    while (!folders_.empty()) {
      const std::string& folder = tree_.entries_[folders_.back()].path;
      if (folder == parent) return std::nullopt;
      if (path.starts_with(folder) && path[folder.size()] == '/') break;
      folders_.pop_back();
    }
    if (parent.empty()) return std::nullopt;
    return invalid(fmt::format("{} has to lie in a folder of the tree, and {} is no such folder",
                               shown_path(path), shown_path(parent)));
  }

  TreeLimits limits_;
  FileTree tree_;
  std::size_t text_bytes_ = 0;        ///< of the entries' lines
  std::vector<std::size_t> folders_;  ///< from the top to where the next entry may be
};

std::size_t manifest_bytes_of(const TreeEntry& entry) {
  return line_of(entry).size();
}

bool path_before(std::string_view path, std::string_view other) {
  return std::lexicographical_compare(
      path.begin(), path.end(), other.begin(), other.end(),
      [](char left, char right) { return order_of(left) < order_of(right); });
}

FileTrouble path_fault(std::string_view path) {
  const auto fault = [&](std::string_view rule) -> FileTrouble {
    return invalid(fmt::format("the path '{}' {}", shown_path(path), rule));
  };
  if (path.empty()) return fault("must not be empty");
  if (path.size() > kMostPathBytes) return fault("has more than 4096 bytes");
  if (path.find('\0') != path.npos) return fault("has a zero byte");
  if (!is_utf8(path)) return fault("is not valid UTF-8");
  if (path.front() == '/') return fault("has to be relative");
  if (path.back() == '/') return fault("must not end with a slash");
  std::size_t depth = 0;
  for (std::string_view rest = path; !rest.empty(); ++depth) {
    const std::string_view component = take_component(rest);
    if (component.empty()) return fault("has an empty part");
    if (component == "." || component == "..") return fault("has a part '.' or '..'");
    if (component.size() > kMostNameBytes) return fault("has a part of more than 255 bytes");
  }
  if (depth > kMostDepth) return fault("has more than 256 parts");
  return std::nullopt;
}

FileTrouble link_fault(std::string_view path, std::string_view target) {
  const auto fault = [&](std::string_view rule) -> FileTrouble {
    return invalid(fmt::format("the target '{}' of the link {} {}", shown_path(target),
                               shown_path(path), rule));
  };
  if (target.empty()) return fault("must not be empty");
  if (target.size() > kMostPathBytes - 1) return fault("has more than 4095 bytes");
  if (target.find('\0') != target.npos) return fault("has a zero byte");
  if (!is_utf8(target)) return fault("is not valid UTF-8");
  if (target.front() == '/') return fault("has to be relative");
  auto above = std::count(path.begin(), path.end(), '/');
  bool down = false;
  for (std::string_view rest = target; !rest.empty();) {
    const std::string_view component = take_component(rest);
    if (component.empty() || component == ".") continue;
    if (component != "..") {
      down = true;
      continue;
    }
    // A name may be that of a link: from there '..' leads to a folder that no text tells.
    if (down) return fault("goes up again behind a name: write it with every '..' in front");
    if (above-- == 0) return fault("leads out of the folder");
  }
  return std::nullopt;
}

Expected<FileTree, FileError> FileTree::of(std::vector<TreeEntry> entries,
                                           const TreeLimits& limits) {
  std::sort(entries.begin(), entries.end(), [](const TreeEntry& left, const TreeEntry& right) {
    return path_before(left.path, right.path);
  });
  TreeMaker maker(limits);
  for (TreeEntry& entry : entries) {
    if (auto fault = maker.add(std::move(entry))) return *fault;
  }
  if (maker.text_bytes() > limits.manifest_bytes) return manifest_too_large(limits);
  return maker.finish();
}

Expected<FileTree, FileError> FileTree::decode(std::string_view text, const TreeLimits& limits) {
  std::size_t number = 0;
  const auto at_line = [&](const Failure<FileError>& fault) {
    return Failure<FileError>{fault.code, fmt::format("manifest:{}: {}", number, fault.message)};
  };
  if (text.size() > limits.manifest_bytes) {
    return manifest_too_large(limits);
  }
  TreeMaker maker(limits);
  std::optional<std::uint64_t> count;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    if (end == text.npos) return at_line(invalid("the line has to end with a line feed"));
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (number == 1) {
      if (!line.starts_with(kTreeHead)) break;
      count = number_of(line.substr(kTreeHead.size()), 10);
      if (!count) break;
      continue;
    }
    TreeEntry entry;
    auto fault = read_line(line, entry);
    if (!fault) fault = maker.add(std::move(entry));
    if (fault) return at_line(*fault);
  }
  if (!count) {
    number = 1;
    return at_line(invalid("a manifest has to begin with 'muster-tree 1 ENTRIES'"));
  }
  FileTree tree = maker.finish();
  if (tree.entries_.size() == *count) return tree;
  return at_line(invalid(fmt::format("the first line says {} entries, and the manifest has {}",
                                     *count, tree.entries_.size())));
}

std::string FileTree::encode() const {
  std::string text = head_of(entries_.size());
  for (const TreeEntry& entry : entries_) text += line_of(entry);
  return text;
}

std::vector<ContentId> FileTree::contents() const {
  std::vector<ContentId> found;
  for (const TreeEntry& entry : entries_) {
    if (entry.kind == EntryKind::file) found.push_back(entry.content);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace muster::files
