#pragma once

#include <deque>
#include <functional>
#include <map>
#include <utility>

#include "storage/stores/cloud_store.hpp"

namespace muster::test {

/// Keeps the records for the next cloud, takes none while it is told to be full, and while it is
/// slow answers only when it is asked to.
class MemoryCloudStore final : public CloudStore {
 public:
  std::vector<RentedRecord> recall() override {
    std::vector<RentedRecord> all;
    for (const auto& [id, record] : records) all.push_back(record);
    return all;
  }
  void put(const RentedRecord& record, Durable durable) override {
    take([this, record] { records[record.instance] = record; }, std::move(durable));
  }
  std::vector<OfferingChange> changes() override {
    std::vector<OfferingChange> all;
    for (const auto& [number, change] : changed) all.push_back(change);
    return all;
  }
  void put_change(const OfferingChange& change, const std::vector<std::uint64_t>& dropped,
                  Durable durable) override {
    const auto put = [this, change, dropped] {
      changed[change.number] = change;
      for (const std::uint64_t number : dropped) changed.erase(number);
    };
    take(put, std::move(durable));
  }
  /// The error of a write while it is full.
  static constexpr const char* kFull = "no space is left";

  /// Writes what waits by now.
  void flush() {
    for (const auto& write : std::exchange(waiting, {})) write();
  }

  std::map<InstanceId, RentedRecord> records;
  std::map<std::uint64_t, OfferingChange> changed;
  std::deque<std::function<void()>> waiting;
  bool full = false;
  bool slow = false;

 private:
  void take(std::function<void()> put, Durable durable) {
    auto write = [this, put = std::move(put), durable = std::move(durable)] {
      if (full) return durable(kFull);
      put();
      durable({});
    };
    if (!slow) return write();
    waiting.push_back(std::move(write));
  }
};

}  // namespace muster::test
