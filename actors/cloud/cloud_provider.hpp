#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/ids.hpp"
#include "model/offering.hpp"
#include "storage/stores/cloud_store.hpp"

// Questions and orders of a cloud connector to a cloud, and the cloud's news. A provider knows one
// cloud and nothing of masters, stores, bills or actors; the connector knows those and nothing of
// the cloud.

namespace muster {

/// Outcome of an order for an instance.
enum class LaunchResult : std::uint8_t {
  granted,    ///< it exists, or will without anything else
  capacity,   ///< the cloud has no such instance now
  quota,      ///< the account's limit is reached
  price,      ///< it costs more than the order allows
  throttled,  ///< the cloud was asked too often
  failed      ///< anything else, a lost answer included: the instance may exist nevertheless
};

/// As masters are told.
constexpr CloudReason reason_of(LaunchResult result) {
  switch (result) {
    case LaunchResult::granted:
      return CloudReason::not_said;
    case LaunchResult::capacity:
      return CloudReason::capacity;
    case LaunchResult::quota:
      return CloudReason::quota;
    case LaunchResult::price:
      return CloudReason::price;
    case LaunchResult::throttled:
      return CloudReason::throttled;
    case LaunchResult::failed:
      return CloudReason::failed;
  }
  return CloudReason::not_said;
}

/// A cloud's answer to an order.
struct LaunchAnswer {
  LaunchResult result = LaunchResult::granted;
  std::string text{};  ///< for people; empty when it is granted
};

/// Outcome of an order to end an instance.
enum class EndResult : std::uint8_t {
  accepted,   ///< it ends; that it is gone is told as news
  absent,     ///< there is no such instance
  throttled,  ///< the cloud was asked too often
  failed      ///< anything else
};

/// Instances that a provider finds in its cloud.
struct FoundInstances {
  bool complete = false;  ///< false: the cloud did not answer, which says nothing
  std::vector<InstanceId> instances{};
  /// Of several clouds some did not answer, which says nothing of these instances. Later more is
  /// known.
  std::set<InstanceId> unknown{};
  bool partial = false;  ///< some did not answer, whether or not they have instances on record
};

/// Kind of a provider's news.
enum class ProviderNewsKind : std::uint8_t {
  up,        ///< the instance exists and is billed
  machine,   ///< `text` is what the provider needs to find it again
  notice,    ///< the cloud takes it back at `at`
  ending,    ///< the cloud is about to end it
  gone,      ///< nothing runs there any more
  offering,  ///< of no instance: `offering` is not as it was
  note,      ///< a line for the node's log
  restarted  ///< its worker was started again
};

/// Something that the cloud has done by itself or come to do.
struct ProviderNews {
  ProviderNewsKind kind = ProviderNewsKind::note;
  InstanceId instance{};
  /// When, by the cloud's clock. Of up, gone and an offering nothing: when the connector has it on
  /// record, which is for providers that can wait for that.
  std::optional<Instant> at{};
  CloudReason reason = CloudReason::not_said;  ///< ending, gone
  std::string text{};
  Offering offering{};
  /// Called on the connector's turn when this is on record, with the time that is on record. Called
  /// when the news is durable, for steps that have to wait for that. Not called when the news is
  /// outdated.
  std::function<void(Instant at)> recorded{};
};

/// The connector, as a provider sees it. A turn of the connector is any call of the provider by it
/// and any step that it runs for the provider: no two at once. Outlives the connector.
class CloudHost {
 public:
  virtual ~CloudHost() = default;

  /// Time by the cloud's clock. On a turn.
  virtual Instant now() const = 0;
  /// Runs the step as a turn at that time, at once when that is past. On a turn. Steps of the same
  /// time run in the order in which they were given.
  virtual void at(Instant when, std::function<void()> step) = 0;
  /// Runs the step as a turn, or within the present one. From whatever thread; dropped when the
  /// connector has ended.
  virtual void run(std::function<void()> step) = 0;
  /// Takes news. From whatever thread.
  virtual void tell(ProviderNews news) = 0;
};

/// A cloud. All calls are turns of the connector, no call waits for anything, and every `done` is
/// called once, before the call returns or later, from any thread. An instance's number is the
/// token of its order and the name that the cloud knows it by.
class CloudProvider {
 public:
  virtual ~CloudProvider() = default;

  /// Begins to tell news. `rented` is what the connector has on record, by rising numbers: a cloud
  /// that has no memory of its own goes on from there. Called once, before any order.
  virtual void watch(std::shared_ptr<CloudHost> host, const std::vector<RentedRecord>& rented) = 0;
  /// No news is wanted any more, and nothing else will be asked for.
  virtual void unwatch() {}

  /// All that there is to rent, as it stands now. Later changes are news.
  virtual std::vector<Offering> offerings() const = 0;

  /// Orders the instance, by its type, market and zone; an instance without a zone costs the price
  /// of the offering without a zone. The same order again is answered again and launches nothing
  /// more.
  virtual void launch(const RentedRecord& order, std::function<void(LaunchAnswer)> done) = 0;

  /// Orders the instance's end. The same order again changes nothing.
  virtual void terminate(InstanceId instance, std::function<void(EndResult)> done) = 0;

  /// The instance is over, refused or gone: nothing is asked of it any more.
  virtual void forget(InstanceId /*instance*/) {}

  /// Existing instances of this cluster: those of all orders that were granted and are not gone.
  virtual void list(std::function<void(FoundInstances)> done) = 0;

  /// Takes a spot instance back as the cloud would, with notice; false: this cloud cannot be made
  /// to. For trying out.
  virtual bool interrupt(InstanceId /*instance*/) { return false; }

  /// When somebody ended all instances while no connector ran: the cloud's time does not go behind.
  virtual std::optional<Instant> all_ended_at() const { return std::nullopt; }
};

}  // namespace muster
