#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/files/content_id.hpp"
#include "storage/files/file_io.hpp"
#include "storage/files/file_tree.hpp"
#include "storage/files/kept_outputs.hpp"
#include "storage/files/object_folder.hpp"

namespace muster::files {

/// Makes an empty store where it is missing, durably, and those folders above it that are.
/// `refused` where it belongs to another user.
FileTrouble make_store(const std::filesystem::path& store);
/// Whether the folder is a store that was made: an empty folder on which nothing is mounted is not.
FileTrouble store_fault(const std::filesystem::path& store);

/// Has the parts of all users, below a store.
inline constexpr const char* kUsersFolder = "users";

/// A tree that a job is to begin with, as far as it is in the store.
struct StagedTree {
  bool complete = false;
  std::vector<ContentId> missing{};  ///< contents to be put; the tree's own id when it is not there
};

/// One user's part of a store of files: contents, the trees that jobs begin with, and the outputs
/// of attempts. Each user has contents of his own, and no file of another by naming its id.
///
/// STORE/users/NAME/contents/ is an ObjectFolder, which has the trees' texts, too; stages/ID stands
/// for a tree that is there with all its contents, with the time of its last use; jobs/JOB names
/// the tree that the job begins with; outputs/ has KeptOutputs, parts/ContentParts. Several
/// processes may have it open, and methods may be called on several threads at once.
class UserFiles {
 public:
  /// In a store that was made. Makes what is missing, durably. A user's name may be any text of at
  /// most 256 bytes.
  static Expected<std::unique_ptr<UserFiles>, FileError> open_in(const std::filesystem::path& store,
                                                                 std::string_view user);

  /// Likewise, of the part with that folder's name.
  static Expected<std::unique_ptr<UserFiles>, FileError> open_folder_of(
      const std::filesystem::path& store, const std::string& name);

  ObjectFolder& contents() { return *contents_; }
  KeptOutputs& outputs() { return *outputs_; }
  /// The folder of parts, for ContentParts.
  int parts() const { return parts_.get(); }
  /// All of it, and the folders of names of trees, and of jobs.
  int root() const { return root_.get(); }
  int stages() const { return stages_.get(); }
  int jobs() const { return jobs_.get(); }

  /// Looks which contents of a tree are missing, `most` of them at most. A tree of which no content
  /// is missing is one that jobs may begin with, durably, and all of it counts as put now.
  Expected<StagedTree, FileError> stage(const ContentId& tree, const TreeLimits& limits,
                                        std::size_t most);
  Expected<FileTree, FileError> read_tree(const ContentId& id);
  /// Whether jobs may begin with the tree; it counts as used now.
  Expected<bool, FileError> use_stage(const ContentId& tree);
  /// Reads all contents of the tree and removes those that are damaged, and its name with them: it
  /// is sent again before another job begins with it.
  FileTrouble check_stage(const ContentId& tree);
  /// The job begins with the tree, which stays at least until the job is over.
  FileTrouble pin(std::uint64_t job, const ContentId& tree);
  /// The tree that the job begins with; nothing where it begins with no files.
  Expected<std::optional<ContentId>, FileError> pinned(std::uint64_t job) const;

 private:
  UserFiles() = default;

  std::unique_ptr<ObjectFolder> contents_;
  std::unique_ptr<KeptOutputs> outputs_;
  Descriptor root_, stages_, jobs_, parts_;
};

/// The contents of a user's part of a store, for reading alone: opens it without a write.
class UserContents : public ContentSource {
 public:
  /// `missing` when the user has nothing there.
  static Expected<UserContents, FileError> open_in(const std::filesystem::path& store,
                                                   std::string_view user);

  Expected<Descriptor, FileError> open_read(const ContentId& id) override;
  /// A tree whose text is a content here; `damaged` when it is no tree's.
  Expected<FileTree, FileError> read_tree(const ContentId& id);
  /// The outputs of the user's jobs; `missing` before the first.
  Expected<KeptOutputs, FileError> outputs() const;
  /// The tree was used now: it is not yet to go. Without effect where no job can begin with it.
  void touch_stage(const ContentId& tree) const;

 private:
  UserContents() = default;

  Descriptor root_, objects_;
};

/// A user's name as the name of a file: letters, digits, '-' and '_' are themselves; "%" stands for
/// no name.
std::string file_name_of_user(std::string_view user);

}  // namespace muster::files
