#include "schedulers/muster/timed_round.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/feasible.hpp"
#include "model/room_lack.hpp"
#include "model/stay.hpp"
#include "schedulers/muster/gather_pieces.hpp"
#include "schedulers/muster/offers.hpp"
#include "schedulers/packing/expected_run.hpp"

// An instance costs its price until its last task has ended. So a place costs by how much longer
// the instance lasts for it, shared by all tasks of the kind that go there, and a new instance is
// worth renting for those whose work fills most of its life. The choice looks at possible cases
// (run_times.hpp), not at one estimate. Emptying instances is in timed_clearing.cpp.

namespace muster::own {
namespace {

/// Steps of an octave that statements are rounded to: those that are about equal are one kind.
constexpr double kSaidSteps = 32;
/// A second of a task's waiting for a new instance counts as this many of its work: a task that
/// finds room at a bearable cost starts at once.
constexpr double kWaitWeight = 100;
/// Of a task whose time is only that of its class: it may hold a large instance for much longer.
constexpr double kLearntWaitWeight = 3;
/// New instances are not filled quite as well as they could be.
constexpr double kNewSurcharge = 1.2;
/// The room that a task leaves before its instance ends is mostly used by others: such a part of
/// it counts as lost.
constexpr double kLeftUnused = 0.1;
/// Share of an instance's life that counts for all of it in its worth; for the other half tasks
/// that end early leave room to others.
constexpr double kHeldShare = 0.5;
/// Of groups that are about as good the smaller one is taken where only the times of classes are
/// known: its instance is empty sooner.
constexpr double kLargerGain = 0.003;
/// Number of looks at one room that cost about as much as a step of a repartition.
constexpr std::uint64_t kRoomsOfStep = 4;
/// How many fit is found by division, which errs by rounding.
constexpr double kRounding = 1e-9;

/// The master's caps on instances and money had no room for what was to be rented for the task.
bool is_capped(const TaskRow& of) {
  return lack_of(of.reason.code) == RoomLack::caps;
}

double start_h(const InstanceType& type) {
  return to_hours(type.acquire + type.setup);
}

}  // namespace

TimedRound::TimedRound(const TimedParts& parts, Budget& budget)
    : p_(parts),
      budget_(budget),
      outlook_(parts.record),
      offers_(parts.prices.types(), parts.view),
      spot_is_out_(refuses_spot(parts.view)) {}

Plan TimedRound::run() {
  plan_.refusals = p_.input.refusals();
  add_rooms();
  list_waiting();
  pack();
  scale_out();
  if (p_.moves) clear();
  release_empty();
  refuse_waiting();
  return std::move(plan_);
}

/// Counts looks against the budget; its steps are reckoned from their time.
void TimedRound::note_looks(std::uint64_t looks) {
  const std::uint64_t before = counted_ / kRoomsOfStep;
  counted_ += looks;
  budget_.spend(counted_ / kRoomsOfStep - before);
}

/// Looks at rooms count as steps, and where these are bounded packing and clearing end with them:
/// for tasks that then wait instances are rented.
bool TimedRound::is_spent() const {
  if (budget_.allowed() > 0) return budget_.is_spent();
  return p_.params.steps > 0 && looks_ / kRoomsOfStep >= p_.params.steps;
}

/// On each kind of resource the share of the type's that the shape takes; the greatest one.
double TimedRound::share_of(ShapeId shape, TypeId type) const {
  const Resources& capacity = p_.prices.types()[type].capacity;
  const Resources& need = p_.prices.on(shape, type).amount;
  double most = 0;
  for (const Resource kind : kAllResources) {
    if (capacity[kind] > 0) most = std::max(most, need[kind] / capacity[kind]);
  }
  return most;
}

/// Price of an hour of the type for the kind where it is rented now; nothing where it does not run
/// there. The loss by an interruption is assumed to be worth as much as the instance.
std::optional<double> TimedRound::usd_h_on(TypeId type, const Kind& kind) const {
  const auto offer = offers_.of(type, kind.asks.markets);
  if (!offer || p_.prices.types().counted(type) || !p_.prices.on(kind.asks.shape, type).fits)
    return std::nullopt;
  const double often_h = interruptions_h(p_.view, type, offer->market, p_.params);
  const double undone_h = start_h(p_.view.catalog[type]) + kind.at_risk_s / 3600;
  return offer->price.usd_h() * (1 + often_h * undone_h);
}

double TimedRound::with_risk(double usd_h, const Room& room) const {
  const double often_h = interruptions_h(p_.view, room.type, room.market, p_.params);
  return usd_h * (1 + often_h * start_h(p_.view.catalog[room.type]));
}

MarketChoice TimedRound::markets_of(const TaskRow& of) const {
  const MarketChoice asked = p_.view.state.markets(of);
  const bool stays =
      asked == MarketChoice::any && (spot_is_out_ || p_.params.spot == SpotUse::asked);
  const bool runs_on_demand = p_.prices.of(of.shape, MarketChoice::on_demand).fits();
  return stays && runs_on_demand ? MarketChoice::on_demand : asked;
}

/// The kind of one task.
TimedRound::Kind TimedRound::kind_of(std::uint32_t task) {
  note_looks(p_.prices.types().size());
  const TaskRow& of = row(task);
  const Job& job = p_.view.state.job(of.job).job;
  // Jobs of whose time nothing is known are not timed.
  const auto known = p_.times.of(job, p_.view.state.spec(of), of.cls).value_or(KnownTime{});
  const double said_s = std::max(1.0, to_seconds(known.run));
  const double rounded_s = std::exp2(std::round(std::log2(said_s) * kSaidSteps) / kSaidSteps);
  Kind kind{.tasks = {task},
            .job = job.id,
            .cls = of.cls,
            .asks = {of.shape, markets_of(of)},
            .priority = p_.view.rank(p_.view.state.job(of.job)).priority,
            .is_learnt = known.is_learnt,
            .left = outlook_.left(job.id, from_seconds(rounded_s), ran_so_far(of, p_.view.now))};
  kind.mean_s = mean(kind.left);
  if (!keeps_work(p_.view.state, of)) kind.at_risk_s = kind.mean_s / 2;
  kind.least_usd_h = std::numeric_limits<double>::infinity();
  for (std::uint32_t i = 0; i < p_.prices.types().size(); ++i) {
    const auto usd_h = usd_h_on(TypeId{i}, kind);
    if (usd_h)
      kind.least_usd_h = std::min(kind.least_usd_h, *usd_h * share_of(of.shape, TypeId{i}));
  }
  // A resource that is on offer nowhere now is worth something nevertheless.
  if (std::isinf(kind.least_usd_h))
    kind.least_usd_h = p_.prices.of(of.shape, kind.asks.markets).usd_h;
  return kind;
}

void TimedRound::add_rooms() {
  for (const RoundInput::Instance& one : p_.input.instances()) {
    const InstanceRow& at = p_.view.state.instance(one.slot);
    const InstanceType& type = p_.view.catalog[at.type];
    Room room{.type = at.type, .market = at.market, .free = type.capacity - at.committed};
    if (one.closed) room.free = {};
    room.usd_h = with_risk(one.price_usd_h, room);
    if (!one.ready) {
      const Instant due = (at.up ? at.up_at : at.requested_at + type.acquire) + type.setup;
      room.left_s = std::max(0.0, to_seconds(due - p_.view.now));
    }
    for (const std::uint32_t task : p_.input.residents(one)) {
      const Kind kind = kind_of(task);
      raise(room.end, later(kind.left, room.left_s));
      room.company.add(kind.cls, 1, kind.work());
    }
    rooms_.push_back(room);
  }
}

void TimedRound::list_waiting() {
  for (std::uint32_t i = 0; i < p_.input.tasks().size(); ++i) {
    const TaskRow& of = row(i);
    if (p_.input.tasks()[i].home != kUnassigned || of.phase != TaskPhase::pending) continue;
    Kind kind = kind_of(i);
    // The tasks of a job stand one after the other.
    const auto alike = std::find_if(kinds_.rbegin(), kinds_.rend(), [&](const Kind& known) {
      return known.job != kind.job || (known.asks == kind.asks && known.left == kind.left);
    });
    if (alike != kinds_.rend() && alike->job == kind.job) {
      alike->tasks.push_back(i);
    } else {
      kinds_.push_back(std::move(kind));
    }
  }
  std::stable_sort(kinds_.begin(), kinds_.end(), [](const Kind& a, const Kind& b) {
    if (a.priority != b.priority) return a.priority > b.priority;
    return a.mean_s > b.mean_s;
  });
}

/// Waiting tasks of the priority of a kind that is being packed as a share of the type, 1 at most.
/// Kinds that are packed and have nothing left are not looked at, so that it takes as many looks as
/// tasks fill an instance, however many kinds there are.
double TimedRound::waiting_share(std::uint32_t number, TypeId type) {
  double all = 0;
  const auto add = [&](const Kind& other) {
    all +=
        static_cast<double>(other.tasks.size() - other.placed) * share_of(other.asks.shape, type);
    note_looks(1);
  };
  for (const std::uint32_t packed : left_) {
    add(kinds_[packed]);
    if (all >= 1) return 1;
  }
  const int priority = kinds_[number].priority;
  for (auto i = number; i < kinds_.size() && kinds_[i].priority == priority && all < 1; ++i) {
    add(kinds_[i]);
  }
  return std::min(1.0, all);
}

/// The least that a task of the kind costs on a new instance that it shares with what else waits,
/// with what its waiting for that counts.
double TimedRound::new_usd(std::uint32_t number) {
  const Kind& kind = kinds_[number];
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t i = 0; i < p_.prices.types().size(); ++i) {
    const TypeId type{i};
    const auto usd_h = usd_h_on(type, kind);
    if (!usd_h) continue;
    const double own = share_of(kind.asks.shape, type);
    const InstanceType& made = p_.view.catalog[type];
    const double wait_s = to_seconds(made.acquire + made.setup);
    const double weight = kind.is_learnt ? kLearntWaitWeight : kWaitWeight;
    const double held_s = kind.mean_s * kNewSurcharge + weight * wait_s;
    const double filled = std::max(own, waiting_share(number, type));
    if (filled > 0) least = std::min(least, *usd_h * own / filled * held_s / 3600);
  }
  return least;
}

