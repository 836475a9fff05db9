// How a store is opened: first as it lies there, without changing anything, so that one that has
// lost something is refused as it was found.

#include <fmt/format.h>
#include <rocksdb/env.h>
#include <rocksdb/sst_file_reader.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include "storage/stores/store_database.hpp"

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMetaKey = "store";
/// In Family::meta: the store has a mark.
constexpr std::string_view kMarked = "marked";
/// A store that is being written may change its files while they are opened for reading.
constexpr int kReadOnlyTries = 20;
constexpr auto kReadOnlyPause = std::chrono::milliseconds{50};
/// For whole tables: larger pieces are read at the pace of the disk.
constexpr std::size_t kReadAhead = std::size_t{2} << 20;

/// The types of both; where a name is in both, the first one's.
Catalog joined(const Catalog& first, const Catalog& second) {
  std::vector<InstanceType> types = first.types();
  for (const InstanceType& type : second.types()) {
    if (!first.find(type.name)) types.push_back(type);
  }
  return Catalog{std::move(types)};
}

Failure<StoreError> damage(const std::string& what) {
  return {StoreError::corrupt, what + std::string(kWhatToDo)};
}

/// The first table that cannot be opened; RocksDB blames the manifest for it.
std::string bad_table(const fs::path& folder) {
  for (const auto& [number, table] : tables_in(folder)) {
    rocksdb::SstFileReader reader(database_options(OpenAs::reader, 0));
    if (!reader.Open(table.string()).ok()) return table.filename().string();
  }
  return {};
}

/// RocksDB's error for a store that it does not open, with the name of the file that is meant:
/// RocksDB names logs by number only, and a table that is gone by the name that it last tried.
Failure<StoreError> opening_failure(const fs::path& folder, const rocksdb::Status& status,
                                    StoreError otherwise) {
  Failure<StoreError> failed = failure(folder, status, otherwise);
  if (failed.code != StoreError::corrupt && !status.IsNotFound() && !status.IsPathNotFound()) {
    return failed;
  }
  std::string& text = failed.message;
  constexpr std::string_view kLogNumber = "log number: ";
  const bool names_none = text.find(".sst") == std::string::npos &&
                          text.find(".log") == std::string::npos &&
                          text.find("MANIFEST") == std::string::npos;
  if (const auto old = text.find(".ldb"); old != std::string::npos) {
    while (text.find(".ldb") != std::string::npos) text.replace(text.find(".ldb"), 4, ".sst");
  } else if (const auto log = text.find(kLogNumber); log != std::string::npos) {
    // The manifest says which logs are done with, so it may be the one that has lost something.
    text += fmt::format(" ({:06}.log, unless {} has lost its end)",
                        std::strtoull(&text[log + kLogNumber.size()], nullptr, 10),
                        Manifest::current(folder).path().filename().string());
  } else if (const std::string table = bad_table(folder); names_none) {
    // So it speaks of logs. A table that cannot be opened may be one that a crash left unfinished.
    text += " (" + log_names(folder) + (table.empty() ? "" : ", unless it is " + table) + ")";
  } else if (!table.empty()) {
    text += " (" + table + ")";
  } else if (text.find(".sst") == std::string::npos && text.find(".log") == std::string::npos) {
    text += " (" + log_names(folder) + ")";
  }
  return damage(text);
}

/// Whether somebody has the store open.
StoreTrouble lock_trouble(const fs::path& folder) {
  rocksdb::Env* env = rocksdb::Env::Default();
  rocksdb::FileLock* lock = nullptr;
  const rocksdb::Status status = env->LockFile((folder / "LOCK").string(), &lock);
  if (!status.ok()) return failure(folder, status, StoreError::unwritable);
  env->UnlockFile(lock);
  return std::nullopt;
}

}  // namespace

Store::Store(fs::path directory, const StoreOptions& options)
    : directory_(std::move(directory)),
      meta_(options.meta),
      read_only_(options.read_only),
      log_bytes_(options.log_bytes),
      database_(std::make_unique<Database>()) {}

Store::~Store() {
  // Never opened for writing, or not that far: then there is no mark of this process to bring up
  // to date.
  if (!mark_.is_open()) return;
  database_->close();
  // After the database is closed, which may have added to the manifest.
  keep_mark(false, {});
}

Expected<std::unique_ptr<Store>, StoreError> Store::open(const fs::path& directory,
                                                         const StoreOptions& options) {
  auto store = std::unique_ptr<Store>(new Store(directory, options));
  auto trouble = options.read_only ? store->open_to_read() : store->open_to_write(options);
  if (trouble) return *std::move(trouble);
  if (!options.read_only) store->reserve_.begin(directory, options.reserve_bytes);
  return store;
}

