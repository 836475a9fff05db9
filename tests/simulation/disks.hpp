#pragma once

#include <caf/all.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/master_snapshot.hpp"
#include "model/rng.hpp"
#include "storage/stores/cloud_store.hpp"
#include "storage/stores/history.hpp"
#include "storage/stores/journal.hpp"
#include "storage/stores/site_store.hpp"
#include "tests/simulation/timeline.hpp"

// Stores in memory that behave as those on disks: writes take time, are refused now and then, and
// are lost with the process that waits for them. What is durable outlives the process.

namespace muster::ring {

/// The disk of one node.
class Disk {
 public:
  Disk(Timeline& timeline, std::uint64_t seed) : timeline_(timeline), rng_(seed) {}

  /// How long the next write takes; zero: it is durable at once.
  Duration delay();
  bool refuses() const { return timeline_.now() < refuses_until_; }
  void refuse_until(Instant until) { refuses_until_ = std::max(refuses_until_, until); }
  void slow_until(Instant until) { slow_until_ = std::max(slow_until_, until); }
  Timeline& timeline() { return timeline_; }
  Rng& rng() { return rng_; }

 private:
  Timeline& timeline_;
  Rng rng_;
  Instant refuses_until_, slow_until_;
};

/// Writes of one process, in their order, as many at once as wait. The process has to be told to
/// die before the object goes.
class Writer {
 public:
  /// What one write changes on the disk, and what is done in the process afterwards.
  struct Entry {
    std::function<void()> apply;
    std::function<void(const std::string& trouble)> then;
    /// When it was refused: what the disk has to be rid of, or has to have, before anything else is
    /// written; null: nothing.
    std::function<void()> undo = {};
  };
  /// `stubborn`: what the disk refuses is tried again until it takes it.
  Writer(Disk& disk, bool stubborn) : disk_(disk), stubborn_(stubborn) {}

  /// The process to be woken when something is durable; before the first write is.
  void belong_to(caf::strong_actor_ptr process) { process_ = std::move(process); }
  void push(Entry entry);
  const std::string& trouble() const { return trouble_; }
  /// The process is gone: what is being written is durable or lost, what waits is lost.
  void die();

 private:
  void begin();
  void end();
  void refuse();
  void undo();
  void finish(const std::string& trouble, bool inside);

  Disk& disk_;
  bool stubborn_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  caf::strong_actor_ptr process_;
  std::deque<Entry> queue_;
  std::size_t writing_ = 0;                  ///< entries at the front that are being written
  std::vector<std::function<void()>> undo_;  ///< of what was refused
  std::string trouble_;
};

/// What a master has on its disk.
struct MasterDisk {
  MasterDisk(Timeline& timeline, std::uint64_t seed) : disk(timeline, seed) {}

  Disk disk;
  std::optional<MasterSnapshot> snapshot;
  std::vector<Event> tail;    ///< after the image
  std::vector<Event> events;  ///< all that ever were
  std::map<JobId, JobHistory> history;
  std::deque<JobId> history_order;  ///< oldest first
  std::size_t max_history = SIZE_MAX;
  std::map<JobId, JobEnding> endings;  ///< that are kept, for good
  std::function<void(const Event&)> on_durable;
};

/// A master's journal and history on its disk, for one life of the master.
class MasterStore final : public Journal, public History {
 public:
  explicit MasterStore(MasterDisk& disk) : disk_(disk), writer_(disk.disk, true) {}
  Writer& writer() { return writer_; }

  void append(std::vector<Event>&& batch, Durable durable) override;
  std::string trouble() const override { return writer_.trouble(); }
  /// Of the master before its last `behind` events.
  void save_snapshot(MasterSnapshot snapshot, std::uint64_t behind);

  void add(JobHistory job) override;
  std::size_t size() const override { return disk_.history.size(); }
  std::optional<JobHistory> find(JobId id) const override;
  void drop(JobId job) override;
  Expected<std::optional<JobEnding>, StoreError> ending(JobId id) const override;
  void newest(std::size_t limit, const std::function<bool(const JobHistory&)>& use) const override;

 private:
  MasterDisk& disk_;
  Writer writer_;
  std::map<JobId, JobHistory> queued_;  ///< not durable yet
};

/// What a site scheduler has on its disk.
struct SiteDisk {
  SiteDisk(Timeline& timeline, std::uint64_t seed) : disk(timeline, seed) {}

  Disk disk;
  std::map<std::pair<JobId, HandoffTarget>, Job> handoffs;
  std::deque<KnownToken> tokens;
  std::vector<KnownToken> forwarded;  ///< of other sites; never forgotten
  std::size_t max_tokens = SIZE_MAX;
  std::uint64_t next_job = 0;
  std::vector<EndedHandoff> ended;  ///< all that ever did
  std::size_t max_ended = SIZE_MAX;
  std::map<JobId, std::set<TaskId>> ended_tasks;
  std::set<JobId> cancels;
};

/// A site's book on its disk, for one life of the site. As in RocksSiteStore, what is kept while
/// the disk is busy is refused together; it may be there all the same until something can be
/// written.
class MemorySiteStore final : public SiteStore {
 public:
  explicit MemorySiteStore(SiteDisk& disk) : disk_(disk), writer_(disk.disk, false) {}
  Writer& writer() { return writer_; }

  SiteMemory recall() override;
  void persist(SiteNews&& news, std::function<void(const std::string& trouble)> durable) override;
  void handed_over(JobId job, const HandoffTarget& to) override;
  void cancelled(JobId job) override;
  void persist_classifier(std::string) override {}
  void persist_letter(JobLetter) override {}

 private:
  void put(const SiteNews& news);
  void forget(const SiteNews& news);
  void end(const EndedHandoff& ended);

  SiteDisk& disk_;
  Writer writer_;
};

/// What the cloud has on its disk.
struct CloudDisk {
  CloudDisk(Timeline& timeline, std::uint64_t seed) : disk(timeline, seed) {}

  Disk disk;
  std::map<InstanceId, RentedRecord> records;
  std::map<std::uint64_t, OfferingChange> changes;
};

/// The cloud's book on its disk, for one life of the cloud. As in RocksCloudStore, what is put
/// while the disk is busy is written together, and refused together.
class MemoryCloudStore final : public CloudStore {
 public:
  explicit MemoryCloudStore(CloudDisk& disk) : disk_(disk), writer_(disk.disk, false) {}
  Writer& writer() { return writer_; }

  std::vector<RentedRecord> recall() override;
  void put(const RentedRecord& record, Durable durable) override;
  std::vector<OfferingChange> changes() override;
  void put_change(const OfferingChange& change, const std::vector<std::uint64_t>& dropped,
                  Durable durable) override;

 private:
  CloudDisk& disk_;
  Writer writer_;
};

}  // namespace muster::ring
