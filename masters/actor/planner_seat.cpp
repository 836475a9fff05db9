#include "masters/actor/planner_seat.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "masters/view/cell_view.hpp"

namespace muster {
namespace {

/// How much of a journal the events take, in events of the common size.
std::uint64_t weight_of(const std::vector<Event>& events) {
  constexpr std::size_t kSamplesAnEvent = 16;
  std::uint64_t weight = events.size();
  for (const Event& event : events) {
    const auto* measured = std::get_if<Measured>(&event.body);
    if (measured == nullptr) continue;
    weight += measured->samples.size() / kSamplesAnEvent + measured->metrics.size();
  }
  return weight;
}

}  // namespace

PlannerSeat::PlannerSeat(Master& master, PartHost& host, Setup setup)
    : master_(master),
      host_(host),
      setup_(std::move(setup)),
      dry_runs_(master.settings().dry_runs) {}

void PlannerSeat::begin(caf::actor_system& system) {
  if (setup_.place == PlannerPlace::in_master) return;
  beside_ = std::make_unique<PlannerHost>(system, master_.send_planner_off(), setup_.place,
                                          setup_.stopwatch);
}

void PlannerSeat::close() {
  dry_runs_.clear();
  beside_.reset();
}

bool PlannerSeat::decides_at_once() const {
  return !beside_ && master_.settings().decision_time <= Duration::zero();
}

void PlannerSeat::follow(const std::vector<Event>& events) {
  unsaved_ += weight_of(events);
  if (beside_ && !events.empty()) beside_->follow(events);
}

/// New jobs only make it worse.
bool PlannerSeat::lags() const {
  return beside_ && beside_->lag() > master_.settings().planner_lag;
}

/// Has what it is given used in the actor; may be called by the planner's thread.
template <class Value>
std::function<void(Value&&)> PlannerSeat::back_here(std::function<void(Value&&)> use) {
  return [use = std::move(use), post = host_.post_first()](Value&& value) {
    const auto kept = std::make_shared<Value>(std::move(value));
    post([use, kept] { use(std::move(*kept)); });
  };
}

void PlannerSeat::decide(const RoundWish& wish, Planned then) {
  const Instant due = host_.now() + master_.settings().decision_time;
  if (!beside_) {
    const Duration before = setup_.stopwatch();
    const auto planned = std::make_shared<PlannedRound>(master_.planner().decide(wish));
    setup_.took(setup_.stopwatch() - before);
    return host_.at(due, [then = std::move(then), planned] { then(std::move(*planned)); });
  }
  using Decided = std::pair<PlannedRound, Duration>;
  const auto hear = back_here<Decided>([this, due, then = std::move(then)](Decided&& decided) {
    setup_.took(decided.second);
    if (host_.now() >= due) return then(std::move(decided.first));
    const auto planned = std::make_shared<PlannedRound>(std::move(decided.first));
    host_.at(due, [then, planned] { then(std::move(*planned)); });
  });
  beside_->decide(wish, [hear](PlannedRound&& planned, Duration took) {
    hear({std::move(planned), took});
  });
}

void PlannerSeat::recover() {
  if (beside_ && beside_->is_lost()) {
    beside_->start_over(std::make_unique<MasterMemory>(master_.memory()));
  }
}

void PlannerSeat::dry_run(Job job, const std::function<PlanView(Job)>& in_place,
                          PartAnswer<PlanView> answer) {
  if (!beside_) {
    try {
      answer(in_place(std::move(job)));
    } catch (const std::exception& thrown) {
      answer(caf::make_error(ActorError::planner_failed, std::string(thrown.what())));
    }
    return;
  }
  const auto run = [this, answer](Job its) { begin_dry_run(std::move(its), answer); };
  const auto turn_away = [answer](const std::string& why) {
    answer(caf::make_error(ActorError::busy, why));
  };
  dry_runs_.ask({std::move(job), host_.now(), run, turn_away});
}

void PlannerSeat::begin_dry_run(Job job, PartAnswer<PlanView> answer) {
  const JobId id = job.id;
  const RoundWish wish = master_.wish(host_.stamp());
  const auto view = back_here<PlanView>([this, answer](PlanView&& shown) {
    answer(std::move(shown));
    dry_runs_.ended(host_.now());
  });
  const auto fail = back_here<std::string>([this, answer](std::string&& why) {
    answer(caf::make_error(ActorError::planner_failed, std::move(why)));
    dry_runs_.ended(host_.now());
  });
  beside_->dry_run(
      std::move(job), wish, master_.limits(wish.now),
      [view, id, name = master_.name()](DryRun&& run) { view(view_of(run, id, name)); },
      [fail](const std::string& why) { fail(std::string(why)); });
}

void PlannerSeat::save_if_due() {
  const bool due = setup_.save_snapshot && unsaved_ >= master_.settings().watch.snapshot_every;
  if (!due || planning_ || snapshot_is_made_) return;
  unsaved_ = 0;
  if (!beside_) return setup_.save_snapshot(master_.snapshot(), 0);
  snapshot_is_made_ = true;
  beside_->snapshot(back_here<std::optional<MasterSnapshot>>(
      [this, at = master_.facts().events](std::optional<MasterSnapshot>&& made) {
        snapshot_is_made_ = false;
        if (!made) return;
        // Which numbers others have seen is no event.
        made->next_instance = std::max(made->next_instance, master_.facts().next_instance);
        setup_.save_snapshot(*std::move(made), master_.facts().events - at);
      }));
}

}  // namespace muster
