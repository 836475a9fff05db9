#pragma once

#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "model/catalog.hpp"
#include "model/ids.hpp"
#include "model/job.hpp"
#include "model/slot_list.hpp"
#include "schedulers/packing/rules.hpp"
#include "schedulers/packing/types/placement_mask.hpp"

namespace muster::own {

/// A piece is of no gang.
inline constexpr std::uint32_t kNoGang = UINT32_MAX;

/// A task as a repartition sees it. Values are $/h, times hours.
struct Piece {
  ShapeId shape;
  ClassId cls;
  double value_usd_h = 0;           ///< of an hour at the speed of its reservation type
  std::uint32_t home = UINT32_MAX;  ///< among the repartition's hosts; UINT32_MAX: elsewhere
  double start_h = 0;               ///< time that a start anew keeps it from its work
  double leave_h = 0;               ///< cost of leaving its place; 0: it does not run
  double horizon_h = 0;             ///< over which its delays are spread; 0: the model's
  bool may_wait = false;            ///< it may be left without a place
  std::uint32_t gang = kNoGang;     ///< among the repartition's gangs
  double gang_usd_h = 0;            ///< value of all of its gang; only of one that has one
  MarketChoice markets = MarketChoice::any;  ///< where it may run
  double stake_usd_h = 0;  ///< value of all that stops with it: of the task, or of all of its gang
  double at_risk_h = 0;    ///< of work that it would have to do again if it were stopped some time
  /// Price of an instance of its own; where that is 0, of one that can be had now or is its own.
  double alone_usd_h = 0;
  Apart apart;  ///< from the other tasks of its job

  PlaceAsks asks() const { return {shape, markets}; }
};

/// Key of pieces of no gang that are equal to every host that is not their home; those of most
/// value first.
inline auto kind_of(const Piece& piece) {
  return std::tuple(-piece.value_usd_h, piece.shape.value, piece.cls.value, piece.markets,
                    piece.start_h, piece.leave_h, piece.horizon_h, piece.at_risk_h, piece.may_wait,
                    piece.apart);
}

/// Tasks that start, wait and pause together, and go at the pace of the slowest of them. Its
/// pieces, the fixed ones too, have the same delays, those of its slowest task, and their values
/// add up to that of all of the gang, tasks elsewhere included.
struct Gang {
  double pace_elsewhere = std::numeric_limits<double>::infinity();  ///< of its other tasks
  double share_elsewhere = 1;  ///< of the horizon that its other tasks work if it starts anew
  bool starts = false;         ///< it starts anew whatever is decided here
  bool whole = false;          ///< all of it is here: it may be left without places together
};

/// The pieces are of tasks that are kept apart from each other.
inline bool are_peers(const Piece& one, const Piece& other) {
  return one.apart && one.apart == other.apart;
}

/// Tasks of a job that may still come to an instance.
struct Newcomers {
  Slot job = kNoSlot;
  std::uint32_t most = 0;
};

/// An instance that is there, or may be rented. Its fixed tasks stay whatever happens.
struct Host {
  TypeId type;
  double price_usd_h = 0;
  double left_h = 0;  ///< until tasks can start on it
  std::vector<Piece> fixed{};
  Market market = Market::on_demand;
  double interruptions_h = 0;  ///< times in an hour that its cloud takes it back
  double renew_h = 0;          ///< until another one in its place could start tasks
  /// Of jobs whose tasks are kept apart: how many may come beside those that are there or have
  /// still to leave. Of a job that is not named: as many as its pieces that are there leave.
  std::vector<Newcomers> newcomers{};

  InstanceKind kind() const { return {type, market}; }
};

}  // namespace muster::own
