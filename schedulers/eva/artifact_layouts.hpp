#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedulers/packing/rounds/layout.hpp"
#include "schedulers/packing/rules.hpp"

namespace muster::eva {

/// How well a demand goes with what is free on an instance, both relative to the capacity.
double alignment_of(const Resources& demand, const Resources& used, const Resources& capacity);

/// Full and Partial Reconfiguration as the paper's published simulator computes them. It differs
/// from the paper: ties are broken by where a task is and by how well it fills the instance;
/// instances at hand are filled directly, the fullest first; a set that fits a cheaper type is
/// given a new instance of it; and Partial packs onto instances that stay as long as anything
/// fits. Everything is visited in ascending order.
class ArtifactLayouts {
 public:
  void full(const RoundInput& input, const WorthModel& model, const TaskKinds& kinds, Layout& out);
  void partial(const RoundInput& input, const WorthModel& model, const TaskKinds& kinds,
               Layout& out);

  /// Price ($/h) of the instances that these tasks would get alone, with nothing learnt yet.
  double cost_alone_usd_h(std::span<const TaskKind> tasks, const WorthModel& model);

 private:
  struct Round {
    const RoundInput* input;
    const WorthModel& model;
    std::span<const TaskKind> kinds;
    Layout& out;
  };
  struct Score {
    double worth = -1;
    bool here = false;
    double alignment = -1;
    friend auto operator<=>(const Score&, const Score&) = default;
  };
  /// A task that waits to be placed.
  struct Waiting {
    std::uint32_t task = 0;
    std::uint32_t kind = 0;
    std::uint32_t home = kUnassigned;
    Apart apart;
  };

  void begin(const RoundInput& input, Layout& out);
  void wait_for_place(const RoundInput& input, std::uint32_t task);
  std::uint32_t host_of_instance(const Round& round, std::uint32_t instance);
  bool pays(const Round& round, std::uint32_t instance);
  void fill_present(const Round& round);
  bool place_best(const Round& round);
  void provision(const Round& round);
  void provision_type(const Round& round, TypeId type);
  bool may_pay(const Round& round, TypeId type) const;
  std::uint32_t fullest_idle(const Round& round, const Apart& apart) const;
  void fill(const Round& round, TypeId type, std::uint32_t instance);
  TypeId cheapest_for_fill(const Round& round, TypeId type) const;
  void seat_fill(const Round& round, std::uint32_t host);
  void forget_chosen();
  void seat_singles(const Round& round, TypeId type);
  void weigh(const Round& round);
  bool is_full_of_peers(std::uint32_t position, std::uint32_t instance) const;
  void list_peers(const Round& round);
  bool prefers(const Round& round, std::uint32_t kind, TypeId type) const {
    return round.model.prices.of(round.kinds[kind].shape).type == type;
  }

  std::vector<Waiting> waiting_;
  std::vector<std::uint32_t> idle_;     ///< instances of the type being provisioned
  std::vector<std::uint32_t> host_at_;  ///< of each instance
  std::vector<std::uint32_t> chosen_;   ///< the present fill, positions in waiting_
  std::vector<char> is_chosen_;
  PeerRooms peers_;                    ///< rooms are hosts
  PeerRooms present_peers_;            ///< rooms are the round's instances
  std::vector<InstanceWorth> worths_;  ///< of each host
  std::vector<Resources> used_;        ///< of each host
  std::vector<double> kind_worth_;     ///< of the present step, by kind
  std::vector<std::uint64_t> kind_step_;
  std::uint64_t step_ = 0;
  InstanceWorth scratch_;
};

}  // namespace muster::eva
