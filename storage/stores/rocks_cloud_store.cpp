#include "storage/stores/rocks_cloud_store.hpp"

#include <fmt/format.h>

#include <utility>

#include "model/live_ids.hpp"

// Instances that a cloud has rented out, in a store. A thread of its own writes what has queued up
// as one batch, so that many records share one wait for the disk. Records of instances that are
// gone are dropped beyond max_gone, with their sums kept by master, so that the bill stays whole.

namespace muster {
namespace {

/// Nothing more will be billed or said of it: its sums are final, and it may be dropped.
bool is_over(const RentedRecord& record) {
  return record.refused || record.gone_at.has_value();
}

RentedSums sums_of(const RentedRecord& record) {
  RentedSums sums;
  sums.add(record);
  return sums;
}

}  // namespace

Expected<std::unique_ptr<RocksCloudStore>, StoreError> RocksCloudStore::open(
    Store& store, const RocksCloudStoreOptions& options) {
  auto opened = std::unique_ptr<RocksCloudStore>(new RocksCloudStore(store, options));
  if (auto trouble = opened->load()) return *std::move(trouble);
  opened->writer_ = std::thread([raw = opened.get()] { raw->run_writer(); });
  return opened;
}

/// Reads what an earlier store object has written.
StoreTrouble RocksCloudStore::load() {
  StoreTrouble bad;
  const auto use = [&](std::string_view, std::string_view value) {
    auto record = decode_rented(value);
    if (!record) {
      bad = bad_record(store_, Family::instance, record.error().message);
      return false;
    }
    // In the order of ids, which is not that in which they went; the oldest numbers go first.
    if (is_over(record.value()) && is_gone_.insert(record->instance).second) {
      gone_.push_back({record->instance, sums_of(record.value())});
    }
    found_.push_back(std::move(record).value());
    return true;
  };
  const auto use_sums = [&](std::string_view key, std::string_view value) {
    const auto master = number_of(key);
    const auto sums = decode_rented_sums(value);
    if (!master || !sums) {
      const std::string why = master ? sums.error().message : "a key of no master";
      bad = bad_record(store_, Family::charged, why);
      return false;
    }
    dropped_[static_cast<std::uint32_t>(*master)] = sums.value();
    return true;
  };
  const auto use_change = [&](std::string_view, std::string_view value) {
    auto change = decode_cloud_change(value);
    if (!change) {
      bad = bad_record(store_, Family::change, change.error().message);
      return false;
    }
    found_changes_.push_back(std::move(change).value());
    return true;
  };
  if (auto trouble = store_.scan(Family::instance, {}, use)) return trouble;
  if (bad) return bad;
  if (auto trouble = store_.scan(Family::charged, {}, use_sums)) return trouble;
  if (bad) return bad;
  if (auto trouble = store_.scan(Family::change, {}, use_change)) return trouble;
  // A copy: `dropped_` is the writer's from here on, dropped() answers from another thread.
  found_dropped_ = dropped_;
  return bad;
}

RocksCloudStore::~RocksCloudStore() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_one();
  if (writer_.joinable()) writer_.join();
}

std::vector<RentedRecord> RocksCloudStore::recall() {
  return std::exchange(found_, {});
}

std::map<std::uint32_t, RentedSums> RocksCloudStore::dropped() {
  return found_dropped_;
}

void RocksCloudStore::put(const RentedRecord& record, Durable durable) {
  queue({record, std::move(durable)});
}

std::vector<OfferingChange> RocksCloudStore::changes() {
  return std::exchange(found_changes_, {});
}

void RocksCloudStore::put_change(const OfferingChange& change,
                                 const std::vector<std::uint64_t>& dropped, Durable durable) {
  queue({Changed{change, dropped}, std::move(durable)});
}

void RocksCloudStore::queue(Entry entry) {
  {
    const std::lock_guard lock(mutex_);
    // Counts what is being written too: a disk that hangs fills the queue and not the memory.
    if (queued_ < options_.max_queued) {
      ++queued_;
      queue_.push_back(std::move(entry));
      wake_.notify_one();
      return;
    }
  }
  // Outside the lock: the callback may put the next record at once.
  entry.durable("the queue of the cloud's store is full");
}

void RocksCloudStore::run_writer() {
  std::vector<Entry> group;
  while (take_group(group)) {
    // A failed group is not tried again here: the connector is told and decides itself.
    const std::string trouble = write_group(group);
    {
      const std::lock_guard lock(mutex_);
      queued_ -= group.size();
    }
    for (const Entry& entry : group) entry.durable(trouble);
  }
}

/// Waits for something to write; false when there is nothing left and the end has begun.
bool RocksCloudStore::take_group(std::vector<Entry>& group) {
  group.clear();
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [this] { return ends_ || !queue_.empty(); });
  while (!queue_.empty() && group.size() < options_.max_group) {
    group.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return !group.empty();
}

/// Writes all of the group or nothing; says why when nothing.
std::string RocksCloudStore::write_group(const std::vector<Entry>& group) {
  StoreBatch batch;
  std::vector<Over> over;
  std::unordered_set<InstanceId> newly_over;
  for (const auto& [what, durable] : group) {
    if (const auto* changed = std::get_if<Changed>(&what)) {
      batch.put(Family::change, key_of(changed->change.number),
                encode_cloud_change(changed->change));
      for (const std::uint64_t number : changed->dropped) {
        batch.erase(Family::change, key_of(number));
      }
      continue;
    }
    const auto& record = std::get<RentedRecord>(what);
    batch.put(Family::instance, key_of(record.instance.value), encode_rented(record));
    // A record that is put again after its end must not be counted twice.
    if (!is_over(record) || is_gone_.contains(record.instance)) continue;
    if (newly_over.insert(record.instance).second)
      over.push_back({record.instance, sums_of(record)});
  }
  // The records that have to go are the oldest: first those known before, then the group's own.
  const std::size_t all = gone_.size() + over.size();
  const std::size_t excess = all > options_.max_gone ? all - options_.max_gone : 0;
  std::map<std::uint32_t, RentedSums> sums;
  for (std::size_t n = 0; n < excess; ++n) {
    const Over& oldest = n < gone_.size() ? gone_[n] : over[n - gone_.size()];
    batch.erase(Family::instance, key_of(oldest.instance.value));
    const std::uint32_t master = master_of(oldest.instance);
    // Starts from what the store has, so that the record holds the sum of all times.
    sums.try_emplace(master, dropped_[master]).first->second += oldest.sums;
  }
  for (const auto& [master, sum] : sums) {
    batch.put(Family::charged, key_of(master), encode_rented_sums(sum));
  }
  // Nothing in memory is touched before this: a write that fails leaves it as the store is.
  if (const auto trouble = store_.write(batch, Durability::machine)) return trouble->message;
  for (const Over& each : over) {
    gone_.push_back(each);
    is_gone_.insert(each.instance);
  }
  for (std::size_t n = 0; n < excess; ++n) {
    is_gone_.erase(gone_.front().instance);
    gone_.pop_front();
  }
  for (const auto& [master, sum] : sums) dropped_[master] = sum;
  return {};
}

}  // namespace muster
