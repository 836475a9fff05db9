#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "schedulers/baselines/join_index.hpp"
#include "schedulers/packing/rounds/round_input.hpp"
#include "schedulers/packing/rules.hpp"
#include "schedulers/policy.hpp"

namespace muster {

/// One round of Synergy.
class SynergyRound {
 public:
  /// `input` has been gathered, and the prices of `model` know the state.
  struct Parts {
    const ClusterView& view;
    const RoundInput& input;
    const WorthModel& model;
    std::span<const TaskKind> kinds;
    bool artifact = false;
  };
  SynergyRound(const Parts& parts, Budget& budget);

  Plan run();
  /// The budget was spent before everything had been looked at.
  bool cut_off() const { return given_.index.cut_off() || rented_.index.cut_off(); }
  /// Tasks that looked for room on given instances: of equal ones that find no room, one.
  std::uint64_t looks() const { return looks_; }

 private:
  /// An instance of an index: one that there is, or a launch of the plan.
  struct Host {
    PlaceTarget at;
    double price_usd_h = 0;
    std::uint32_t tasks = 0;  ///< that are there or come
  };
  /// An index with what its hosts are.
  struct Side {
    JoinIndex index;
    std::vector<Host> hosts{};
    PeerRooms peers{};  ///< rooms are hosts
  };
  /// A place that was given, to be taken back.
  struct Step {
    Side* side = nullptr;
    std::uint32_t host = 0;
    JoinIndex::Before before;
    Apart apart;  ///< of the task
  };

  static JoinIndex::Rules rules_of(bool artifact);
  void list_waiting();
  void add_instances();
  void place_all();
  void place_gang(std::span<const std::uint32_t> gang);
  bool join(std::uint32_t task, bool alone);
  bool join(Side& side, std::uint32_t task);
  void take_back();
  void rent(std::uint32_t task);
  std::optional<TypeId> machine_for(ShapeId shape);
  void release_empty();
  void note();
  std::uint32_t kind_of(std::uint32_t task) const { return p_.input.tasks()[task].kind; }

  Parts p_;
  Budget& budget_;
  Side given_;   ///< instances that are there whatever is decided
  Side rented_;  ///< those that are worth their price, or not
  Plan plan_;
  std::vector<std::uint32_t> waiting_;             ///< tasks of the input
  std::map<TypeId, std::uint32_t> machines_used_;  ///< counted ones, by this round
  std::vector<Step> steps_;                        ///< of the gang that is being placed
  FoundNoRoom no_room_;                            ///< on given instances, which take whatever fits
  std::uint64_t looks_ = 0;
  std::uint32_t joins_ = 0;
  double least_ratio_ = 0;
};

}  // namespace muster
