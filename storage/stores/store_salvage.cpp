#include "storage/stores/store_salvage.hpp"

#include <fmt/format.h>
#include <rocksdb/env.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "storage/stores/damaged_log.hpp"
#include "storage/stores/salvage_records.hpp"
#include "storage/stores/store_backup.hpp"
#include "storage/stores/store_check.hpp"
#include "storage/stores/store_database.hpp"

// The steps of a salvage: the files are copied while no process can open the store, the copy is
// mended and read, and the new store is made of it at one stroke.

namespace muster {
namespace {

namespace fs = std::filesystem;

/// Room for a store's logs, beside the copy and the new store.
constexpr std::uintmax_t kSpare = std::uintmax_t{64} << 20;

/// A folder beside the new store that goes away with the object.
class ScratchFolder {
 public:
  explicit ScratchFolder(const fs::path& beside) : path_(beside.string() + ".salvage-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code bad;
    if (!path_.empty()) fs::remove_all(path_, bad);
  }
  /// Empty: it could not be made.
  fs::path path() const { return path_; }

 private:
  std::string path_;
};

/// No process can write there, nor take a lock, which needs the right to write.
bool is_mounted_read_only(const fs::path& folder) {
  struct statvfs disk {};
  return ::statvfs(folder.c_str(), &disk) == 0 && (disk.f_flag & ST_RDONLY) != 0;
}

/// RocksDB's lock of a store: no other process opens it as long as this lives.
class HeldLock {
 public:
  explicit HeldLock(const fs::path& folder) {
    std::error_code bad;
    // Without the file no process has it open, and to lock it would be to write into the folder.
    const fs::path file = folder / "LOCK";
    if (!fs::exists(file, bad) || is_mounted_read_only(folder)) return;
    status_ = rocksdb::Env::Default()->LockFile(file.string(), &lock_);
  }
  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;
  ~HeldLock() {
    if (lock_ != nullptr) rocksdb::Env::Default()->UnlockFile(lock_);
  }
  const rocksdb::Status& status() const { return status_; }

