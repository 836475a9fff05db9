#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "schedulers/packing/rounds/layout.hpp"
#include "schedulers/packing/rules.hpp"
#include "schedulers/packing/types/market_offers.hpp"
#include "schedulers/policy.hpp"
#include "schedulers/stratus/stratus_params.hpp"

namespace muster::stratus {

/// A scheduling event of Stratus as the simulator computes it that the authors of Eva published. It
/// differs from the paper: the whole run time of a task counts, whatever it has run; the bins above
/// are looked at all together, and so are those below; for the remaining tasks instances are bought
/// in groups of one, two, three tasks and so on, by a score that is infinite for tasks that need
/// GPUs; and an instance that is used little is dissolved at once, its tasks one by one. Everything
/// is visited in ascending order. Plain loops over all instances: it is for comparison, not for
/// large clusters.
class ArtifactRound {
 public:
  /// `input` has been gathered, and `prices` know the state.
  struct Parts {
    const ClusterView& view;
    const StratusParams& params;
    const ReservationPrices& prices;
    const RoundInput& input;
    const TaskKinds& kinds;
  };
  explicit ArtifactRound(const Parts& parts);

  Plan run();

 private:
  /// An instance that there is, or that is to be rented.
  struct Room {
    TypeId type;
    Market market = Market::on_demand;
    std::uint32_t present = kUnassigned;  ///< in the input's instances
    Resources free;
    double run_s = 0;  ///< the longest of its tasks
    std::vector<std::uint32_t> tasks{};
    bool open = true;    ///< tasks may come
    bool stays = false;  ///< it is not dissolved
  };

  void add_rooms();
  void pack_waiting();
  void pack_gang(std::span<const std::uint32_t> gang);
  std::optional<std::size_t> find(std::uint32_t task) const;
  bool holds(const Room& room, std::uint32_t task) const;
  bool is_full_of_peers(const Room& room, std::uint32_t task) const;
  void put(std::uint32_t task, std::size_t room);
  bool place(std::uint32_t task);
  void rent(std::vector<std::uint32_t> tasks);
  std::optional<RentedAs> best_type(std::span<const std::uint32_t> group, bool resting) const;
  double score(const Resources& used, const RentedAs& as) const;
  bool is_low(const Room& room) const;
  void dissolve();
  Plan plan();
  double run_s(std::uint32_t task) const { return run_s_[task]; }
  const TaskRow& row_of(std::uint32_t task) const {
    return p_.view.state.task(p_.input.tasks()[task].slot);
  }
  MarketChoice markets_of(std::uint32_t task) const { return p_.view.state.markets(row_of(task)); }

  Parts p_;
  MarketOffers offers_;
  std::vector<double> run_s_;  ///< of each task of the input
  std::vector<Room> rooms_;
  std::vector<std::uint32_t> left_;  ///< tasks that found no room
  std::vector<Refuse> refusals_;     ///< of gangs without room for all
  PeerRooms peers_;                  ///< of the present; rooms are the input's instances
  std::uint32_t packed_ = 0, cleared_ = 0, moved_ = 0;
};

}  // namespace muster::stratus
