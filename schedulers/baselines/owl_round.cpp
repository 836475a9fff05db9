#include "schedulers/baselines/owl_round.hpp"

#include <algorithm>
#include <utility>

#include "schedulers/packing/awaits_room.hpp"
#include "schedulers/packing/priority_order.hpp"
#include "schedulers/packing/types/cheapest_types.hpp"

// A round looks at all pairs of the kinds of tasks that may be paired; each is a step of the
// budget, and so is each kind of task that is alone on a given instance. Where it is spent, what
// has been found is used, which is of the kinds that are first in the queue, and the others stay
// alone; on given instances they join the first task with which they have room.

namespace muster {
namespace {

/// A task's worth, on whatever type.
double most_worth(const WorthModel& model, const TaskKind& kind) {
  double most = 0;
  for (TypeId type : model.prices.types().by_descending_price()) {
    most = std::max(most, entrant_of(model, kind, type).worth);
  }
  return most;
}

/// The type has room for both.
bool holds(const ReservationPrices& prices, TypeId type, ShapeId one, ShapeId other) {
  const ShapeOnType& first = prices.on(one, type);
  const ShapeOnType& second = prices.on(other, type);
  if (!first.fits || !second.fits) return false;
  return (first.amount + second.amount).fits_in(prices.types()[type].capacity);
}

}  // namespace

double PairProfile::given(ClassId task, ClassId neighbour) const {
  const std::uint64_t key = std::uint64_t{task.value} << 32U | neighbour.value;
  const auto [known, is_new] = known_->try_emplace(key, 1.0);
  if (is_new) {
    const std::string* one = classes_->name(task);
    const std::string* other = classes_->name(neighbour);
    if (one != nullptr && other != nullptr) known->second = (*truth_)(*one, *other);
  }
  return known->second;
}

OwlRound::OwlRound(const Parts& parts, Budget& budget)
    : p_(parts),
      budget_(budget),
      host_at_(parts.input.instances().size(), kUnassigned),
      all_lone_(static_cast<std::uint32_t>(parts.model.prices.types().size())),
      lone_at_(parts.input.instances().size(), kUnassigned),
      peers_(parts.input.peer_rooms()) {
  const std::vector<TypeId>& dearest = p_.model.prices.types().by_descending_price();
  by_price_ = dearest;
  // Ties stay in the order of the catalog.
  std::stable_sort(by_price_.begin(), by_price_.end(), [&](TypeId a, TypeId b) {
    return p_.model.prices.types().price(a) < p_.model.prices.types().price(b);
  });
}

Plan OwlRound::run() {
  layout_.reset(p_.input.tasks().size());
  use_given();
  if (p_.view.rents()) {
    list_candidates();
    seat_pairs();
    seat_alone();
  }
  keep_what_stays();
  Plan plan = plan_of(layout_, p_.input, p_.model, p_.kinds, CauseCode::partial_reconfiguration);
  plan.refusals.insert(plan.refusals.end(), refusals_.begin(), refusals_.end());
  use_cheapest_types(p_.view, p_.model.prices.mask(), plan);
  order_by_priority(p_.view, plan);
  note(plan);
  return plan;
}

bool OwlRound::waits(std::uint32_t task) const {
  const RoundInput::Task& one = p_.input.tasks()[task];
  if (one.home != kUnassigned || layout_.host_of[task] != kUnassigned) return false;
  return p_.view.state.task(one.slot).phase == TaskPhase::pending;
}

std::uint32_t OwlRound::host_of_instance(std::uint32_t instance) {
  if (host_at_[instance] == kUnassigned) {
    host_at_[instance] = layout_.add_present(p_.input, instance);
  }
  return host_at_[instance];
}

/// Tasks that the input leaves out, as those of a job that is to end, hold room until they are
/// gone.
bool OwlRound::is_full(std::uint32_t instance) const {
  const RoundInput::Instance& one = p_.input.instances()[instance];
  return p_.view.state.instance(one.slot).planned.size() > one.residents;
}

OwlRound::LoneKey OwlRound::lone_key(std::uint32_t instance, std::uint32_t resident) const {
  const TypeId type = p_.input.instances()[instance].type;
  const Entrant entrant = entrant_of(p_.model, kind_of(resident), type);
  return {type.value, entrant.cls.value, entrant.worth, entrant.loss};
}

void OwlRound::add_lone(std::uint32_t instance, std::uint32_t resident) {
  const TypeId type = p_.input.instances()[instance].type;
  const InstanceRow& row = p_.view.state.instance(p_.input.instances()[instance].slot);
  Resources free = p_.view.catalog[row.type].capacity - row.committed;
  if (p_.input.tasks()[resident].home != instance) {
    free -= p_.model.prices.on(kind_of(resident).shape, type).amount;
  }
  const OrderedRooms::Key key{static_cast<double>(instance), instance};
  Lone& lone = lone_[lone_key(instance, resident)];
  lone.kind = p_.input.tasks()[resident].kind;
  lone.rooms.insert(0, key, free);
  all_lone_.insert(type.value, key, free);
  lone_at_[instance] = resident;
}

void OwlRound::erase_lone(std::uint32_t instance, std::uint32_t resident) {
  const OrderedRooms::Key key{static_cast<double>(instance), instance};
  const auto lone = lone_.find(lone_key(instance, resident));
  lone->second.rooms.erase(0, key);
  if (!lone->second.rooms.most(0)) lone_.erase(lone);
  all_lone_.erase(p_.input.instances()[instance].type.value, key);
  lone_at_[instance] = kUnassigned;
}

/// All instances where nothing is rented, else the owned ones.
void OwlRound::list_given() {
  for (std::uint32_t i = 0; i < p_.input.instances().size(); ++i) {
    const RoundInput::Instance& instance = p_.input.instances()[i];
    if (p_.view.rents() && !instance.owned) continue;
    if (instance.closed || (!p_.view.rents() && !instance.ready) || is_full(i)) continue;
    if (instance.residents == 0) {
      empty_[instance.type.value].add(i);
    } else if (instance.residents == 1 && !instance.pinned) {
      add_lone(i, p_.input.residents(instance).front());
    }
  }
}

/// Tasks that wait get given instances, whatever that is worth.
void OwlRound::use_given() {
  list_given();
  if (p_.view.rents() && empty_.empty() && lone_.empty()) return;
  for (std::uint32_t at = 0; at < p_.input.tasks().size();) {
    const std::uint32_t job = p_.input.tasks()[at].job;
    // Where nothing is rented the tasks of a gang find places together or not at all.
    const bool gang = !p_.view.rents() && p_.input.jobs()[job].gang;
    const std::uint32_t first = at;
    bool whole = true;
    steps_.clear();
    do {
      if (waits(at)) whole &= place_given(at);
      ++at;
    } while (gang && at < p_.input.tasks().size() && p_.input.tasks()[at].job == job);
    if (!gang || whole) continue;
    take_back();
    for (std::uint32_t task = first; task < at; ++task) {
      if (waits(task)) refusals_.push_back({p_.input.tasks()[task].id, awaits_room()});
    }
  }
}

bool OwlRound::place_given(std::uint32_t task) {
  return use_empty(task) || join_lone(task);
}

/// The cheapest type first that holds it.
bool OwlRound::use_empty(std::uint32_t task) {
  const TaskKind& kind = kind_of(task);
  const PricedTypes& types = p_.model.prices.types();
  const RoomRule may_join = peers_.rule_for(apart(task));
  auto best = empty_.end();
  std::uint32_t instance = kUnassigned;
  for (auto at = empty_.begin(); at != empty_.end(); ++at) {
    const TypeId type{at->first};
    if (at->second.empty() || !p_.model.prices.on(kind.shape, type).fits) continue;
    if (best != empty_.end() && types.price(type) >= types.price(TypeId{best->first})) continue;
    if (const auto found = at->second.first(may_join)) best = at, instance = *found;
  }
  if (best == empty_.end()) return false;
  best->second.take(instance);
  add_lone(instance, task);
  peers_.add(instance, apart(task));
  layout_.assign(task, host_of_instance(instance));
  steps_.push_back({task, instance});
  return true;
}

/// The task that is alone with which it is worth most for what the type would cost; of equal ones
/// that on the first instance.
bool OwlRound::join_lone(std::uint32_t task) {
  const std::uint32_t number = p_.input.tasks()[task].kind;
  GroupNeeds needs(p_.model.prices.types().size());
  for (std::uint32_t i = 0; i < needs.size(); ++i) {
    const ShapeOnType& on = p_.model.prices.on(kind_of(task).shape, TypeId{i});
    if (on.fits) needs[i] = on.amount;
  }
  const RoomRule may_join = peers_.rule_for(apart(task));
  const auto any = all_lone_.first(needs, {}, may_join);
  if (!any) return false;
  std::uint32_t instance = any->room;
  std::optional<double> most;
  for (const auto& [key, lone] : lone_) {
    const TypeId type{std::get<0>(key)};
    if (budget_.is_spent()) {
      cut_off_ = true;
      break;
    }
    budget_.spend();
    if (!needs[type.value]) continue;
    const auto room = lone.rooms.first({needs[type.value]}, {}, may_join);
    if (!room) continue;
    const double ratio = worth_together(lone.kind, number, type) /
                         std::max(p_.model.prices.types().usd_h(type), kWorthEpsilon_usd_h);
    if (most && (ratio < *most || (ratio == *most && room->room > instance))) continue;
    most = ratio;
    instance = room->room;
  }
  const std::uint32_t resident = lone_at_[instance];
  erase_lone(instance, resident);
  peers_.add(instance, apart(task));
  layout_.assign(task, host_of_instance(instance));
  steps_.push_back({task, instance, resident});
  return true;
}

void OwlRound::take_back() {
  for (; !steps_.empty(); steps_.pop_back()) {
    const Step& step = steps_.back();
    peers_.remove(step.instance, apart(step.task));
    if (step.resident) {
      add_lone(step.instance, *step.resident);
    } else {
      erase_lone(step.instance, step.task);
      empty_[p_.input.instances()[step.instance].type.value].add(step.instance);
    }
    --layout_.hosts[layout_.host_of[step.task]].tasks;
    layout_.host_of[step.task] = kUnassigned;
  }
}

/// A task that is alone on a rented instance and would lose nothing by a move.
bool OwlRound::may_move(std::uint32_t task) const {
  const RoundInput::Task& one = p_.input.tasks()[task];
  if (one.home == kUnassigned || !one.movable || one.unsaved_usd > 0) return false;
  const RoundInput::Instance& home = p_.input.instances()[one.home];
  return home.residents == 1 && !home.owned && !home.closed && !is_full(one.home);
}

void OwlRound::list_candidates() {
  std::map<std::pair<std::uint32_t, Apart>, std::size_t> known;
  for (std::uint32_t i = 0; i < p_.input.tasks().size(); ++i) {
    if (!waits(i) && !may_move(i)) continue;
    const std::uint32_t kind = p_.input.tasks()[i].kind;
    const auto [entry, is_new] = known.try_emplace({kind, apart(i)}, candidates_.size());
    if (is_new) {
      candidates_.push_back({kind, apart(i)});
      candidates_.back().most_usd_h = most_worth(p_.model, p_.kinds.all()[kind]);
    }
    candidates_[entry->second].tasks.push_back(i);
  }
}

double OwlRound::worth_together(std::uint32_t one, std::uint32_t other, TypeId type) const {
  const auto worth = [&](std::uint32_t of, std::uint32_t beside) {
    const TaskKind& kind = p_.kinds.all()[of];
    const Entrant entrant = entrant_of(p_.model, kind, type);
    const double rate = p_.profile.rate(kind.cls, p_.kinds.all()[beside].cls);
    return p_.model.form == GangForm::plain ? entrant.worth * rate
                                            : entrant.worth - (1 - rate) * entrant.loss;
  };
  return worth(one, other) + worth(other, one);
}

/// Alone a task has a ratio of 1, which comes before pairs of that ratio: only better ones count.
std::optional<OwlRound::Pair> OwlRound::pair_of(std::uint32_t one, std::uint32_t other) const {
  const Apart& apart = candidates_[one].apart;
  if (apart && apart == candidates_[other].apart && apart.most < 2) return std::nullopt;
  const std::uint32_t kind = candidates_[one].kind;
  const std::uint32_t other_kind = candidates_[other].kind;
  const double at_most = candidates_[one].most_usd_h + candidates_[other].most_usd_h;
  for (TypeId type : by_price_) {
    const double price = p_.model.prices.types().usd_h(type);
    if (price >= at_most) return std::nullopt;
    if (!holds(p_.model.prices, type, p_.kinds.all()[kind].shape, p_.kinds.all()[other_kind].shape))
      continue;
    const double worth = worth_together(kind, other_kind, type);
    const double least = p_.artifact ? price : price + kWorthEpsilon_usd_h;
    if (worth <= least) return std::nullopt;
    return Pair{type, worth, worth / std::max(price, kWorthEpsilon_usd_h)};
  }
  return std::nullopt;
}

/// The artifact rents for a pair whatever there is. Else a task that is alone on an instance of the
/// type stays there, and the other one comes.
std::uint32_t OwlRound::host_for(TypeId type, std::uint32_t one, std::uint32_t other) {
  for (std::uint32_t task : {one, other}) {
    const std::uint32_t home = p_.input.tasks()[task].home;
    if (p_.artifact || home == kUnassigned) continue;
    // Peers of the one that comes may have still to leave.
    if (peers_.is_full(home, apart(task == one ? other : one))) continue;
    if (p_.input.instances()[home].type == type) return host_of_instance(home);
  }
  return layout_.add_new(p_.model.prices.types(), type);
}

void OwlRound::seat_pairs() {
  const auto ratio = [this](std::uint32_t one, std::uint32_t other) -> std::optional<double> {
    const auto pair = pair_of(one, other);
    if (!pair) return std::nullopt;
    return pair->ratio;
  };
  const auto left = [this](std::uint32_t kind) { return candidates_[kind].left(); };
  BestPairs pairs(static_cast<std::uint32_t>(candidates_.size()), {ratio, left}, budget_);
  while (const auto best = pairs.next()) seat(*best);
  cut_off_ |= pairs.cut_off();
}

void OwlRound::seat(const BestPairs::Pair& best) {
  Candidates& first = candidates_[best.one];
  Candidates& second = candidates_[best.other];
  const auto pair = pair_of(best.one, best.other);
  const std::size_t least = best.one == best.other ? 2 : 1;
  while (first.left() >= least && second.left() >= least) {
    const std::uint32_t one = first.tasks[first.next++];
    const std::uint32_t other = second.tasks[second.next++];
    const std::uint32_t host = host_for(pair->type, one, other);
    for (std::uint32_t task : {one, other}) {
      layout_.assign(task, host);
      const bool moves = layout_.moves(p_.input, task);
      moved_ += moves && p_.input.tasks()[task].home != kUnassigned;
    }
    layout_.hosts[host].worth_usd_h = pair->worth_usd_h;
    best_ = std::max(best_, pair->ratio);
    least_ = pair->ratio;  // they come by falling ratio
    ++seated_;
  }
}

/// A task without a partner is on an instance of the cheapest type that holds it.
void OwlRound::seat_alone() {
  for (const Candidates& kind : candidates_) {
    const ReservationPrice& price = p_.model.prices.of(p_.kinds.all()[kind.kind].shape);
    for (std::size_t i = kind.next; i < kind.tasks.size(); ++i) {
      const std::uint32_t task = kind.tasks[i];
      const std::uint32_t home = p_.input.tasks()[task].home;
      const bool stays = home != kUnassigned && p_.input.instances()[home].type == price.type;
      const bool is_cheap = home != kUnassigned && !p_.artifact &&
                            p_.input.instances()[home].price_usd_h <= price.usd_h;
      const std::uint32_t host = stays || is_cheap
                                     ? host_of_instance(home)
                                     : layout_.add_new(p_.model.prices.types(), price.type);
      layout_.assign(task, host);
      layout_.hosts[host].worth_usd_h = price.usd_h;
      moved_ += home != kUnassigned && layout_.hosts[host].present == kUnassigned;
    }
  }
}

/// All others stay, and so do instances that are given or on which somebody is expected still.
void OwlRound::keep_what_stays() {
  for (std::uint32_t i = 0; i < p_.input.tasks().size(); ++i) {
    const std::uint32_t home = p_.input.tasks()[i].home;
    if (home == kUnassigned || layout_.host_of[i] != kUnassigned) continue;
    layout_.assign(i, host_of_instance(home));
  }
  for (std::uint32_t i = 0; i < p_.input.instances().size(); ++i) {
    const RoundInput::Instance& instance = p_.input.instances()[i];
    // The input leaves some tasks out, as those of a job that is to end.
    const bool expects =
        instance.residents == 0 && !p_.view.state.instance(instance.slot).planned.empty();
    if (!p_.view.rents() || instance.closed || expects) host_of_instance(i);
  }
}

/// How many pairs were made, how many tasks were moved for it, the greatest and the least worth for
/// a dollar at which two went together, and whether the budget sufficed.
void OwlRound::note(Plan& plan) const {
  if (plan.places.empty() && !cut_off_) return;
  plan.note.choice = cut_off_ ? "pairs, cut off" : "pairs";
  plan.note.figures.emplace_back("pairs", seated_);
  plan.note.figures.emplace_back("moved", moved_);
  if (seated_ > 0) {
    plan.note.figures.emplace_back("best ratio", best_);
    plan.note.figures.emplace_back("least ratio", least_);
  }
}

}  // namespace muster
