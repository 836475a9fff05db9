#include "storage/stores/damaged_tables.hpp"

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "storage/stores/store_database.hpp"

// Reads around damaged blocks. An iterator of RocksDB stops at a block whose checksum is wrong, in
// whichever of its tables, so behind it one has to seek: the first key from which on it reads again
// is found by steps that grow, and by halves.

namespace muster {
namespace {

namespace fs = std::filesystem;

/// Keys are tried one by one up to here: journals and lists have a record for each number, so that
/// a step of one passes over one record.
constexpr std::uint64_t kSingleSteps = 1024;
constexpr std::uint64_t kLastKey = std::numeric_limits<std::uint64_t>::max();

/// The place of any key among keys of numbers.
std::uint64_t place_of(const std::string& key) {
  std::string head = key.substr(0, sizeof(std::uint64_t));
  head.resize(sizeof(std::uint64_t), '\0');
  return number_of(head).value_or(0);
}

rocksdb::Options lenient_options() {
  rocksdb::Options options = database_options(OpenAs::writer, std::size_t{64} << 20);
  options.paranoid_checks = false;
  options.track_and_verify_wals_in_manifest = false;
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
  // A merge of tables would leave damaged blocks out, and with them whatever they had replaced
  // would be back.
  options.disable_auto_compactions = true;
  return options;
}

std::vector<rocksdb::ColumnFamilyDescriptor> all_families(const rocksdb::Options& options) {
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  families.emplace_back(rocksdb::kDefaultColumnFamilyName, options);
  for (std::size_t i = 1; i < kFamilies; ++i) {
    families.emplace_back(std::string(name_of(static_cast<Family>(i))), options);
  }
  return families;
}

rocksdb::ReadOptions checked_reads() {
  rocksdb::ReadOptions options;
  options.verify_checksums = true;
  options.fill_cache = false;
  return options;
}

}  // namespace

struct DamagedTables::Content {
  fs::path folder;
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  bool rebuilt = false;

  rocksdb::Status open() {
    const rocksdb::Options options = lenient_options();
    rocksdb::DB* opened = nullptr;
    rocksdb::Status status =
        rocksdb::DB::Open(options, folder.string(), all_families(options), &handles, &opened);
    db.reset(opened);
    return status;
  }
  std::unique_ptr<rocksdb::Iterator> iterator(Family family) const {
    return std::unique_ptr<rocksdb::Iterator>(
        db->NewIterator(checked_reads(), handles[index_of(family)]));
  }
  bool reads_from(Family family, std::uint64_t place) const {
    const auto it = iterator(family);
    it->Seek(key_of(place));
    return it->status().ok();
  }
};

DamagedTables::DamagedTables(std::unique_ptr<Content> content) : content_(std::move(content)) {}

DamagedTables::~DamagedTables() {
  for (rocksdb::ColumnFamilyHandle* handle : content_->handles) {
    content_->db->DestroyColumnFamilyHandle(handle);
  }
}

Expected<std::unique_ptr<DamagedTables>, StoreError> DamagedTables::open(const fs::path& folder,
                                                                         bool rebuild) {
  auto content = std::make_unique<Content>();
  content->folder = folder;
  rocksdb::Status status;
  if (!rebuild) status = content->open();
  if (!rebuild && !status.ok()) {
    const auto failed = failure(folder, status, StoreError::unreadable);
    // Families of a later version are no damage.
    if (failed.code == StoreError::newer_format || failed.code == StoreError::no_space) {
      return failed;
    }
  }
  if (rebuild || !status.ok()) {
    const rocksdb::Options options = lenient_options();
    status = rocksdb::RepairDB(folder.string(), options, all_families(options), options);
    if (status.ok()) status = content->open();
    if (!status.ok()) return failure(folder, status, StoreError::corrupt);
    content->rebuilt = true;
  }
  return std::unique_ptr<DamagedTables>(new DamagedTables(std::move(content)));
}

bool DamagedTables::rebuilt() const {
  return content_->rebuilt;
}

std::uint64_t DamagedTables::last_change() const {
  return content_->db->GetLatestSequenceNumber();
}

StoreTrouble DamagedTables::scan(Family family, const Use& use, const Lose& lose) const {
  std::string from, last;
  while (true) {
    const auto it = content_->iterator(family);
    for (it->Seek(from); it->Valid(); it->Next()) {
      last = it->key().ToString();
      if (auto trouble = use(last, {it->value().data(), it->value().size()})) return trouble;
    }
    if (it->status().ok()) return std::nullopt;
    from = next_readable(family, last);
    lose(last, from);
    if (from.empty()) return std::nullopt;
    last = from;
  }
}

/// The first key of a number behind that one from which on the family can be read; empty: it
/// cannot.
std::string DamagedTables::next_readable(Family family, const std::string& after) const {
  std::uint64_t bad = place_of(after);
  std::uint64_t step = 1;
  std::uint64_t good = bad;
  for (std::uint64_t tried = 0; good == bad; ++tried) {
    if (bad == kLastKey) return {};
    if (tried >= kSingleSteps) step = step > kLastKey / 2 ? kLastKey : step * 2;
    const std::uint64_t next = kLastKey - bad < step ? kLastKey : bad + step;
    if (content_->reads_from(family, next)) {
      good = next;
    } else {
      good = bad = next;
    }
  }
  while (good - bad > 1) {
    const std::uint64_t middle = bad + (good - bad) / 2;
    (content_->reads_from(family, middle) ? good : bad) = middle;
  }
  return key_of(good);
}

}  // namespace muster
