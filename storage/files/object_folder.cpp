#include "storage/files/object_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "model/hexadecimal.hpp"
#include "storage/files/path_text.hpp"

// Order of each put: the content, its fsync, the name by rename, the fsync of the folder with the
// name. A crash in between leaves a file in temp/, or an object of which nothing was promised.
//
// Folders are made, and their names written to the disk, when a store is opened.
//
// A lock on the file `lock` is shared by those that give a name or refresh a time, and exclusive
// for those that remove: nothing that was found or named goes away before its new time is seen.

namespace muster::files {
namespace {

constexpr const char* kFormat = "format";
constexpr const char* kNewFormat = "format.new";
constexpr const char* kFormatText = "muster-objects 1\n";
constexpr const char* kObjects = "objects";
constexpr const char* kTemp = "temp";
constexpr const char* kLock = "lock";
constexpr std::string_view kLockSuffix = ".lock";
/// Openings of one store at a time, and files in one folder of it.
constexpr std::size_t kMostOpenings = 10'000;
constexpr std::size_t kMostInFolder = 10'000'000;

std::string file_name(const ContentId& id) {
  return id.text().substr(2);
}
std::string path_in_objects(const ContentId& id) {
  return id.text().insert(2, 1, '/');
}

/// Of one of the 256 folders in objects/.
std::string name_of_folder(unsigned number) {
  const std::array<unsigned char, 1> byte{static_cast<unsigned char>(number)};
  return hexadecimal(byte);
}

Failure<FileError> no_such_object(const ContentId& id) {
  return {FileError::missing, "there is no content " + id.text()};
}

/// Holds the store's lock while it lives.
class StoreLock {
 public:
  /// An `operation` of flock; `locked()` is false where it is to be had only by waiting and the
  /// operation forbids that.
  static Expected<StoreLock, FileError> take(int root, int operation) {
    StoreLock lock;
    lock.file_ = Descriptor(openat(root, kLock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!lock.file_) return system_failure(kLock, "opened", errno);
    int failed = 0;
    do {
      failed = flock(lock.file_.get(), operation);
    } while (failed != 0 && errno == EINTR);
    lock.locked_ = failed == 0;
    if (failed != 0 && errno != EWOULDBLOCK) return system_failure(kLock, "locked", errno);
    return lock;
  }
  bool locked() const { return locked_; }

 private:
  StoreLock() = default;

  Descriptor file_;
  bool locked_ = false;
};

/// The folder is this process' user's, and a store or nothing yet. `tries_left` is how often it may
/// be looked at again because another process makes it a store.
FileTrouble folder_fault(int root, const std::string& path, int tries_left = 3) {
  struct stat status {};
  if (fstat(root, &status) != 0) return system_failure(path, "looked at", errno);
  if (status.st_uid != geteuid()) {
    return Failure<FileError>{FileError::refused,
                              shown_path(path) + " has to belong to the user of this process"};
  }
  const auto format = read_small_file(root, kFormat, 100);
  if (format && format.value() == kFormatText) return std::nullopt;
  if (format || format.error().code != FileError::missing) {
    return Failure<FileError>{FileError::invalid,
                              fmt::format("{} is no store of this version: its file {} has to be "
                                          "'{}'",
                                          shown_path(path), kFormat, shown_path(kFormatText))};
  }
  const auto names = names_in(root, 100, path);
  if (!names) return names.error();
  for (const std::string& name : names.value()) {
    if (name == kFormat && tries_left > 0) return folder_fault(root, path, tries_left - 1);
    // Of a making that was cut short, or that goes on.
    if (name == kObjects || name == kTemp || name == kLock || name == kNewFormat) continue;
    return Failure<FileError>{FileError::refused,
                              fmt::format("{} has to be a store or empty; it has {}",
                                          shown_path(path), shown_path(name))};
  }
  return std::nullopt;
}

FileTrouble write_format(int root) {
  const Descriptor file(
      openat(root, kNewFormat, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return system_failure(kNewFormat, "made", errno);
  if (const int error = write_all(file.get(), kFormatText); error != 0) {
    return system_failure(kNewFormat, "written", error);
  }
  if (auto trouble = sync(file.get(), kNewFormat)) return trouble;
  if (renameat(root, kNewFormat, root, kFormat) == 0) return std::nullopt;
  return system_failure(kNewFormat, "renamed", errno);
}

/// The lock of a folder in temp/, a file beside it that stays: network file systems lock files, not
/// folders. Empty when another process, or this one, holds it.
Descriptor lock_of(int temp, const std::string& number) {
  const std::string name = number + std::string(kLockSuffix);
  Descriptor file(openat(temp, name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file && flock(file.get(), LOCK_EX | LOCK_NB) != 0) file.reset();
  return file;
}

/// Of a folder in temp/ whose lock the caller holds.
FileTrouble empty_folder(int temp, const std::string& number) {
  const Descriptor folder = open_entry(temp, number, O_RDONLY | O_DIRECTORY);
  if (!folder) return std::nullopt;
  const auto files = names_in(folder.get(), kMostInFolder, number);
  if (!files) return files.error();
  for (const std::string& file : files.value()) unlinkat(folder.get(), file.c_str(), 0);
  return std::nullopt;
}

/// Removes the folders in temp/ that no process holds: their processes are gone.
FileTrouble remove_unheld(int temp) {
  const auto names = names_in(temp, 2 * kMostOpenings, kTemp);
  if (!names) return names.error();
  for (const std::string& name : names.value()) {
    if (name.ends_with(kLockSuffix)) continue;
    const Descriptor lock = lock_of(temp, name);
    if (!lock) continue;
    if (auto trouble = empty_folder(temp, name)) return trouble;
    unlinkat(temp, name.c_str(), AT_REMOVEDIR);
  }
  return std::nullopt;
}

/// The object's file; nothing when there is no such regular file.
std::optional<struct stat> status_of(int folder, const std::string& name) {
  struct stat status {};
  if (fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  return status;
}

/// Waits for the disk are done by several threads: the file system's journal then takes what many
/// of them wait for at once.
constexpr std::size_t kMostThreads = 8;
constexpr std::size_t kOfThread = 4;

/// Does the step with each number below `count`, in any order; the trouble of one that had some,
/// after which no other begins.
FileTrouble for_each_at_once(std::size_t count,
                             const std::function<FileTrouble(std::size_t)>& step) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  FileTrouble trouble;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      auto failed = step(i);
      if (!failed) continue;
      next = count;
      const std::lock_guard lock(mutex);
      if (!trouble) trouble = std::move(failed);
    }
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < std::min(kMostThreads, count / kOfThread); ++i) {
    try {
      others.emplace_back(work);
    } catch (const std::system_error&) {
      break;  // the system has no thread to spare: this one does it all
    }
  }
  work();
  others.clear();
  return trouble;
}

}  // namespace

UnsettledObject::UnsettledObject(UnsettledObject&& other) noexcept
    : id(other.id), bytes(other.bytes), folder_(other.folder_), name_(std::move(other.name_)) {
  other.name_.clear();
}

UnsettledObject::~UnsettledObject() {
  // Once it is an object, no file has the name any more.
  if (!name_.empty()) unlinkat(folder_, name_.c_str(), 0);
}

Expected<std::unique_ptr<ObjectFolder>, FileError> ObjectFolder::open_in(
    const std::filesystem::path& folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return system_failure(folder.string(), "made", errno);
  }
  auto root = open_folder(folder);
  if (!root) return root.error();
  auto made = std::unique_ptr<ObjectFolder>(new ObjectFolder);
  made->root_ = std::move(root).value();
  if (auto trouble = made->prepare(folder.string())) return *trouble;
  return made;
}

ObjectFolder::~ObjectFolder() {
  // Where writers have left files, the next opening finds the folder without a lock.
  if (own_) unlinkat(temp_.get(), own_name_.c_str(), AT_REMOVEDIR);
}

FileTrouble ObjectFolder::prepare(const std::string& path) {
  if (auto fault = folder_fault(root_.get(), path)) return fault;
  if (fchmod(root_.get(), 0700) != 0) return system_failure(path, "closed to other users", errno);
  const auto lock = StoreLock::take(root_.get(), LOCK_EX);
  if (!lock) return lock.error();
  auto objects = made_folder_in(root_.get(), kObjects);
  if (!objects) return objects.error();
  objects_ = std::move(objects).value();
  if (auto trouble = make_object_folders()) return trouble;
  auto temp = made_folder_in(root_.get(), kTemp);
  if (!temp) return temp.error();
  temp_ = std::move(temp).value();
  if (!status_of(root_.get(), kFormat)) {
    if (auto trouble = write_format(root_.get())) return trouble;
  }
  // At each opening: the one that made them may have died before the disk had their names.
  if (auto trouble = sync_names()) return trouble;
  if (auto trouble = remove_unheld(temp_.get())) return trouble;
  return make_own_folder();
}

/// All at once, so that a put never waits for the name of a folder.
FileTrouble ObjectFolder::make_object_folders() {
  for (unsigned number = 0; number < 256; ++number) {
    const std::string name = name_of_folder(number);
    if (mkdirat(objects_.get(), name.c_str(), 0700) != 0 && errno != EEXIST) {
      return system_failure(name, "made", errno);
    }
  }
  return std::nullopt;
}

FileTrouble ObjectFolder::sync_names() const {
  if (auto trouble = sync(objects_.get(), kObjects)) return trouble;
  if (auto trouble = sync(root_.get(), "the store's folder")) return trouble;
  const Descriptor above(openat(root_.get(), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A folder that this user may not read is another's, who has made the store's folder in it.
  if (!above && errno == EACCES) return std::nullopt;
  if (!above) return system_failure("the folder above the store", "opened", errno);
  return sync(above.get(), "the folder above the store");
}

FileTrouble ObjectFolder::make_own_folder() {
  for (std::size_t number = 0; number < kMostOpenings; ++number) {
    const std::string name = std::to_string(number);
    Descriptor lock = lock_of(temp_.get(), name);
    if (!lock) continue;
    if (mkdirat(temp_.get(), name.c_str(), 0700) != 0 && errno != EEXIST) {
      return system_failure(name, "made", errno);
    }
    own_ = open_entry(temp_.get(), name, O_RDONLY | O_DIRECTORY);
    if (!own_) return system_failure(name, "opened", errno);
    // A process whose end was not seen yet may have left it.
    if (auto trouble = empty_folder(temp_.get(), name)) return trouble;
    own_name_ = name;
    own_lock_ = std::move(lock);
    return std::nullopt;
  }
  return Failure<FileError>{FileError::too_large, "the store is open too often at once"};
}

Expected<bool, FileError> ObjectFolder::refresh(const ContentId& id,
                                                std::optional<std::uint64_t> bytes) {
  const auto lock = StoreLock::take(root_.get(), LOCK_SH);
  if (!lock) return lock.error();
  const std::string path = path_in_objects(id);
  const auto status = status_of(objects_.get(), path);
  if (!status || (bytes && static_cast<std::uint64_t>(status->st_size) != *bytes)) return false;
  if (utimensat(objects_.get(), path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW) != 0) {
    return system_failure(path, "kept", errno);
  }
  return true;
}

Expected<bool, FileError> ObjectFolder::keep(const ContentId& id) {
  auto there = refresh(id, std::nullopt);
  if (!there || !there.value()) return there;
  // Another process may have named it without having waited for the disk yet.
  if (auto trouble = settle({}, {folder_of(id)})) return *trouble;
  return there;
}

Expected<std::uint64_t, FileError> ObjectFolder::size(const ContentId& id) const {
  const auto status = status_of(objects_.get(), path_in_objects(id));
  if (!status) return no_such_object(id);
  return static_cast<std::uint64_t>(status->st_size);
}

Expected<Descriptor, FileError> ObjectFolder::open_read(const ContentId& id) {
  Descriptor file = open_entry(objects_.get(), path_in_objects(id), O_RDONLY);
  if (!file && errno == ENOENT) return no_such_object(id);
  if (!file) return system_failure(path_in_objects(id), "opened", errno);
  return file;
}

FileTrouble ObjectFolder::check(const ContentId& id) {
  const auto file = open_read(id);
  if (!file) return file.error();
  struct stat status {};
  if (fstat(file->get(), &status) != 0) return system_failure(id.text(), "looked at", errno);
  HashingSink hashing;
  const auto found = hashing.put(file->get(), static_cast<std::uint64_t>(status.st_size), {});
  if (!found && found.error().code != FileError::changed) return found.error();
  if (found && found.value() == id) return std::nullopt;
  const auto lock = StoreLock::take(root_.get(), LOCK_EX);
  if (!lock) return lock.error();
  // Another process may have put the content anew, which is then another file.
  const auto now = status_of(objects_.get(), path_in_objects(id));
  if (now && now->st_ino == status.st_ino) {
    unlinkat(objects_.get(), path_in_objects(id).c_str(), 0);
  }
  return Failure<FileError>{
      FileError::damaged,
      fmt::format("the content {} was damaged on the disk and is removed", id.text())};
}

FileTrouble ObjectFolder::settle(std::span<UnsettledObject> written,
                                 std::set<std::string> folders) {
  // All are written before the first is named: the disk's journal then has most of them at once.
  std::vector<const UnsettledObject*> fresh;
  for (const UnsettledObject& object : written) {
    folders.insert(folder_of(object.id));
    const auto there = refresh(object.id, object.bytes);
    if (!there) return there.error();
    if (!there.value()) fresh.push_back(&object);
  }
  const auto write = [&](std::size_t i) { return write_out(*fresh[i]); };
  if (auto trouble = for_each_at_once(fresh.size(), write)) return trouble;
  for (const UnsettledObject* object : fresh) {
    if (auto trouble = give_name(*object)) return trouble;
  }
  const std::vector<std::string> names(folders.begin(), folders.end());
  return for_each_at_once(names.size(), [&](std::size_t i) -> FileTrouble {
    const Descriptor folder = open_entry(objects_.get(), names[i], O_RDONLY | O_DIRECTORY);
    if (!folder) return system_failure(names[i], "opened", errno);
    return sync(folder.get(), names[i]);
  });
}

FileTrouble ObjectFolder::write_out(const UnsettledObject& object) const {
  const Descriptor file = open_entry(own_.get(), object.name(), O_RDONLY);
  if (!file) return system_failure(object.name(), "opened", errno);
  if (auto trouble = sync(file.get(), object.name())) return trouble;
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return system_failure(object.name(), "looked at", errno);
  if (static_cast<std::uint64_t>(status.st_size) == object.bytes) return std::nullopt;
  return Failure<FileError>{FileError::damaged,
                            fmt::format("the content {} has {} bytes on the disk, and {} were "
                                        "written",
                                        object.id.text(), status.st_size, object.bytes)};
}

FileTrouble ObjectFolder::give_name(const UnsettledObject& object) {
  const auto lock = StoreLock::take(root_.get(), LOCK_SH);
  if (!lock) return lock.error();
  const char* name = object.name().c_str();
  // It is put now, however long ago its last byte was written: a sweep looks at this time.
  if (utimensat(own_.get(), name, nullptr, AT_SYMLINK_NOFOLLOW) != 0) {
    return system_failure(name, "given its time", errno);
  }
  const std::string path = path_in_objects(object.id);
  if (renameat(own_.get(), name, objects_.get(), path.c_str()) == 0) return std::nullopt;
  return system_failure(path, "named", errno);
}

FileTrouble ObjectFolder::visit(const ContentId& from, const Visit& visit) const {
  for (unsigned number = from.bytes()[0]; number < 256; ++number) {
    const std::string name = name_of_folder(number);
    const Descriptor folder = open_entry(objects_.get(), name, O_RDONLY | O_DIRECTORY);
    if (!folder && errno == ENOENT) continue;
    if (!folder) return system_failure(name, "opened", errno);
    const auto files = names_in(folder.get(), kMostInFolder, name);
    if (!files) return files.error();
    for (const std::string& file : files.value()) {
      const auto id = ContentId::parse(name + file);
      if (!id || id.value() < from) continue;
      const auto goes_on = visit(folder.get(), id.value());
      if (!goes_on) return goes_on.error();
      if (!goes_on.value()) return std::nullopt;
    }
  }
  return std::nullopt;
}

Expected<ObjectUsage, FileError> ObjectFolder::usage() const {
  ObjectUsage found;
  const auto trouble = visit({}, [&](int folder, const ContentId& id) -> Expected<bool, FileError> {
    if (const auto status = status_of(folder, file_name(id))) {
      const auto bytes = static_cast<std::uint64_t>(status->st_size);
      ++found.objects;
      found.bytes += bytes;
      found.counted_bytes += counted_bytes(bytes);
    }
    return true;
  });
  if (trouble) return *trouble;
  return found;
}

Expected<bool, FileError> ObjectFolder::remove_old(int folder, const ContentId& id,
                                                   const SweepOrder& order) {
  const auto lock = StoreLock::take(root_.get(), LOCK_EX | LOCK_NB);
  if (!lock) return lock.error();
  if (!lock->locked()) return false;
  // Looked at again under the lock: it may have been put meanwhile.
  const auto status = status_of(folder, file_name(id));
  const std::int64_t limit_ns = order.older_than.time_since_epoch().count();
  if (!status || nanoseconds_of(status->st_mtim) >= limit_ns) return false;
  if (unlinkat(folder, file_name(id).c_str(), 0) != 0) {
    return system_failure(id.text(), "removed", errno);
  }
  return true;
}

Expected<SweepStep, FileError> ObjectFolder::sweep(const SweepOrder& order) {
  SweepStep step;
  std::size_t looked_at = 0;
  const auto look = [&](int folder, const ContentId& id) -> Expected<bool, FileError> {
    if (looked_at == order.most) {
      step.next = id;
      return false;
    }
    ++looked_at;
    const auto status = status_of(folder, file_name(id));
    if (!status) return true;
    const auto bytes = static_cast<std::uint64_t>(status->st_size);
    ++step.seen.objects;
    step.seen.bytes += bytes;
    step.seen.counted_bytes += counted_bytes(bytes);
    const std::int64_t limit_ns = order.older_than.time_since_epoch().count();
    if (nanoseconds_of(status->st_mtim) >= limit_ns || order.keep(id)) return true;
    const auto removed = remove_old(folder, id, order);
    if (!removed) return removed.error();
    step.removed.objects += removed.value() ? 1 : 0;
    step.removed.bytes += removed.value() ? bytes : 0;
    step.removed.counted_bytes += removed.value() ? counted_bytes(bytes) : 0;
    return true;
  };
  if (auto trouble = visit(order.from, look)) return *trouble;
  if (step.next) return step;
  // The end of a sweep is also the time to remove what processes that are gone have left.
  const auto lock = StoreLock::take(root_.get(), LOCK_EX | LOCK_NB);
  if (!lock) return lock.error();
  if (lock->locked()) {
    if (auto trouble = remove_unheld(temp_.get())) return *trouble;
  }
  return step;
}

}  // namespace muster::files
