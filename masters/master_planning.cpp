// How the master's actor has its rounds decided: by a planner beside it, which works on a memory of
// its own while the master goes on, or in place.

#include <algorithm>
#include <memory>
#include <utility>

#include "masters/master_actor.hpp"

namespace muster {
namespace {

/// Rounds whose decision times are kept; weeks of them.
constexpr std::ptrdiff_t kMaxDecisionTimes = 4'000'000;

}  // namespace

/// Has `make` run by the planner's thread and `use` here with what it gave.
template <class Value>
std::function<void(Value&&)> MasterNode::back_here(std::function<void(Value&&)> use) {
  return
      [use = std::move(use), address = caf::actor_cast<caf::weak_actor_ptr>(this)](Value&& value) {
        const auto kept = std::make_shared<Value>(std::move(value));
        if (auto self = caf::actor_cast<MasterActor>(address.lock())) {
          caf::anon_send<caf::message_priority::high>(
              self, Wakeup{[use, kept] { use(std::move(*kept)); }});
        }
      };
}

void MasterNode::begin_planning() {
  const PlannerCare& care = setup_.planning;
  if (!care.beside) return;
  seat_ =
      std::make_unique<PlannerSeat>(system(), master_.send_planner_off(), care, setup_.stopwatch);
}

void MasterNode::want_round() {
  if (std::exchange(round_wanted_, true) || planning_) return;
  timer_.after(setup_.round_settle, [this] { gather(); });
}

void MasterNode::decide() {
  round_wanted_ = false;
  silent_.clear();
  std::sort(samples_.begin(), samples_.end(),
            [](const auto& a, const auto& b) { return a.task < b.task; });
  if (!master_.busy()) return;
  if (master_.would_repeat(samples_)) return look_again();
  quiet_pause_ = 0;
  const Duration before = setup_.stopwatch();
  auto wish = master_.begin_round(samples_, now());
  if (!wish) return carry_out();
  const bool at_once = !seat_ && setup_.planning.decision_time <= Duration::zero();
  if (at_once) {
    master_.take_plan(master_.planner().decide(*wish), wish->now);
    while (master_.apply_slice(wish->now)) continue;
    note_time(setup_.stopwatch() - before);
    carry_out();
    if (master_.calm()) look_again();
    return;
  }
  planning_ = true;  // before anything is handed on: no snapshot is asked for until it is over
  wish->slice_parts = setup_.planning.slice_parts;
  carry_out();
  await_plan(*wish);
}

void MasterNode::await_plan(const RoundWish& wish) {
  const Instant due = timer_.now() + setup_.planning.decision_time;
  if (!seat_) {
    const Duration before = setup_.stopwatch();
    const auto planned = std::make_shared<PlannedRound>(master_.planner().decide(wish));
    note_time(setup_.stopwatch() - before);
    return timer_.at(due, [this, planned] { hear_plan(std::move(*planned)); });
  }
  using Answer = std::pair<PlannedRound, Duration>;
  const auto hear = back_here<Answer>([this, due](Answer&& answer) {
    note_time(answer.second);
    if (timer_.now() >= due) return hear_plan(std::move(answer.first));
    const auto planned = std::make_shared<PlannedRound>(std::move(answer.first));
    timer_.at(due, [this, planned] { hear_plan(std::move(*planned)); });
  });
  seat_->decide(wish, [hear](PlannedRound&& planned, Duration took) {
    hear({std::move(planned), took});
  });
}

void MasterNode::note_time(Duration took) {
  std::vector<double>& times = setup_.times->ms;
  if (std::ssize(times) >= kMaxDecisionTimes)
    times.erase(times.begin(), times.begin() + kMaxDecisionTimes / 2);
  times.push_back(to_seconds(took) * 1e3);
}

void MasterNode::hear_plan(PlannedRound&& planned) {
  master_.take_plan(std::move(planned), now());
  carry_on();
}

/// Carries out a slice of the plan; what was said meanwhile is heard before the next one.
void MasterNode::carry_on() {
  const bool more = master_.apply_slice(now());
  decisions_.begin_slice();
  carry_out();
  decisions_.end_slice(more);
  if (more) return caf::anon_send(MasterActor{this}, Wakeup{[this] { carry_on(); }});
  planning_ = false;
  save_snapshot_if_due();
  if (round_wanted_) {
    timer_.after(setup_.round_settle, [this] { gather(); });
  } else if (master_.calm()) {
    look_again();
  }
}

/// The planner makes it, of what it knows when it comes to that; meanwhile more happens.
void MasterNode::save_snapshot_if_due() {
  const MasterLife& life = setup_.life;
  const bool due = life.save_snapshot && events_since_snapshot_ >= setup_.watch.snapshot_every;
  if (!due || planning_ || snapshot_is_made_) return;
  events_since_snapshot_ = 0;
  if (!seat_) return life.save_snapshot(master_.image(), 0);
  snapshot_is_made_ = true;
  seat_->image(back_here<MasterImage>([this, at = master_.events()](MasterImage&& image) {
    snapshot_is_made_ = false;
    // Which numbers others have seen is no event.
    image.next_instance = std::max(image.next_instance, master_.next_instance());
    setup_.life.save_snapshot(std::move(image), master_.events() - at);
  }));
}

caf::result<PlanView> MasterNode::dry_run(Job job) {
  if (!seat_) return cell_view().plan(std::move(job));
  const JobId id = job.id;
  auto promise = make_response_promise<PlanView>();
  const RoundWish wish = master_.wish(now());
  seat_->dry_run(std::move(job), wish, master_.limits(wish.now),
                 [view = back_here<PlanView>(
                      [promise](PlanView&& shown) mutable { promise.deliver(std::move(shown)); }),
                  id, name = setup_.life.name](DryRun&& run) { view(view_of(run, id, name)); });
  return promise;
}

/// New jobs only make it worse.
bool MasterNode::planner_lags() const {
  return seat_ && seat_->lag() > setup_.planning.max_lag;
}

}  // namespace muster
