#include "storage/store.hpp"

#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdarg>
#include <shared_mutex>
#include <thread>
#include <utility>
#include <vector>

#include "model/check.hpp"

namespace muster {
namespace {

constexpr std::string_view kMetaKey = "store";
constexpr std::size_t kCacheBytes = std::size_t{16} << 20;
constexpr std::size_t kManifestBytes = std::size_t{64} << 10;
/// A store that is being written may change its files while they are opened for reading.
constexpr int kReadOnlyTries = 5;
constexpr auto kReadOnlyPause = std::chrono::milliseconds{50};

rocksdb::Slice slice(std::string_view bytes) {
  return {bytes.data(), bytes.size()};
}

std::size_t index_of(Family family) {
  return static_cast<std::size_t>(family);
}

Failure<StoreError> failure(StoreError code, const std::filesystem::path& where,
                            const std::string& what) {
  return {code, fmt::format("{}: {}", where.string(), what)};
}

/// What RocksDB says, in the house's words. `otherwise` is for what is not told apart.
Failure<StoreError> failure(const std::filesystem::path& where, const rocksdb::Status& status,
                            StoreError otherwise) {
  const std::string text = status.ToString();
  if (status.IsNoSpace() || text.find("No space left") != std::string::npos ||
      text.find("File too large") != std::string::npos) {
    return failure(StoreError::no_space, where, "the disk is full (" + text + ")");
  }
  if (text.find("lock hold") != std::string::npos ||
      (text.find("LOCK") != std::string::npos && text.find("unavailable") != std::string::npos)) {
    return failure(StoreError::locked, where, "another process has this store open");
  }
  if (text.find("Column families not opened") != std::string::npos) {
    return failure(StoreError::newer_format, where, "written by a later version (" + text + ")");
  }
  if (status.IsCorruption()) return failure(StoreError::corrupt, where, text);
  return failure(otherwise, where, text);
}

/// RocksDB's own log lies beside the data, and its assertions end the process when it cannot be
/// written because the disk is full. What matters is in the statuses.
class SilentLogger final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

rocksdb::Options database_options(bool create, std::size_t log_bytes) {
  rocksdb::Options options;
  options.create_if_missing = create;
  options.create_missing_column_families = create;
  options.max_total_wal_size = log_bytes;
  options.write_buffer_size = log_bytes;
  options.max_open_files = 256;
  options.info_log = std::make_shared<SilentLogger>();
  options.manifest_preallocation_size = kManifestBytes;
  options.track_and_verify_wals_in_manifest = create;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(kCacheBytes);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

/// The types of both; where a name is in both, the first one's.
Catalog joined(const Catalog& first, const Catalog& second) {
  std::vector<InstanceType> types = first.types();
  for (const InstanceType& type : second.types()) {
    if (!first.find(type.name)) types.push_back(type);
  }
  return Catalog{std::move(types)};
}

}  // namespace

std::string_view name_of(Family family) {
  static constexpr std::array<std::string_view, kFamilies> kNames = {
      "meta",   "journal",   "snapshots", "history", "places",  "objects", "handoffs",
      "tokens", "instances", "spent",     "ended",   "cancels", "charged", "forwarded"};
  return kNames[index_of(family)];
}

std::string key_of(std::uint64_t number) {
  std::string key(8, '\0');
  for (int i = 0; i < 8; ++i)
    key[static_cast<std::size_t>(i)] = static_cast<char>(number >> (56 - 8 * i));
  return key;
}

std::optional<std::uint64_t> number_of(std::string_view key) {
  if (key.size() != 8) return std::nullopt;
  std::uint64_t number = 0;
  for (const char c : key) number = number << 8 | static_cast<unsigned char>(c);
  return number;
}

/// RocksDB's handles. Everything but opening it anew takes the lock shared.
struct Store::Database {
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;  ///< by Family; null: the store has none
  mutable std::shared_mutex mutex;
  std::atomic<bool> ailing{false};  ///< a write failed; the next one has to revive it

  Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database() { close(); }

  void close() {
    if (!db) return;
    for (rocksdb::ColumnFamilyHandle* handle : handles) {
      if (handle != nullptr) db->DestroyColumnFamilyHandle(handle);
    }
    handles.clear();
    db.reset();
  }

  rocksdb::Status open(const std::string& directory, const rocksdb::Options& options) {
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    families.emplace_back(rocksdb::kDefaultColumnFamilyName, options);
    for (std::size_t i = 1; i < kFamilies; ++i) {
      families.emplace_back(std::string(name_of(static_cast<Family>(i))), options);
    }
    rocksdb::DB* opened = nullptr;
    rocksdb::Status status = rocksdb::DB::Open(options, directory, families, &handles, &opened);
    db.reset(opened);
    return status;
  }

