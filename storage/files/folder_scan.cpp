#include "storage/files/folder_scan.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "storage/files/path_text.hpp"

namespace muster::files {
namespace {

constexpr int kMostReads = 3;
constexpr std::size_t kMostSkippedKept = 100;

/// A folder on the way from the top to where the scan is.
struct OpenFolder {
  Descriptor descriptor;
  std::string path;  ///< empty: the top
  std::vector<std::string> names{};
  std::size_t next = 0;
  bool whole = false;    ///< all that is in it is taken
  bool in_tree = false;  ///< it is an entry of the tree already, or the top
};

/// An entry that is not opened yet.
struct Found {
  std::string name;
  std::string path;
  struct stat status {};
  bool whole = false;  ///< taken, with all that is in it
};

const char* special_kind(mode_t mode) {
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "of a kind that is not known";
}

Failure<FileError> refused(std::string reason) {
  return {FileError::refused, std::move(reason)};
}

Failure<FileError> at_path(const std::string& path, const Failure<FileError>& why) {
  return {why.code, fmt::format("{}: {}", shown_path(path), why.message)};
}

/// One scan. A method gives trouble where the whole scan ends.
class FolderScan {
 public:
  FolderScan(ContentSink& sink, const ScanOptions& options) : sink_(sink), options_(options) {}

  Expected<ScannedFolder, FileError> run(int folder) {
    if (auto trouble = enter_top(folder)) return *trouble;
    while (!folders_.empty()) {
      OpenFolder& at = folders_.back();
      if (at.next == at.names.size()) {
        folders_.pop_back();
        continue;
      }
      if (auto trouble = look_at(at.names[at.next++])) return *trouble;
    }
    if (auto trouble = sink_.finish()) return *trouble;
    auto tree = FileTree::of(std::move(entries_), options_.limits);
    if (!tree) return tree.error();
    done_.tree = std::move(tree).value();
    return std::move(done_);
  }

 private:
  FileTrouble enter_top(int folder) {
    struct stat status {};
    if (fstat(folder, &status) != 0) return system_failure("the folder", "looked at", errno);
    device_ = status.st_dev;
    OpenFolder top{Descriptor(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), {}};
    if (!top.descriptor) return system_failure("the folder", "opened", errno);
    top.whole = !options_.outputs;
    top.in_tree = true;
    return enter(std::move(top));
  }

  FileTrouble enter(OpenFolder folder) {
    const std::size_t left = options_.most_looked_at - looked_at_;
    auto names = names_in(folder.descriptor.get(), left, "the folder");
    if (!names) return names.error();
    looked_at_ += names->size();
    folder.names = std::move(names).value();
    folders_.push_back(std::move(folder));
    return std::nullopt;
  }

  FileTrouble tell_progress() const {
    if (!options_.progress || options_.progress(done_.count)) return std::nullopt;
    return Failure<FileError>{FileError::stopped, "the scan was stopped"};
  }

  /// Trouble with one entry: outputs go on without it. Not for trouble of the sink.
  FileTrouble skip(const std::string& path, const Failure<FileError>& why) {
    const bool of_entry = why.code == FileError::refused || why.code == FileError::changed ||
                          why.code == FileError::invalid || why.code == FileError::system ||
                          why.code == FileError::unreadable;
    if (!options_.outputs || !of_entry) return at_path(path, why);
    ++done_.skipped_count;
    if (done_.skipped.size() < kMostSkippedKept) {
      done_.skipped.push_back({shown_path(path), why.message});
    }
    return std::nullopt;
  }

