#include "schedulers/muster/rented_policy.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "schedulers/muster/plan_groups.hpp"
#include "schedulers/muster/round.hpp"
#include "schedulers/muster/timed_round.hpp"
#include "schedulers/packing/priority_order.hpp"

// Puts the round together: gathers what there is, has Round search, and turns its layout into a
// plan whose note carries back what the memory has to know (see kAgain). decide() itself leaves
// nothing behind that a policy which only followed the events would not have.

namespace muster::own {
namespace {

constexpr const char* kTimed = "timed tasks";
/// Between two looks whether an empty instance is to be given back.
constexpr Duration kLook{std::chrono::seconds{30}};
/// An instance's start is that many times as long as the time between two rounds.
constexpr int kStartsOfRest = 10;
constexpr int kRestsOfPeriod = 20;
/// A round of a period takes that many times the steps of one between two of them.
constexpr std::uint32_t kShareOfSteps = 8;
/// For each task there is, between two rounds of one period.
constexpr Duration kRestOfTask{std::chrono::milliseconds{20}};

/// A part of a start, of the type that starts first, and of a period. With short periods all rounds
/// are held at once.
Duration rest_between_rounds(const MusterParams& params, const Catalog& catalog) {
  if (!params.eager || params.period < kLook) return {};
  const Duration most = params.period / kRestsOfPeriod;
  std::optional<Duration> least;
  bool any_at_once = false;
  for (const InstanceType& type : catalog.types()) {
    const Duration start = type.acquire + type.setup;
    // Machines of one's own are there at once, and say nothing of what is rented beside them.
    if (start > Duration::zero()) least = std::min(least.value_or(start), start);
    any_at_once |= start == Duration::zero();
  }
  if (!least) return any_at_once ? Duration{} : most;
  return std::min(most, *least / kStartsOfRest);
}

/// Of an instance of whatever type that costs something, on the market where it is cheaper; free
/// without such types.
Price cheapest_of(const Catalog& catalog) {
  std::optional<Price> least;
  for (const InstanceType& type : catalog.types()) {
    const Price price = type.spot ? std::min(*type.spot, type.on_demand) : type.on_demand;
    if (price <= Price()) continue;
    least = least ? std::min(*least, price) : price;
  }
  return least.value_or(Price());
}

/// Adds another plan, whose launches and groups get numbers behind those that are there.
void append(Plan& plan, Plan&& more) {
  const auto launches = static_cast<std::uint32_t>(plan.launches.size());
  std::uint32_t groups = 0;
  for (const Launch& launch : plan.launches) groups = std::max(groups, launch.group);
  for (const Place& place : plan.places) groups = std::max(groups, place.group);
  for (const Stop& stop : plan.stops) groups = std::max(groups, stop.group);
  for (const Release& release : plan.releases) groups = std::max(groups, release.group);
  const auto regroup = [&](std::uint32_t& group) {
    if (group > 0) group += groups;
  };
  for (Launch& launch : more.launches) {
    regroup(launch.group);
    plan.launches.push_back(std::move(launch));
  }
  for (Place& place : more.places) {
    regroup(place.group);
    if (auto* launch = std::get_if<LaunchIndex>(&place.to)) launch->value += launches;
    plan.places.push_back(place);
  }
  for (Release& release : more.releases) {
    regroup(release.group);
    plan.releases.push_back(release);
  }
  plan.refusals.insert(plan.refusals.end(), more.refusals.begin(), more.refusals.end());
}

}  // namespace

RentedPolicy::RentedPolicy(const Catalog& catalog, const MusterParams& params)
    : params_(params),
      prices_(catalog, MarketChoice::any),
      rates_(params.default_pair),
      rest_(rest_between_rounds(params, catalog)),
      cheapest_(cheapest_of(catalog)) {}

Cadence RentedPolicy::cadence() const {
  return {.period = params_.eager ? std::min(params_.period, kLook) : params_.period,
          .on_arrival = params_.eager,
          .on_capacity = params_.eager || params_.at_once,
          .on_price = params_.eager,
          .rests = rest_ > Duration{},
          .wants_throughput = true};
}

void RentedPolicy::observe(const Event& event, const ClusterView& view) {
  memory_.observe(event, view);
  place_.observe(event);
  if (const TaskRow* task = finished_run(event, view.state)) {
    const JobRow& job = view.state.job(task->job);
    const double share = 1.0 / static_cast<double>(job.tasks.size());
    const KnownTimes times{params_, times_};
    const auto known = times.of(job.job, view.state.spec(*task), task->cls);
    if (known) record_.add(*task, known->run, share);
    times_.add(*task, share, view.state.classes());
  }
  if (follows_empties()) idle_.observe(event, view.state);
  if (params_.keep > 0) empties_.observe(event, idle_.changes(), view);
  const auto* round = std::get_if<RoundDecided>(&event.body);
  if (round != nullptr && round->note.choice != kAtOnce) last_round_ = event.at;
  if (const auto* measured = std::get_if<Measured>(&event.body)) {
    intake_.record(*measured, view.state, rates_);
    forgetting_.look(rates_.beyond_table(), [&] {
      const ClassTable& classes = view.state.classes();
      rates_.keep([&](ClassId id) { return classes.name(id) != nullptr; });
      return rates_.beyond_table();
    });
  }
}

Plan RentedPolicy::decide(const ClusterView& view, Rng& rng, Budget& budget) {
  if (!wants_round(view)) {
    Plan plan;
    plan.releases = idle_.releases(view);
    keeps_ = keep_back(plan.releases, view);
    changes_with_time_ = !memory_.is_quiet();
    const bool is_calm = memory_.is_quiet() && view.state.pending().empty();
    if (!is_calm || !plan.releases.empty()) plan.note.choice = kAtOnce;
    return plan;
  }
  const bool is_capped = view.left.instances.has_value();
  prices_.set_surcharge(is_capped ? Price::from_usd_h(place_.usd_h()) : Price());
  prices_.learn(view.state);
  const TimedJobs split = find_timed_jobs(view, {params_, times_}, prices_);
  changes_with_time_ = view.any_rests();
  Plan plan;
  if (!split.any() || split.others) plan = hold_round(split, view, rng, budget);
  if (split.any()) hold_timed_round(split, view, budget, plan);
  keeps_ = std::erase_if(plan.releases, [&](const Release& release) {
             return is_kept(release.instance, view);
           }) > 0;
  order_by_priority(view, plan);
  return plan;
}

bool RentedPolicy::is_regular(Instant now) const {
  return !last_round_ || period_of(*last_round_) != period_of(now);
}

/// An event waits for a tenth of the time that instances take to start: tasks that come meanwhile
/// are packed with its own, and room that comes free is taken instead. Where there are many tasks,
/// and a round takes long, it waits longer.
bool RentedPolicy::wants_round(const ClusterView& view) const {
  if (memory_.is_quiet() && view.state.pending().empty()) return false;
  if (is_regular(view.now)) return true;
  // Room is there for its job for a bounded number of rounds, and one that plans nothing counts.
  if (view.turn && memory_.has_news()) return true;
  if (!params_.eager) {
    // Where no more may be rented, room that comes free is for those that wait, and not given back.
    const bool is_full = !view.left.allows(1, cheapest_) && !view.state.pending().empty();
    return !params_.at_once || (is_full && memory_.has_news());
  }
  if (rest_ == Duration{}) return memory_.has_news() || memory_.asks_again();
  if (!memory_.has_news() && !memory_.has_waited_out(view.now)) return false;
  const auto& by_phase = view.state.work().tasks;
  const auto tasks = std::accumulate(by_phase.begin(), by_phase.end(), std::size_t{0});
  const auto of_tasks = std::min(kLook, static_cast<std::int64_t>(tasks) * kRestOfTask);
  return view.now - *last_round_ >= std::max(rest_, of_tasks);
}

/// Getting another one costs its start; an empty one costs as much when it is kept for as long: at
/// most twice the least that would have done. Never longer than a period. Under a cap it takes
/// another one's place.
bool RentedPolicy::is_kept(InstanceId id, const ClusterView& view) const {
  const auto empty = idle_.since().find(id);
  if (empty == idle_.since().end() || view.left.instances || view.left.nano_usd_h) return false;
  const TypeId type = view.state.find(id)->type;
  const double keep_s =
      params_.keep * empties_.keep(type) * to_seconds(start_of(view.catalog[type]));
  return to_seconds(view.now - empty->second) < std::min(keep_s, to_seconds(params_.period));
}

/// Those that have emptied for a task that waited for long are a round's to fill.
bool RentedPolicy::keep_back(std::vector<Release>& releases, const ClusterView& view) const {
  const auto kept = std::erase_if(releases, [&](const Release& release) {
    return is_kept(release.instance, view) || view.is_closed(*view.state.find(release.instance));
  });
  return kept > 0;
}

/// For all but timed jobs.
Plan RentedPolicy::hold_round(const TimedJobs& split, const ClusterView& view, Rng& rng,
                              Budget& budget) {
  input_.gather({view, prices_.types().markets(), split.other_jobs, split.other_instances}, prices_,
                kinds_);
  changes_with_time_ |= input_.changes_with_time();
  work_.learn({input_, view.state, prices_, rates_});
  // Between two periods a round looks around what has changed, and no further; that of the next
  // period does, though nothing may change until then.
  MusterParams params = params_;
  if (rest_ > Duration{} && !is_regular(view.now)) {
    changes_with_time_ = true;
    params.triples = 0;
    params.steps = (params.steps + kShareOfSteps - 1) / kShareOfSteps;
  }
  Round round({params, view, input_, prices_, rates_, memory_, work_, kinds_, {params, times_}},
              rng, budget);
  round.run();
  const bool unfinished = round.is_unfinished();
  const Layout layout = round.layout();
  Plan plan = plan_of(layout, input_, {.prices = prices_}, kinds_, CauseCode::packed);
  for (std::uint32_t i = 0; i < input_.tasks().size(); ++i) {
    const RoundInput::Task& task = input_.tasks()[i];
    if (task.home == kUnassigned || layout.host_of[i] != kUnassigned) continue;
    plan.stops.push_back({task.id, {CauseCode::evicted, 0}});
  }
  const Refusal waits{RefusalKind::not_now, RefusalCode::better_place, {}, 0, 0};
  const Refusal lacks = view.nothing_to_rent();
  for (const std::uint32_t i : round.waiting()) {
    const RoundInput::Task& task = input_.tasks()[i];
    const Refusal& why = round.is_on_offer(i) ? waits : lacks;
    // A refusal that stands already would be an event without news in every round.
    if (task.home != kUnassigned || view.state.task(task.slot).reason == why) continue;
    plan.refusals.push_back({task.id, why});
  }
  group_moves(input_, plan);
  plan.note.choice = kRepartition;
  plan.note.figures.emplace_back("value_usd_h", round.value_usd_h());
  plan.note.figures.emplace_back("greedy_usd_h", round.greedy_value_usd_h());
  plan.note.figures.emplace_back("repartitions", round.repartitions());
  plan.note.figures.emplace_back("steps", static_cast<double>(round.steps()));
  const std::vector<std::uint32_t> waiting = round.waiting();
  note_waits(round, waiting, plan);
  const bool any_waits =
      std::ranges::any_of(waiting, [&](std::uint32_t task) { return round.is_on_offer(task); });
  note_place_price(any_waits, view, plan);
  const double again = unfinished ? kUnfinished : changes_with_time_ ? kLater : 0;
  changes_with_time_ |= unfinished;
  if (again > 0) plan.note.figures.emplace_back(kAgain, again);
  return plan;
}

/// The first of those that wait by choice, and how much longer it may.
void RentedPolicy::note_waits(const Round& round, std::span<const std::uint32_t> waiting,
                              Plan& plan) {
  std::optional<Duration> first;
  for (const std::uint32_t task : waiting) {
    const Duration left = round.left_to_wait(task);
    if (left > Duration{} && (!first || left < *first)) first = left;
  }
  if (first) plan.note.figures.emplace_back(kLeftToWait, to_seconds(*first));
}

/// It changes with each period, not with the rounds between, which may be many.
void RentedPolicy::note_place_price(bool any_waits, const ClusterView& view, Plan& plan) {
  CapPrice::Round round{.launches = plan.launches.size(), .any_waits = any_waits};
  for (const RoundInput::Instance& instance : input_.instances()) {
    if (instance.owned) continue;
    ++round.instances;
    round.usd_h += instance.price_usd_h - prices_.types().surcharge().usd_h();
  }
  const double usd_h = is_regular(view.now) ? place_.after(round, view) : place_.usd_h();
  if (usd_h > 0) plan.note.figures.emplace_back(kPlacePrice, usd_h);
  changes_with_time_ |= usd_h != place_.usd_h();
}

/// Its expected end moves nearer with time: the round is held again in any case.
void RentedPolicy::hold_timed_round(const TimedJobs& split, const ClusterView& view, Budget& budget,
                                    Plan& plan) {
  timed_input_.gather({view, prices_.types().markets(), split.jobs, split.instances}, prices_,
                      kinds_);
  const TimedParts parts{params_, view,   timed_input_,      prices_,
                         record_, rates_, {params_, times_}, !memory_.was_refused()};
  TimedRound round(parts, budget);
  append(plan, round.run());
  changes_with_time_ = true;
  if (plan.note.choice.empty()) plan.note.choice = kTimed;
  auto& figures = plan.note.figures;
  if (!figure_of(plan.note, kAgain)) figures.emplace_back(kAgain, kLater);
  figures.emplace_back("timed_packed", round.packed());
  figures.emplace_back("timed_moved", round.moved());
}

bool RentedPolicy::settled(const ClusterView& view) const {
  return view.state.pending().empty() && !changes_with_time_ && !keeps_;
}

}  // namespace muster::own
