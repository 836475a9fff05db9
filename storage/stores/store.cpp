#include "storage/stores/store.hpp"

#include <fmt/format.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "model/check.hpp"
#include "storage/stores/store_database.hpp"

// Reads and writes of an open store. Every durable write is followed by its mark (store_mark.hpp),
// under one lock, so that the mark never claims more than the disk has. Opening, and opening anew
// after a failed write, is in store_open.cpp.

namespace muster {
namespace {

/// The two counters rise independently: a batch without job numbers must not lower the other's.
Reached highest(const Reached& a, const Reached& b) {
  return {std::max(a.events, b.events), std::max(a.jobs, b.jobs)};
}

}  // namespace

// Most significant byte first: RocksDB compares keys bytewise, and scans of journals and
// histories rely on the order of the numbers.
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
  Reached reaches;
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
void StoreBatch::reaches(const Reached& numbers) {
  content_->reaches = highest(content_->reaches, numbers);
}
bool StoreBatch::empty() const {
  return content_->changes.empty();
}

StoreTrouble Store::write(const StoreBatch& batch, Durability durability) {
  // Before the write, not after it: a reserve that is asked for again shall not compete with the
  // retry below for the room that it has just freed.
  reserve_.mend();
  StoreTrouble trouble = write_once(batch, durability);
  // Opening the database anew takes room for what its log holds: that is what the reserve is for.
  if (trouble && trouble->code == StoreError::no_space && reserve_.give_up()) {
    trouble = write_once(batch, durability);
  }
  return trouble;
}

StoreTrouble Store::write_once(const StoreBatch& batch, Durability durability) {
  MUSTER_CHECK(!read_only_, "a store that was opened for reading is not written");
  if (database_->ailing) {
    if (auto trouble = revive()) return trouble;
  }
  // Held until the mark is written: the sequence number that the mark takes from the database
  // would otherwise be that of another thread's write, which need not be durable.
  const std::lock_guard turn(database_->writing);
  const std::shared_lock lock(database_->mutex);
  if (!database_->db) {
    // revive() closes the database before it opens it anew, so after a failed one there is no
    // database.
    return failure(StoreError::unwritable, directory_, "the store waits for room on the disk");
  }
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
  if (status.ok()) {
    keep_mark(how.sync, batch.content_->reaches);
    return std::nullopt;
  }
  database_->ailing = true;
  return failure(directory_, status, StoreError::unwritable);
}

/// After a write, or when the manifest may have grown: brings the mark up to the disk. A manifest
/// is only ever added to, so what it had is checked by its checksum.
void Store::keep_mark(bool durable, const Reached& reaches) {
  StoreMark mark = mark_.last();
  const std::uint64_t size = manifest_.size();
  const bool grown = manifest_.number() != mark.manifest || size > mark.manifest_bytes;
  // A write that is not durable moves nothing that the mark stands for, unless RocksDB has added
  // to its manifest meanwhile: this keeps the common case free of a second file write.
  if (!durable && !grown) return;
  // Synced before it is marked: the mark may reach the disk before the manifest does, and would
  // then accuse a store that has lost nothing.
  if (grown && manifest_.read_to(size) && manifest_.sync()) {
    mark.manifest = manifest_.number();
    mark.manifest_bytes = manifest_.bytes();
    mark.manifest_sum = manifest_.sum();
  }
  if (durable) {
    mark.sequence = database_->db->GetLatestSequenceNumber();
    mark.reached = highest(mark.reached, reaches);
    std::unique_ptr<rocksdb::LogFile> log;
    if (database_->db->GetCurrentWalFile(&log).ok()) mark.log = log->LogNumber();
  }
  // After the write that it tells of: a crash in between leaves the mark behind the data, which
  // is no fault; the other order would refuse a sound store.
  mark_.put(mark);
}

Expected<std::optional<std::string>, StoreError> Store::get(Family family,
                                                            std::string_view key) const {
  // Shared, as in scan(): readers do not wait for each other or for writes, only for revive().
  const std::shared_lock lock(database_->mutex);
  if (!database_->db) {
    return failure(StoreError::unreadable, directory_, "the store waits for room on the disk");
  }
  auto* handle = database_->handles[index_of(family)];
  // A store of an earlier version that is opened for reading has not all families.
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
  // The bounds are in `how`, so that First and Last are those of the range in either direction.
  const bool rising = range.order == ScanOrder::rising;
  const std::unique_ptr<rocksdb::Iterator> it(database_->db->NewIterator(how, handle));
  for (rising ? it->SeekToFirst() : it->SeekToLast(); it->Valid();
       rising ? it->Next() : it->Prev()) {
    if (!use(it->key().ToStringView(), it->value().ToStringView())) return std::nullopt;
  }
  // An iterator that meets damage becomes invalid as one at its end does: only the status tells
  // a short family from a broken one.
  if (it->status().ok()) return std::nullopt;
  return failure(directory_, it->status(), StoreError::unreadable);
}

StoreTrouble Store::sync() {
  const std::lock_guard turn(database_->writing);
  const std::shared_lock lock(database_->mutex);
  const rocksdb::Status status =
      database_->db ? database_->db->SyncWAL() : rocksdb::Status::NoSpace();
  if (status.ok()) {
    keep_mark(true, {});
    return std::nullopt;
  }
  return failure(directory_, status, StoreError::unwritable);
}

StoreTrouble keep_asking(Store& store) {
  StoreBatch batch;
  batch.put(Family::meta, kAsksNumbers, encode_number(1));
  return store.write(batch, Durability::machine);
}

Failure<StoreError> bad_record(const Store& store, Family family, const std::string& why) {
  return {StoreError::corrupt,
          fmt::format("{}: {}: {}", store.directory().string(), name_of(family), why)};
}

}  // namespace muster
