#include "masters/plan/planner.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "masters/instances/capped.hpp"
#include "masters/plan/plan_resizes.hpp"
#include "masters/plan/plan_slices.hpp"
#include "schedulers/rent_beside.hpp"

namespace muster {
namespace {

/// Writes down of which attempts the plan's parts speak.
void expect_present(Plan& plan, const ClusterState& state) {
  const auto attempt_of = [&state](TaskId id) {
    const TaskRow* row = state.find(id);
    return row == nullptr ? std::nullopt : std::optional(row->attempt);
  };
  for (Place& part : plan.places) part.expects = attempt_of(part.task);
  for (Stop& part : plan.stops) part.expects = attempt_of(part.task);
}

/// A policy that has failed this often since its last plan begins with nothing.
constexpr std::uint32_t kMostRenewals = 3;

/// Whether the policy has understood the words, which may be those of another version.
bool loads(Policy& policy, const std::string& words, const ClusterView& view) {
  try {
    return policy.load_state(words, view);
  } catch (const std::exception&) {
    return false;
  }
}

/// As plans are held against the caps.
RentLeft left_by(const MasterCaps& caps, const ClusterState& state, bool owns_fleet) {
  if (!caps.any()) return {};
  const Capped rented = capped(state, owns_fleet);
  RentLeft left;
  if (caps.max_instances > 0) {
    left.instances =
        caps.max_instances - std::min<std::size_t>(caps.max_instances, rented.instances);
    // Policies take machines that are left from it, too.
    if (has_machines_beside(state)) {
      for (const OfferingRow& row : state.offerings().rows()) {
        *left.instances += left_of(state, row).value_or(0);
      }
    }
  }
  if (caps.max_usd_h > 0) {
    const std::int64_t cap = Price::from_usd_h(caps.max_usd_h).nano_usd_h();
    left.nano_usd_h = std::max<std::int64_t>(0, cap - rented.nano_usd_h);
  }
  return left;
}

}  // namespace

RoundsOfLog::RoundsOfLog(std::span<const Event> log) {
  for (std::size_t i = 0; i < log.size(); ++i) {
    const auto* round = std::get_if<RoundDecided>(&log[i].body);
    // One that was decided before the log begins is in the memory that goes with it.
    if (round == nullptr || round->behind > i) continue;
    if (round->behind == 0 && round->took == Duration::zero()) continue;
    Event early = log[i];
    early.at -= round->took;
    early_[i - round->behind].push_back(std::move(early));
  }
}

std::span<const Event> RoundsOfLog::decided_before(std::size_t event) const {
  const auto found = early_.find(event);
  return found == early_.end() ? std::span<const Event>{} : std::span(found->second);
}

Planner::Planner(const MasterSettings& settings, MasterDependencies parts,
                 const MasterMemory& shared)
    : settings_(settings),
      parts_(std::move(parts)),
      blank_(parts_.policy->clone()),
      memory_(&shared) {}

ClusterView Planner::view(Instant now) const {
  const ClusterState& state = memory_->facts().state;
  const OfferingTable* offered = memory_->fixed_fleet() ? nullptr : &state.offerings();
  ClusterView shown{state,   *parts_.catalog,        now,
                    offered, unavailable_offerings_, backed_off_,
                    turn_,   settings_.min_stay,     memory_->owns_fleet()};
  shown.kept = memory_->facts().claims.kept();
  return shown;
}

std::string Planner::restore(const std::string& words, Instant at) {
  shown_rounds_ = memory_->facts().rounds;
  if (loads(*parts_.policy, words, view(at))) return {};
  parts_.policy = blank_->clone();
  return "the policy cannot read its memory in the snapshot (" + std::to_string(words.size()) +
         " bytes, of another policy or version): it knows only events since then";
}

void Planner::look_at_gangs(std::uint64_t round, Instant now, bool rents) {
  const MasterFacts& known = memory_->facts();
  backed_off_ = known.gangs.backed_off(known.state, round, now);
  turn_ = known.turn(round, now);
  unavailable_offerings_ = memory_->unavailable_offerings(now, rents);
}

/// Of a round the policy is shown what it was shown when it decided, and once.
void Planner::show(const Event& event) {
  if (const auto* round = std::get_if<RoundDecided>(&event.body)) {
    if (round->round < shown_rounds_) return;
    look_at_gangs(round->round, event.at, true);
    shown_rounds_ = round->round + 1;
  }
  // One that fails at every event is shown no more of them before it is asked again.
  if (failures_ >= kMostRenewals && !trouble_.empty()) return;
  if (!memory_->ends_calm(event.body)) return;
  try {
    parts_.policy->observe(event, view(event.at));
  } catch (const std::exception& thrown) {
    renew(thrown.what(), event.at);
  }
}

/// Nothing of a policy that has thrown is kept but its words, which have none of its caches; where
/// these do not help either, it begins with what happens from now on.
void Planner::renew(const std::string& what, Instant at) {
  trouble_ = "the policy has failed (" + what + ")";
  std::unique_ptr<Policy> anew = blank_->clone();
  bool knows = false;
  if (++failures_ < kMostRenewals) {
    try {
      const std::string words = parts_.policy->save_state(memory_->facts().state);
      knows = loads(*anew, words, view(at));
    } catch (const std::exception&) {
      knows = false;
    }
    if (!knows) anew = blank_->clone();
  }
  trouble_ += knows ? " and was restored from its memory"
                    : " and was made anew: it knows only later events";
  parts_.policy = std::move(anew);
}

void Planner::start_over(std::unique_ptr<MasterMemory> memory) {
  own_ = std::move(memory);
  memory_ = own_.get();
  shown_rounds_ = memory_->facts().rounds;
  parts_.policy = blank_->clone();
}

void Planner::part_ways() {
  own_ = std::make_unique<MasterMemory>(*memory_);
  memory_ = own_.get();
}

void Planner::follow(std::span<const Event> events) {
  for (const Event& event : events) {
    own_->absorb(event);
    show(event);
  }
}

PlannedRound Planner::decide(const RoundWish& wish) {
  PlannedRound planned;
  try {
    planned = ask_policy(wish);
    failures_ = 0;
  } catch (const std::exception& thrown) {
    // The round has not been, whatever of it the policy was shown.
    shown_rounds_ = memory_->facts().rounds;
    renew(thrown.what(), wish.now);
    planned = {};
    planned.failed = true;
  }
  planned.trouble = std::exchange(trouble_, {});
  return planned;
}

PlannedRound Planner::ask_policy(const RoundWish& wish) {
  const MasterFacts& known = memory_->facts();
  PlannedRound planned;
  planned.round = known.rounds;
  planned.at = wish.now;
  planned.based_on = seen();
  planned.budget = Budget(wish.budget);
  Rng rng = Rng::of_round(parts_.seed, parts_.name, known.rounds);
  look_at_gangs(known.rounds, wish.now, wish.rents);
  ClusterView shown = view(wish.now);
  shown.left = left_by(settings_.caps, known.state, memory_->owns_fleet());
  Plan plan = parts_.policy->decide(shown, rng, planned.budget);
  rent_beside(plan, shown);
  planned.settled = parts_.policy->settled(view(wish.now));
  planned.dropped = drop_malformed_figures(plan.note);
  planned.note = plan.note;
  plan.based_on = planned.based_on;
  expect_present(plan, known.state);
  planned.slices = slices_of(std::move(plan), known.state, wish.slice_parts);
  shown_rounds_ = known.rounds + 1;
  const RoundDecided decided{known.rounds, planned.note, known.quiet, planned.settled, 0,
                             {},           wish.budget,  {}};
  parts_.policy->observe({wish.now, decided}, view(wish.now));
  return planned;
}

DryRun Planner::dry_run(Job job, const RoundWish& wish, PlanLimits limits) const {
  const MasterFacts& known = memory_->facts();
  auto state = std::make_shared<ClusterState>(known.state);
  const Event accepted{wish.now, JobAccepted{std::move(job)}};
  state->apply(accepted);
  const std::unique_ptr<Policy> policy = parts_.policy->clone();
  // A policy that is not asked when a job comes, or may put that off, decides on it in its next
  // regular round, which is at most a period away; its actions until then say nothing of the job.
  const Cadence cadence = memory_->fixed_fleet() ? policy->fleet_cadence() : policy->cadence();
  const Instant at =
      wish.now + (cadence.on_arrival && !cadence.rests ? Duration::zero() : cadence.period);
  // The policy's later moves are held against the limits of that time.
  limits.stay.now = at;
  limits.backed_off_gangs = known.gangs.backed_off(*state, known.rounds, at);
  limits.turn = known.turn(known.rounds, at);
  const UnavailableOfferings offers = memory_->unavailable_offerings(at, wish.rents);
  const OfferingTable* offered = memory_->fixed_fleet() ? nullptr : &state->offerings();
  ClusterView shown{*state,
                    *parts_.catalog,
                    at,
                    offered,
                    offers,
                    limits.backed_off_gangs,
                    limits.turn,
                    settings_.min_stay,
                    memory_->owns_fleet()};
  shown.left = left_by(limits.caps, *state, memory_->owns_fleet());
  shown.kept = known.claims.kept();
  policy->observe(accepted, shown);
  Rng rng = Rng::of_round(parts_.seed, parts_.name, known.rounds);
  Budget budget(wish.budget);
  DryRun run{policy->decide(shown, rng, budget), {}, {}, settings_.caps, 0};
  rent_beside(run.plan, shown);
  for (const Resize& resize : run.plan.resizes) {
    if (why_not_resized(*state, resize, limits.stay)) continue;
    run.restarts += state->find(resize.job)->running;
    state->apply({wish.now, JobResized{resize.job, resize.width, resize.cause}});
  }
  run.checked = check_plan(run.plan, *state, limits);
  run.state = std::move(state);
  return run;
}

MasterSnapshot Planner::snapshot() const {
  MasterSnapshot snapshot = memory_->snapshot();
  // A snapshot without the policy's words is better than a journal that only grows.
  try {
    snapshot.policy_state = parts_.policy->save_state(memory_->facts().state);
  } catch (const std::exception& thrown) {
    trouble_ = std::string("the policy cannot save its memory (") + thrown.what() +
               "): the snapshot has no memory of it";
  }
  return snapshot;
}

}  // namespace muster