/// The open room where `count` tasks of the kind cost least, each with its part of the time that
/// the instance lasts longer for them.
std::optional<TimedRound::Choice> TimedRound::best_room(const Kind& kind, std::size_t count) {
  std::optional<Choice> best;
  looks_ += rooms_.size();
  note_looks(rooms_.size());
  for (std::uint32_t i = 0; i < rooms_.size(); ++i) {
    const Room& room = rooms_[i];
    if (!room.open || !p_.prices.mask().allows(kind.asks, {room.type, room.market})) continue;
    const ShapeOnType& on = p_.prices.on(kind.asks.shape, room.type);
    if (!on.amount.fits_in(room.free)) continue;
    double fits = static_cast<double>(count);
    for (const Resource r : kAllResources) {
      if (on.amount[r] > 0)
        fits = std::min(fits, std::floor(room.free[r] / on.amount[r] + kRounding));
    }
    const Cases end = later(kind.left, room.left_s);
    const double longer_s = mean_excess(end, room.end);
    const double sooner_s = mean_excess(room.end, end);
    const double held_s = longer_s / std::max(1.0, fits) +
                          kLeftUnused * share_of(kind.asks.shape, room.type) * sooner_s;
    const double lost = room.company.lost_by(kind.cls, kind.work(), p_.rates);
    const double usd = (room.usd_h * held_s + lost) / 3600;
    if (!best || usd < best->usd) best = Choice{i, usd};
  }
  return best;
}

