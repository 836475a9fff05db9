#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "schedulers/packing/rounds/fill_existing.hpp"
#include "schedulers/packing/rounds/full_reconfiguration.hpp"
#include "schedulers/packing/rounds/layout.hpp"
#include "schedulers/packing/rounds/transition.hpp"

namespace muster::eva {

/// Full and Partial Reconfiguration as the paper describes them (Eva 4.2 to 4.5). Instances with a
/// task on its way are left alone by both, with everything on them; those with a task that has to
/// stay keep what they have and may take more.
class PaperLayouts {
 public:
  /// `cheapest_types`: rents the cheapest type that holds the tasks, not the one for which
  /// Algorithm 1 found them.
  explicit PaperLayouts(bool cheapest_types) : cheapest_types_(cheapest_types) {}

  /// Instead of what Algorithm 1 packed: changes the configuration, of the tasks and with the types
  /// that rest.
  using Repack = std::function<void(const PackingTasks&, const std::function<bool(TypeId)>& rests,
                                    Configuration&)>;
  /// Asked for each layout from now on; empty: Algorithm 1 alone.
  void repack_by(Repack repack) { repack_ = std::move(repack); }

  /// How long the next layouts are expected to last: D.
  void expect(double lifetime_s) { lifetime_h_ = lifetime_s / 3600; }

  /// Everything else is laid out anew by Algorithm 1.
  void full(const RoundInput& input, const WorthModel& model, const TaskKinds& kinds, Layout& out);
  /// Laid out anew are tasks without a place and those of instances whose TNRP is below their
  /// price. The other instances keep their tasks and are filled up first, then Algorithm 1 rents.
  void partial(const RoundInput& input, const WorthModel& model, const TaskKinds& kinds,
               Layout& out);

 private:
  /// Lays out anew what is not on an instance of kept_.
  void arrange(const RoundInput& input, const WorthModel& model, const TaskKinds& kinds,
               Layout& out);
  bool stays(const RoundInput::Instance& instance, double saving_usd_h) const;
  void weigh(const RoundInput& input, const WorthModel& model, const TaskKinds& kinds);
  void bound_counted(const RoundInput& input, const PricedTypes& types);
  void pack_rest(const RoundInput& input, const WorthModel& model, const TaskKinds& kinds,
                 Layout& out);
  void number_interchangeable(const TaskKinds& kinds);
  void part_from_peers(const RoundInput& input, const WorthModel& model, const TaskKinds& kinds);
  void weigh_bin(Configuration::Bin& bin, const WorthModel& model, const TaskKinds& kinds);

  bool cheapest_types_;
  Repack repack_;
  double lifetime_h_ = 0;
  std::vector<double> worth_;  ///< of each instance, with the tasks it has
  std::vector<char> kept_;     ///< of each instance
  std::vector<std::uint32_t> chosen_, chosen_kind_, chosen_home_;
  std::vector<std::uint32_t> most_bins_;  ///< of each type; empty: any number
  std::vector<Apart> chosen_apart_;
  std::vector<std::uint32_t> interchangeable_;  ///< of each chosen task
  std::vector<FreeInstance> free_;
  std::vector<char> free_types_;            ///< of each type: whether one of it is in free_
  std::vector<std::uint32_t> free_index_;   ///< of each instance, in free_
  std::vector<std::uint32_t> free_origin_;  ///< of each free instance, in the round's instances
  std::vector<std::uint32_t> instance_of_bin_;
  std::vector<char> open_;  ///< of each host that stays: it may take more
  FillExisting fill_existing_;
  InstanceWorth scratch_;
  FullReconfiguration packing_;
  Configuration configuration_;
  Transition transition_;
};

}  // namespace muster::eva
