#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/catalog.hpp"
#include "model/ids.hpp"
#include "model/money.hpp"
#include "model/offering.hpp"
#include "model/time.hpp"

namespace muster {

/// An instance as its cloud has it on record.
struct RentedRecord {
  InstanceId instance;
  std::string type;  ///< by name: catalogs change
  Market market = Market::on_demand;
  std::string zone{};  ///< as it was ordered
  Price max_price{};   ///< likewise; zero: any price
  Price price;         ///< since `priced_at`
  Instant ordered_at;
  std::optional<Instant> up_at;    ///< billed from
  std::optional<Instant> gone_at;  ///< billed until
  std::optional<Instant> notice;   ///< the cloud takes it back then
  bool refused = false;
  bool ending = false;
  std::string machine;  ///< the provider's data for finding the instance again
  CloudReason reason = CloudReason::not_said;  ///< of what was refused, ends or is gone
  Money charged{};                             ///< until `priced_at`, at the prices of before
  std::optional<Instant> priced_at{};          ///< nothing: the price is that of the whole time
  std::uint64_t change = 0;  ///< number of the last change of a price that is in here

  friend bool operator==(const RentedRecord&, const RentedRecord&) = default;
};

/// Cost of the instance by then, or in all when it is gone.
inline Money charge_of(const RentedRecord& record, Instant now) {
  if (!record.up_at) return {};
  const Instant from = record.priced_at.value_or(*record.up_at);
  const Instant until = record.gone_at.value_or(now);
  return record.charged + (until > from ? Money::of(record.price, until - from) : Money{});
}

/// Sums over records that are not kept any more.
struct RentedSums {
  Money charged;
  std::uint64_t launched = 0;  ///< instances that came up
  std::uint64_t refused = 0;   ///< orders
  std::uint64_t newest = 0;    ///< the highest number of these

  void add(const RentedRecord& record) {
    charged += charge_of(record, record.gone_at.value_or(Instant{}));
    launched += record.up_at.has_value() ? 1 : 0;
    refused += record.refused ? 1 : 0;
    newest = std::max(newest, record.instance.value);
  }
  RentedSums& operator+=(const RentedSums& other) {
    charged += other.charged;
    launched += other.launched;
    refused += other.refused;
    newest = std::max(newest, other.newest);
    return *this;
  }
  friend bool operator==(const RentedSums&, const RentedSums&) = default;
};

/// Where a cloud connector writes down what is rented, before anything is told or done.
class CloudStore {
 public:
  /// Empty, or why the record could not be written down.
  using Durable = std::function<void(const std::string& trouble)>;

  virtual ~CloudStore() = default;

  /// Every record: of what is rented, and of what is gone for as long as it is kept.
  virtual std::vector<RentedRecord> recall() = 0;
  /// Of the records that were kept once and are no more, by the number of the master whose
  /// instances they were of: with those of recall() they are the whole bill.
  virtual std::map<std::uint32_t, RentedSums> dropped() { return {}; }
  /// Puts the record in the place of the one of the same instance. `durable` is called once, with
  /// an empty text when it is written down for good, or with the reason why it is not: before this
  /// returns or later, from whatever thread. A caller that wants the records of one instance in
  /// its own order waits for one before it puts the next.
  virtual void put(const RentedRecord& record, Durable durable) = 0;

  /// Changes of what is offered that are kept, by rising numbers.
  virtual std::vector<OfferingChange> changes() { return {}; }
  /// Writes the change down and drops those with the given numbers; `durable` as above.
  virtual void put_change(const OfferingChange& change, const std::vector<std::uint64_t>& dropped,
                          Durable durable) = 0;
};

/// Keeps the records in memory only: for replay.
class NullCloudStore final : public CloudStore {
 public:
  std::vector<RentedRecord> recall() override { return {}; }
  void put(const RentedRecord&, Durable durable) override { durable({}); }
  void put_change(const OfferingChange&, const std::vector<std::uint64_t>&,
                  Durable durable) override {
    durable({});
  }
};

}  // namespace muster
