#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "actors/cloud/loopback_provider.hpp"
#include "config/price_series.hpp"

namespace muster {

/// Settings of a cloud with traced prices.
struct TraceOptions {
  PriceSeries series;
  Duration period{};  ///< time of the series after which it begins anew; zero: never
  Instant start{};    ///< the series' time 0; before it all is as it is then
};

/// A loopback cloud whose prices, availability and revocations are those of a series. Which step
/// holds depends on nothing but the time, so that a cloud that is started anew comes to the same
/// one. A spot instance that its order allows less for than it costs is taken back, with notice.
///
/// An order without a zone costs the price of the cheapest zone that is available, or of the
/// cheapest of all without one; such instances are taken back with the last zone that is left.
class TraceProvider final : public CloudProvider {
 public:
  TraceProvider(LoopbackOptions loopback, TraceOptions trace);
  ~TraceProvider() override;

  void watch(std::shared_ptr<CloudHost> host, const std::vector<RentedRecord>& rented) override;
  void unwatch() override { machines_.unwatch(); }
  std::vector<Offering> offerings() const override;
  void launch(const RentedRecord& order, std::function<void(LaunchAnswer)> done) override;
  void terminate(InstanceId instance, std::function<void(EndResult)> done) override {
    machines_.terminate(instance, std::move(done));
  }
  void list(std::function<void(FoundInstances)> done) override { machines_.list(std::move(done)); }
  bool interrupt(InstanceId instance) override { return machines_.interrupt(instance); }
  std::optional<Instant> all_ended_at() const override { return machines_.all_ended_at(); }

 private:
  class Relay;
  using Key = std::tuple<std::string, Market, std::string>;
  /// Where the series is: the round through it, and the step that comes next.
  struct Place {
    std::int64_t round = 0;
    std::size_t next = 0;
  };
  /// An offering that is followed to what it is now.
  struct Followed {
    Offering before;
    Instant at;  ///< of the last step that changed it
  };

  static Key key_of(const Offering& offering) {
    return {offering.type, offering.market, offering.zone};
  }
  void follow(const PricePoint& step, Instant at);
  void follow_zones(const Key& zone, Instant at);
  void go_to_now();
  Instant time_of(const Place& place) const;
  void play();
  void tell(const std::map<Key, Followed>& followed);
  void take_back(const Key& key, CloudReason reason);
  void check(InstanceId id);
  void set(const Offering& offering, Instant at);
  void keep(const RentedRecord& order);
  void drop(InstanceId id);
  std::set<InstanceId> ordered(const Key& key) const;

  struct Order {
    Key key;
    Price max_price;
  };

  double interruptions_h_;  ///< of a spot instance, by chance, whatever the series says
  LoopbackProvider machines_;
  TraceOptions trace_;
  std::shared_ptr<CloudHost> host_;
  std::map<Key, Offering> offered_;  ///< that the series speaks of, as they are now
  std::map<Key, Followed>
      followed_;  ///< offerings that the steps have touched and that are followed now
  std::map<InstanceId, Order> orders_;           ///< of what was granted and is not gone
  std::map<Key, std::set<InstanceId>> ordered_;  ///< likewise, by their offering
  Place place_;
};

}  // namespace muster
