#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "model/master_snapshot.hpp"
#include "storage/stores/journal.hpp"
#include "storage/stores/recovery.hpp"
#include "storage/stores/store.hpp"

namespace muster {

/// How much and how long a journal waits.
struct StoreJournalOptions {
  std::chrono::milliseconds retry{1000};    ///< after a failed write; from 1 ms
  std::size_t max_queued_events = 500'000;  ///< not yet durable; beyond, trouble() says so
  std::size_t max_group_events = 20'000;    ///< written with one wait for the disk
  std::chrono::milliseconds drain{10'000};  ///< how long the end waits for what is queued
};

/// A master's journal in a store. Batches are written in groups by a thread of its own: everything
/// that was appended while the disk was busy goes with one wait for it. When a write fails, all of
/// it is kept in its order and tried again.
class StoreJournal final : public Journal {
 public:
  /// `recovered` is what recover_master() found: new events are numbered from there on. The store
  /// and the catalog have to outlive the journal.
  StoreJournal(Store& store, const Catalog& catalog, const RecoveredMaster& recovered,
               const StoreJournalOptions& options = {});
  /// Writes what is queued, for as long as the options allow.
  ~StoreJournal() override;

  void append(std::vector<Event>&& batch, Durable durable) override;
  std::string trouble() const override;
  /// While the store has no reserve for a full disk.
  std::string strain() const override { return store_.strain(); }

  /// Changes of the store that become durable after what was appended before and no later than
  /// what is appended afterwards. `durable` is called then.
  void change(std::function<void(StoreBatch&)> make, Durable durable = {});

  /// The snapshot has to be of the master after all events appended so far but the last `behind`.
  /// It is turned into a record beside the writing; once that is durable, the events and snapshots
  /// before it are deleted. When another is still being made, only the newest that waits is.
  void save_snapshot(MasterSnapshot&& snapshot, std::uint64_t behind = 0);
  /// How many events were appended since the last snapshot that was asked for.
  std::uint64_t events_since_snapshot() const;

  /// Keeps learnt bytes under a name, in the order of all writes.
  void put_object(const std::string& name, std::string_view bytes);
  /// The bytes as they were last durable; nothing when there is no object of the name.
  Expected<std::optional<std::string>, StoreError> get_object(const std::string& name) const;

 private:
  /// One entry of the queue: a batch of events, or other changes.
  struct Entry {
    std::uint64_t first = 0;
    std::vector<Event> events;
    std::function<void(StoreBatch&)> make;
    Durable durable;
  };
  struct Snapshot {
    std::uint64_t at = 0;
    MasterSnapshot snapshot;
  };

  void run_writer();
  void run_encoder();
  bool take_group(std::vector<Entry>& group);
  bool write_group(const std::vector<Entry>& group);
  bool wait_to_retry(const Failure<StoreError>& trouble);
  void push(Entry&& entry);

  Store& store_;
  const Catalog& catalog_;
  const StoreJournalOptions options_;

  mutable std::mutex mutex_;
  std::condition_variable wake_writer_, wake_encoder_;
  std::deque<Entry> queue_;
  std::size_t queued_events_ = 0;  ///< those of the group that is being written included
  std::uint64_t next_event_ = 0;
  std::uint64_t snapshot_at_ = 0;
  std::optional<Snapshot> snapshot_;
  std::string trouble_;
  bool encoder_ends_ = false;
  std::optional<std::chrono::steady_clock::time_point> deadline_;  ///< set: the end has begun

  std::thread writer_, encoder_;
};

}  // namespace muster