/// The manifest tells of the writer's changes meanwhile: a log that is gone is in the tables of a
/// manifest that has grown.
StoreTrouble Store::open_to_read() {
  switch (state_of(directory_)) {
    case FolderState::empty:
      return failure(StoreError::unreadable, directory_, "there is no store here");
    case FolderState::unfinished:
      return failure(StoreError::unreadable, directory_,
                     "the making of this store was not completed");
    case FolderState::headless:
      return damage((directory_ / "CURRENT").string() + " is missing");
    case FolderState::store:
      break;
  }
  for (int tries = 1;; ++tries) {
    const Manifest before = Manifest::current(directory_);
    const std::uint64_t size = before.size();
    StoreTrouble trouble = try_to_read();
    const Manifest after = Manifest::current(directory_);
    // The failure is trusted only when the writer has left the manifest alone meanwhile;
    // otherwise it may come from files that were replaced between two looks.
    const bool same = before.number() == after.number() && size == after.size();
    if (same || tries == kReadOnlyTries) return trouble;
    database_->close();
    std::this_thread::sleep_for(kReadOnlyPause);  // NOLINT: a command waits, no actor
  }
}

/// The mark first: the store is never behind it.
StoreTrouble Store::try_to_read() {
  const Manifest manifest = Manifest::current(directory_);
  if (manifest.size() == 0) {
    return damage(fmt::format("{} names no manifest that is there ({})",
                              (directory_ / "CURRENT").string(),
                              manifest.path().filename().string()));
  }
  const auto mark = read_mark(directory_);
  if (!mark) return mark.error();
  if (mark.value()) {
    reached_ = mark.value()->reached;
    if (const std::string fault = manifest_fault(directory_, *mark.value()); !fault.empty()) {
      return damage(fault);
    }
  }
  const auto status =
      database_->open_to_read(directory_, database_options(OpenAs::reader, log_bytes_));
  if (!status.ok()) return opening_failure(directory_, status, StoreError::unreadable);
  // RocksDB 7.8 leaves damaged blocks out without a word when it merges tables.
  rocksdb::ReadOptions whole_files;
  whole_files.readahead_size = kReadAhead;
  if (const auto sums = database_->db->VerifyChecksum(whole_files); !sums.ok()) {
    return opening_failure(directory_, sums, StoreError::unreadable);
  }
  if (auto trouble = check_mark(mark.value())) return trouble;
  const auto bytes = get(Family::meta, kMetaKey);
  if (!bytes) return bytes.error();
  if (!bytes->has_value()) {
    return failure(StoreError::unreadable, directory_, "this is no store of Muster");
  }
  auto found = decode_meta(*bytes.value());
  if (!found) return failure(found.error().code, directory_, found.error().message);
  meta_ = std::move(found).value();
  return std::nullopt;
}

/// Whether all that was durable has been found.
StoreTrouble Store::check_mark(const std::optional<StoreMark>& mark) const {
  if (!mark) {
    const auto marked = get(Family::meta, kMarked);
    if (!marked) return marked.error();
    if (!marked->has_value()) return std::nullopt;  // of a version that had no mark
    return damage((directory_ / kMarkFile).string() + " is missing, which this store has had");
  }
  const std::uint64_t last = database_->db->GetLatestSequenceNumber();
  if (last < mark->sequence) {
    const fs::path log = directory_ / fmt::format("{:06}.log", mark->log);
    const auto logs = logs_in(directory_);
    const char* what = logs.contains(mark->log) ? "has lost its end" : "is missing";
    return damage(fmt::format("{} {}: the store goes to change {}, and {} was durable",
                              log.string(), what, last, mark->sequence));
  }
  if (const std::string fault = log_fault(directory_); !fault.empty()) return damage(fault);
  return std::nullopt;
}

StoreTrouble Store::open_to_write(const StoreOptions& options) {
  const FolderState state = state_of(directory_);
  if (state == FolderState::empty && !options.may_make) {
    return failure(StoreError::unreadable, directory_,
                   "there is no store here, and a new one is made only by a node that is started "
                   "with --new-store. If there has been one, look where it is or put a backup in "
                   "its place (docs/storage.md)");
  }
  std::error_code error;
  fs::create_directories(directory_, error);
  if (error) return failure(StoreError::unwritable, directory_, error.message());
  fs::permissions(directory_, fs::perms::owner_all, error);
  if (error) return failure(StoreError::unwritable, directory_, error.message());
  if (state == FolderState::empty || state == FolderState::unfinished) return make(options);
  if (auto trouble = lock_trouble(directory_)) return trouble;
  {
    // RocksDB repairs what it can while it opens for writing, so a store that has lost something
    // has to be found out before that.
    StoreOptions look = options;
    look.read_only = true;
    const auto found = open(directory_, look);
    if (!found) return found.error();
  }
  if (auto trouble = open_database(false)) return trouble;
  if (auto trouble = begin_mark()) return trouble;
  return settle_meta();
}

