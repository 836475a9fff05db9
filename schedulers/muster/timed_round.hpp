#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "schedulers/muster/class_times.hpp"
#include "schedulers/muster/company.hpp"
#include "schedulers/muster/muster_params.hpp"
#include "schedulers/muster/pair_rates.hpp"
#include "schedulers/muster/run_times.hpp"
#include "schedulers/packing/rounds/round_input.hpp"
#include "schedulers/packing/types/market_offers.hpp"
#include "schedulers/packing/types/placement_mask.hpp"

namespace muster::own {

/// Inputs of a round of timed jobs; all of them outlive the round.
struct TimedParts {
  const MusterParams& params;
  const ClusterView& view;
  const RoundInput& input;  ///< of timed jobs and their instances
  const ReservationPrices& prices;
  const RunTimeRecord& record;
  const PairRates& rates;
  KnownTimes times;
  bool moves = true;  ///< false: nothing that runs is moved in this round
};

/// One round for timed jobs, which puts together what ends together: places what waits where
/// it makes instances last least longer, rents for the rest, and empties instances that are used
/// little where that costs less than keeping them. Tasks go by their number in the input.
class TimedRound {
 public:
  TimedRound(const TimedParts& parts, Budget& budget);

  Plan run();
  std::uint32_t packed() const { return packed_; }
  std::uint32_t moved() const { return moved_; }

 private:
  /// An instance, with the number that it has in the input.
  struct Room {
    TypeId type;
    Market market = Market::on_demand;
    Resources free;
    double usd_h = 0;    ///< its price, with what interruptions cost
    double left_s = 0;   ///< until tasks can start on it
    Cases end{};         ///< until its last task has ended
    Company company{};   ///< its tasks, each with its work()
    bool open = true;    ///< tasks may be placed there
    bool taken = false;  ///< a task comes or leaves in this round
  };
  /// Tasks that are alike: of one job and shape, of which about as much is left.
  struct Kind {
    std::vector<std::uint32_t> tasks;
    JobId job;
    ClassId cls;
    PlaceAsks asks;
    int priority = 0;
    bool is_learnt = false;  ///< its time is that of its class
    Cases left{};
    double mean_s = 0;
    double least_usd_h = 0;  ///< of its share of an instance, where that is least
    double at_risk_s = 0;    ///< of work that an interruption would undo
    std::size_t placed = 0;  ///< number of its first tasks that are placed

    /// Work that each has left: seconds times what an hour of it costs at least.
    double work() const { return least_usd_h * mean_s; }
  };
  /// Where tasks of a kind go, and what that costs for each of them.
  struct Choice {
    std::uint32_t room = 0;
    double usd = 0;
  };
  /// A task that waits, and its kind.
  struct Item {
    std::uint32_t task = 0;
    std::uint32_t kind = 0;
  };
  /// An instance to be rented for the first items of a list.
  struct Group {
    RentedAs as;
    std::size_t items = 0;
    double score = -1;
  };
  /// Moves that empty an instance.
  struct Exodus {
    std::vector<Kind> kinds;  ///< one a task, the one that lasts longest first
    double usd = 0;           ///< cost besides that of instances
    double delay_s = 0;       ///< until the last of them has left
  };

  void add_rooms();
  void list_waiting();
  Kind kind_of(std::uint32_t task);
  MarketChoice markets_of(const TaskRow& row) const;

  void pack();
  void pack(std::uint32_t kind);
  std::optional<Choice> best_room(const Kind& kind, std::size_t count);
  double waiting_share(std::uint32_t kind, TypeId type);
  double new_usd(std::uint32_t kind);

  void scale_out();
  void scale_out(std::span<const Item> items);
  Group best_group(std::span<const Item> items);

  void clear();
  bool may_clear(std::uint32_t room) const;
  bool clear(std::uint32_t room);
  Exodus exodus_of(std::uint32_t room);
  bool clear_onto_rooms(std::uint32_t room, const Exodus& exodus);
  bool clear_onto_new(std::uint32_t room, const Exodus& exodus);
  void release_cleared(std::uint32_t room, const Cause& cause);
  void release_empty();
  void refuse_waiting();

  std::optional<double> usd_h_on(TypeId type, const Kind& kind) const;
  double with_risk(double usd_h, const Room& room) const;
  double share_of(ShapeId shape, TypeId type) const;
  double used_share(std::uint32_t room) const;
  void note_looks(std::uint64_t looks);
  bool is_spent() const;
  const TaskRow& row(std::uint32_t task) const {
    return p_.view.state.task(p_.input.tasks()[task].slot);
  }
  const RoundInput::Instance& instance(std::uint32_t room) const {
    return p_.input.instances()[room];
  }

  TimedParts p_;
  Budget& budget_;
  RunTimeOutlook outlook_;
  MarketOffers offers_;
  bool spot_is_out_ = false;
  std::vector<Room> rooms_;
  std::vector<Kind> kinds_;  ///< of what waits: the highest priority, then the longest first
  std::vector<std::uint32_t> left_;  ///< packed kinds of the present priority that wait still
  bool cut_short_ = false;           ///< packing ended before it had looked at all kinds
  Plan plan_;
  std::uint32_t next_group_ = 1;
  std::uint32_t packed_ = 0, moved_ = 0;
  std::uint64_t looks_ = 0;    ///< at a room for a kind
  std::uint64_t counted_ = 0;  ///< looks of all sorts that count against the budget
};

}  // namespace muster::own
