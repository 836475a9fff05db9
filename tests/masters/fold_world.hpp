#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "masters/master.hpp"
#include "tests/support/builders.hpp"

// A cloud, workers and users around a master, in virtual time, at random and seeded, without
// actors.

namespace muster::test {

/// Something that is done to a master.
using MasterInput = std::function<void(Master&)>;

class FoldWorld {
 public:
  /// `cloud_ahead`: of the cloud's clock before the master's.
  FoldWorld(std::uint64_t seed, const Cadence& cadence, bool fixed_fleet, Duration cloud_ahead)
      : rng_(seed), cadence_(cadence), fixed_fleet_(fixed_fleet), cloud_ahead_(cloud_ahead) {
    at(after(0), [](Master& m, Instant now) { m.keep_fleet(now); });
    arrive();
    reprice();
    if (cadence_.period > Duration::zero()) tick();
  }

  using Call = std::function<void(Master&, Instant)>;
  using Samples = std::vector<ThroughputSample>;

  /// How rounds are held, if not in one go: what is done to a master when one is due.
  void hold_rounds(std::function<MasterInput(Samples, Instant)> how) { hold_ = std::move(how); }
  void later(double seconds, Call call) { at(after(seconds), std::move(call)); }
  void want_round() {
    if (round_wanted_) return;
    round_wanted_ = true;
    schedule(after(0.001), [](FoldWorld& world) { return world.hold_round(); });
  }
  double draw(double below) { return rng_.uniform(0, below); }

  /// The next thing that happens. `master` is the one that the world looks at.
  MasterInput next(const Master& master) {
    master_ = &master;
    while (true) {
      const auto first = queue_.begin();
      now_ = first->first.first;
      const Happening happening = std::move(first->second);
      queue_.erase(first);
      MasterInput input = happening(*this);
      if (input) return input;
    }
  }

  /// Does what the master wants done.
  void perform(const std::vector<Effect>& effects) {
    for (const Effect& effect : effects) {
      std::visit([this](const auto& e) { perform(e); }, effect);
    }
  }

  /// Holds a round when one of the events asks for it.
  void watch(const std::vector<Event>& events) {
    for (const Event& event : events) {
      const auto& body = event.body;
      const bool freed = std::holds_alternative<TaskFinished>(body) ||
                         std::holds_alternative<TaskFailed>(body) ||
                         std::holds_alternative<TaskCheckpointed>(body) ||
                         std::holds_alternative<InstanceReady>(body);
      if ((cadence_.on_arrival && std::holds_alternative<JobAccepted>(body)) ||
          (cadence_.on_departure && std::holds_alternative<JobFinished>(body)) ||
          (cadence_.on_capacity && freed)) {
        want_round();
      }
    }
    watch_cap();
  }

 private:
  using Happening = std::function<MasterInput(FoldWorld&)>;
  Instant after(double seconds) const { return now_ + from_seconds(seconds); }
  void schedule(Instant when, Happening what) {
    queue_.emplace(std::pair(when, sequence_++), std::move(what));
  }
  /// Plain news for the master.
  void at(Instant when, Call call) {
    schedule(when, [call = std::move(call)](FoldWorld& world) -> MasterInput {
      return [call, now = world.now_](Master& master) { call(master, now); };
    });
  }
  bool chance(double probability) { return rng_.uniform() < probability; }

  void tick() {
    schedule(after(to_seconds(cadence_.period)), [](FoldWorld& world) -> MasterInput {
      world.want_round();
      world.tick();
      return {};
    });
  }
  MasterInput hold_round() {
    round_wanted_ = false;
    std::vector<ThroughputSample> samples;
    for (const JobRow& job : master_->state().jobs()) {
      for (Slot slot : job.tasks) {
        const TaskRow& task = master_->state().task(slot);
        if (!cadence_.wants_throughput || task.phase != TaskPhase::running) continue;
        if (chance(0.95)) samples.push_back({task.id, rng_.uniform(0.3, 1.05)});
      }
    }
    std::sort(samples.begin(), samples.end(),
              [](const auto& a, const auto& b) { return a.task < b.task; });
    if (hold_) return hold_(std::move(samples), now_);
    return [samples, now = now_](Master& master) { master.round(samples, now); };
  }

