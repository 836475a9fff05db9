#pragma once

#include <map>

#include "storage/cloud_book.hpp"

namespace muster::test {

/// Keeps the records for the next cloud, and takes none while it is told to be full.
class MemoryCloudBook final : public CloudBook {
 public:
  std::vector<RentedRecord> recall() override {
    std::vector<RentedRecord> all;
    for (const auto& [id, record] : records) all.push_back(record);
    return all;
  }
  std::string put(const RentedRecord& record) override {
    if (full) return "no space is left";
    records[record.instance] = record;
    return {};
  }

  std::map<InstanceId, RentedRecord> records;
  bool full = false;
};

}  // namespace muster::test
