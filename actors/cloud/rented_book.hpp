#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "actors/cloud/connector_setup.hpp"
#include "actors/messages/interfaces.hpp"
#include "model/number_set.hpp"
#include "model/views.hpp"
#include "storage/stores/cloud_store.hpp"

namespace muster {

/// An offering as its cloud and the records name it: type, market, zone.
using OfferingName = std::tuple<std::string, Market, std::string>;

/// The name of the offering, or of the one that the record's instance is of.
inline OfferingName offering_name(const Offering& offering) {
  return {offering.type, offering.market, offering.zone};
}
/// Likewise.
inline OfferingName offering_name(const RentedRecord& record) {
  return {record.type, record.market, record.zone};
}

/// A connector's knowledge of instances: those that are rented, those that are over, and the
/// numbers that masters have given. Keeps the bill's count of rented instances; writes nothing
/// down.
class RentedBook {
 public:
  struct Rented {
    RentedRecord record;  ///< as it is in the store, charged with the prices since
    /// The one that spoke of it last; invalid when no master has since the start.
    MasterForCloud master;
    std::uint64_t change_on_record = 0;  ///< RentedRecord::change, as the store has it
  };

  /// `keep_gone`: instances that are remembered after they are over, at least 1.
  RentedBook(CloudBill& bill, std::size_t keep_gone) : bill_(bill), keep_gone_(keep_gone) {}

  /// Nothing when it is not rented.
  Rented* find(InstanceId id);
  const Rented* find(InstanceId id) const;
  /// It is rented, which the caller knows.
  Rented& at(InstanceId id) { return rented_.at(id); }
  /// By their numbers.
  const std::map<InstanceId, Rented>& rented() const { return rented_; }
  /// Of one offering.
  std::set<InstanceId> rented_of(const OfferingName& offering) const;
  /// Their number, without a copy of them.
  std::size_t count_of(const OfferingName& offering) const;
  /// The time of the oldest order that is open; Instant::max() without open orders.
  Instant oldest_order() const;
  void add(Rented rented);
  Rented remove(InstanceId id);

  /// Of an instance that is gone or was refused, for as long as it is remembered.
  const RentedRecord* find_over(InstanceId id) const;
  void remember(RentedRecord record);
  /// Whether the instance was over before all that are remembered.
  bool is_forgotten(InstanceId id) const;

  /// The number is given; rented and remembered ones are without it.
  void note_number(InstanceId id);
  /// All that the store knew is added: numbers up to those of now are of before the start.
  void end_recall() { recalled_ = newest_; }
  /// Of each master, the instance with the highest number of those that ever were on record.
  std::vector<InstanceId> newest() const;

  /// The rented ones first, then those that are over, the latest first.
  RentedView show(const RentedQuestion& wanted, Instant now) const;
  /// Lets go of masters.
  void clear() { rented_.clear(); }

 private:
  CloudBill& bill_;
  std::size_t keep_gone_;
  std::map<InstanceId, Rented> rented_;
  std::map<OfferingName, std::set<InstanceId>> rented_of_;
  /// Instances that are gone or were refused: a late order for it changes nothing.
  std::map<InstanceId, RentedRecord> over_;
  std::deque<InstanceId> over_in_order_;          ///< the oldest first
  std::map<std::uint32_t, InstanceId> newest_;    ///< by master
  std::map<std::uint32_t, InstanceId> recalled_;  ///< likewise, as it was at the start
  NumberSet forgotten_;                           ///< instances that left `over_` since then
};

}  // namespace muster