  rocksdb::Status open_to_read(const std::string& directory, const rocksdb::Options& options) {
    std::vector<std::string> names;
    rocksdb::Status status = rocksdb::DB::ListColumnFamilies(options, directory, &names);
    if (!status.ok()) return status;
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    families.reserve(names.size());
    for (const std::string& name : names) families.emplace_back(name, options);
    std::vector<rocksdb::ColumnFamilyHandle*> opened_handles;
    rocksdb::DB* opened = nullptr;
    status = rocksdb::DB::OpenForReadOnly(options, directory, families, &opened_handles, &opened);
    db.reset(opened);
    if (!status.ok()) return status;
    handles.assign(kFamilies, nullptr);
    for (rocksdb::ColumnFamilyHandle* handle : opened_handles) adopt(handle);
    return status;
  }

  void adopt(rocksdb::ColumnFamilyHandle* handle) {
    for (std::size_t i = 0; i < kFamilies; ++i) {
      const std::string_view name = i == 0 ? std::string_view(rocksdb::kDefaultColumnFamilyName)
                                           : name_of(static_cast<Family>(i));
      if (handle->GetName() == name) {
        handles[i] = handle;
        return;
      }
    }
    db->DestroyColumnFamilyHandle(handle);  // a later version's
  }
};

/// The changes in the order of the calls: handles are not known before the batch is written.
struct StoreBatch::Content {
  struct Change {
    enum class Kind : std::uint8_t { put, erase, erase_range };
    Kind kind;
    Family family;
    std::string key;
    std::string value;  ///< or the end of the range
  };
  std::vector<Change> changes;
};

StoreBatch::StoreBatch() : content_(std::make_unique<Content>()) {}
StoreBatch::~StoreBatch() = default;
StoreBatch::StoreBatch(StoreBatch&&) noexcept = default;
StoreBatch& StoreBatch::operator=(StoreBatch&&) noexcept = default;

void StoreBatch::put(Family family, std::string_view key, std::string value) {
  content_->changes.push_back(
      {Content::Change::Kind::put, family, std::string(key), std::move(value)});
}
void StoreBatch::erase(Family family, std::string_view key) {
  content_->changes.push_back({Content::Change::Kind::erase, family, std::string(key), {}});
}
void StoreBatch::erase_range(Family family, std::string_view from, std::string_view until) {
  content_->changes.push_back(
      {Content::Change::Kind::erase_range, family, std::string(from), std::string(until)});
}
bool StoreBatch::empty() const {
  return content_->changes.empty();
}

Store::Store(std::filesystem::path directory, const StoreOptions& options)
    : directory_(std::move(directory)),
      meta_(options.meta),
      read_only_(options.read_only),
      log_bytes_(options.log_bytes),
      database_(std::make_unique<Database>()) {}

Store::~Store() = default;

Expected<std::unique_ptr<Store>, StoreError> Store::open(const std::filesystem::path& directory,
                                                         const StoreOptions& options) {
  auto store = std::unique_ptr<Store>(new Store(directory, options));
  if (auto trouble = store->open_database()) return *std::move(trouble);
  if (auto trouble = store->settle_meta()) return *std::move(trouble);
  return store;
}

StoreTrouble Store::open_database() {
  std::error_code error;
  const bool there = std::filesystem::exists(directory_ / "CURRENT", error);
  if (read_only_) {
    if (!there) return failure(StoreError::unreadable, directory_, "there is no store here");
    rocksdb::Status status;
    for (int i = 0; i < kReadOnlyTries; ++i) {
      status = database_->open_to_read(directory_, database_options(false, log_bytes_));
      if (status.ok()) return std::nullopt;
      std::this_thread::sleep_for(kReadOnlyPause);  // NOLINT: a command waits, no actor
    }
    return failure(directory_, status, StoreError::unreadable);
  }
  std::filesystem::create_directories(directory_, error);
  if (error) return failure(StoreError::unwritable, directory_, error.message());
  std::filesystem::permissions(directory_, std::filesystem::perms::owner_all, error);
  if (error) return failure(StoreError::unwritable, directory_, error.message());
  const auto status = database_->open(directory_, database_options(true, log_bytes_));
  if (status.ok()) return std::nullopt;
  return failure(directory_, status, there ? StoreError::unreadable : StoreError::unwritable);
}

/// Reads what the store says of itself and compares; a new store is told. Of the catalogs it keeps
/// every type that it was ever opened with, for records may name them all.
StoreTrouble Store::settle_meta() {
  const auto bytes = get(Family::meta, kMetaKey);
  if (!bytes) return bytes.error();
  StoreMeta written = meta_;
  if (bytes.value().has_value()) {
    auto found = decode_meta(*bytes.value());
    if (!found) return failure(found.error().code, directory_, found.error().message);
    if (read_only_) {
      meta_ = std::move(found).value();
      return std::nullopt;
    }
    if (found->kind != meta_.kind || found->cluster != meta_.cluster) {
      const std::string what =
          fmt::format("this is the store of {} of cluster \"{}\", not of {} of cluster \"{}\"",
                      found->kind, found->cluster, meta_.kind, meta_.cluster);
      return failure(StoreError::wrong_kind, directory_, what);
    }
    written.catalog = joined(meta_.catalog, found->catalog);
  } else if (read_only_) {
    return failure(StoreError::unreadable, directory_, "this is no store of Muster");
  }
  const std::string record = encode_meta(written);
  if (bytes.value() == record) return std::nullopt;
  StoreBatch batch;
  batch.put(Family::meta, kMetaKey, record);
  return write(batch, Durability::machine);
}

StoreTrouble Store::write(const StoreBatch& batch, Durability durability) {
  MUSTER_CHECK(!read_only_, "a store that was opened for reading is not written");
  if (database_->ailing) {
    if (auto trouble = revive()) return trouble;
  }
  const std::shared_lock lock(database_->mutex);
  rocksdb::WriteBatch changes;
  for (const auto& change : batch.content_->changes) {
    using Kind = StoreBatch::Content::Change::Kind;
    auto* handle = database_->handles[index_of(change.family)];
    if (change.kind == Kind::put) {
      changes.Put(handle, slice(change.key), slice(change.value));
    } else if (change.kind == Kind::erase) {
      changes.Delete(handle, slice(change.key));
    } else {
      changes.DeleteRange(handle, slice(change.key), slice(change.value));
    }
  }
  rocksdb::WriteOptions how;
  how.sync = durability == Durability::machine;
  const rocksdb::Status status = database_->db->Write(how, &changes);
  if (status.ok()) return std::nullopt;
  database_->ailing = true;
  return failure(directory_, status, StoreError::unwritable);
}

/// After a failed write RocksDB takes no other until its log and its tables agree again: opening it
/// anew makes them agree, whatever it was that failed.
StoreTrouble Store::revive() {
  const std::unique_lock lock(database_->mutex);
  if (!database_->ailing) return std::nullopt;
  database_->close();
  const auto status = database_->open(directory_, database_options(true, log_bytes_));
  if (!status.ok()) {
    database_->close();
    return failure(directory_, status, StoreError::unwritable);
  }
  database_->ailing = false;
  return std::nullopt;
}

Expected<std::optional<std::string>, StoreError> Store::get(Family family,
                                                            std::string_view key) const {
  const std::shared_lock lock(database_->mutex);
  if (!database_->db) {
    return failure(StoreError::unreadable, directory_, "the store waits for room on the disk");
  }
  auto* handle = database_->handles[index_of(family)];
  if (handle == nullptr) return std::optional<std::string>{};
  std::string value;
  const rocksdb::Status status = database_->db->Get({}, handle, slice(key), &value);
  if (status.IsNotFound()) return std::optional<std::string>{};
  if (!status.ok()) return failure(directory_, status, StoreError::unreadable);
  return std::optional<std::string>{std::move(value)};
}

StoreTrouble Store::scan(
    Family family, const ScanRange& range,
    const std::function<bool(std::string_view key, std::string_view value)>& use) const {
  const std::shared_lock lock(database_->mutex);
  if (!database_->db) {
    return failure(StoreError::unreadable, directory_, "the store waits for room on the disk");
  }
  auto* handle = database_->handles[index_of(family)];
  if (handle == nullptr) return std::nullopt;
  const rocksdb::Slice from = slice(range.from);
  const rocksdb::Slice until = slice(range.until);
  rocksdb::ReadOptions how;
  if (!range.from.empty()) how.iterate_lower_bound = &from;
  if (!range.until.empty()) how.iterate_upper_bound = &until;
  const bool rising = range.order == ScanOrder::rising;
  const std::unique_ptr<rocksdb::Iterator> it(database_->db->NewIterator(how, handle));
  for (rising ? it->SeekToFirst() : it->SeekToLast(); it->Valid();
       rising ? it->Next() : it->Prev()) {
    if (!use(it->key().ToStringView(), it->value().ToStringView())) return std::nullopt;
  }
  if (it->status().ok()) return std::nullopt;
  return failure(directory_, it->status(), StoreError::unreadable);
}

StoreTrouble Store::sync() {
  const std::shared_lock lock(database_->mutex);
  const rocksdb::Status status =
      database_->db ? database_->db->SyncWAL() : rocksdb::Status::NoSpace();
  if (status.ok()) return std::nullopt;
  return failure(directory_, status, StoreError::unwritable);
}

Failure<StoreError> bad_record(const Store& store, Family family, const std::string& why) {
  return {StoreError::corrupt,
          fmt::format("{}: {}: {}", store.directory().string(), name_of(family), why)};
}

}  // namespace muster
