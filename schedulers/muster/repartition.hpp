#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "schedulers/muster/pair_rates.hpp"
#include "schedulers/packing/reservation_price.hpp"

namespace muster::own {

/// The most tasks that one repartition takes: it looks at up to 3^n pairs of subsets.
inline constexpr std::uint32_t kMostTasks = 10;

/// A task as a repartition sees it. Values are $/h, times hours.
struct Piece {
  ShapeId shape;
  ClassId cls;
  double value_usd_h = 0;           ///< of an hour at the speed of its reservation type
  std::uint32_t home = UINT32_MAX;  ///< among the repartition's hosts; UINT32_MAX: elsewhere
  double start_h = 0;               ///< what a start anew keeps it from its work
  double leave_h = 0;               ///< what it takes to leave where it runs; 0: it does not run
  bool may_wait = false;            ///< it may be left without a place
};

/// An instance that is there. Its fixed tasks stay whatever happens.
struct Host {
  TypeId type;
  double price_usd_h = 0;
  double left_h = 0;  ///< until tasks can start on it
  std::vector<Piece> fixed{};
};

/// What all hosts and pieces are valued by.
struct ValueModel {
  const ReservationPrices& prices;
  const PairRates& rates;
  double horizon_h = 2;                 ///< over which the cost of a change is spread
  std::span<const char> unavailable{};  ///< of each type: not to be rented now
};

/// Value of a set of tasks on a host: what their work is worth an hour, at the rates at which they
/// run beside each other and less what getting there costs, minus the host's price. 0 of none on a
/// host that can be given back. Nothing when they do not fit.
std::optional<double> value_on(const ValueModel& model, const Host& host,
                               std::span<const Piece* const> pieces, std::uint32_t number);

/// The best offering for a set of tasks and its value; nothing when none holds them.
struct NewHost {
  TypeId type;
  double value_usd_h = 0;
};
std::optional<NewHost> best_new(const ValueModel& model, std::span<const Piece* const> pieces);

/// Where a repartition puts its pieces: a host by number, a new instance, or nowhere.
struct Partition {
  double value_usd_h = 0;
  std::vector<std::uint32_t> host_of;  ///< of each piece: < hosts, or hosts + new one, or kWaits
  std::vector<TypeId> new_types;

  static constexpr std::uint32_t kWaits = UINT32_MAX;
};

/// The best of all ways to share the pieces among the given hosts, new ones of any offering, and
/// the queue, by dynamic programming over subsets. Keep the object to reuse its memory.
class Repartition {
 public:
  explicit Repartition(const ValueModel& model) : model_(model) {}

  /// At most kMostTasks pieces. Exact: no partition is worth more. Ties fall to the one that is
  /// found first, which depends on the order of hosts and pieces alone.
  const Partition& run(std::span<const Host> hosts, std::span<const Piece> pieces);
  /// Subset steps taken since the object was made.
  std::uint64_t steps() const { return steps_; }

 private:
  using Set = std::uint32_t;

  void value_new();
  void value_host(std::uint32_t number);
  void fill_new_and_waiting();
  void add_host(std::uint32_t number, bool last);
  void read_back();
  double rate_sum(Set set, std::uint32_t piece) const {
    return logs_[set * pieces_.size() + piece];
  }

  const ValueModel& model_;
  std::span<const Host> hosts_;
  std::span<const Piece> pieces_;
  std::uint64_t steps_ = 0;
  double rate(Set set, std::uint32_t piece) const { return rates_[set * pieces_.size() + piece]; }

  std::vector<double> logs_;        ///< of each set and piece in it: sum of its log rates
  std::vector<double> rates_;       ///< the rates themselves
  std::vector<TypeId> new_type_;    ///< of each set
  std::vector<double> new_value_;   ///< of each set; -inf: no type holds it
  std::vector<double> host_value_;  ///< of each set on the host at hand; -inf: does not fit
  std::vector<double> best_;        ///< of each set, over the hosts so far
  std::vector<Set> new_choice_;     ///< the new host of a set that its lowest piece is on; 0: waits
  std::vector<std::vector<Set>> host_choice_;  ///< of each host and set
  Partition partition_;
};

}  // namespace muster::own
