#include "schedulers/baselines/owl_round.hpp"

#include <algorithm>
#include <utility>

#include "schedulers/packing/cheapest_types.hpp"
#include "schedulers/packing/priority_order.hpp"

// A round looks at all pairs of the kinds of tasks that may be paired; each is a step of the
// budget. Where it is spent, what has been found is used and the others stay alone.

namespace muster {

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
    : p_(parts), budget_(budget), host_at_(parts.input.instances().size(), kUnassigned) {
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
    list_pairs();
    seat_pairs();
    seat_alone();
  }
  keep_what_stays();
  Plan plan = plan_of(layout_, p_.input, p_.model, p_.kinds, CauseCode::partial_reconfiguration);
  plan.refusals.insert(plan.refusals.end(), refusals_.begin(), refusals_.end());
  use_cheapest_types(p_.view, plan);
  order_by_priority(p_.view.state, plan);
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

/// Instances that are given to who waits, whatever that is worth: all where nothing is rented, else
/// the owned ones.
void OwlRound::use_given() {
  for (std::uint32_t i = 0; i < p_.input.instances().size(); ++i) {
    const RoundInput::Instance& instance = p_.input.instances()[i];
    if (p_.view.rents() && !instance.owned) continue;
    if (instance.closed || (!p_.view.rents() && !instance.ready)) continue;
    if (instance.residents == 0) {
      empty_[instance.type.value].push_back(i);
    } else if (instance.residents == 1 && !instance.pinned) {
      const std::uint32_t resident = p_.input.residents(instance).front();
      lone_[{instance.type.value, p_.input.tasks()[resident].kind}].push_back(i);
    }
  }
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
    // Said, so that the master lets room gather for it.
    const Refusal no_room{RefusalKind::not_now, RefusalCode::awaiting_capacity, {}, 0, 0};
    for (std::uint32_t task = first; task < at; ++task) {
      if (waits(task)) refusals_.push_back({p_.input.tasks()[task].id, no_room});
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
  auto best = empty_.end();
  for (auto at = empty_.begin(); at != empty_.end(); ++at) {
    const TypeId type{at->first};
    if (at->second.empty() || !p_.model.prices.on(kind.shape, type).fits) continue;
    if (best == empty_.end() || types.price(type) < types.price(TypeId{best->first})) best = at;
  }
  if (best == empty_.end()) return false;
  const std::uint32_t instance = best->second.front();
  best->second.pop_front();
  const std::uint32_t number = p_.input.tasks()[task].kind;
  lone_[{best->first, number}].push_back(instance);
  layout_.assign(task, host_of_instance(instance));
  steps_.push_back({task, instance, true, number});
  return true;
}

/// The task that is alone with which it is worth most for what the type would cost.
bool OwlRound::join_lone(std::uint32_t task) {
  const std::uint32_t number = p_.input.tasks()[task].kind;
  auto best = lone_.end();
  double most = 0;
  for (auto at = lone_.begin(); at != lone_.end(); ++at) {
    const TypeId type{at->first.first};
    if (at->second.empty() || !holds(type, at->first.second, number)) continue;
    const double ratio = worth_together(at->first.second, number, type) /
                         std::max(p_.model.prices.types().usd_h(type), kWorthEpsilon_usd_h);
    // Kinds are numbered as they came, which a master that was started anew does not know.
    const bool earlier =
        best != lone_.end() && ratio == most && at->second.front() < best->second.front();
    if (best == lone_.end() || ratio > most || earlier) best = at, most = ratio;
  }
  if (best == lone_.end()) return false;
  const std::uint32_t instance = best->second.front();
  best->second.pop_front();
  layout_.assign(task, host_of_instance(instance));
  steps_.push_back({task, instance, false, best->first.second});
  return true;
}

void OwlRound::take_back() {
  for (; !steps_.empty(); steps_.pop_back()) {
    const Step& step = steps_.back();
    const std::uint32_t type = p_.input.instances()[step.instance].type.value;
    if (step.was_empty) {
      std::erase(lone_[{type, step.kind}], step.instance);
      empty_[type].push_front(step.instance);
    } else {
      lone_[{type, step.kind}].push_front(step.instance);
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
  return home.residents == 1 && !home.owned && !home.closed;
}

void OwlRound::list_candidates() {
  std::map<std::uint32_t, std::size_t> known;
  for (std::uint32_t i = 0; i < p_.input.tasks().size(); ++i) {
    if (!waits(i) && !may_move(i)) continue;
    const std::uint32_t kind = p_.input.tasks()[i].kind;
    const auto [entry, is_new] = known.try_emplace(kind, candidates_.size());
    if (is_new) candidates_.push_back({kind});
    candidates_[entry->second].tasks.push_back(i);
  }
}

double OwlRound::most_worth(std::uint32_t kind) const {
  double most = 0;
  for (TypeId type : by_price_) {
    most = std::max(most, entrant_of(p_.model, p_.kinds.all()[kind], type).worth);
  }
  return most;
}

bool OwlRound::holds(TypeId type, std::uint32_t one, std::uint32_t other) const {
  const ShapeOnType& first = p_.model.prices.on(p_.kinds.all()[one].shape, type);
  const ShapeOnType& second = p_.model.prices.on(p_.kinds.all()[other].shape, type);
  if (!first.fits || !second.fits) return false;
  return (first.amount + second.amount).fits_in(p_.model.prices.types()[type].capacity);
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

void OwlRound::list_pairs() {
  for (std::uint32_t one = 0; one < candidates_.size(); ++one) {
    for (std::uint32_t other = one; other < candidates_.size(); ++other) {
      if (!budget_.spend()) return;
      if (one != other || candidates_[one].tasks.size() > 1) look_at(one, other);
    }
  }
  std::stable_sort(pairs_.begin(), pairs_.end(),
                   [](const Pair& a, const Pair& b) { return a.ratio > b.ratio; });
}

/// Alone a task has a ratio of 1, which comes before pairs of that ratio: only better ones count.
void OwlRound::look_at(std::uint32_t one, std::uint32_t other) {
  const std::uint32_t kind = candidates_[one].kind;
  const std::uint32_t other_kind = candidates_[other].kind;
  const double at_most = most_worth(kind) + most_worth(other_kind);
  for (TypeId type : by_price_) {
    const double price = p_.model.prices.types().usd_h(type);
    if (price >= at_most) return;
    if (!holds(type, kind, other_kind)) continue;
    const double worth = worth_together(kind, other_kind, type);
    const double least = p_.artifact ? price : price + kWorthEpsilon_usd_h;
    if (worth > least) {
      const double ratio = worth / std::max(price, kWorthEpsilon_usd_h);
      pairs_.push_back({one, other, type, worth, ratio});
    }
    return;
  }
}

/// The artifact rents for a pair whatever there is. Else who is alone on an instance of the type
/// stays there, and the other one comes.
std::uint32_t OwlRound::host_for(const Pair& pair, std::uint32_t one, std::uint32_t other) {
  for (std::uint32_t task : {one, other}) {
    const std::uint32_t home = p_.input.tasks()[task].home;
    if (p_.artifact || home == kUnassigned) continue;
    if (p_.input.instances()[home].type == pair.type) return host_of_instance(home);
  }
  return layout_.add_new(p_.model.prices.types(), pair.type);
}

void OwlRound::seat_pairs() {
  for (const Pair& pair : pairs_) {
    Candidates& first = candidates_[pair.one];
    Candidates& second = candidates_[pair.other];
    const std::size_t least = pair.one == pair.other ? 2 : 1;
    while (first.left() >= least && second.left() >= least) {
      const std::uint32_t one = first.tasks[first.next++];
      const std::uint32_t other = second.tasks[second.next++];
      const std::uint32_t host = host_for(pair, one, other);
      for (std::uint32_t task : {one, other}) {
        layout_.assign(task, host);
        const bool moves = layout_.moves(p_.input, task);
        moved_ += moves && p_.input.tasks()[task].home != kUnassigned;
      }
      layout_.hosts[host].worth_usd_h = pair.worth_usd_h;
      best_ = std::max(best_, pair.ratio);
      least_ = pair.ratio;  // they come by falling ratio
      ++seated_;
    }
  }
}

/// Who is left is on an instance of the cheapest type that holds it.
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

/// What moved who: how many pairs were made, how many tasks were moved for it, and the greatest and
/// the least worth for a dollar at which two went together.
void OwlRound::note(Plan& plan) const {
  if (plan.places.empty()) return;
  plan.note.choice = "pairs";
  plan.note.figures.emplace_back("pairs", seated_);
  plan.note.figures.emplace_back("moved", moved_);
  if (seated_ > 0) {
    plan.note.figures.emplace_back("best ratio", best_);
    plan.note.figures.emplace_back("least ratio", least_);
  }
}

}  // namespace muster
