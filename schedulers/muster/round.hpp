#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/rng.hpp"
#include "schedulers/muster/memory.hpp"
#include "schedulers/muster/muster_params.hpp"
#include "schedulers/muster/repartition.hpp"
#include "schedulers/muster/work_prices.hpp"
#include "schedulers/packing/layout.hpp"
#include "schedulers/packing/round_input.hpp"

namespace muster::own {

/// Tasks that start and wait together; a gang of one is a task like any other.
inline bool is_gang(const JobRow& job) {
  return job.job.gang && job.tasks.size() > 1;
}

/// What a round is about; all of it outlives the round.
struct RoundParts {
  const MusterParams& params;
  const ClusterView& view;
  const RoundInput& input;
  const ReservationPrices& prices;
  const PairRates& rates;
  const Memory& memory;
  WorkPrices& work;
  const TaskKinds& kinds;
};

/// One round on rented instances: puts what waits where it is worth most, then improves the whole
/// by exact repartitions of two and three instances, as long as that gains something and the budget
/// lasts. The layout is never worth less than after the first step.
class Round {
 public:
  Round(const RoundParts& parts, Rng& rng, Budget& budget);

  void run();
  /// Where everything is to be; a task that is to wait has no host.
  Layout layout() const;
  /// Value of the whole, $/h.
  double value_usd_h() const;
  double greedy_value_usd_h() const { return greedy_value_usd_h_; }
  std::uint64_t steps() const { return repartition_.steps(); }
  std::uint32_t repartitions() const { return adopted_; }

 private:
  /// An instance of the layout under way, there or to be rented.
  struct Working {
    Host host;
    std::uint32_t present = kUnassigned;  ///< in the round's instances
    std::vector<std::uint32_t> tasks;     ///< those that may be moved
    double value_usd_h = 0;
    bool pinned = false;  ///< something is on its way to it: nothing of it is moved
    bool dirty = false;
    bool gone = false;  ///< not part of the layout any more
  };

  void gather_pieces();
  void gather_hosts();
  bool may_wait(const RoundInput::Task& task) const;
  bool may_move(std::uint32_t task) const;
  void place_waiting();
  void place(std::uint32_t task);
  void improve();
  bool improve_with_pairs();
  bool improve_waiting();
  bool improve_with_triples();
  std::vector<std::uint32_t> neighbours_of(std::uint32_t host) const;
  std::uint32_t draw_host(bool dirty);
  bool attempt(const std::vector<std::uint32_t>& hosts, std::vector<std::uint32_t> waiting);
  void adopt(const Partition& partition, std::span<const std::uint32_t> hosts,
             std::span<const std::uint32_t> tasks);
  std::vector<std::uint32_t> any_waiting();
  void revalue(Working& working) const;
  double value_for_price(std::uint32_t host) const;
  std::vector<const Piece*> pieces_of(std::span<const std::uint32_t> tasks) const;
  bool is_open(std::uint32_t host) const { return !hosts_[host].gone && !hosts_[host].pinned; }

  const RoundParts p_;
  Rng& rng_;
  Budget& budget_;
  std::vector<char> unavailable_;
  ValueModel model_;
  Repartition repartition_;
  std::vector<Piece> pieces_;  ///< of each of the round's tasks; `home` in its instances
  std::vector<Working> hosts_;
  std::vector<std::uint32_t> waiting_;  ///< without a host, the one of most value first
  double greedy_value_usd_h_ = 0;
  std::uint32_t adopted_ = 0;
};

}  // namespace muster::own
