#pragma once

#include <deque>
#include <memory>
#include <mutex>

#include "storage/cloud_book.hpp"
#include "storage/store.hpp"

namespace muster {

/// What a cloud's book keeps at most.
struct StoreCloudBookOptions {
  std::size_t max_gone = 10'000;  ///< records of what is gone or was refused; the oldest go first
};

/// What a cloud connector has rented out, in a store.
class StoreCloudBook final : public CloudBook {
 public:
  /// The store has to outlive the book. A record that cannot be decoded is an error.
  static Expected<std::unique_ptr<StoreCloudBook>, StoreError> open(
      Store& store, const StoreCloudBookOptions& options = {});

  std::vector<RentedRecord> recall() override;
  std::string put(const RentedRecord& record) override;

 private:
  StoreCloudBook(Store& store, const StoreCloudBookOptions& options)
      : store_(store), options_(options) {}

  Store& store_;
  const StoreCloudBookOptions options_;
  std::vector<RentedRecord> found_;  ///< at the start, by rising ids
  std::mutex mutex_;
  std::deque<InstanceId> gone_;  ///< the oldest first
};

}  // namespace muster
