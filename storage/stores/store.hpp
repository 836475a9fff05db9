#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "model/enum_words.hpp"
#include "storage/records/record_codec.hpp"
#include "storage/stores/store_error.hpp"
#include "storage/stores/store_folder.hpp"
#include "storage/stores/store_mark.hpp"
#include "storage/stores/store_reserve.hpp"

namespace muster {

/// The parts of a store. The numbers and names stay as they are: they are on disk.
enum class Family : std::uint8_t {
  meta,       ///< whose store it is
  journal,    ///< a master's events, by the number of a batch's first one
  snapshot,   ///< a master's state, by the number of the first event that is not in it
  history,    ///< finished jobs, by the order in which they were added
  place,      ///< where in the history a job is, by its id
  object,     ///< learnt objects, by name
  handoff,    ///< jobs that a site answers for, by id
  token,      ///< known submissions, by the order in which they were made
  instance,   ///< instances that a cloud has rented out, by id
  spent,      ///< cost of a user's jobs that are no longer in the history, by user
  ended,      ///< jobs that ended at a site, by the order in which they did
  cancel,     ///< cancels that a site has not brought to everybody, by job
  charged,    ///< sums over instances that are no longer on record, by the master's number
  forwarded,  ///< numbers of all jobs that other sites left to this one, by their block
  change,     ///< offerings of a cloud that have changed, by the number of the change
  letter,     ///< jobs of a site whose ends are to be told, by job
  ending,     ///< how jobs of a master have ended, for longer than its history, by job
  past        ///< numbers of all jobs that ever ended at a site, by block and outcome
};
constexpr auto words_of(Family) {
  using E = Family;
  return std::to_array<EnumWord<E>>({{E::meta, "meta"},
                                     {E::journal, "journal"},
                                     {E::snapshot, "snapshots"},
                                     {E::history, "history"},
                                     {E::place, "places"},
                                     {E::object, "objects"},
                                     {E::handoff, "handoffs"},
                                     {E::token, "tokens"},
                                     {E::instance, "instances"},
                                     {E::spent, "spent"},
                                     {E::ended, "ended"},
                                     {E::cancel, "cancels"},
                                     {E::charged, "charged"},
                                     {E::forwarded, "forwarded"},
                                     {E::change, "changes"},
                                     {E::letter, "letters"},
                                     {E::ending, "endings"},
                                     {E::past, "past"}});
}
inline constexpr std::size_t kFamilies = kEnumerators<Family>;

/// Keys of numbers sort as the numbers do.
std::string key_of(std::uint64_t number);
/// The number that the key is of; nothing when it is not of one.
std::optional<std::uint64_t> number_of(std::string_view key);

class Store;

/// In Family::meta: this store did not begin with its cluster, or is older than what its owner last
/// did: which numbers have been given out is to be asked of others.
inline constexpr std::string_view kAsksNumbers = "asks numbers";

/// How a store is opened.
struct StoreOptions {
  StoreMeta meta;  ///< written into a new store; an old one has to be of that kind and cluster
  bool read_only =
      false;  ///< look only, even beside the process that has it open; any kind and cluster
  std::size_t log_bytes = std::size_t{64}
                          << 20;    ///< of the write-ahead log, what recovery reads; from 1 MiB
  std::uint64_t reserve_bytes = 0;  ///< reserve for a disk that runs full; 0: no reserve
  bool may_make = true;  ///< a store is made where there is no store; false: that is an error
  /// Called with a store that is being made; it counts as absent when this fails or the process
  /// ends.
  std::function<StoreTrouble(Store& made)> fill{};
};

/// Changes that are made together or not at all.
class StoreBatch {
 public:
  StoreBatch();
  ~StoreBatch();
  StoreBatch(StoreBatch&&) noexcept;
  StoreBatch& operator=(StoreBatch&&) noexcept;

  void put(Family family, std::string_view key, std::string value);
  void erase(Family family, std::string_view key);
  /// Every key from `from` on, before `until`.
  void erase_range(Family family, std::string_view from, std::string_view until);
  /// With this batch its owner has given out the numbers below these.
  void reaches(const Reached& numbers);
  bool empty() const;

 private:
  friend class Store;
  struct Content;
  std::unique_ptr<Content> content_;
};

/// When a change outlives what.
enum class Durability : std::uint8_t {
  process,  ///< survives the end of the process
  machine   ///< survives the end of the machine: costs a wait for the disk
};

/// By which order of the keys a scan goes.
enum class ScanOrder : std::uint8_t { rising, falling };

/// The part of a family that a scan visits.
struct ScanRange {
  std::string from;   ///< first key; empty: from the start
  std::string until;  ///< the key after the last one; empty: to the end
  ScanOrder order = ScanOrder::rising;
};

/// A directory that keeps records for one role of one node: a RocksDB database. All members may be
/// called from any thread.
class Store {
 public:
  /// Opens the store in the directory, or makes one there, readable by its owner only. One that has
  /// lost something that was durable is refused, and left as it is.
  static Expected<std::unique_ptr<Store>, StoreError> open(const std::filesystem::path& directory,
                                                           const StoreOptions& options);
  ~Store();

  const std::filesystem::path& directory() const { return directory_; }
  /// The record that it was opened with; when opened for reading, the store's own, with every
  /// instance type that its records may name.
  const StoreMeta& meta() const { return meta_; }
  /// Value of StoreBatch::reaches() when the store was opened, as its mark has it.
  const Reached& reached() const { return reached_; }

  /// Makes all the changes or none. When the disk is full it gives up its reserve and tries once
  /// more. After a failure the next call first tries to get the database
  /// going again, so that it works as soon as there is room on the disk. (What a failed call was to
  /// change may still turn up after the process has ended.)
  StoreTrouble write(const StoreBatch& batch, Durability durability);

  Expected<std::optional<std::string>, StoreError> get(Family family, std::string_view key) const;
  /// Calls `use` for the records of the range until it says false. `use` must not call the store.
  StoreTrouble scan(
      Family family, const ScanRange& range,
      const std::function<bool(std::string_view key, std::string_view value)>& use) const;
  /// Waits until the disk has everything that was written.
  StoreTrouble sync();

  /// Why its owner should begin nothing new although it can be written: it has no reserve for a
  /// full disk at present. Empty: it has its reserve, or is to be without one.
  std::string strain() const { return reserve_.strain(); }
  /// Makes the reserve again when there is room; to be called now and then while it is strained.
  void mend() { reserve_.mend(); }

 private:
  struct Database;
  Store(std::filesystem::path directory, const StoreOptions& options);
  StoreTrouble open_to_read();
  StoreTrouble try_to_read();
  StoreTrouble open_to_write(const StoreOptions& options);
  StoreTrouble make(const StoreOptions& options);
  StoreTrouble open_database(bool make);
  StoreTrouble check_mark(const std::optional<StoreMark>& mark) const;
  StoreTrouble begin_mark();
  StoreTrouble settle_meta();
  StoreTrouble revive();
  StoreTrouble write_once(const StoreBatch& batch, Durability durability);
  void keep_mark(bool durable, const Reached& reaches);

  std::filesystem::path directory_;
  StoreMeta meta_;
  bool read_only_;
  std::size_t log_bytes_;
  Reached reached_;
  std::unique_ptr<Database> database_;
  MarkFile mark_;
  Manifest manifest_;
  StoreReserve reserve_;
};

/// Writes down that its owner asks others which numbers have been given out (kAsksNumbers).
StoreTrouble keep_asking(Store& store);

/// Says that a record of the store cannot be what it should be.
Failure<StoreError> bad_record(const Store& store, Family family, const std::string& why);

}  // namespace muster
