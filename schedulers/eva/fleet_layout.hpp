#pragma once

#include <cstdint>
#include <vector>

#include "schedulers/packing/rounds/fill_existing.hpp"
#include "schedulers/packing/rounds/layout.hpp"
#include "schedulers/packing/rules.hpp"

namespace muster::eva {

/// Where Eva has tasks when its instances are given. They are paid for whether they are used or
/// not, so nothing is dissolved, and no price decides whether an instance is used: everybody stays,
/// and whatever fits somewhere gets a place. Their places are Eva's choice still: the dearest
/// instance is filled first, with the tasks that are worth most there; a task that would make every
/// instance's tasks worth less goes to the first one with room.
class FleetLayout {
 public:
  /// Lays out all tasks of the round. Adds to `refusals` why tasks wait that find no place, once
  /// each: a task that was told so before is not told again.
  void run(const RoundInput& input, const ClusterState& state, const WorthModel& model,
           const TaskKinds& kinds, Layout& out, std::vector<Refuse>& refusals);

  /// Groups of equal tasks, each with a host, that were looked at so far.
  std::uint64_t looks() const { return looks_ + fill_existing_.looks(); }

 private:
  void assign(const RoundInput& input, const WorthModel& model, const TaskKinds& kinds,
              Layout& out);
  std::vector<std::uint32_t> hosts_with_room(const RoundInput& input, const WorthModel& model,
                                             const TaskKinds& kinds, const Layout& out) const;
  void seat_anywhere(const RoundInput& input, const WorthModel& model, const TaskKinds& kinds,
                     Layout& out);
  void list_peers(const RoundInput& input, const Layout& out);
  bool leave_out_gangs(const RoundInput& input, const ClusterState& state, bool all);
  void measure(const RoundInput& input, const WorthModel& model, const TaskKinds& kinds,
               const Layout& out);
  static std::vector<ShapeId> waiting_of(const RoundInput& input, const ClusterState& state,
                                         std::uint32_t job);
  void sum_up_fleet(const RoundInput& input, const WorthModel& model);
  Refusal why_not(const WorthModel& model, const std::vector<ShapeId>& shapes) const;

  /// Capacity of the fleet in all: every task without a place is told of it.
  struct Fleet {
    std::vector<TypeId> types;  ///< in the order of their first instances
    Resources largest;          ///< of any instance, kind by kind
    Resources most_left;        ///< free on any one
    Resources left;             ///< free on all together
  };

  Fleet fleet_;
  std::vector<char> left_out_;  ///< of each job: a gang that does not fit as a whole, or
                                ///< gives way to one that came before
  std::vector<char> excluded_;  ///< of each job: a gang that does not fit even without the others
  std::vector<std::uint32_t> waiting_;  ///< tasks without a place
  std::vector<char> open_;              ///< of each host: all of them may take more
  std::vector<Resources> used_;         ///< of each host, by what is seated there
  PeerRooms peers_;                     ///< rooms are hosts
  FillExisting fill_existing_;
  std::uint64_t looks_ = 0;
  InstanceWorth scratch_;
};

}  // namespace muster::eva
