#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "schedulers/muster/set_values.hpp"

namespace muster::own {

/// The best offer for a set of tasks and its value.
struct NewHost {
  std::uint32_t offer = 0;  ///< among the model's
  double value_usd_h = 0;
};

/// A gain below this share of what the tasks are worth is a rounding error.
inline constexpr double kLeastGain = 1e-9;

/// Values single sets of tasks.
struct Valuer {
  const ValueModel& model;
  Paces& paces;  ///< its memory

  /// Value of the set on a host: the worth of an hour of their work, at the rates at which they run
  /// beside each other and less the cost of getting there, minus the host's price. 0 for the empty
  /// set on a host that can be given back. Nothing when they do not fit. Of a gang that is the part
  /// that its tasks here have in it.
  std::optional<double> on(const Host& host, std::span<const Piece* const> pieces,
                           std::uint32_t number) const;
  /// The offer that is best for the set, which has a task; nothing when no offer holds it.
  std::optional<NewHost> best_new(std::span<const Piece* const> pieces) const;

 private:
  std::optional<double> worth(std::span<const double> found, const Host& host,
                              std::span<const Piece* const> pieces, std::uint32_t number) const;
};
/// As Valuer::on(), of a single question.
std::optional<double> value_on(const ValueModel& model, const Host& host,
                               std::span<const Piece* const> pieces, std::uint32_t number);
/// As Valuer::best_new(), of a single question.
std::optional<NewHost> best_new(const ValueModel& model, std::span<const Piece* const> pieces);

/// Loss of leaving a piece without a place that may not wait.
double not_waiting_usd_h(const Piece& piece);

/// Where a repartition puts its pieces: a host by number, a new instance, or nowhere.
struct Partition {
  double value_usd_h = 0;
  std::vector<std::uint32_t> host_of;    ///< of each piece: < hosts, or hosts + new one, or kWaits
  std::vector<std::uint32_t> new_hosts;  ///< which of the model's offers each new one is

  static constexpr std::uint32_t kWaits = UINT32_MAX;
};

/// The value of a way to place the pieces, with gangs at the pace of their slowest tasks: nothing
/// when they do not fit, or when some tasks of a gang wait and others do not.
std::optional<double> value_of(const ValueModel& model, std::span<const Host> hosts,
                               std::span<const Piece> pieces, std::span<const Gang> gangs,
                               const Partition& partition);

/// The best of all ways to share the pieces among the given hosts, new ones of any offering, and
/// the queue, by dynamic programming over subsets. Keep the object to reuse its memory.
class Repartition {
 public:
  /// Searches for one repartition with gangs at most.
  explicit Repartition(const ValueModel& model, std::uint32_t most_searches = kMostSearches)
      : model_(model), most_searches_(most_searches), values_(model) {}

  /// At most kMostTasks pieces. Exact: no partition is worth more. Ties fall to the one that is
  /// found first, which depends on the order of hosts and pieces alone.
  const Partition& run(std::span<const Host> hosts, std::span<const Piece> pieces);
  /// Likewise, with gangs. Exact unless that takes too many searches; then it is the best that they
  /// have found. Only partitions worth more than `least_usd_h` are of interest: without one the
  /// answer is worth less, and may have no pieces.
  const Partition& run(std::span<const Host> hosts, std::span<const Piece> pieces,
                       std::span<const Gang> gangs, double least_usd_h);
  /// Subset steps taken since the object was made.
  std::uint64_t steps() const { return steps_; }

  static constexpr std::uint32_t kMostSearches = 32;

 private:
  using Limits = std::vector<GangLimits>;
  /// A kind of ways to place everything, and an upper bound of their worth.
  struct Branch {
    Limits limits;
    double most_usd_h = 0;
    Partition found;
  };

  const Partition& search(std::span<const GangLimits> limits);
  void value_new(std::span<const GangLimits> limits);
  void fill_new_and_waiting(std::span<const GangLimits> limits);
  void add_host(std::uint32_t number, bool last);
  void read_back();
  double waiting_value(const Piece& piece, std::span<const GangLimits> limits) const;
  std::vector<Limits> divide(const Branch& branch, std::span<const Gang> gangs) const;

  const ValueModel& model_;
  std::uint32_t most_searches_;
  SetValues values_;
  std::span<const Host> hosts_;
  std::span<const Piece> pieces_;
  std::uint64_t steps_ = 0;
  std::vector<std::uint32_t> new_offer_;  ///< of each set
  std::vector<double> new_value_;         ///< of each set; kNever: no offer holds it
  std::vector<double> host_value_;        ///< of each set on the host at hand; kNever: does not fit
  std::vector<double> best_;              ///< of each set, over the hosts so far
  std::vector<Set> new_choice_;  ///< the new host of a set that its lowest piece is on; 0: waits
  std::vector<std::vector<Set>> host_choice_;  ///< of each host and set
  Partition partition_;
  Partition best_found_;
};

}  // namespace muster::own
