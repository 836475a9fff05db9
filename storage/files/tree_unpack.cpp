#include "storage/files/tree_unpack.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "storage/files/path_text.hpp"

namespace muster::files {
namespace {

/// Between two calls of the caller's progress function.
constexpr std::size_t kCopyAtOnce = std::size_t{64} << 20;

std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? std::string_view{} : path.substr(0, slash);
}
std::string name_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

Failure<FileError> at_path(const TreeEntry& entry, const Failure<FileError>& why) {
  return {why.code, fmt::format("{}: {}", shown_path(entry.path), why.message)};
}

/// The open folders from the top of a tree to where a walk in the tree's order is: each is opened
/// once in a walk, and no path has to be walked again from the top.
class Way {
 public:
  /// Hears of a folder when all in it has been passed; `parent` is the folder that it lies in.
  using Leave = std::function<FileTrouble(int parent, const TreeEntry& folder, int descriptor)>;

  Way(int top, Leave leave) : top_(top), leave_(std::move(leave)) {}

  /// Leaves the folders that the entry is not in.
  FileTrouble go_to(const TreeEntry& entry) {
    while (!steps_.empty() && !is_below(entry.path, steps_.back().folder->path)) {
      if (auto trouble = leave()) return trouble;
    }
    return std::nullopt;
  }
  /// Whether the walk stands in the entry's own folder; false below a folder that was not entered.
  bool is_at(const TreeEntry& entry) const {
    return folder_of(entry.path) == (steps_.empty() ? "" : steps_.back().folder->path);
  }
  int descriptor() const { return steps_.empty() ? top_ : steps_.back().descriptor.get(); }

  FileTrouble enter(const TreeEntry& folder) {
    Descriptor opened = open_entry(descriptor(), name_of(folder.path), O_RDONLY | O_DIRECTORY);
    if (!opened) return system_failure("the folder", "opened", errno);
    steps_.push_back({&folder, std::move(opened)});
    return std::nullopt;
  }
  FileTrouble leave_all() {
    while (!steps_.empty()) {
      if (auto trouble = leave()) return trouble;
    }
    return std::nullopt;
  }

 private:
  struct Step {
    const TreeEntry* folder;
    Descriptor descriptor;
  };

  static bool is_below(std::string_view path, std::string_view folder) {
    return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
  }
  FileTrouble leave() {
    const Step last = std::move(steps_.back());
    steps_.pop_back();
    return leave_ ? leave_(descriptor(), *last.folder, last.descriptor.get()) : std::nullopt;
  }

  int top_;
  Leave leave_;
  std::vector<Step> steps_;
};

class TreeUnpack {
 public:
  TreeUnpack(const FileTree& tree, int folder, ContentSource& source, const UnpackOptions& options)
      : tree_(tree), top_(folder), source_(source), options_(options) {}

  FileTrouble run() {
    if (auto fault = top_fault()) return fault;
    const auto names = names_in(top_, 0, "the folder");
    if (!names && names.error().code == FileError::too_large) {
      return Failure<FileError>{FileError::exists, "the folder to unpack to has to be empty"};
    }
    if (!names) return names.error();
    auto trouble = make_folders_and_files();
    if (!trouble) trouble = make_links_and_give_folders();
    if (!trouble) trouble = give_top();
    if (trouble) remove_made();
    return trouble;
  }

 private:
  /// Another user that may write or search the folder could change what lies behind a name between
  /// two calls.
  FileTrouble top_fault() const {
    struct stat status {};
    if (fstat(top_, &status) != 0) return system_failure("the folder", "looked at", errno);
    if (status.st_uid != geteuid()) {
      return Failure<FileError>{FileError::refused,
                                "the folder to unpack to has to belong to the user of this "
                                "process"};
    }
    const auto mode = static_cast<unsigned>(status.st_mode) & 0777U;
    if (mode == 0700) return std::nullopt;
    return Failure<FileError>{
        FileError::refused,
        fmt::format("the folder to unpack to has to have the mode 0700; it has {:#o}", mode)};
  }

