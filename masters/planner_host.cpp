#include "masters/planner_host.hpp"

#include <algorithm>
#include <utility>

namespace muster {
namespace {

StepActor::behavior_type steps() {
  return {[](const Wakeup& step) { step.run(); }};
}

}  // namespace

/// What the planner's actor works on; only its own steps touch it, but for `followed`.
struct PlannerHost::Desk {
  Desk(std::unique_ptr<Planner> of, std::function<Duration()> clock)
      : planner(std::move(of)), stopwatch(std::move(clock)) {}

  std::unique_ptr<Planner> planner;
  std::function<Duration()> stopwatch;
  double ns_a_step = 0;  ///< by the last decision that counted any; 0: not known
  std::atomic<std::uint64_t> followed = 0;

  /// The bound that the deadline comes to, within that of the wish.
  std::uint64_t steps_for(std::uint64_t allowed) const {
    const Duration deadline = planner->settings().decision_deadline;
    if (deadline <= Duration::zero() || ns_a_step <= 0) return allowed;
    const double steps = static_cast<double>(deadline.count()) / ns_a_step;
    const auto most = static_cast<std::uint64_t>(std::max(1.0, std::min(steps, 1e15)));
    return allowed == 0 ? most : std::min(allowed, most);
  }

  std::pair<PlannedRound, Duration> decide(RoundWish wish) {
    wish.budget = steps_for(wish.budget);
    const Duration before = stopwatch();
    PlannedRound planned = planner->decide(wish);
    const Duration took = stopwatch() - before;
    const auto steps = static_cast<double>(planned.budget.used());
    if (steps > 0) ns_a_step = static_cast<double>(took.count()) / steps;
    return {std::move(planned), took};
  }
};

PlannerHost::PlannerHost(caf::actor_system& system, std::unique_ptr<Planner> planner,
                         PlannerPlace place, std::function<Duration()> stopwatch)
    : desk_(std::make_shared<Desk>(std::move(planner), std::move(stopwatch))) {
  actor_ =
      place == PlannerPlace::own_thread ? system.spawn<caf::detached>(steps) : system.spawn(steps);
}

PlannerHost::~PlannerHost() {
  caf::anon_send_exit(actor_, caf::exit_reason::kill);
}

void PlannerHost::send(std::function<void()> step) {
  caf::anon_send(actor_, Wakeup{std::move(step)});
}

void PlannerHost::follow(std::vector<Event> events) {
  told_ += events.size();
  send([desk = desk_, batch = std::make_shared<std::vector<Event>>(std::move(events))] {
    desk->planner->follow(*batch);
    desk->followed += batch->size();
  });
}

std::uint64_t PlannerHost::lag() const {
  return told_ - desk_->followed;
}

void PlannerHost::decide(const RoundWish& wish, Decided then) {
  send([desk = desk_, wish, then = std::move(then)] {
    auto [planned, took] = desk->decide(wish);
    then(std::move(planned), took);
  });
}

void PlannerHost::dry_run(Job job, const RoundWish& wish, PlanLimits limits,
                          std::function<void(DryRun&&)> then) {
  send([desk = desk_, job = std::move(job), wish, limits = std::move(limits),
        then = std::move(then)] { then(desk->planner->dry_run(job, wish, limits)); });
}

void PlannerHost::snapshot(std::function<void(MasterSnapshot&&)> then) {
  send([desk = desk_, then = std::move(then)] { then(desk->planner->snapshot()); });
}

}  // namespace muster
