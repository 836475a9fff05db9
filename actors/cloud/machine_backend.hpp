#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "model/catalog.hpp"
#include "model/expected.hpp"
#include "storage/stores/cloud_store.hpp"

namespace muster {

/// Order of a machine: the instance that it stands for, and its type.
struct MachineOrder {
  InstanceId instance;
  TypeId type_id;
  InstanceType type;
  Market market = Market::on_demand;
};

enum class MachineError : std::uint8_t {
  unwritable,  ///< a folder or file of the machine cannot be made
  refused      ///< the machine's needs could not be met
};

/// Something that happened to a machine by itself.
struct MachineEvent {
  InstanceId instance;
  std::string text;        ///< one line
  bool restarted = false;  ///< its worker has been started again
  bool lost = false;       ///< nothing runs on it any more: its instance is over
  bool room = false;       ///< of no instance: other machines are free than before
};

/// Runs the machines that a loopback cloud rents out. A machine whose worker ends by itself gets a
/// new one; a machine goes away only when it is halted.
class MachineBackend {
 public:
  virtual ~MachineBackend() = default;

  /// Starts the machine of an instance and says how it is called. Repeating it for the same
  /// instance starts nothing more.
  virtual Expected<std::string, MachineError> boot(const MachineOrder& order) = 0;

  /// Ends everything that runs on the instance's machine, by force after the grace. True: nothing
  /// runs there any more (or ever has). False: it will be so when `done` is called, once, from
  /// whatever thread. `machine` may be empty when its name has not been written down.
  virtual bool halt(InstanceId instance, const std::string& machine, Duration grace,
                    std::function<void()> done) = 0;

  /// Whether there is room for one machine more beside those of `rented` instances, booted or not.
  virtual bool has_room(std::size_t /*rented*/) const { return true; }

  /// Keeps room for the machine of that order, beside those of `rented` instances, until release();
  /// false: there is no room. Repeating it for an instance keeps nothing more.
  virtual bool reserve(const MachineOrder& /*order*/, std::size_t rented) {
    return has_room(rented);
  }
  /// The instance is over.
  virtual void release(InstanceId) {}

  /// How many more machines can be reserved, by the name of their type; of a type that is
  /// not named no machine. Nothing: the number is not known.
  virtual std::optional<std::map<std::string, std::uint32_t>> free_machines() const {
    return std::nullopt;
  }

  /// Takes over a machine that an earlier connector has booted; its worker is started again when
  /// it does not run any more. False: the machine is lost.
  virtual bool adopt(const RentedRecord& record) = 0;

  /// Time at which all machines were ended while no connector ran: earlier orders are not to run
  /// any more.
  virtual std::optional<Instant> all_ended_at() const { return std::nullopt; }

  /// Ends all machines but those of the given instances; called once, before any other order.
  virtual void keep_only(const std::set<InstanceId>&) {}

  /// Sets the listener that is told, from any thread, of events that happen to machines by
  /// themselves.
  virtual void watch(std::function<void(const MachineEvent&)>) {}
};

}  // namespace muster
