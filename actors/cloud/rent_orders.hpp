#pragma once

#include <functional>
#include <memory>

#include "actors/cloud/connector_host.hpp"
#include "actors/cloud/connector_setup.hpp"
#include "actors/cloud/rented_steps.hpp"
#include "actors/messages/interfaces.hpp"

namespace muster {

/// Masters' orders. An order that is repeated changes nothing and is answered with what became of
/// the first one; its intent is on record before the cloud hears of it.
class RentOrders {
 public:
  struct Host {
    std::shared_ptr<ConnectorHost> connector;
    /// The order is on record: the cloud is told.
    std::function<void(InstanceId)> launch;
  };

  RentOrders(CloudBill& bill, const RentedParts& parts, RentedSteps& steps, Host host);

  void rent(const LaunchOrder& order, const MasterForCloud& master);
  void end(InstanceId id, const MasterForCloud& master);

 private:
  void refuse_other(InstanceId id, const MasterForCloud& master);
  bool is_of_another(const LaunchOrder& order, const RentedRecord& known);
  Instant now() const { return host_.connector->billed_now(); }

  CloudBill& bill_;
  RentedParts parts_;
  RentedSteps& steps_;
  Host host_;
};

}  // namespace muster
