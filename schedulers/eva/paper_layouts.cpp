#include "schedulers/eva/paper_layouts.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "schedulers/packing/priority_order.hpp"
#include "schedulers/packing/types/cheapest_types.hpp"

// Both layouts differ in one thing only: which instances keep their tasks. All others are pooled
// with the tasks that wait, packed by Algorithm 1, and mapped back to instances.

namespace muster::eva {

void PaperLayouts::weigh(const RoundInput& input, const WorthModel& model, const TaskKinds& kinds) {
  worth_.clear();
  for (const RoundInput::Instance& instance : input.instances()) {
    worth_.push_back(present_worth(input, instance, model, kinds, scratch_));
  }
}

void PaperLayouts::full(const RoundInput& input, const WorthModel& model, const TaskKinds& kinds,
                        Layout& out) {
  weigh(input, model, kinds);
  kept_.clear();
  for (const RoundInput::Instance& instance : input.instances()) {
    // Dissolving an instance saves its price at most.
    kept_.push_back(instance.owned || instance.pinned || instance.closed ||
                    stays(instance, instance.price_usd_h));
  }
  arrange(input, model, kinds, out);
}

void PaperLayouts::partial(const RoundInput& input, const WorthModel& model, const TaskKinds& kinds,
                           Layout& out) {
  weigh(input, model, kinds);
  kept_.clear();
  for (const RoundInput::Instance& instance : input.instances()) {
    const double worth = worth_[kept_.size()];
    // An instance whose tasks are worth less than its price would save the difference at most.
    const bool pays = worth >= instance.price_usd_h - kWorthEpsilon_usd_h;
    kept_.push_back(instance.owned || instance.pinned || instance.closed ||
                    (instance.residents > 0 && pays) ||
                    stays(instance, instance.price_usd_h - worth));
  }
  arrange(input, model, kinds, out);
}

/// A task there may not be moved; or what they would lose is more than all that could be saved for
/// as long as a new layout is expected to last.
bool PaperLayouts::stays(const RoundInput::Instance& instance, double saving_usd_h) const {
  if (instance.held) return true;
  return instance.unsaved_usd > 0 && instance.unsaved_usd >= saving_usd_h * lifetime_h_;
}

void PaperLayouts::arrange(const RoundInput& input, const WorthModel& model, const TaskKinds& kinds,
                           Layout& out) {
  out.reset(input.tasks().size());
  free_.clear();
  free_index_.assign(input.instances().size(), kUnassigned);
  free_origin_.clear();
  open_.clear();
  for (std::uint32_t i = 0; i < input.instances().size(); ++i) {
    const RoundInput::Instance& instance = input.instances()[i];
    if (kept_[i]) {
      const std::uint32_t host = out.add_present(input, i);
      out.hosts[host].worth_usd_h = worth_[i];
      // An instance with a task on its way takes no more: its layout is decided already.
      open_.push_back(!instance.pinned && !instance.closed);
      for (std::uint32_t task : input.residents(instance)) out.assign(task, host);
    } else {
      free_index_[i] = static_cast<std::uint32_t>(free_.size());
      free_.push_back({instance.type, instance.ready});
      free_origin_.push_back(i);
    }
  }
  chosen_.clear();
  for (std::uint32_t i = 0; i < input.tasks().size(); ++i) {
    const RoundInput::Task& task = input.tasks()[i];
    // Immovable tasks on instances that are not kept cannot be: such an instance is pinned or held.
    if (task.movable && (task.home == kUnassigned || !kept_[task.home])) chosen_.push_back(i);
  }
  std::vector<std::uint32_t> left;
  // Room that stays is used before anything is rented, by the highest priority first.
  for (std::vector<std::uint32_t>& tasks : priority_classes(input, chosen_)) {
    fill_existing_.run(input, model, kinds, open_, tasks, out);
    left.insert(left.end(), tasks.begin(), tasks.end());
  }
  chosen_ = std::move(left);
  pack_rest(input, model, kinds, out);
}

void PaperLayouts::pack_rest(const RoundInput& input, const WorthModel& model,
                             const TaskKinds& kinds, Layout& out) {
  chosen_kind_.clear();
  chosen_home_.clear();
  chosen_apart_.clear();
  for (std::uint32_t i : chosen_) {
    const RoundInput::Task& task = input.tasks()[i];
    chosen_kind_.push_back(task.kind);
    if (input.any_apart()) chosen_apart_.push_back(task.apart);
    chosen_home_.push_back(task.home == kUnassigned ? kUnassigned : free_index_[task.home]);
  }
  bound_counted(input, model.prices.types());
  const PackingTasks tasks{kinds.all(), chosen_kind_, chosen_apart_, most_bins_};
  packing_.run(tasks, model, configuration_);
  // A type that backs off can still be had from an instance that is free anyway.
  free_types_.assign(model.prices.types().size(), 0);
  for (const auto& instance : free_) free_types_[instance.type.value] = 1;
  const auto rests = [&](TypeId type) { return input.rests(type) && free_types_[type.value] == 0; };
  if (repack_) repack_(tasks, rests, configuration_);
  if (cheapest_types_) use_cheapest_types(tasks, model, rests, configuration_);
  // Bins are nameless until here: the mapping keeps as many tasks as possible in place.
  number_interchangeable(kinds);
  transition_.run({free_, interchangeable_, chosen_home_}, configuration_, instance_of_bin_);
  part_from_peers(input, model, kinds);
  for (std::size_t b = 0; b < configuration_.bins.size(); ++b) {
    const Configuration::Bin& bin = configuration_.bins[b];
    const std::uint32_t instance = instance_of_bin_[b];
    const std::uint32_t host = instance == kUnassigned
                                   ? out.add_new(model.prices.types(), bin.type)
                                   : out.add_present(input, free_origin_[instance]);
    out.hosts[host].worth_usd_h = bin.worth_usd_h;
    for (std::uint32_t task : configuration_.tasks_of(bin)) out.assign(chosen_[task], host);
  }
}

/// Of machines that are counted beside other types no more can be used than are left and are packed
/// anew.
void PaperLayouts::bound_counted(const RoundInput& input, const PricedTypes& types) {
  most_bins_.clear();
  for (std::uint32_t i = 0; i < types.size(); ++i) {
    if (!types.counted(TypeId{i})) continue;
    if (most_bins_.empty()) {
      most_bins_.assign(types.size(), std::numeric_limits<std::uint32_t>::max());
    }
    most_bins_[i] = input.left(TypeId{i}).value_or(0);
  }
  if (most_bins_.empty()) return;
  for (const auto& instance : free_) {
    std::uint32_t& most = most_bins_[instance.type.value];
    if (types.counted(instance.type)) ++most;
  }
}

/// Tasks of a kind may change places, but those that are kept apart only among their own: others
/// might bring them together.
void PaperLayouts::number_interchangeable(const TaskKinds& kinds) {
  interchangeable_ = chosen_kind_;
  auto next = static_cast<std::uint32_t>(kinds.all().size());
  std::map<std::pair<Slot, std::uint32_t>, std::uint32_t> numbers;
  for (std::size_t i = 0; i < chosen_apart_.size(); ++i) {
    if (!chosen_apart_[i]) continue;
    const auto [number, is_new] =
        numbers.try_emplace({chosen_apart_[i].job, chosen_kind_[i]}, next);
    if (is_new) ++next;
    interchangeable_[i] = number->second;
  }
}

/// A task that would meet more peers than it may, some of which have still to leave, gets a new
/// instance of its own, so that those that are there need not move for it. Where no task of a bin
/// is there, the bin gets a new one.
void PaperLayouts::part_from_peers(const RoundInput& input, const WorthModel& model,
                                   const TaskKinds& kinds) {
  if (chosen_apart_.empty() || input.peers().empty()) return;
  const PeerRooms peers = input.peer_rooms();
  std::vector<std::uint32_t>& tasks = configuration_.tasks;
  std::vector<Configuration::Bin> alone;
  for (std::size_t b = 0; b < configuration_.bins.size(); ++b) {
    if (instance_of_bin_[b] == kUnassigned) continue;
    Configuration::Bin& bin = configuration_.bins[b];
    const std::uint32_t instance = free_origin_[instance_of_bin_[b]];
    const auto stays = [&](std::uint32_t task) {
      return input.tasks()[chosen_[task]].home == instance;
    };
    const auto first = tasks.begin() + bin.first, end = first + bin.count;
    std::map<Slot, std::uint32_t> coming;  // tasks of the bin, by the job
    std::vector<std::uint32_t> joining, left_out;
    for (auto at = first; at != end; ++at) {
      const Apart& apart = chosen_apart_[*at];
      const bool joins = stays(*at) || !apart || coming[apart.job]++ < peers.left(instance, apart);
      (joins ? joining : left_out).push_back(*at);
    }
    std::ranges::copy(left_out, std::ranges::copy(joining, first).out);
    const auto parted = end - static_cast<std::ptrdiff_t>(left_out.size());
    if (parted == end) continue;
    if (std::none_of(first, parted, stays)) {
      instance_of_bin_[b] = kUnassigned;
      continue;
    }
    bin.count = static_cast<std::uint32_t>(parted - first);
    weigh_bin(bin, model, kinds);
    for (auto at = parted; at != end; ++at) {
      const TypeId type = model.prices.of(kinds.all()[chosen_kind_[*at]].shape).type;
      const auto position = static_cast<std::uint32_t>(at - tasks.begin());
      alone.push_back({.type = type, .first = position, .count = 1});
      weigh_bin(alone.back(), model, kinds);
    }
  }
  configuration_.bins.insert(configuration_.bins.end(), alone.begin(), alone.end());
  instance_of_bin_.resize(configuration_.bins.size(), kUnassigned);
}

void PaperLayouts::weigh_bin(Configuration::Bin& bin, const WorthModel& model,
                             const TaskKinds& kinds) {
  scratch_.clear(model);
  for (std::uint32_t task : configuration_.tasks_of(bin)) {
    scratch_.add(entrant_of(model, kinds.all()[chosen_kind_[task]], bin.type));
  }
  bin.worth_usd_h = scratch_.usd_h();
}

}  // namespace muster::eva
