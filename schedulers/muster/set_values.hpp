#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "schedulers/muster/pair_rates.hpp"
#include "schedulers/muster/piece.hpp"
#include "schedulers/packing/types/reservation_price.hpp"

namespace muster::own {

/// The most tasks that one repartition takes: it looks at up to 3^n pairs of subsets.
inline constexpr std::uint32_t kMostTasks = 10;

/// Some of a repartition's pieces: bit i stands for piece i.
using Set = std::uint32_t;

/// Value of what cannot be.
inline constexpr double kNever = -std::numeric_limits<double>::infinity();

/// Number of an instance that is to be rented: no piece is at home there.
inline constexpr std::uint32_t kNewHost = UINT32_MAX - 1;

/// Loss of a task of a gang that is slowed, where the rest of the gang is not looked at.
enum class GangLoss : std::uint8_t {
  job_wide,  ///< the loss of all of its gang (Eva 4.4): as if no other task were slowed
  own        ///< its own part: as if all other tasks were slowed as much
};

/// Data that all hosts and pieces are valued by.
struct ValueModel {
  const ReservationPrices& prices;
  const PairRates& rates;
  double horizon_h = 2;            ///< over which the cost of a change is spread
  std::span<const Host> offers{};  ///< offers that may be rented now
  GangLoss gang_loss = GangLoss::job_wide;
};

/// How fast the shape runs on the type, relative to its reservation type.
double speed_on(const ReservationPrices& prices, ShapeId shape, TypeId type);

/// The part of the horizon that the piece works on a host that is not, or is, its home.
double share_on(const ValueModel& model, const Piece& piece, const Host& host, bool at_home);

/// Finds how fast tasks run together. Keep the object to reuse its memory.
class Paces {
 public:
  /// How fast each piece would run among the pieces and the fixed tasks of the host, which come
  /// after them: its speed on the type times its rate beside the others. Empty when not all fit.
  /// The answer stands till the next call.
  std::span<const double> on(const ValueModel& model, const Host& host,
                             std::span<const Piece* const> pieces);
  /// Likewise for many hosts without fixed tasks: the pieces are given once, and rates, which are
  /// alike everywhere, are found once.
  void take(std::span<const Piece* const> pieces);
  std::span<const double> on_empty(const ValueModel& model, const Host& host);
  /// Their use together.
  const Resources& used() const { return used_; }
  /// The pieces and the fixed tasks that they were found for.
  std::span<const Piece* const> pieces() const { return all_; }

 private:
  bool holds(const ValueModel& model, const Host& host);
  void find_rates(const ValueModel& model);

  std::vector<const Piece*> all_;
  std::vector<double> rates_;  ///< of each beside the others; empty: not found yet
  std::vector<double> paces_;
  Resources used_{};
};

/// Assumption of a search about a gang: where it divides the ways to place it into two kinds.
struct GangLimits {
  enum class Fate : std::uint8_t { open, stays, starts, waits };
  Fate fate = Fate::open;
  double pace_cap = std::numeric_limits<double>::infinity();
  double pace_floor = -1;  ///< every task of it goes faster than that
  double share_cap = 1;
  double share_floor = -1;  ///< every task of it works more of the horizon than that
};

/// Value of every set of some pieces on a host: the worth of an hour of their work at the paces
/// they have beside each other, less the cost of getting there, less the host's price. With gangs
/// it is never less than the set's part of any way to place all of them that keeps the limits.
class SetValues {
 public:
  explicit SetValues(const ValueModel& model) : model_(model) {}

  /// From now on of these pieces, which have to outlive their use.
  void take(std::span<const Piece> pieces, std::span<const Gang> gangs);
  std::span<const Gang> gangs() const { return gangs_; }
  /// kNever for sets that do not fit or have more pieces of a job than may be together. Answers how
  /// many sets it has looked at.
  std::uint64_t on(const Host& host, std::uint32_t number, std::span<const GangLimits> limits,
                   std::vector<double>& values);

 private:
  /// A piece on the host at hand.
  struct Standing {
    bool fits = false;
    double earns_usd_h = 0;  ///< at pace 1
    double pace = 1;         ///< beside the fixed tasks alone, of a piece of a gang
  };

  std::uint32_t newcomers_to(const Host& host, std::uint32_t number, const Piece& piece) const;
  void count_newcomers(const Host& host, std::uint32_t number);
  bool may_be_together(Set set) const;
  Standing standing(const Piece& piece, const Host& host, std::uint32_t number,
                    std::span<const GangLimits> limits) const;
  bool look_at_fixed(const Host& host, std::span<const GangLimits> limits);
  bool pace_gangs(Set set, const Host& host, std::span<const GangLimits> limits);
  double value(Set set, const Host& host);
  double rate(Set set, std::uint32_t piece) const { return rates_[set * pieces_.size() + piece]; }

  const ValueModel& model_;
  std::span<const Piece> pieces_;
  std::span<const Gang> gangs_;
  std::vector<double> rates_;  ///< of each set and piece in it, beside the others of the set
  std::vector<Set> peers_;     ///< of each piece: itself and those from which it is kept apart
  std::vector<std::uint32_t> newcomers_;  ///< of each piece: how many of these may come to the host
  Set coming_ = 0;                        ///< pieces that are not at home on the host
  std::vector<Standing> standing_;
  std::vector<Standing> fixed_;
  std::vector<double> fixed_logs_;  ///< of each set and fixed task: log of its rate
  std::vector<Resources> used_;
  std::vector<char> fits_;
  std::vector<double> gang_pace_;      ///< of each gang in the set at hand
  std::vector<const Piece*> at_risk_;  ///< memory that is used again
};

}  // namespace muster::own