void TimedRound::pack() {
  for (std::uint32_t i = 0; i < kinds_.size(); ++i) {
    // Waiting tasks share new instances with their own priority only.
    if (i > 0 && kinds_[i].priority != kinds_[i - 1].priority) left_.clear();
    pack(i);
    if (kinds_[i].placed < kinds_[i].tasks.size()) left_.push_back(i);
  }
}

/// A task that was refused a new instance for the caps takes any room: better ones may never be
/// allowed.
void TimedRound::pack(std::uint32_t number) {
  Kind& kind = kinds_[number];
  const bool capped = std::any_of(kind.tasks.begin(), kind.tasks.end(),
                                  [&](std::uint32_t task) { return is_capped(row(task)); });
  while (kind.placed < kind.tasks.size()) {
    cut_short_ = cut_short_ || is_spent();
    if (cut_short_) return;
    const auto best = best_room(kind, kind.tasks.size() - kind.placed);
    if (!best || (!capped && best->usd > new_usd(number))) return;
    Room& room = rooms_[best->room];
    const Resources& need = p_.prices.on(kind.asks.shape, room.type).amount;
    // Room that is paid for saves what an instance of its own would cost.
    const Cause cause{CauseCode::packed, p_.prices.of(kind.asks.shape, kind.asks.markets).usd_h};
    const std::size_t before = kind.placed;
    for (; kind.placed < kind.tasks.size() && need.fits_in(room.free); ++kind.placed) {
      room.free -= need;
      plan_.places.push_back({row(kind.tasks[kind.placed]).id, instance(best->room).id, cause});
      ++packed_;
    }
    raise(room.end, later(kind.left, room.left_s));
    room.company.add(kind.cls, kind.placed - before, kind.work());
    room.taken = true;
  }
}

