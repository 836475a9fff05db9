#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actors/cloud/cloud_provider.hpp"
#include "actors/cloud/machine_backend.hpp"
#include "config/cloud/delays.hpp"
#include "model/catalog.hpp"

namespace muster {

/// How many instances a loopback cloud has to rent out at once; it refuses orders beyond.
struct CloudLimits {
  std::uint32_t instances = 0;                   ///< of all types; 0: no limit
  std::map<std::string, std::uint32_t> by_type;  ///< by name; a type that is not named: no limit
  std::map<Market, std::uint32_t> by_market;     ///< a market that is not named: no limit
};

/// How a loopback cloud takes spot instances back.
struct CloudInterruptions {
  Duration notice = std::chrono::minutes{2};  ///< from the notice to the end; >= 0
  double per_h =
      0;  ///< expected number in an hour of one spot instance; 0: no interruptions by itself
  std::uint64_t seed = 1;  ///< of the times at which they come
};

/// How the delays of instances vary around the catalog's, which are their means.
struct CloudDelays {
  DelayKind kind = DelayKind::constant;
  double spread = 0;       ///< standard deviation, as a share of the mean
  std::uint64_t seed = 1;  ///< each delay depends on it and on its instance alone
};

/// Instances that a loopback cloud rents out, and their delays.
struct LoopbackOptions {
  const Catalog* catalog = nullptr;
  /// Granularity of times that affect a bill, counted from the last multiple before the order and
  /// never before the order itself; zero: no granularity.
  Duration quantum{};
  CloudLimits limits{};
  CloudInterruptions interruptions{};
  CloudDelays delays{};
  Duration halt_grace =
      std::chrono::seconds{2};  ///< time that running processes of a machine get to end
  Duration boot_retry = std::chrono::seconds{1};  ///< between attempts to boot a machine; > 0
  /// Where it says how many machines are free, offerings do.
  MachineBackend* machines = nullptr;
  /// Answer to an order that the machines have no room for.
  std::string no_room = "its computer has no room for another worker";
};

/// A cloud inside the cluster: its instances come up, get a machine and end after the delays of
/// their types. It has no memory of its own: it goes on from the connector's records, and does
/// nothing that is told as news before the news is on record.
class LoopbackProvider final : public CloudProvider {
 public:
  explicit LoopbackProvider(LoopbackOptions options) : options_(std::move(options)) {}

  void watch(std::shared_ptr<CloudHost> host, const std::vector<RentedRecord>& rented) override;
  void unwatch() override;
  std::vector<Offering> offerings() const override;
  void launch(const RentedRecord& order, std::function<void(LaunchAnswer)> done) override;
  void terminate(InstanceId instance, std::function<void(EndResult)> done) override;
  void list(std::function<void(FoundInstances)> done) override;
  bool interrupt(InstanceId instance) override { return take_back(instance); }
  std::optional<Instant> all_ended_at() const override;

  /// Takes the instance back for the given reason.
  bool take_back(InstanceId instance, CloudReason reason = CloudReason::reclaimed);

 private:
  /// An instance that was granted and is not gone.
  struct Held {
    std::string type_name;
    std::optional<TypeId> type;  ///< absent: the catalog does not have it any more
    Market market = Market::on_demand;
    Instant ordered_at;
    std::optional<Instant> up_at{};   ///< as it is on record
    std::optional<Instant> notice{};  ///< likewise
    std::string machine{};
    CloudReason reason = CloudReason::not_said;  ///< why it will end by itself
    bool ending = false;
    bool halting = false;
    std::optional<Instant> ended_at{};  ///< its machine was ended then, while no connector ran
  };

  Instant now() const { return floor_to(host_->now(), options_.quantum); }
  Instant next(Instant when) const;
  Duration drawn(InstanceId id, Duration InstanceType::*delay, const InstanceType& type) const;
  const InstanceType& type_of(const Held& held) const { return (*options_.catalog)[*held.type]; }
  MachineOrder machine_order(InstanceId id, const Held& held) const {
    return {id, *held.type, type_of(held), held.market};
  }
  LaunchAnswer answer_to(const RentedRecord& order) const;
  Held& add(InstanceId id, const RentedRecord& record);
  void remove(InstanceId id);
  void resume(InstanceId id);
  void step_at(Instant when, void (LoopbackProvider::*step)(InstanceId), InstanceId id);
  void tell(ProviderNews news) { host_->tell(std::move(news)); }
  void note(InstanceId id, const std::string& text);

  void come_up(InstanceId id);
  void boot(InstanceId id);
  void interrupt_by_chance(InstanceId id) { take_back(id); }
  void await_interruption(InstanceId id);
  void lose(InstanceId id, const std::string& text);
  void reclaim(InstanceId id);
  void halt(InstanceId id);
  void gone(InstanceId id);

  LoopbackOptions options_;
  std::shared_ptr<CloudHost> host_;
  std::map<InstanceId, Held> held_;
  std::map<std::string, std::uint32_t> held_by_type_;  ///< counts for the limits by type
  std::map<Market, std::uint32_t> held_by_market_;
};

}  // namespace muster
