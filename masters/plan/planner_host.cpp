#include "masters/plan/planner_host.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace muster {
namespace {

StepActor::behavior_type steps() {
  return {[](const Wakeup& step) { step.run(); }};
}

}  // namespace

/// State of the planner's actor; only its own steps touch it, but for `followed`.
struct PlannerHost::Desk {
  Desk(std::unique_ptr<Planner> of, std::function<Duration()> clock)
      : planner(std::move(of)), stopwatch(std::move(clock)) {}

  std::unique_ptr<Planner> planner;
  std::function<Duration()> stopwatch;
  double ns_a_step = 0;  ///< by the last decision that counted any; 0: not known
  std::atomic<std::uint64_t> followed = 0;
  std::atomic<bool> lost = false;
  std::string trouble{};  ///< why it is

  /// The bound that the deadline comes to, within that of the wish.
  std::uint64_t steps_for(std::uint64_t allowed) const {
    const Duration deadline = planner->settings().decision_deadline;
    if (deadline <= Duration::zero() || ns_a_step <= 0) return allowed;
    const double steps = static_cast<double>(deadline.count()) / ns_a_step;
    const auto most = static_cast<std::uint64_t>(std::max(1.0, std::min(steps, 1e15)));
    return allowed == 0 ? most : std::min(allowed, most);
  }

  void follow(const std::vector<Event>& events) {
    try {
      if (!lost) planner->follow(events);
    } catch (const std::exception& thrown) {
      trouble = std::string("the planner could not follow what happened (") + thrown.what() + ")";
      lost = true;
    }
    followed += events.size();
  }

  std::pair<PlannedRound, Duration> decide(RoundWish wish) {
    if (lost) {
      PlannedRound none;
      none.failed = true;
      none.trouble = trouble;
      return {std::move(none), {}};
    }
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
    desk->follow(*batch);
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
                          std::function<void(DryRun&&)> use,
                          std::function<void(const std::string&)> failed) {
  send([desk = desk_, job = std::move(job), wish, limits = std::move(limits), use = std::move(use),
        failed = std::move(failed)] {
    if (desk->lost) return failed(desk->trouble);
    try {
      use(desk->planner->dry_run(job, wish, limits));
    } catch (const std::exception& thrown) {
      failed(thrown.what());
    }
  });
}

bool PlannerHost::is_lost() const {
  return desk_->lost;
}

void PlannerHost::start_over(std::unique_ptr<MasterMemory> memory) {
  send([desk = desk_, kept = std::make_shared<std::unique_ptr<MasterMemory>>(std::move(memory))] {
    desk->planner->start_over(std::move(*kept));
    desk->lost = false;
  });
}

void PlannerHost::snapshot(std::function<void(std::optional<MasterSnapshot>&&)> then) {
  send([desk = desk_, then = std::move(then)] {
    std::optional<MasterSnapshot> made;
    try {
      if (!desk->lost) made = desk->planner->snapshot();
    } catch (const std::exception&) {
      made.reset();  // the next one that is due may be made
    }
    then(std::move(made));
  });
}

}  // namespace muster
