#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "actors/cloud/cloud_writer.hpp"
#include "actors/cloud/connector_host.hpp"
#include "actors/cloud/connector_setup.hpp"
#include "actors/cloud/rented_book.hpp"
#include "model/offering.hpp"

namespace muster {

/// The offerings of a cloud, their prices, and the charges of instances by them. Changes have
/// numbers without a gap and times that never go back; each is in the store before it is told, one
/// after the other, and no bill of the offering ends in between.
class CloudOfferings {
 public:
  struct Host {
    std::shared_ptr<ConnectorHost> connector;
    /// The change is on record: masters are told.
    std::function<void(const OfferingChange&)> announce;
    /// The price of its offering is not being written any more.
    std::function<void(InstanceId)> settle;
    /// The instance's record is to be written anew, with the newest price, after this turn.
    std::function<void(InstanceId)> renew;
  };
  /// A provider's word on an offering.
  struct Heard {
    Offering offering;
    std::optional<Instant> at{};  ///< since when it is so; nothing: since it is written down
  };

  CloudOfferings(const ConnectorSetup& setup, RentedBook& book, CloudWriter& writer, Host host);

  /// Puts together the catalog and the changes that the store has had since.
  void recall();
  /// Nothing follows when it is known already.
  void hear(const Heard& heard);

  /// The instance costs what its offering cost at that time, and nothing was charged before.
  void price_from(RentedRecord& record, Instant from) const;
  /// Charges the record with what has passed at each price since its last change.
  void catch_up(RentedRecord& record) const;
  /// Whether a change of the price of its offering is being written: the instance's cost is not
  /// known before that is durable.
  bool is_changing(const RentedRecord& record) const { return changing_ == offering_name(record); }

  /// Those that are kept, by their numbers.
  std::vector<OfferingChange> changes() const;
  std::uint64_t last_change() const {
    return last_change_;
  }  ///< its number; 0: there was no change
  Instant last_change_at() const { return last_change_at_; }

 private:
  /// All that is known of an offering.
  struct Offered {
    Offering first;                                     ///< before the first of the changes
    std::map<std::uint64_t, OfferingChange> changes{};  ///< those that are kept, by number
    Offering last;                                      ///< as it is now
    std::size_t rented = 0;                             ///< instances of it when that was told
  };

  void add(const OfferingChange& change);
  Instant start_of(const Heard& heard) const;
  void write_changes();
  void on_written(const OfferingChange& change, bool written);
  std::vector<std::uint64_t> droppable();
  static bool has_own_price(const Offered& offered,
                            std::map<std::uint64_t, OfferingChange>::const_iterator change);
  bool is_on_record(const OfferingName& offering, std::uint64_t change);
  void drop(const std::vector<std::uint64_t>& numbers);

  const ConnectorSetup& setup_;
  RentedBook& book_;
  CloudWriter& writer_;
  Host host_;
  std::map<OfferingName, Offered> offered_;
  std::map<std::uint64_t, OfferingName> changes_;  ///< those that are kept
  std::deque<Heard> to_change_;                    ///< told, and not in the store yet
  std::optional<OfferingName> changing_;           ///< the change of it is being written
  bool change_waits_ = false;                      ///< it is written after a while
  bool writes_changes_ = false;                    ///< write_changes() is under way
  std::size_t look_for_droppable_ = 0;  ///< the number of kept changes at which to look again
  std::uint64_t last_change_ = 0;
  Instant last_change_at_;
};

}  // namespace muster