  FileTrouble look_at(const std::string& name) {
    if (auto stopped = tell_progress()) return stopped;
    const OpenFolder& in = folders_.back();
    Found found{name, in.path.empty() ? name : in.path + "/" + name};
    if (fstatat(in.descriptor.get(), name.c_str(), &found.status, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return std::nullopt;  // removed since the folder was listed
      return skip(found.path, system_failure("the entry", "looked at", errno));
    }
    const bool is_folder = S_ISDIR(found.status.st_mode);
    if (options_.ignore.ignores_itself(found.path, is_folder)) return std::nullopt;
    found.whole = in.whole || is_output(found.path);
    if (!found.whole && !(is_folder && may_have_outputs(found.path))) return std::nullopt;
    if (auto fault = path_fault(found.path)) return skip(found.path, refused(fault->message));
    if (found.status.st_dev != device_) return skip(found.path, on_other_mount());
    if (is_folder) return take_folder(found);
    if (S_ISREG(found.status.st_mode)) return take_file(found);
    if (S_ISLNK(found.status.st_mode)) return take_link(found);
    return skip(found.path, refused(fmt::format("it is {}; a tree has only folders, regular "
                                                "files and links",
                                                special_kind(found.status.st_mode))));
  }

  static Failure<FileError> on_other_mount() {
    return refused("it is on another file system: stage a mounted folder by itself");
  }

  bool is_output(const std::string& path) const {
    if (!options_.outputs) return false;
    const PathLetters letters(path);
    return std::any_of(options_.outputs->begin(), options_.outputs->end(),
                       [&](const auto& each) { return each.matches(letters); });
  }
  bool may_have_outputs(const std::string& path) const {
    if (!options_.outputs) return false;
    const PathLetters letters(path);
    return std::any_of(options_.outputs->begin(), options_.outputs->end(),
                       [&](const auto& each) { return each.may_match_below(letters); });
  }

  /// Why an entry that was looked at cannot be opened; nothing when it is gone.
  FileTrouble not_opened(const std::string& path, int error) {
    if (error == ENOENT) return std::nullopt;
    if (error == EXDEV) return skip(path, on_other_mount());
    if (error == ELOOP || error == ENOTDIR || error == ENXIO) {
      return skip(path, {FileError::changed, "it was replaced while the folder was read"});
    }
    return skip(path, system_failure("the entry", "opened", error));
  }

  FileTrouble take_folder(const Found& found) {
    if (folders_.size() > options_.most_deep) {
      return Failure<FileError>{FileError::too_large,
                                fmt::format("{}: there may be at most {} folders inside each other",
                                            shown_path(found.path), options_.most_deep)};
    }
    OpenFolder next{
        open_entry(folders_.back().descriptor.get(), found.name, O_RDONLY | O_DIRECTORY),
        found.path};
    if (!next.descriptor) return not_opened(found.path, errno);
    struct stat status {};
    if (fstat(next.descriptor.get(), &status) != 0 || status.st_dev != device_) {
      return skip(found.path, on_other_mount());
    }
    next.whole = found.whole;
    if (auto trouble = enter(std::move(next))) {
      if (trouble->code == FileError::missing) return std::nullopt;
      return skip(found.path, *trouble);
    }
    return found.whole ? add_folders() : std::nullopt;
  }

  /// The folders on the way that are no entries yet: outputs bring them along.
  FileTrouble add_folders() {
    for (OpenFolder& folder : folders_) {
      if (folder.in_tree) continue;
      folder.in_tree = true;
      if (auto trouble = add_entry({folder.path, EntryKind::folder})) return trouble;
    }
    return std::nullopt;
  }

  FileTrouble add(TreeEntry entry) {
    if (auto trouble = add_folders()) return trouble;
    return add_entry(std::move(entry));
  }

  FileTrouble add_entry(TreeEntry entry) {
    text_bytes_ += manifest_bytes_of(entry);
    if (entries_.size() == options_.limits.entries) {
      return too_large(entry.path, fmt::format("{} entries", options_.limits.entries));
    }
    if (text_bytes_ > options_.limits.manifest_bytes) {
      return too_large(entry.path,
                       fmt::format("{} bytes in its manifest", options_.limits.manifest_bytes));
    }
    entries_.push_back(std::move(entry));
    return std::nullopt;
  }

  static Failure<FileError> too_large(const std::string& path, const std::string& most) {
    return {FileError::too_large,
            fmt::format("{}: a tree may have at most {}", shown_path(path), most)};
  }

  FileTrouble take_link(const Found& found) {
    std::array<char, kMostPathBytes> target{};
    const ssize_t size = readlinkat(folders_.back().descriptor.get(), found.name.c_str(),
                                    target.data(), target.size());
    if (size < 0) {
      // EINVAL: it is no link any more.
      return not_opened(found.path, errno == EINVAL ? ELOOP : errno);
    }
    TreeEntry entry{found.path, EntryKind::link};
    entry.target.assign(target.data(), static_cast<std::size_t>(size));
    if (auto fault = link_fault(found.path, entry.target)) {
      return skip(found.path, refused(fault->message));
    }
    return add(std::move(entry));
  }

  FileTrouble take_file(const Found& found) {
    for (int reads = 0; reads < kMostReads; ++reads) {
      const Descriptor file = open_entry(folders_.back().descriptor.get(), found.name, O_RDONLY);
      if (!file) return not_opened(found.path, errno);
      struct stat before {
      }, after{};
      if (fstat(file.get(), &before) != 0) {
        return skip(found.path, system_failure("the file", "looked at", errno));
      }
      if (!S_ISREG(before.st_mode) || before.st_dev != device_) {
        return not_opened(found.path, ELOOP);
      }
      const auto bytes = static_cast<std::uint64_t>(before.st_size);
      if (bytes > options_.limits.content_bytes - bytes_spent_) {
        return too_large(found.path,
                         fmt::format("{} bytes in its files", options_.limits.content_bytes));
      }
      bytes_spent_ += bytes;
      const auto content = content_of(found.path, file.get(), FileStamp::of(before));
      if (!content && content.error().code == FileError::unreadable) {
        return skip(found.path, content.error());
      }
      if (!content && content.error().code != FileError::changed) {
        return at_path(found.path, content.error());
      }
      if (!content || fstat(file.get(), &after) != 0 ||
          FileStamp::of(before) != FileStamp::of(after)) {
        continue;
      }
      return add_file(found.path, before, content.value());
    }
    return skip(found.path, {FileError::changed, fmt::format("it changed each of the {} times "
                                                             "that it was read",
                                                             kMostReads)});
  }

  /// From memory where the sink has the content, else from the file.
  Expected<ContentId, FileError> content_of(const std::string& path, int file,
                                            const FileStamp& stamp) {
    if (options_.memory != nullptr) {
      if (const auto known = options_.memory->find(path, stamp)) {
        const auto has = sink_.has(*known, stamp.bytes);
        if (!has) return has.error();
        if (has.value()) return *known;
      }
    }
    ++done_.count.files_read;
    return sink_.put(file, stamp.bytes, [this](std::uint64_t bytes) {
      done_.count.bytes_read += bytes;
      return tell_progress();
    });
  }

  FileTrouble add_file(const std::string& path, const struct stat& status,
                       const ContentId& content) {
    const auto bytes = static_cast<std::uint64_t>(status.st_size);
    const auto mode = static_cast<std::uint16_t>(status.st_mode & 0777);
    if (options_.memory != nullptr) options_.memory->note(path, FileStamp::of(status), content);
    if (auto trouble = add({path, EntryKind::file, mode, bytes, content})) return trouble;
    ++done_.count.files;
    done_.count.bytes += bytes;
    return tell_progress();
  }

  ContentSink& sink_;
  const ScanOptions& options_;
  dev_t device_ = 0;
  std::vector<OpenFolder> folders_;
  std::vector<TreeEntry> entries_;
  std::size_t looked_at_ = 0;
  std::size_t text_bytes_ = 0;
  std::uint64_t bytes_spent_ = 0;  ///< of files that were taken, and of each other reading
  ScannedFolder done_;
};

}  // namespace

Expected<ScannedFolder, FileError> scan_folder(int folder, ContentSink& sink,
                                               const ScanOptions& options) {
  return FolderScan(sink, options).run(folder);
}

}  // namespace muster::files
