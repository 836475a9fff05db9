// The part of the artifact's layouts that finds instances for tasks that are on none: the paper's
// Algorithm 1 with the simulator's additions.

#include <algorithm>

#include "schedulers/eva/artifact_layouts.hpp"

namespace muster::eva {

double alignment_of(const Resources& demand, const Resources& used, const Resources& capacity) {
  double sum = 0;
  for (Resource kind : kAllResources) {
    const double all = capacity[kind];
    if (all > 0) sum += demand[kind] / all * ((all - used[kind]) / all);
  }
  return sum;
}

void ArtifactLayouts::provision(const Round& round) {
  // A lost share counts once for each task of the gang, but worth does not fall below 0.
  WorthModel clipped_model = round.model;
  clipped_model.form = GangForm::clipped;
  const Round clipped{round.input, clipped_model, round.kinds, round.out};
  kind_worth_.resize(round.kinds.size());
  kind_step_.resize(round.kinds.size());
  for (TypeId type : round.model.prices.types().by_descending_price()) {
    provision_type(clipped, type);
  }
}

/// Whether the type can get any task: nothing is worth more than its tasks undisturbed.
bool ArtifactLayouts::may_pay(const Round& round, TypeId type) const {
  const double price = round.model.prices.types().usd_h(type);
  double worth = 0;
  for (const Waiting& task : waiting_) {
    if (prefers(round, task.kind, type)) return true;
    const ShapeOnType& shape = round.model.prices.on(round.kinds[task.kind].shape, type);
    if (shape.fits) worth += shape.worth_usd_h;
  }
  // The slack is for rounding; a worth of 0 would rent a free type for no task.
  return worth * (1 + 1e-12) >= price && worth > 0;
}

std::uint32_t ArtifactLayouts::fullest_idle(const Round& round, const Apart& apart) const {
  std::uint32_t best = kUnassigned;
  std::uint32_t most = 0;
  for (std::uint32_t instance : idle_) {
    if (present_peers_.is_full(instance, apart)) continue;
    const std::uint32_t residents = round.input->instances()[instance].residents;
    if (best == kUnassigned || residents > most) best = instance, most = residents;
  }
  return best;
}

void ArtifactLayouts::provision_type(const Round& round, TypeId type) {
  const PricedTypes& types = round.model.prices.types();
  const double price = types.usd_h(type);
  idle_.clear();
  // host_at_ is empty where there is no round (cost_alone_usd_h), and so is idle_.
  for (std::uint32_t i = 0; i < host_at_.size(); ++i) {
    const RoundInput::Instance& instance = round.input->instances()[i];
    if (instance.type == type && instance.ready && host_at_[i] == kUnassigned) idle_.push_back(i);
  }
  while (may_pay(round, type)) {
    const std::uint32_t instance = fullest_idle(round, {});
    fill(round, type, instance);
    // Alone on the type of its reservation price a task pays for it, whatever was recorded.
    const bool alone = chosen_.size() == 1 && prefers(round, waiting_[chosen_[0]].kind, type);
    if (chosen_.empty() || (scratch_.usd_h() < price && !alone)) {
      seat_singles(round, type);
      return;
    }
    const TypeId final_type = cheapest_for_fill(round, type);
    // An instance at hand is used for its own type only: a cheaper type is rented anew.
    if (final_type == type && instance != kUnassigned) {
      std::erase(idle_, instance);
      seat_fill(round, host_of_instance(round, instance));
    } else {
      seat_fill(round, round.out.add_new(types, final_type));
    }
  }
}

void ArtifactLayouts::fill(const Round& round, TypeId type, std::uint32_t instance) {
  const Resources& capacity = round.model.prices.types()[type].capacity;
  Resources used;
  chosen_.clear();
  is_chosen_.assign(waiting_.size(), 0);
  scratch_.clear(round.model);
  while (true) {
    ++step_;
    Score best;
    std::uint32_t best_task = kUnassigned;
    for (std::uint32_t i = 0; i < waiting_.size(); ++i) {
      if (is_chosen_[i]) continue;
      const std::uint32_t kind = waiting_[i].kind;
      const ShapeOnType& shape = round.model.prices.on(round.kinds[kind].shape, type);
      if (!shape.fits || !(used + shape.amount).fits_in(capacity)) continue;
      if (is_full_of_peers(i, instance)) continue;
      // Kinds share their worth: it is computed once a kind and step, not once a task.
      if (kind_step_[kind] != step_) {
        kind_step_[kind] = step_;
        kind_worth_[kind] = scratch_.with(entrant_of(round.model, round.kinds[kind], type));
      }
      // Alignment need not be computed for what cannot win.
      if (kind_worth_[kind] < best.worth) continue;
      const Score score{kind_worth_[kind], instance != kUnassigned && waiting_[i].home == instance,
                        alignment_of(shape.amount, used, capacity)};
      if (best < score) best = score, best_task = i;
    }
    if (best_task == kUnassigned || best.worth < scratch_.usd_h()) return;
    const TaskKind& kind = round.kinds[waiting_[best_task].kind];
    scratch_.add(entrant_of(round.model, kind, type));
    used += round.model.prices.on(kind.shape, type).amount;
    chosen_.push_back(best_task);
    is_chosen_[best_task] = 1;
  }
}

/// The fill, and the instance where it is to be there, have as many of the task's peers as may be
/// together.
bool ArtifactLayouts::is_full_of_peers(std::uint32_t position, std::uint32_t instance) const {
  const Apart apart = waiting_[position].apart;
  if (!apart) return false;
  std::uint32_t left = instance != kUnassigned ? present_peers_.left(instance, apart) : apart.most;
  for (const std::uint32_t other : chosen_) {
    // One that was there before is counted already.
    const bool comes = instance == kUnassigned || waiting_[other].home != instance;
    if (waiting_[other].apart == apart && comes) left -= std::min(left, 1U);
  }
  return left == 0;
}

TypeId ArtifactLayouts::cheapest_for_fill(const Round& round, TypeId type) const {
  const PricedTypes& types = round.model.prices.types();
  TypeId best = type;
  for (std::uint32_t i = 0; i < types.size(); ++i) {
    const TypeId other{i};
    const Price price = types.price(other);
    if (!types.offered(other) || price > types.price(best)) continue;
    if (price == types.price(best) && !(other < best)) continue;
    Resources demand;
    bool hosts_all = true;
    for (std::uint32_t position : chosen_) {
      const ShapeOnType& shape =
          round.model.prices.on(round.kinds[waiting_[position].kind].shape, other);
      hosts_all &= shape.fits;
      demand += shape.amount;
    }
    if (hosts_all && demand.fits_in(types[other].capacity)) best = other;
  }
  return best;
}

void ArtifactLayouts::seat_fill(const Round& round, std::uint32_t host) {
  for (std::uint32_t position : chosen_) round.out.assign(waiting_[position].task, host);
  forget_chosen();
}

void ArtifactLayouts::forget_chosen() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    if (!is_chosen_[i]) waiting_[kept++] = waiting_[i];
  }
  waiting_.resize(kept);
}

void ArtifactLayouts::seat_singles(const Round& round, TypeId type) {
  is_chosen_.assign(waiting_.size(), 0);
  for (std::uint32_t i = 0; i < waiting_.size(); ++i) {
    if (!prefers(round, waiting_[i].kind, type)) continue;
    const std::uint32_t instance = fullest_idle(round, waiting_[i].apart);
    std::uint32_t host = 0;
    if (instance == kUnassigned) {
      host = round.out.add_new(round.model.prices.types(), type);
    } else {
      std::erase(idle_, instance);
      host = host_of_instance(round, instance);
    }
    round.out.assign(waiting_[i].task, host);
    is_chosen_[i] = 1;
  }
  forget_chosen();
}

}  // namespace muster::eva