/// A store in the making counts as absent, and may be removed, until all that it begins with is
/// durable.
StoreTrouble Store::make(const StoreOptions& options) {
  auto making = MakingOf::begin(directory_);
  if (!making) {
    if (auto trouble = lock_trouble(directory_)) return trouble;
    return failure(StoreError::locked, directory_,
                   "another process is making this store or has just made it");
  }
  if (auto trouble = lock_trouble(directory_)) return trouble;
  if (!making->clear()) {
    return failure(StoreError::unwritable, directory_,
                   "files of an earlier start cannot be removed");
  }
  if (auto trouble = open_database(true)) return trouble;
  if (auto trouble = begin_mark()) return trouble;
  if (auto trouble = settle_meta()) return trouble;
  // Before finish(): a store without what it is to begin with counts as not made.
  if (options.fill) {
    if (auto trouble = options.fill(*this)) return trouble;
  }
  if (making->finish()) return std::nullopt;
  return failure(StoreError::unwritable, directory_, "the new store cannot be written");
}

StoreTrouble Store::open_database(bool make) {
  const OpenAs as = make ? OpenAs::maker : OpenAs::writer;
  const auto status = database_->open(directory_, database_options(as, log_bytes_));
  if (status.ok()) {
    manifest_ = Manifest::current(directory_);
    return std::nullopt;
  }
  return opening_failure(directory_, status,
                         make ? StoreError::unwritable : StoreError::unreadable);
}

/// Opening has written down for good all that it found. A store of before marks gets its own here,
/// and says so only when it has it.
StoreTrouble Store::begin_mark() {
  auto opened = MarkFile::open(directory_, {});
  if (!opened) return opened.error();
  mark_ = std::move(opened).value();
  reached_ = mark_.last().reached;
  // Opening has replayed the log: every change that it found is durable from here on.
  keep_mark(true, {});
  const auto marked = get(Family::meta, kMarked);
  if (!marked) return marked.error();
  if (marked->has_value()) return std::nullopt;
  StoreBatch batch;
  batch.put(Family::meta, kMarked, encode_number(1));
  return write(batch, Durability::machine);
}

/// Compares what the store says of itself; a new store is told. Of the catalogs it keeps every type
/// that it was ever opened with, for records may name them all.
StoreTrouble Store::settle_meta() {
  const auto bytes = get(Family::meta, kMetaKey);
  if (!bytes) return bytes.error();
  StoreMeta written = meta_;
  if (bytes->has_value()) {
    auto found = decode_meta(*bytes.value());
    if (!found) return failure(found.error().code, directory_, found.error().message);
    if (found->kind != meta_.kind || found->cluster != meta_.cluster) {
      const std::string what =
          fmt::format("this is the store of {} of cluster \"{}\", not of {} of cluster \"{}\"",
                      found->kind, found->cluster, meta_.kind, meta_.cluster);
      return failure(StoreError::wrong_kind, directory_, what);
    }
    written.catalog = joined(meta_.catalog, found->catalog);
  }
  const std::string record = encode_meta(written);
  // The usual start changes nothing and costs no wait for the disk.
  if (bytes.value() == record) return std::nullopt;
  StoreBatch batch;
  batch.put(Family::meta, kMetaKey, record);
  return write(batch, Durability::machine);
}

/// After a failed write RocksDB takes no other until its log and its tables agree again: opening it
/// anew makes them agree, whatever it was that failed.
StoreTrouble Store::revive() {
  const std::unique_lock lock(database_->mutex);
  // Asked again under the lock: several writers may have seen it, and the first has mended it.
  if (!database_->ailing) return std::nullopt;
  database_->close();
  const auto status = database_->open(directory_, database_options(OpenAs::writer, log_bytes_));
  StoreTrouble trouble;
  if (!status.ok()) {
    trouble = failure(directory_, status, StoreError::unwritable);
  } else if (database_->db->GetLatestSequenceNumber() < mark_.last().sequence) {
    trouble = damage(directory_.string() + ": its log has lost what was durable");
  }
  if (trouble) {
    database_->close();
    return trouble;
  }
  manifest_ = Manifest::current(directory_);
  database_->ailing = false;
  return std::nullopt;
}

}  // namespace muster
