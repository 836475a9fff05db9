#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>

#include "actors/clock.hpp"
#include "actors/messages.hpp"
#include "model/catalog.hpp"

namespace muster {

/// Starts the worker of an instance that is up and set up.
using WorkerLauncher = std::function<WorkerActor(InstanceId, TypeId, const MasterActor&)>;

/// What a loopback cloud has charged and done so far. Owned by the composition root, written by the
/// cloud, so that the bill can be compared with the masters' ledgers.
struct CloudBill {
  Money total;
  std::uint64_t launched = 0;  ///< instances that came up
  std::uint64_t refused = 0;
  std::uint64_t rented = 0;  ///< instances ordered and not gone yet
};

struct LoopbackSetup {
  const Catalog* catalog = nullptr;
  ClusterEpoch epoch;
  Duration quantum{};               ///< the cloud acts at multiples of it; zero: at any time
  std::uint32_t max_instances = 0;  ///< refuses to have more at once; 0: no limit
  WorkerLauncher launch_worker;
  CloudBill* bill = nullptr;
};

/// A cloud inside the cluster: its instances come up, get a worker and end after the delays of
/// their types, and are billed from up to gone. Repeated orders change nothing.
class LoopbackCloud : public CloudActor::base {
 public:
  LoopbackCloud(caf::actor_config& config, LoopbackSetup setup);
  const char* name() const override { return "muster.loopback"; }
  void on_exit() override;

 protected:
  behavior_type make_behavior() override;

 private:
  struct Rented {
    TypeId type;
    Market market = Market::on_demand;
    MasterActor master;
    WorkerActor worker;
    bool up = false;
    bool ending = false;
    Instant up_at;
  };

  Instant now() const { return floor_to(timer_.now(), setup_.quantum); }
  void rent(const LaunchOrder& order, const MasterActor& master);
  void come_up(InstanceId id);
  void set_up(InstanceId id);
  void end(InstanceId id);
  void gone(InstanceId id);

  LoopbackSetup setup_;
  ActorTimer<CloudActor, LoopbackCloud> timer_;
  std::map<InstanceId, Rented> rented_;
  std::set<InstanceId>
      known_;  ///< every id ever ordered, so that a repeated order is known as such
};

}  // namespace muster
