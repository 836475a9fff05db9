#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schedulers/eva/fleet_layout.hpp"
#include "schedulers/eva/paper_layouts.hpp"
#include "schedulers/ilp/hosting_solution.hpp"
#include "schedulers/ilp/ilp_params.hpp"
#include "schedulers/policy.hpp"

namespace muster::ilp {

/// The integer linear program of the Eva paper (4.1) in every round: the cheapest instances for all
/// tasks, whatever it takes to get there; tasks that share an instance do not slow each other in
/// it. Begins with Eva's Full Reconfiguration, and keeps that where the solver has nothing better.
/// Tasks stay where they are as far as equal ones can change places. A fixed fleet, which costs the
/// same however it is used, is used as Eva does.
class IlpPolicy final : public Policy {
 public:
  /// Thinks of the jobs and instances of one market. No solver: Full Reconfiguration alone.
  IlpPolicy(const Catalog& catalog, Market market, const IlpParams& params,
            std::shared_ptr<const IntegerSolver> solver);

  Cadence cadence() const override;
  void observe(const Event&, const ClusterView&) override {}  // all that it needs is in the state
  Plan decide(const ClusterView& view, Rng& rng, Budget& budget) override;
  bool settled(const ClusterView&) const override { return settled_; }
  std::unique_ptr<Policy> clone() const override { return std::make_unique<IlpPolicy>(*this); }

 private:
  /// How a round's instances were found.
  struct Search {
    std::string choice;
    double bound_usd_h = 0;   ///< 0: no bound is known
    double cost_usd_h = 0;    ///< of the instances that the tasks are laid out on
    std::uint32_t tasks = 0;  ///< that were laid out anew
    bool failed = false;      ///< the solver gave no answer, or none that holds
  };

  WorthModel model() const { return {.prices = prices_}; }
  double seconds(const ClusterView& view) const;
  void repack(const PackingTasks& tasks, const std::function<bool(TypeId)>& rests,
              Configuration& configuration);
  /// The solver's answer.
  struct Solved {
    std::vector<bound::Pattern> instances;
    std::string trouble;    ///< why there are no instances; else empty
    bool may_keep = false;  ///< the present configuration solves the problem, too
  };
  Solved solve(const HostingProblem& hosting, const Configuration& configuration, double seconds);
  std::string improve(const PackingTasks& tasks, const std::function<bool(TypeId)>& rests,
                      Configuration& configuration);
  std::optional<Configuration> seat(const PackingTasks& tasks, const HostingProblem& hosting,
                                    const std::vector<bound::Pattern>& instances);
  std::vector<std::vector<std::uint32_t>> add_guests(const PackingTasks& tasks,
                                                     const HostingProblem& hosting,
                                                     const std::vector<bound::Pattern>& instances,
                                                     std::vector<std::uint32_t>& left) const;
  void pack_left(const PackingTasks& tasks, const std::vector<std::uint32_t>& left,
                 Configuration& configuration);
  bool keeps_present();
  void tell(bool kept, RoundNote& note) const;
  Plan use_fleet(const ClusterView& view);

  IlpParams params_;
  Market market_;
  std::shared_ptr<const IntegerSolver> solver_;
  ReservationPrices prices_;
  TaskKinds kinds_{false};
  RoundInput input_;
  eva::PaperLayouts layouts_{true};
  eva::FleetLayout fleet_;
  FullReconfiguration packing_left_;
  Layout layout_;
  Search search_;
  double seconds_ = 0;  ///< of the solver in this round, where somebody waits
  bool settled_ = false;
};

}  // namespace muster::ilp
