#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/rng.hpp"
#include "schedulers/muster/round_layout.hpp"

namespace muster::own {

/// One round on rented instances: puts what waits where it is worth most, then improves the whole
/// by exact repartitions of two and three instances, as long as that gains something and the budget
/// lasts. The layout is never worth less than after the first step.
class Round {
 public:
  Round(const RoundParts& parts, Rng& rng, Budget& budget);

  void run();
  /// Where everything is to be; a task that is to wait has no host.
  Layout layout() const { return layout_.layout(); }
  /// Value of the whole, $/h.
  double value_usd_h() const { return layout_.value_usd_h(); }
  double greedy_value_usd_h() const { return greedy_value_usd_h_; }
  /// Tasks that are left without a place for now.
  std::vector<std::uint32_t> waiting() const;
  /// For how long the task may be left without a place from now on.
  Duration left_to_wait(std::uint32_t task) const { return layout_.left_to_wait(task); }
  /// Something that holds the task may be rented now.
  bool is_on_offer(std::uint32_t task) const;
  /// It has not looked at all that it would have.
  bool is_unfinished() const;
  /// Subset steps, and what looks at single tasks come to beside these.
  std::uint64_t steps() const;
  std::uint32_t repartitions() const { return adopted_; }

 private:
  using Tasks = std::vector<std::uint32_t>;

  std::uint64_t most_first_looks() const;
  void count_looks(std::uint64_t looks);
  void pack_new_hosts();
  void improve();
  bool empty_hosts();
  bool improve_with_pairs();
  bool improve_waiting();
  bool improve_gangs();
  bool improve_with_triples();
  std::vector<std::uint32_t> neighbours_of(std::uint32_t host) const;
  void list_poorest();
  std::uint32_t draw_host(bool dirty);
  Tasks choose_moved(std::span<const std::uint32_t> hosts, std::span<const std::uint32_t> waiting);
  bool attempt(std::span<const std::uint32_t> hosts, const Tasks& waiting);
  bool take_back_renewals(const RoundLayout::Excerpt& excerpt, Partition& found) const;
  Tasks any_waiting();
  void list_waiting();
  bool is_spent() const;

  const RoundParts p_;
  Rng& rng_;
  Budget& budget_;
  RoundLayout layout_;
  Repartition repartition_;
  std::vector<std::uint32_t> waiting_;  ///< without a host, the one of most value first
  std::vector<char> listed_;            ///< of each task: it is in waiting_
  bool tries_all_ = true;               ///< few hosts: any pair is tried
  std::vector<std::uint32_t> poorest_;  ///< otherwise those that are worth least for their price
  double greedy_value_usd_h_ = 0;
  std::uint32_t adopted_ = 0;
  std::uint64_t looks_ = 0;
  std::uint64_t most_steps_ = 0;  ///< where the master sets no deadline; 0: without a bound
};

}  // namespace muster::own
