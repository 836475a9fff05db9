#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "actors/cloud/cloud_provider.hpp"
#include "actors/cloud/connector_host.hpp"
#include "actors/cloud/connector_setup.hpp"
#include "actors/cloud/rented_book.hpp"

namespace muster {

/// The questions of a connector to its provider, repeated after growing pauses until they are
/// answered, and what it concludes from the answers. A cloud's list is compared with the records:
/// an instance without a record is ended, one that was up and does not exist any more is gone.
class ProviderCalls {
 public:
  struct Host {
    std::shared_ptr<ConnectorHost> connector;
    /// The order is refused, with the reason in the news.
    std::function<void(InstanceId, ProviderNews)> refused;
    /// Nothing runs there any more, likewise.
    std::function<void(InstanceId, ProviderNews)> gone;
    /// Nothing of the instance is due or being written.
    std::function<bool(InstanceId)> is_idle;
  };

  ProviderCalls(const ConnectorSetup& setup, const RentedBook& book, Host host);

  /// The order is on record.
  void launch(InstanceId id);
  /// Ends the instance, once its launch is answered: before that the cloud may still make it.
  void terminate(InstanceId id);
  /// Compares what exists with what is on record.
  void look();
  /// The instance is not rented any more.
  void forget(InstanceId id) {
    calls_.erase(id);
    setup_.provider->forget(id);
  }

 private:
  /// Of one instance, since the start.
  struct Calls {
    std::uint32_t tries = 0;      ///< of its launch
    std::uint32_t end_tries = 0;  ///< of its end
    bool launching = false;       ///< the provider has not answered yet
  };

  bool is_launching(InstanceId id) const;
  void on_launched(InstanceId id, const LaunchAnswer& answer);
  void refuse_for(InstanceId id, const LaunchAnswer& answer);
  void on_doubt(InstanceId id, const LaunchAnswer& answer);
  void on_doubt_list(InstanceId id, const LaunchAnswer& answer, const FoundInstances& found);
  void on_terminated(InstanceId id, EndResult result);
  void look_later(Duration wait);
  void on_found(const std::set<InstanceId>& expected, const FoundInstances& found);
  void miss(InstanceId id, const RentedRecord& record);
  void after(Duration wait, std::function<void()> step) const;
  Duration pause_after(std::uint32_t tries) const;

  const ConnectorSetup& setup_;
  const RentedBook& book_;
  Host host_;
  std::map<InstanceId, Calls> calls_;
  std::uint32_t looks_ = 0;   ///< in vain, one after the other
  bool looks_later_ = false;  ///< the next look is due already
};

}  // namespace muster
