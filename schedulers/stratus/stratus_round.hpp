#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "schedulers/packing/rounds/round_input.hpp"
#include "schedulers/stratus/scaler.hpp"
#include "schedulers/stratus/stratus_params.hpp"

namespace muster::stratus {

/// Of instances that were used little at the last scheduling events: at how many without a break.
using LowCounts = std::map<InstanceId, std::uint32_t>;

/// Some task is on the instance, which is ready, and of no kind of resource that it has as much as
/// that share is in use.
bool is_low(const InstanceRow& row, const Catalog& catalog, const ClearingRules& rules);

/// Inputs of a round. `input` has been gathered, and `prices` know the state.
struct RoundParts {
  const ClusterView& view;
  const StratusParams& params;
  const ReservationPrices& prices;
  const RoundInput& input;
  const RoomGroups& groups;
  const LowCounts& low;
};

/// One scheduling event.
class StratusRound {
 public:
  explicit StratusRound(const RoundParts& parts);

  Plan run();
  /// Time alone may bring about that a later event changes more.
  bool waits_for_time() const { return waits_for_time_; }

 private:
  /// A task of the input that waits, or that is to leave its instance.
  struct Waiting {
    std::uint32_t task = 0;  ///< in the input
    int priority = 0;
    Item item;
  };
  /// A room that was changed, as it was before.
  using Undo = std::vector<std::pair<std::uint32_t, Room>>;

  void add_rooms();
  void list_waiting();
  void pack();
  std::size_t pack_alike(std::span<const Waiting> tasks);
  bool pack_gang(std::span<const Waiting> gang);
  void refuse_gang(std::span<const Waiting> gang);
  std::size_t pack_apart(std::span<const Waiting> tasks);
  void refuse_all();
  /// Closes the rooms that have as many tasks of the job as they may; false: they are closed
  /// already.
  bool close_peers(const Waiting& waiting);
  void close_if_full(std::uint32_t room, std::uint32_t tasks, const Waiting& waiting);
  void open_peers();
  bool try_rooms(std::span<const Waiting> tasks, Undo& undo, std::vector<Found>& found);
  void take_back(Undo& undo);
  void take(const Waiting& waiting, std::uint32_t room);
  void place(const Waiting& waiting, const Found& found);
  void scale_out();
  void scale_out(std::span<const Waiting> bin);
  void rent(const Candidate& group, std::span<const Waiting> tasks);

  void clear();
  std::vector<std::uint32_t> candidates();
  bool may_clear(std::uint32_t instance);
  std::vector<Waiting> residents_of(std::uint32_t instance) const;
  bool clear_onto_running(std::uint32_t instance, std::span<const Waiting> tasks);
  bool clear_onto_new(std::uint32_t instance, std::span<const Waiting> tasks);
  void release_cleared(std::uint32_t instance, double saved_usd_h);
  Duration migration_time(std::span<const Waiting> tasks) const;

  void release_empty();
  void note();
  bool is_apart(const Waiting& waiting) const;
  std::map<std::uint32_t, std::uint32_t>& rooms_of_job(const Waiting& waiting);
  const TaskRow& row_of(const Waiting& waiting) const {
    return p_.view.state.task(p_.input.tasks()[waiting.task].slot);
  }
  double worth_usd_h(const Waiting& waiting) const {
    return p_.prices.of(waiting.item.shape, waiting.item.markets).usd_h;
  }

  RoundParts p_;
  BinPacker packer_;  ///< the rooms are the input's instances, with the same numbers
  Scaler scaler_;
  Plan plan_;
  std::vector<Duration> remaining_;  ///< of each task of the input
  std::vector<Waiting> waiting_;     ///< in the order in which they are looked at
  /// Of jobs whose tasks are kept apart, by the input's numbers: how many tasks each room has.
  std::map<std::uint32_t, std::map<std::uint32_t, std::uint32_t>> rooms_of_job_;
  std::optional<std::uint32_t> closed_job_;     ///< whose rooms are closed now
  std::vector<std::uint32_t> closed_;           ///< these were open before
  std::map<Slot, std::uint32_t> room_of_slot_;  ///< of instances, once it is asked for
  std::vector<char> taken_;  ///< of each instance: a task is placed there, or leaves it
  std::uint32_t next_group_ = 1;
  std::uint32_t up_ = 0, down_ = 0, packed_ = 0, cleared_ = 0, moved_ = 0;
  bool waits_for_time_ = false;
};

}  // namespace muster::stratus
