#include "storage/stores/store_database.hpp"

#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/env.h>
#include <rocksdb/table.h>

#include <cstdarg>

// How RocksDB is set up and how its failures become the house's. RocksDB tells some conditions
// apart in the text of a status only, so that they are looked for there.

namespace muster {
namespace {

// A node has a few stores, most of whose records are read once at a start: the cache is small.
constexpr std::size_t kCacheBytes = std::size_t{16} << 20;
constexpr std::size_t kManifestBytes = std::size_t{64} << 10;

/// RocksDB's own log lies beside the data, and its assertions end the process when it cannot be
/// written because the disk is full. Errors that matter are in the statuses.
class SilentLogger final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

}  // namespace

Failure<StoreError> failure(StoreError code, const std::filesystem::path& where,
                            const std::string& what) {
  return {code, fmt::format("{}: {}", where.string(), what)};
}

Failure<StoreError> failure(const std::filesystem::path& where, const rocksdb::Status& status,
                            StoreError otherwise) {
  const std::string text = status.ToString();
  // "File too large" is a limit on the size of files, which is remedied as a full disk is.
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
  // After the texts above: RocksDB reports some of them with a status that would match here too.
  if (status.IsCorruption()) return failure(StoreError::corrupt, where, text);
  return failure(otherwise, where, text);
}

rocksdb::Options database_options(OpenAs as, std::size_t log_bytes) {
  rocksdb::Options options;
  options.create_if_missing = as == OpenAs::maker;
  options.create_missing_column_families = as != OpenAs::reader;
  options.max_total_wal_size = log_bytes;
  options.write_buffer_size = log_bytes;
  // A reader beside the writer keeps every table open: they may be deleted meanwhile.
  options.max_open_files = as == OpenAs::reader ? -1 : 256;
  options.info_log = std::make_shared<SilentLogger>();
  options.manifest_preallocation_size = kManifestBytes;
  options.track_and_verify_wals_in_manifest = true;
  // A record in the middle of a log is never left out: a torn end is, and the store's mark says
  // whether that was ever called durable.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(kCacheBytes);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

}  // namespace muster