  /// From here on its owner may enter it.
  FileTrouble give_top() const {
    if (!options_.owner || fchown(top_, options_.owner->user, options_.owner->group) == 0) {
      return std::nullopt;
    }
    return system_failure("the folder to unpack to", "given to its owner", errno);
  }

  FileTrouble tell_progress() const {
    if (!options_.progress || options_.progress(count_)) return std::nullopt;
    return Failure<FileError>{FileError::stopped, "the unpacking was stopped"};
  }

  FileTrouble make_folders_and_files() {
    Way way(top_, {});
    for (const TreeEntry& entry : tree_.entries()) {
      auto trouble = way.go_to(entry);
      if (!trouble && entry.kind == EntryKind::folder) trouble = make_folder(way, entry);
      if (!trouble && entry.kind == EntryKind::file) trouble = make_file(way.descriptor(), entry);
      if (trouble) return at_path(entry, *trouble);
    }
    return std::nullopt;
  }

  /// Owners of folders below the top cannot reach them yet, since the top is closed to them: names
  /// lead to what was made here. Before the first link no name leads through one.
  FileTrouble make_links_and_give_folders() {
    Way way(top_, [&](int /*parent*/, const TreeEntry& folder, int descriptor) -> FileTrouble {
      if (!options_.owner || fchown(descriptor, options_.owner->user, options_.owner->group) == 0) {
        return std::nullopt;
      }
      return at_path(folder, system_failure("the folder", "given to its owner", errno));
    });
    for (const TreeEntry& entry : tree_.entries()) {
      if (auto trouble = way.go_to(entry)) return trouble;
      FileTrouble trouble;
      if (entry.kind == EntryKind::folder) trouble = way.enter(entry);
      if (entry.kind == EntryKind::link) trouble = make_link(way.descriptor(), entry);
      if (trouble) return at_path(entry, *trouble);
    }
    return way.leave_all();
  }

  FileTrouble make_folder(Way& way, const TreeEntry& entry) {
    if (mkdirat(way.descriptor(), name_of(entry.path).c_str(), 0700) != 0) {
      return system_failure("the folder", "made", errno);
    }
    ++made_;
    return way.enter(entry);
  }

  FileTrouble make_link(int folder, const TreeEntry& entry) {
    const std::string name = name_of(entry.path);
    if (symlinkat(entry.target.c_str(), folder, name.c_str()) != 0) {
      return system_failure("the link", "made", errno);
    }
    ++links_made_;
    if (options_.owner && fchownat(folder, name.c_str(), options_.owner->user,
                                   options_.owner->group, AT_SYMLINK_NOFOLLOW) != 0) {
      return system_failure("the link", "given to its owner", errno);
    }
    return std::nullopt;
  }

