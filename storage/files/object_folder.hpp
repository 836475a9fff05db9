#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "storage/files/content_flow.hpp"
#include "storage/files/content_id.hpp"
#include "storage/files/file_io.hpp"

namespace muster::files {

/// Objects of a store, or some of them.
struct ObjectUsage {
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;
  std::uint64_t counted_bytes = 0;  ///< as bounds count them: counted_bytes() of each
};

/// Bytes that a file takes at least, whatever it has.
inline constexpr std::uint64_t kLeastBytes = 4096;
inline std::uint64_t counted_bytes(std::uint64_t bytes) {
  return bytes < kLeastBytes ? kLeastBytes : bytes;
}

/// Objects that may go: those that `keep` says no to and that were put last before `older_than`.
struct SweepOrder {
  std::function<bool(const ContentId&)> keep;
  std::chrono::sys_time<std::chrono::nanoseconds> older_than{};
  std::size_t most = 1'000;  ///< objects to look at in this step
  ContentId from{};          ///< the first to look at: `next` of the step before
};

/// One step of a sweep.
struct SweepStep {
  std::optional<ContentId> next;  ///< where the next step begins; nothing: the sweep is over
  ObjectUsage seen;               ///< with those that were removed
  ObjectUsage removed;
};

/// A content that is written below a name of its own and is no object yet; its file goes away with
/// it.
class UnsettledObject {
 public:
  UnsettledObject(int folder, std::string name) : folder_(folder), name_(std::move(name)) {}
  UnsettledObject(UnsettledObject&& other) noexcept;
  UnsettledObject& operator=(UnsettledObject&&) = delete;
  ~UnsettledObject();

  const std::string& name() const { return name_; }

  ContentId id{};
  std::uint64_t bytes = 0;

 private:
  int folder_;
  std::string name_;
};

/// Contents in a folder by their ids: objects/AB/CDEF..., 0600 and never executable. An object has
/// its name only when the disk has all of it, so that a crash leaves whole objects and files that
/// the next opening removes. Several processes may have one folder open; methods may be called on
/// several threads at once.
class ObjectFolder : public ContentSource {
 public:
  /// Makes the folder where it is missing (not those above it), durably. `refused` when it is of
  /// another user or has other files in it, `invalid` when it is of another version.
  static Expected<std::unique_ptr<ObjectFolder>, FileError> open_in(
      const std::filesystem::path& folder);
  ~ObjectFolder() override;
  ObjectFolder(const ObjectFolder&) = delete;
  ObjectFolder& operator=(const ObjectFolder&) = delete;

  /// Whether there is such an object, durably; it counts as put now.
  Expected<bool, FileError> keep(const ContentId& id);
  /// `missing` when there is no such object.
  Expected<std::uint64_t, FileError> size(const ContentId& id) const;
  Expected<Descriptor, FileError> open_read(const ContentId& id) override;
  /// Reads the whole object; one that is not as its id says is `damaged`, and removed so that it
  /// can be put again.
  FileTrouble check(const ContentId& id);
  /// O(objects).
  Expected<ObjectUsage, FileError> usage() const;
  /// Looks at the next objects and removes those that may go. Leaves an object that another
  /// process is putting now.
  ///
  /// An object counts as put when it gets its name, is put again or is kept: a tree that names it
  /// is recorded later. So `older_than` has to lie further back than the longest scan and the
  /// recording of its tree take together.
  Expected<SweepStep, FileError> sweep(const SweepOrder& order);

 private:
  friend class ObjectWriter;
  friend class ObjectBatch;
  /// False: no further object is wanted.
  using Visit = std::function<Expected<bool, FileError>(int folder, const ContentId& id)>;

  ObjectFolder() = default;
  FileTrouble prepare(const std::string& path);
  FileTrouble make_own_folder();
  FileTrouble make_object_folders();
  FileTrouble sync_names() const;
  /// Makes objects of contents, durably; the names in these folders of objects/ are durable, too.
  FileTrouble settle(std::span<UnsettledObject> written, std::set<std::string> folders = {});
  FileTrouble write_out(const UnsettledObject& object) const;
  FileTrouble give_name(const UnsettledObject& object);
  static std::string folder_of(const ContentId& id) { return id.text().substr(0, 2); }
  /// Of a store that is intact, whether there is the object with this size; it counts as put now.
  Expected<bool, FileError> refresh(const ContentId& id, std::optional<std::uint64_t> bytes);
  FileTrouble visit(const ContentId& from, const Visit& visit) const;
  Expected<bool, FileError> remove_old(int folder, const ContentId& id, const SweepOrder& order);

  Descriptor root_, objects_;
  Descriptor temp_;       ///< the folder for those of all processes
  Descriptor own_;        ///< this object's
  Descriptor own_lock_;   ///< held for as long as it lives
  std::string own_name_;  ///< within temp_
  std::atomic<std::uint64_t> next_name_{0};
};

}  // namespace muster::files