 private:
  rocksdb::Status status_;
  rocksdb::FileLock* lock_ = nullptr;
};

bool is_inside(const fs::path& path, const fs::path& folder) {
  std::error_code bad;
  const fs::path inner = fs::weakly_canonical(path, bad);
  const fs::path outer = fs::weakly_canonical(folder, bad);
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

StoreTrouble check_folders(const SalvageOrder& order) {
  const FolderState state = state_of(order.from);
  if (state == FolderState::empty || state == FolderState::unfinished) {
    return failure(StoreError::unreadable, order.from, "there is no store here");
  }
  if (is_inside(order.to, order.from)) {
    return failure(StoreError::unwritable, order.to, "is in the folder of the damaged store");
  }
  std::error_code bad;
  if (fs::exists(order.to, bad) && !fs::is_empty(order.to, bad) &&
      state_of(order.to) != FolderState::unfinished) {
    return failure(StoreError::unwritable, order.to, "it is not empty");
  }
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(order.from, bad)) {
    const std::uintmax_t size = entry.file_size(bad);
    if (!bad) bytes += size;
  }
  const std::uintmax_t wanted = 2 * bytes + kSpare;
  const fs::path parent = fs::absolute(order.to, bad).parent_path();
  fs::create_directories(parent, bad);
  const fs::space_info room = fs::space(parent, bad);
  if (bad) return failure(StoreError::unwritable, parent, bad.message());
  if (room.available >= wanted) return std::nullopt;
  constexpr std::uintmax_t kMib = std::uintmax_t{1} << 20;
  return failure(StoreError::no_space, parent,
                 fmt::format("{} MiB are free, and {} MiB are needed for a copy of the store and "
                             "the new one",
                             room.available / kMib, (wanted + kMib - 1) / kMib));
}

/// Copies the files of the store; one that cannot be read as a whole is lost from there on.
void copy_files(const fs::path& from, const fs::path& to, SalvageLosses& losses) {
  std::error_code bad;
  for (const auto& entry : fs::directory_iterator(from, bad)) {
    const fs::path name = entry.path().filename();
    // The reserve has no record, and the lock is this process's.
    if (!entry.is_regular_file(bad) || name == "LOCK" || name == "reserve") continue;
    if (!fs::copy_file(entry.path(), to / name, bad)) {
      losses.add({name.string(), "cannot be read: " + bad.message()});
    }
  }
}

Expected<std::unique_ptr<Store>, StoreError> open_reader(const fs::path& folder) {
  StoreOptions options;
  options.read_only = true;
  return Store::open(folder, options);
}

/// The copy of a store that is whole.
Expected<SalvageReport, StoreError> copy_whole(const Store& store, const fs::path& to) {
  if (auto trouble = copy_store(store, to, CopyFor::use)) return *std::move(trouble);
  SalvageReport report;
  report.meta = store.meta();
  for (std::size_t family = 0; family < kFamilies; ++family) {
    const auto count = [&](std::string_view, std::string_view) {
      return ++report.kept[family] > 0;
    };
    if (auto trouble = store.scan(static_cast<Family>(family), {}, count)) {
      return *std::move(trouble);
    }
  }
  return report;
}

/// Reads the copy, which is damaged, and makes the new store.
Expected<SalvageReport, StoreError> make_of_damaged(const fs::path& copy, const SalvageOrder& order,
                                                    SalvageLosses& losses) {
  SalvageFacts facts;
  if (const auto mark = read_mark(copy); mark && mark.value()) facts.mark = *mark.value();
  if (!facts.mark) {
    losses.add({kMarkFile, "cannot be read: how far the store had come is not known"});
  }
  const bool rebuild = state_of(copy) == FolderState::headless ||
                       Manifest::current(copy).size() == 0 ||
                       (facts.mark && !manifest_fault(copy, *facts.mark).empty());
  const auto logs = mend_logs(copy);
  if (!logs) return logs.error();
  const auto tables = DamagedTables::open(copy, rebuild);
  if (!tables) return tables.error();
  facts.rebuilt = tables.value()->rebuilt();
  if (facts.rebuilt) {
    losses.add({"MANIFEST",
                "the list of tables cannot be used: it was made anew, and records that "
                "had been erased may be there again"});
  }
  for (const LogLoss& loss : logs->lost) {
    losses.add_changes(loss.log, loss.from, loss.until);
  }
  const std::uint64_t last = tables.value()->last_change();
  if (facts.mark && last < facts.mark->sequence) {
    losses.add_changes(fmt::format("{:06}.log", facts.mark->log), last + 1,
                       facts.mark->sequence + 1);
  }
  return salvage_records(*tables.value(), facts, order, losses);
}

}  // namespace

Expected<SalvageReport, StoreError> salvage_store(const SalvageOrder& order) {
  if (auto trouble = check_folders(order)) return *std::move(trouble);
  SalvageLosses losses;
  const ScratchFolder scratch(order.to);
  if (scratch.path().empty()) {
    return failure(StoreError::unwritable, order.to, "no folder can be made beside it");
  }
  {
    const HeldLock lock(order.from);
    if (!lock.status().ok()) {
      return failure(order.from, lock.status(), StoreError::unwritable);
    }
    copy_files(order.from, scratch.path(), losses);
  }
  {
    const auto store = open_reader(scratch.path());
    if (!store && store.error().code == StoreError::newer_format) return store.error();
    if (store) {
      const StoreReport found = check_store(*store.value());
      if (found.problems.empty() && losses.empty()) return copy_whole(*store.value(), order.to);
      for (const std::string& problem : found.problems) losses.add({"store", problem});
    } else {
      // Without the way out, of which this is one.
      std::string why = store.error().message.substr(0, store.error().message.find(kWhatToDo));
      for (const char* end : {"/", ": "}) {
        const std::string folder = scratch.path().string() + end;
        for (auto at = why.find(folder); at != why.npos; at = why.find(folder)) {
          why.erase(at, folder.size());
        }
      }
      losses.add({"store", "is refused as it is: " + why});
    }
  }
  return make_of_damaged(scratch.path(), order, losses);
}

}  // namespace muster