  void watch_cap() {
    const auto wait = master_->until_cap(now_);
    if (cap_is_watched_ || !wait) return;
    cap_is_watched_ = true;
    schedule(now_ + std::max<Duration>(*wait, std::chrono::seconds{1}),
             [](FoldWorld& world) -> MasterInput {
               world.cap_is_watched_ = false;
               return [now = world.now_](Master& master) { master.keep_caps(now); };
             });
  }
  std::optional<Instant> billed(Instant now) const {
    return cloud_ahead_ == Duration::zero() ? std::nullopt : std::optional(now + cloud_ahead_);
  }

  void arrive() {
    const bool full = master_ != nullptr && master_->state().jobs().size() > 60;
    schedule(after(rng_.exponential(full ? 400 : 25)), [](FoldWorld& world) -> MasterInput {
      world.arrive();
      const Job job = world.new_job();
      if (world.chance(0.15)) world.meddle(job.id);
      return [job, now = world.now_](Master& master) { master.submit(job, now); };
    });
  }

  Job new_job() {
    const std::uint64_t number = next_job_++;
    Job job;
    job.id = JobId{number};
    job.name = "job-" + std::to_string(number);
    job.user = "ann";
    job.workload_class = "class-" + std::to_string(rng_.below(6));
    const std::uint64_t tasks = chance(0.6) ? 1 : 1 + rng_.below(6);
    const double cpu = 0.5 * static_cast<double>(1 + rng_.below(8));
    const Resources amount =
        Resources::of(chance(0.2) ? 1 : 0, cpu, static_cast<double>(1 + rng_.below(16)));
    for (std::uint64_t i = 0; i < tasks; ++i) {
      TaskSpec task;
      task.id = TaskId{number * 100 + i};
      task.demands = Demands(amount);
      task.delays = {from_seconds(3), from_seconds(5), from_seconds(1), from_seconds(1),
                     from_seconds(2)};
      job.tasks.push_back(std::move(task));
    }
    job.gang = tasks > 1 && chance(0.5);
    job.prediction.length = static_cast<JobLength>(rng_.below(3));
    job.prediction.spot_safe = chance(0.5);
    job.markets = chance(0.3) ? static_cast<MarketChoice>(rng_.below(3)) : MarketChoice::any;
    if (!job.gang && chance(0.2)) job.max_running = 2;
    if (chance(0.3)) job.retries = static_cast<std::uint32_t>(rng_.below(4));
    if (chance(0.3)) job.priority = static_cast<int>(rng_.below(5)) - 2;
    job.movable = chance(0.9);
    job.checkpoints = chance(0.7);
    // Gangs of them may be larger than a fixed fleet.
    if (tasks > 1 && !job.gang)
      job.most_an_instance = chance(0.3) ? static_cast<std::uint32_t>(1 + tasks % 2) : 0;
    return job;
  }

  /// The cloud offers something at another price, or has none of it for a while.
  void reprice() {
    schedule(after(rng_.exponential(1500)), [](FoldWorld& world) -> MasterInput {
      world.reprice();
      const Catalog& catalog = world.master_->catalog();
      const InstanceType& type = catalog.types()[world.rng_.below(catalog.size())];
      const bool spot = type.spot && world.chance(0.5);
      const double usd_h = (spot ? *type.spot : type.on_demand).usd_h();
      const Instant when = world.now_ + world.cloud_ahead_;
      const OfferingChange change{
          ++world.changes_,
          when,
          {type.name, spot ? Market::spot : Market::on_demand, "",
           Price::from_usd_h(usd_h * world.rng_.uniform(0.5, 2)), world.chance(0.9), 0}};
      return [change, now = world.now_](Master& master) { master.on_offerings({&change, 1}, now); };
    });
  }

