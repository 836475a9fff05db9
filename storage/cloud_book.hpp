#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/catalog.hpp"
#include "model/ids.hpp"
#include "model/money.hpp"
#include "model/time.hpp"

namespace muster {

/// An instance as its cloud has it on record.
struct RentedRecord {
  InstanceId instance;
  std::string type;  ///< by name: catalogs change
  Market market = Market::on_demand;
  Price price;
  Instant ordered_at;
  std::optional<Instant> up_at;    ///< billed from
  std::optional<Instant> gone_at;  ///< billed until
  std::optional<Instant> notice;   ///< the cloud takes it back then
  bool refused = false;
  bool ending = false;
  std::string machine;  ///< what the host needs to find the machine again

  friend bool operator==(const RentedRecord&, const RentedRecord&) = default;
};

/// Where a cloud connector writes down what is rented, before anything is told or done.
class CloudBook {
 public:
  /// Empty, or why the record could not be written down.
  using Durable = std::function<void(const std::string& trouble)>;

  virtual ~CloudBook() = default;

  /// Every record: of what is rented, and of what is gone for as long as it is kept.
  virtual std::vector<RentedRecord> recall() = 0;
  /// Puts the record in the place of the one of the same instance. `durable` is called once, with
  /// an empty text when it is written down for good, or with the reason why it is not: before this
  /// returns or later, from whatever thread. A caller that wants the records of one instance in
  /// its own order waits for one before it puts the next.
  virtual void put(const RentedRecord& record, Durable durable) = 0;
};

/// Keeps the records in memory only: for replay.
class ForgetfulCloudBook final : public CloudBook {
 public:
  std::vector<RentedRecord> recall() override { return {}; }
  void put(const RentedRecord&, Durable durable) override { durable({}); }
};

}  // namespace muster
