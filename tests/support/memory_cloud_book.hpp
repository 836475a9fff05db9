#pragma once

#include <deque>
#include <functional>
#include <map>
#include <utility>

#include "storage/cloud_book.hpp"

namespace muster::test {

/// Keeps the records for the next cloud, takes none while it is told to be full, and while it is
/// slow answers only when it is asked to.
class MemoryCloudBook final : public CloudBook {
 public:
  std::vector<RentedRecord> recall() override {
    std::vector<RentedRecord> all;
    for (const auto& [id, record] : records) all.push_back(record);
    return all;
  }
  void put(const RentedRecord& record, Durable durable) override {
    auto write = [this, record, durable = std::move(durable)] {
      if (full) return durable("no space is left");
      records[record.instance] = record;
      durable({});
    };
    if (!slow) return write();
    waiting.push_back(std::move(write));
  }
  /// Writes what waits by now.
  void flush() {
    for (const auto& write : std::exchange(waiting, {})) write();
  }

  std::map<InstanceId, RentedRecord> records;
  std::deque<std::function<void()>> waiting;
  bool full = false;
  bool slow = false;
};

}  // namespace muster::test
