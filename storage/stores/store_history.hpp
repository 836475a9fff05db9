#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/stores/apart_reader.hpp"
#include "storage/stores/history.hpp"
#include "storage/stores/kept_endings.hpp"
#include "storage/stores/store_journal.hpp"

namespace muster {

/// Bounds of a history.
struct StoreHistoryOptions {
  std::size_t max_jobs = 100'000;  ///< the oldest go first; from 1
  Duration max_age{};              ///< since they were over; 0: any
  /// Of how jobs ended (is_known_by_outcome), which is kept when the jobs are not any more.
  KeptEndings::Bounds endings{std::size_t{64} << 20, {}};
  std::size_t max_users = 10'000;  ///< whose jobs that are no longer kept are still summed; from 0
  std::size_t max_reads = 1'000;   ///< of read_apart() that wait; from 1
  /// Time by a clock that only runs, which bounds ages; nothing: the ends of jobs are believed.
  std::function<Duration()> stopwatch{};
  /// Is told of jobs that cannot be read; nothing: that is dropped.
  std::function<void(const std::string&)> note{};
};

/// The latest time that a wall's clock can rightly say.
class WallBound {
 public:
  /// `stopwatch` is as StoreHistoryOptions has it.
  explicit WallBound(std::function<Duration()> stopwatch) : stopwatch_(std::move(stopwatch)) {}

  /// Something has been at that time; known from the beginning on.
  void note(Instant at);
  /// The clock's time, but no later than the newest time that was noted and what the stopwatch has
  /// counted since the first. With nothing noted it is believed once.
  Instant bounded(Instant now);

 private:
  std::function<Duration()> stopwatch_;
  std::optional<Instant> newest_;
  Duration since_{};  ///< the stopwatch's time of the first
};

/// The finished jobs of a master in its store. Added jobs are written with the journal and can be
/// found at once. Figures of every job that lists and bills need are in memory too. All members may
/// be called from any thread.
class StoreHistory final : public History {
 public:
  /// The store, the journal and the catalog have to outlive the history. A store of an earlier
  /// format is brought up to date once, which reads all of the history; a job of it that cannot be
  /// read is noted and stays, as far as the index knows it.
  static Expected<std::unique_ptr<StoreHistory>, StoreError> open(
      Store& store, StoreJournal& journal, const Catalog& catalog,
      const StoreHistoryOptions& options = {});

  void add(JobHistory job) override;
  void drop(JobId job) override;
  std::size_t size() const override;
  std::optional<JobHistory> find(JobId id) const override;
  Expected<std::optional<JobEnding>, StoreError> ending(JobId id) const override;
  void newest(std::size_t limit, const Use& use) const override;
  void list(const HistoryPage& page, const Use& use) const override;
  bool contains(JobId id) const override;
  std::map<std::string, Money> spent_by_user() const override;
  void newest_entries(std::size_t limit,
                      const std::function<void(const HistoryEntry&)>& use) const override;
  bool read_apart(std::function<void()> read) const override;

 private:
  /// State that is shared with the journal's thread, which may outlive the history.
  struct Shared {
    std::mutex mutex;
    std::map<std::uint64_t, std::shared_ptr<const JobHistory>> waiting;  ///< not yet durable
  };
  /// Changes that adding a job makes in the store besides the job's own records.
  struct Dropped {
    std::vector<std::uint64_t> places;
    std::vector<JobId> jobs;
    std::map<std::string, Money> spent;  ///< new sums of users
  };
  StoreHistory(Store& store, StoreJournal& journal, const Catalog& catalog,
               const StoreHistoryOptions& options)
      : store_(store),
        journal_(journal),
        catalog_(catalog),
        options_(options),
        wall_(options.stopwatch),
        endings_(options.endings),
        reader_(options.max_reads) {}

  StoreTrouble load_places(std::vector<std::uint64_t>& bare);
  StoreTrouble complete(const std::vector<std::uint64_t>& bare);
  StoreTrouble load_spent();
  StoreTrouble load_endings();
  std::uint64_t enter(const HistoryEntry& entry, Dropped& dropped);
  void put_in(std::uint64_t place, const HistoryEntry& entry);
  void take_out(std::uint64_t place);
  void drop_old(Instant now, Dropped& dropped);
  void drop_oldest(Dropped& dropped);
  std::shared_ptr<const JobHistory> at(std::uint64_t place) const;
  void visit(const std::vector<std::uint64_t>& places, const Use& use) const;
  std::optional<JobPlace> look_on(const JobSieve& sieve, const HistoryPage& page,
                                  const JobPlace& below, std::vector<std::uint64_t>& places) const;

  Store& store_;
  StoreJournal& journal_;
  const Catalog& catalog_;
  const StoreHistoryOptions options_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  // Under the shared mutex as well.
  std::map<std::uint64_t, HistoryEntry> entries_;  ///< by place
  std::map<JobId, std::uint64_t> places_;
  std::map<JobPlace, std::uint64_t> listed_;  ///< the same places, in the order of lists
  std::map<std::string, Money> kept_;         ///< cost of a user's jobs that are kept
  std::map<std::string, Money> dropped_;      ///< cost of a user's jobs that are no longer kept
  WallBound wall_;
  KeptEndings endings_;
  /// The record that was read last, with its place: the tasks of a large job are asked for in many
  /// pieces. Under the shared mutex.
  mutable std::pair<std::uint64_t, std::shared_ptr<const JobHistory>> last_read_;
  mutable ApartReader reader_;
};

}  // namespace muster