  /// A user does something to the job later on.
  void meddle(JobId job) {
    const double when = rng_.exponential(300);
    if (chance(0.5)) return at(after(when), [job](Master& m, Instant now) { m.cancel(job, now); });
    at(after(when), [job](Master& m, Instant now) { m.hold(job, true, now); });
    at(after(when + rng_.exponential(600)),
       [job](Master& m, Instant now) { m.hold(job, false, now); });
  }

  void perform(const LaunchInstance& effect) {
    const InstanceId id = effect.instance;
    if (!rented_.insert(id).second) return;
    if (chance(0.1)) {
      rented_.erase(id);
      return at(after(2), [id](Master& m, Instant now) { m.instance_refused(id, now); });
    }
    const double up = 5 + rng_.exponential(20);
    at(after(up), [id, this](Master& m, Instant now) { m.instance_up(id, billed(now), now); });
    at(after(up + rng_.exponential(20)),
       [id](Master& m, Instant now) { m.instance_ready(id, now); });
    const bool spot = effect.market == Market::spot;
    if (!chance(spot ? 0.5 : 0.1)) return;
    const double taken = up + rng_.exponential(2000);
    if (chance(0.5)) {
      at(after(taken - std::min(taken, 120.0)),
         [id](Master& m, Instant now) { m.evict(id, CauseCode::interrupted, now); });
    } else if (!fixed_fleet_ && chance(0.2)) {
      at(after(taken), [id](Master& m, Instant now) { m.evict(id, CauseCode::drained, now); });
    }
    end(id, taken);
  }
  void perform(const EndInstance& effect) { end(effect.instance, 1 + rng_.exponential(4)); }
  void end(InstanceId id, double in_s) {
    schedule(after(in_s), [id](FoldWorld& world) -> MasterInput {
      if (world.rented_.erase(id) == 0) return {};
      return [id, until = world.billed(world.now_), now = world.now_](Master& master) {
        master.instance_gone(id, until, now);
      };
    });
  }

  void perform(const StartTask& effect) {
    const auto [task, attempt, on] = effect;
    const double load = 1 + rng_.exponential(8);
    at(after(load), [task = task, attempt = attempt](Master& m, Instant now) {
      m.task_started({task, attempt, from_seconds(3), from_seconds(5)}, now);
    });
    const double runs = load + rng_.exponential(900);
    if (chance(0.05)) {
      at(after(runs / 2), [task = task, attempt = attempt](Master& m, Instant now) {
        m.task_failed({task, attempt, "exit code 3", {3, "", ""}}, now);
      });
    }
    at(after(runs), [task = task, attempt = attempt](Master& m, Instant now) {
      m.task_finished({task, attempt, {}}, now);
    });
  }
  void perform(const StopTask& effect) {
    at(after(1 + rng_.exponential(2)),
       [task = effect.task, attempt = effect.attempt](Master& m, Instant now) {
         m.task_checkpointed({task, attempt, from_seconds(2), {}}, now);
       });
  }
  void perform(const AcknowledgeAttempt&) {}
  void perform(const TellJobOver&) {}

  Rng rng_;
  Cadence cadence_;
  bool fixed_fleet_;
  Duration cloud_ahead_;
  bool cap_is_watched_ = false;
  std::uint64_t changes_ = 0;  ///< of offerings
  const Master* master_ = nullptr;
  Instant now_{};
  std::map<std::pair<Instant, std::uint64_t>, Happening> queue_;
  std::uint64_t sequence_ = 0;
  std::set<InstanceId> rented_;
  std::uint64_t next_job_ = 1;
  bool round_wanted_ = false;
  std::function<MasterInput(Samples, Instant)> hold_;
};

}  // namespace muster::test
