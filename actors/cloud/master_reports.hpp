#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "actors/cloud/cloud_offerings.hpp"
#include "actors/cloud/connector_host.hpp"
#include "actors/cloud/rented_book.hpp"
#include "actors/messages/interfaces.hpp"

namespace muster {

/// The words of a connector to masters: only what is on record. Each report says what the cloud's
/// clock shows and the number of the newest change of a price, so that a master finds out what it
/// missed.
class MasterReports {
 public:
  using Send = std::function<void(const MasterForCloud&, CloudReport)>;

  MasterReports(const RentedBook& book, const CloudOfferings& offerings,
                std::shared_ptr<ConnectorHost> host, Send send);

  /// From now on the master is told of changes of prices. Nothing follows of an invalid one.
  void meet(const MasterForCloud& master);
  /// Has a master that has lost what it knew go on from its numbers, and tells it the prices.
  void greet(const MasterForCloud& master);
  void tell(const MasterForCloud& master, CloudReport report);
  /// That the instance is up, and its notice, as far as it has come.
  void tell_state(const RentedBook::Rented& rented);
  /// That the instance is gone, or its order refused.
  void tell_over(const RentedRecord& record, const MasterForCloud& master);
  /// To each master that was met.
  void tell_change(const OfferingChange& change);
  /// Lets go of masters.
  void clear() { masters_.clear(); }

 private:
  const RentedBook& book_;
  const CloudOfferings& offerings_;
  std::shared_ptr<ConnectorHost> host_;
  Send send_;
  std::vector<MasterForCloud> masters_;  ///< the latest last
};

}  // namespace muster
