#pragma once

#include <rocksdb/db.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "storage/stores/store.hpp"

// Types that the parts of Store share, hidden from others.

namespace muster {

/// The same bytes, as RocksDB takes them.
inline rocksdb::Slice slice(std::string_view bytes) {
  return {bytes.data(), bytes.size()};
}
/// Its place among all families.
inline std::size_t index_of(Family family) {
  return static_cast<std::size_t>(family);
}

/// A failure that says where it was.
Failure<StoreError> failure(StoreError code, const std::filesystem::path& where,
                            const std::string& what);
/// RocksDB's status as an error of the project. `otherwise` is for what is not told apart.
Failure<StoreError> failure(const std::filesystem::path& where, const rocksdb::Status& status,
                            StoreError otherwise);

/// How a store is opened by RocksDB.
enum class OpenAs : std::uint8_t { reader, writer, maker };
rocksdb::Options database_options(OpenAs as, std::size_t log_bytes);

/// RocksDB's handles. Everything but opening it anew takes the lock shared.
struct Store::Database {
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*>
      handles;  ///< by Family; null: the store lacks the family
  mutable std::shared_mutex mutex;
  std::mutex writing;               ///< one write at a time, each with its mark; before `mutex`
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

}  // namespace muster
