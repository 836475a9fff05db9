#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "storage/stores/cloud_store.hpp"
#include "storage/stores/store.hpp"

namespace muster {

/// Bounds of what a cloud store keeps.
struct RocksCloudStoreOptions {
  std::size_t max_gone = 10'000;     ///< records of what is gone or was refused; the oldest go
                                     ///< first, and stay in sums; from 1
  std::size_t max_queued = 100'000;  ///< records not yet durable; beyond, put() refuses; from 1
  std::size_t max_group = 5'000;     ///< records written with one wait for the disk; from 1
};

/// Instances that a cloud connector has rented out, in a store. A thread of its own writes:
/// everything that was put while the disk was busy goes with one wait for it.
class RocksCloudStore final : public CloudStore {
 public:
  /// The store has to outlive this object. A record that cannot be decoded is an error.
  static Expected<std::unique_ptr<RocksCloudStore>, StoreError> open(
      Store& store, const RocksCloudStoreOptions& options = {});
  /// Writes what is queued, or says why it could not.
  ~RocksCloudStore() override;

  std::vector<RentedRecord> recall() override;
  std::map<std::uint32_t, RentedSums> dropped() override;
  void put(const RentedRecord& record, Durable durable) override;
  std::vector<OfferingChange> changes() override;
  void put_change(const OfferingChange& change, const std::vector<std::uint64_t>& dropped,
                  Durable durable) override;

 private:
  /// A change of what is offered, and which of the earlier ones go.
  struct Changed {
    OfferingChange change;
    std::vector<std::uint64_t> dropped;
  };
  struct Entry {
    std::variant<RentedRecord, Changed> what;
    Durable durable;
  };

  RocksCloudStore(Store& store, const RocksCloudStoreOptions& options)
      : store_(store), options_(options) {}

  StoreTrouble load();
  void queue(Entry entry);
  void run_writer();
  bool take_group(std::vector<Entry>& group);
  std::string write_group(const std::vector<Entry>& group);

  Store& store_;
  const RocksCloudStoreOptions options_;
  std::vector<RentedRecord> found_;                    ///< at the start, by rising ids
  std::map<std::uint32_t, RentedSums> found_dropped_;  ///< likewise
  std::vector<OfferingChange> found_changes_;          ///< likewise

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Entry> queue_;
  std::size_t queued_ = 0;  ///< those of the group that is being written included
  bool ends_ = false;

  // The writer's own: ended instances, in the order in which they were written down, each with its
  // addition to the sums when its record goes.
  struct Over {
    InstanceId instance;
    RentedSums sums;
  };
  std::deque<Over> gone_;
  std::unordered_set<InstanceId> is_gone_;
  std::map<std::uint32_t, RentedSums> dropped_;  ///< by master

  std::thread writer_;
};

}  // namespace muster
