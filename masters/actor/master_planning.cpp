// How the master's actor has its rounds decided: by a planner beside it, which works on a memory of
// its own while the master goes on, or in place.

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include "masters/actor/master_actor.hpp"

namespace muster {
namespace {

/// Rounds whose decision times are kept; weeks of them.
constexpr std::ptrdiff_t kMaxDecisionTimes = 4'000'000;

}  // namespace

/// Has `make` run by the planner's thread and `use` here with what it gave.
template <class Value>
std::function<void(Value&&)> MasterActorImpl::back_here(std::function<void(Value&&)> use) {
  return
      [use = std::move(use), address = caf::actor_cast<caf::weak_actor_ptr>(this)](Value&& value) {
        const auto kept = std::make_shared<Value>(std::move(value));
        if (auto self = caf::actor_cast<MasterActor>(address.lock())) {
          caf::anon_send<caf::message_priority::high>(
              self, Wakeup{[use, kept] { use(std::move(*kept)); }});
        }
      };
}

void MasterActorImpl::begin_planning() {
  if (setup_.planner == PlannerPlace::in_master) return;
  seat_ = std::make_unique<PlannerHost>(system(), master_.send_planner_off(), setup_.planner,
                                        setup_.stopwatch);
}

void MasterActorImpl::want_round() {
  if (std::exchange(round_wanted_, true) || planning_) return;
  gather_later();
}

/// After a decision that failed not before its pause has passed.
void MasterActorImpl::gather_later() {
  const Instant now = timer_.now();
  const Duration pause = not_before_ > now ? not_before_ - now : Duration::zero();
  timer_.after(std::max(setup_.settings.round_settle, pause), [this] { gather(); });
}

void MasterActorImpl::decide() {
  round_wanted_ = false;
  awaiting_samples_.clear();
  std::sort(samples_.begin(), samples_.end(),
            [](const auto& a, const auto& b) { return a.task < b.task; });
  if (!master_.busy()) return;
  progress_ = master_.of_elastic_jobs(std::move(progress_));
  if (master_.would_repeat(samples_, progress_)) return look_again();
  quiet_pause_ = 0;
  const Duration before = setup_.stopwatch();
  if (decides_at_once() && master_.fleet_is_short()) order_fleet();
  auto wish = master_.begin_round(samples_, now(), progress_);
  if (!wish) return commit();
  if (decides_at_once()) {
    PlannedRound planned = master_.planner().decide(*wish);
    note_planner(planned);
    if (planned.failed) {
      commit();
      return want_round();
    }
    master_.take_plan(std::move(planned), wish->now);
    while (master_.apply_slice(wish->now)) continue;
    note_time(setup_.stopwatch() - before);
    commit();
    if (master_.calm()) look_again();
    return;
  }
  planning_ = true;  // before anything is handed on: no snapshot is asked for until it is over
  wish->slice_parts = setup_.settings.slice_parts;
  commit();
  await_plan(*wish);
}

bool MasterActorImpl::decides_at_once() const {
  return !seat_ && setup_.settings.decision_time <= Duration::zero();
}

/// What was said meanwhile is heard between two parts of a large fleet; in a replay nothing is.
void MasterActorImpl::order_fleet() {
  bool more = master_.keep_fleet(now());
  while (more && decides_at_once()) more = master_.keep_fleet(now());
  if (!more) return;
  caf::anon_send(MasterActor{this}, Wakeup{[this] {
                   order_fleet();
                   commit();
                 }});
}

void MasterActorImpl::await_plan(const RoundWish& wish) {
  const Instant due = timer_.now() + setup_.settings.decision_time;
  if (!seat_) {
    const Duration before = setup_.stopwatch();
    const auto planned = std::make_shared<PlannedRound>(master_.planner().decide(wish));
    note_time(setup_.stopwatch() - before);
    return timer_.at(due, [this, planned] { on_plan(std::move(*planned)); });
  }
  using Answer = std::pair<PlannedRound, Duration>;
  const auto hear = back_here<Answer>([this, due](Answer&& answer) {
    note_time(answer.second);
    if (timer_.now() >= due) return on_plan(std::move(answer.first));
    const auto planned = std::make_shared<PlannedRound>(std::move(answer.first));
    timer_.at(due, [this, planned] { on_plan(std::move(*planned)); });
  });
  seat_->decide(wish, [hear](PlannedRound&& planned, Duration took) {
    hear({std::move(planned), took});
  });
}

void MasterActorImpl::note_time(Duration took) {
  tally_.decided(to_seconds(took));
  std::vector<double>& times = setup_.times->ms;
  if (std::ssize(times) >= kMaxDecisionTimes)
    times.erase(times.begin(), times.begin() + kMaxDecisionTimes / 2);
  times.push_back(to_seconds(took) * 1e3);
}

/// Keeps what the policy has failed with for those who look, and for how long it is left alone.
void MasterActorImpl::note_planner(const PlannedRound& planned) {
  if (!planned.failed) {
    failed_plans_ = 0;
    not_before_ = Instant{Duration::min()};
  } else {
    const MasterSettings& settings = setup_.settings;
    constexpr std::uint32_t kMostDoublings = 20;
    const Duration pause =
        std::min(settings.planner_retry * (1 << std::min(failed_plans_++, kMostDoublings)),
                 settings.planner_retry_longest);
    not_before_ = timer_.now() + pause;
  }
  planner_trouble_ = planned.trouble;
  if (!planner_trouble_.empty() && planned.failed) {
    planner_trouble_ +=
        "; nothing is planned, and it is asked again after " +
        std::to_string(
            std::chrono::ceil<std::chrono::seconds>(not_before_ - timer_.now()).count()) +
        " s";
  }
  if (!planner_trouble_.empty() && setup_.note) {
    setup_.note("master " + master_.name() + ": " + planner_trouble_);
  }
}

/// The round has not been: orders, ends and caps go on without one, and another is tried later.
void MasterActorImpl::on_failed_plan() {
  planning_ = false;
  if (seat_ && seat_->is_lost()) {
    seat_->start_over(std::make_unique<MasterMemory>(master_.memory()));
  }
  commit();
  save_snapshot_if_due();
  round_wanted_ = true;
  gather_later();
}

void MasterActorImpl::on_plan(PlannedRound&& planned) {
  note_planner(planned);
  if (planned.failed) return on_failed_plan();
  master_.take_plan(std::move(planned), now());
  carry_on();
}

/// Carries out a slice of the plan; what was said meanwhile is heard before the next one.
void MasterActorImpl::carry_on() {
  const bool more = master_.apply_slice(now());
  decisions_.begin_slice();
  commit();
  decisions_.end_slice(more);
  if (more) return caf::anon_send(MasterActor{this}, Wakeup{[this] { carry_on(); }});
  planning_ = false;
  save_snapshot_if_due();
  if (round_wanted_) {
    gather_later();
  } else if (master_.calm()) {
    look_again();
  }
}

/// The planner makes it, of what it knows when it comes to that; meanwhile more happens.
void MasterActorImpl::save_snapshot_if_due() {
  const bool due =
      setup_.save_snapshot && events_since_snapshot_ >= setup_.settings.watch.snapshot_every;
  if (!due || planning_ || snapshot_is_made_) return;
  events_since_snapshot_ = 0;
  if (!seat_) return setup_.save_snapshot(master_.snapshot(), 0);
  snapshot_is_made_ = true;
  seat_->snapshot(back_here<std::optional<MasterSnapshot>>(
      [this, at = master_.facts().events](std::optional<MasterSnapshot>&& made) {
        snapshot_is_made_ = false;
        if (!made) return;
        // Which numbers others have seen is no event.
        made->next_instance = std::max(made->next_instance, master_.facts().next_instance);
        setup_.save_snapshot(*std::move(made), master_.facts().events - at);
      }));
}

/// Rounds and whatever else the planner was asked go first: of the dry runs it has one at a time.
caf::result<PlanView> MasterActorImpl::dry_run(Job job) {
  auto promise = make_response_promise<PlanView>();
  if (!seat_) {
    try {
      promise.deliver(cell_view().plan(std::move(job)));
    } catch (const std::exception& thrown) {
      promise.deliver(caf::make_error(ActorError::planner_failed, std::string(thrown.what())));
    }
    return promise;
  }
  const auto run = [this, promise](Job its) { begin_dry_run(std::move(its), promise); };
  const auto turn_away = [promise](const std::string& why) mutable {
    promise.deliver(caf::make_error(ActorError::busy, why));
  };
  dry_runs_.ask({std::move(job), timer_.now(), run, turn_away});
  return promise;
}

void MasterActorImpl::begin_dry_run(Job job, caf::typed_response_promise<PlanView> promise) {
  const JobId id = job.id;
  const RoundWish wish = master_.wish(now());
  const auto view = back_here<PlanView>([this, promise](PlanView&& shown) mutable {
    promise.deliver(std::move(shown));
    dry_runs_.ended(timer_.now());
  });
  const auto fail = back_here<std::string>([this, promise](std::string&& why) mutable {
    promise.deliver(caf::make_error(ActorError::planner_failed, std::move(why)));
    dry_runs_.ended(timer_.now());
  });
  seat_->dry_run(
      std::move(job), wish, master_.limits(wish.now),
      [view, id, name = master_.name()](DryRun&& run) { view(view_of(run, id, name)); },
      [fail](const std::string& why) { fail(std::string(why)); });
}

/// New jobs only make it worse.
bool MasterActorImpl::planner_lags() const {
  return seat_ && seat_->lag() > setup_.settings.planner_lag;
}

}  // namespace muster
