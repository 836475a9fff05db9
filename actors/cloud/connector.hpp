#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "actors/cloud/cloud_offerings.hpp"
#include "actors/cloud/cloud_writer.hpp"
#include "actors/cloud/connector_setup.hpp"
#include "actors/cloud/master_reports.hpp"
#include "actors/cloud/provider_calls.hpp"
#include "actors/cloud/rent_orders.hpp"
#include "actors/cloud/rented_book.hpp"
#include "actors/cloud/rented_steps.hpp"
#include "actors/messages/interfaces.hpp"
#include "actors/time/clock.hpp"

namespace muster {

/// Stands between the masters and a cloud, and keeps the part that does not depend on the provider:
/// the master of each order, that a repeated order changes nothing, and the bills. Every step is in
/// the store before anything is done or told, without waiting for the disk: the connector goes on
/// with other instances meanwhile. So one that is started anew on the store goes on where the other
/// one ended, and the instants it reports are those of the store. Its time never goes behind what
/// the store says: when the clock was set back meanwhile, the cloud's goes on from the newest
/// record for as long as it lives.
///
/// The parts do the work; the actor begins from the store, and passes on what it is told.
class CloudConnector : public CloudActor::base {
 public:
  CloudConnector(caf::actor_config& config, ConnectorSetup setup);
  ~CloudConnector() override;
  const char* name() const override { return "muster.cloud"; }
  void on_exit() override;

 protected:
  behavior_type make_behavior() override;

 private:
  class Host;

  void recall();
  void go_on_from(Instant newest);
  void begin();
  void on_news(ProviderNews news);
  CloudFigures figures() const;

  ConnectorSetup setup_;
  ActorTimer<CloudActor, CloudConnector> timer_;
  std::shared_ptr<Host> host_;
  RentedBook book_;
  CloudWriter writer_;
  CloudOfferings offerings_;
  MasterReports reports_;
  RentedSteps steps_;
  ProviderCalls calls_;
  RentOrders orders_;
  std::uint64_t restarts_ = 0;  ///< of workers that ended by themselves
};

}  // namespace muster