  FileTrouble make_file(int folder, const TreeEntry& entry) {
    const auto from = source_.open_read(entry.content);
    if (!from) return from.error();
    struct stat status {};
    if (fstat(from->get(), &status) != 0) return system_failure("the content", "looked at", errno);
    if (!S_ISREG(status.st_mode) || static_cast<std::uint64_t>(status.st_size) != entry.bytes) {
      return Failure<FileError>{FileError::damaged,
                                fmt::format("the content {} has {} bytes where the tree says {}",
                                            entry.content.text(), status.st_size, entry.bytes)};
    }
    const Descriptor to(openat(folder, name_of(entry.path).c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!to) return system_failure("the file", "made", errno);
    ++made_;
    // Before there is any content that another user could read.
    if (options_.owner && fchown(to.get(), options_.owner->user, options_.owner->group) != 0) {
      return system_failure("the file", "given to its owner", errno);
    }
    if (auto trouble = options_.verify ? copy_verified(from->get(), to.get(), entry)
                                       : copy(from->get(), to.get(), entry)) {
      return trouble;
    }
    if (fchmod(to.get(), entry.mode | S_IRUSR | S_IWUSR) != 0) {
      return system_failure("the file", "given its mode", errno);
    }
    ++count_.files;
    return tell_progress();
  }

  static Failure<FileError> damaged(const TreeEntry& entry) {
    return {FileError::damaged,
            fmt::format("the content {} is not as its id says", entry.content.text())};
  }

  /// In the kernel, which shares the blocks of both files where the file system can.
  FileTrouble copy(int from, int to, const TreeEntry& entry) {
    std::uint64_t left = entry.bytes;
    while (left > 0) {
      const ssize_t copied = copy_file_range(from, nullptr, to, nullptr,
                                             std::min<std::uint64_t>(left, kCopyAtOnce), 0);
      if (copied == 0) return damaged(entry);
      if (copied < 0 && errno == EINTR) continue;
      const bool cannot = copied < 0 && (errno == EXDEV || errno == EINVAL || errno == ENOSYS ||
                                         errno == EOPNOTSUPP || errno == EPERM);
      // Both descriptors stand behind what was copied.
      if (cannot) return copy_plainly(from, to, left, nullptr);
      if (copied < 0) return system_failure("the content", "copied", errno);
      left -= static_cast<std::uint64_t>(copied);
      count_.bytes += static_cast<std::uint64_t>(copied);
      if (left == 0) break;
      if (auto stopped = tell_progress()) return stopped;
    }
    return std::nullopt;
  }

  FileTrouble copy_verified(int from, int to, const TreeEntry& entry) {
    ContentHasher hasher;
    if (auto trouble = copy_plainly(from, to, entry.bytes, &hasher)) return trouble;
    return hasher.finish() == entry.content ? std::nullopt : FileTrouble{damaged(entry)};
  }

  FileTrouble copy_plainly(int from, int to, std::uint64_t bytes, ContentHasher* hasher) {
    auto trouble = read_exactly(from, bytes, [&](std::string_view part) -> FileTrouble {
      if (hasher != nullptr) hasher->add(part);
      const int error = write_all(to, part);
      if (error != 0) return system_failure("the file", "written", error);
      count_.bytes += part.size();
      return tell_progress();
    });
    // A content has one size for ever.
    if (trouble && trouble->code == FileError::changed) trouble->code = FileError::damaged;
    return trouble;
  }

  /// Only what was made, so that another process' files in the folder stay. Goes on after a
  /// failure: the trouble that is told is the first one.
  void remove_made() {
    Way way(top_, [](int parent, const TreeEntry& folder, int /*descriptor*/) -> FileTrouble {
      unlinkat(parent, name_of(folder.path).c_str(), AT_REMOVEDIR);
      return std::nullopt;
    });
    std::size_t left = made_, links_left = links_made_;
    for (const TreeEntry& entry : tree_.entries()) {
      std::size_t& left_of_kind = entry.kind == EntryKind::link ? links_left : left;
      if (left == 0 && links_left == 0) break;
      if (left_of_kind == 0) continue;
      --left_of_kind;
      way.go_to(entry);
      if (!way.is_at(entry)) continue;
      if (entry.kind == EntryKind::folder) {
        way.enter(entry);
      } else {
        unlinkat(way.descriptor(), name_of(entry.path).c_str(), 0);
      }
    }
    way.leave_all();
  }

  const FileTree& tree_;
  int top_;
  ContentSource& source_;
  const UnpackOptions& options_;
  std::size_t made_ = 0;        ///< folders and files, in the tree's order
  std::size_t links_made_ = 0;  ///< likewise
  UnpackCount count_;
};

}  // namespace

FileTrouble unpack_tree(const FileTree& tree, int folder, ContentSource& source,
                        const UnpackOptions& options) {
  return TreeUnpack(tree, folder, source, options).run();
}

}  // namespace muster::files