/// By priority, and by choice of markets, since an instance is rented on one.
void TimedRound::scale_out() {
  for (auto at = kinds_.begin(); at != kinds_.end();) {
    const auto end = std::find_if(at, kinds_.end(),
                                  [&](const Kind& one) { return one.priority != at->priority; });
    for (const MarketChoice choice :
         {MarketChoice::any, MarketChoice::on_demand, MarketChoice::spot}) {
      std::vector<Item> items;
      for (auto kind = at; kind != end; ++kind) {
        if (kind->asks.markets != choice) continue;
        const auto number = static_cast<std::uint32_t>(kind - kinds_.begin());
        for (std::size_t i = kind->placed; i < kind->tasks.size(); ++i) {
          items.push_back({kind->tasks[i], number});
        }
      }
      scale_out(items);
    }
    at = end;
  }
}

/// Adds up item after item, and drops the types that do not hold them any more. An instance is
/// worth the work of its tasks, at the least that this ever costs, for what it costs itself.
TimedRound::Group TimedRound::best_group(std::span<const Item> items) {
  struct Open {
    TypeId type;
    double usd_h = 0;
    Resources used{};
  };
  std::vector<Open> open;
  const Kind& first = kinds_[items.front().kind];
  for (std::uint32_t i = 0; i < p_.prices.types().size(); ++i) {
    if (const auto usd_h = usd_h_on(TypeId{i}, first)) open.push_back({TypeId{i}, *usd_h});
  }
  Group best;
  Cases end{};
  double sum = 0, usd_h = 0;
  Company company;
  const double least_gain = first.is_learnt ? 1 + kLargerGain : 1;
  for (std::size_t next = 0; next < items.size() && !open.empty(); ++next) {
    const Kind& kind = kinds_[items[next].kind];
    note_looks(open.size());
    std::erase_if(open, [&](Open& one) {
      const ShapeOnType& on = p_.prices.on(kind.asks.shape, one.type);
      one.used += on.amount;
      return !on.fits || !one.used.fits_in(p_.prices.types()[one.type].capacity);
    });
    raise(end, kind.left);
    sum += kind.work();
    usd_h += kind.least_usd_h;
    company.add(kind.cls, 1, kind.work());
    const double average_s = usd_h > 0 ? sum / usd_h : kind.mean_s;
    const double held_s = kHeldShare * mean(end) + (1 - kHeldShare) * average_s;
    const double worth = company.done(p_.rates);
    for (const Open& one : open) {
      const double score = worth / std::max(one.usd_h * held_s, std::numeric_limits<double>::min());
      if (score < best.score * least_gain) continue;
      best = {*offers_.of(one.type, first.asks.markets), next + 1, score};
    }
  }
  return best;
}

void TimedRound::scale_out(std::span<const Item> items) {
  while (!items.empty()) {
    const Group group = best_group(items);
    if (group.items == 0) {
      items = items.subspan(1);
      continue;
    }
    double gain_usd_h = -group.as.price.usd_h();
    for (const Item& item : items.first(group.items)) {
      const Kind& kind = kinds_[item.kind];
      gain_usd_h += p_.prices.of(kind.asks.shape, kind.asks.markets).usd_h;
    }
    const Cause cause{group.items > 1 ? CauseCode::packed : CauseCode::alone, gain_usd_h};
    const LaunchIndex launch{static_cast<std::uint32_t>(plan_.launches.size())};
    plan_.launches.push_back({group.as.type, group.as.market, cause});
    for (const Item& item : items.first(group.items)) {
      plan_.places.push_back({row(item.task).id, launch, cause});
      ++kinds_[item.kind].placed;
    }
    items = items.subspan(group.items);
  }
}

/// Instances that packing did not come to look at may be those that the tasks that still wait go
/// to.
void TimedRound::release_empty() {
  if (cut_short_) return;
  for (std::uint32_t i = 0; i < rooms_.size(); ++i) {
    const bool empty = p_.view.state.instance(instance(i).slot).planned.empty();
    if (!empty || rooms_[i].taken) continue;
    plan_.releases.push_back({instance(i).id, {CauseCode::empty, -instance(i).price_usd_h}});
  }
}

/// Only what can be rented nowhere now is left without a place.
void TimedRound::refuse_waiting() {
  const Refusal lacks = p_.view.nothing_to_rent();
  for (const Kind& kind : kinds_) {
    if (kind.placed == kind.tasks.size()) continue;
    bool on_offer = false;
    for (std::uint32_t i = 0; i < p_.prices.types().size(); ++i) {
      on_offer |= usd_h_on(TypeId{i}, kind).has_value();
    }
    if (on_offer) continue;
    for (std::size_t i = kind.placed; i < kind.tasks.size(); ++i) {
      const std::uint32_t task = kind.tasks[i];
      // A refusal that stands already would be an event without news in every round.
      if (!(row(task).reason == lacks)) plan_.refusals.push_back({row(task).id, lacks});
    }
  }
}

}  // namespace muster::own
