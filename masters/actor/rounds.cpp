#include "masters/actor/rounds.hpp"

#include <algorithm>
#include <utility>

#include "masters/actor/worker_news.hpp"

namespace muster {
namespace {

/// Periods after which the throughputs of a calm cluster are looked at again, at the latest.
constexpr std::uint64_t kMaxQuietPause = 256;
/// Of a policy that rests between its rounds: a little more than half of a period, so that it has
/// rested when it is asked.
constexpr int kRest = 11, kPeriod = 20;

}  // namespace

Rounds::Rounds(const Parts& parts, Host host)
    : master_(parts.master),
      seat_(parts.seat),
      host_(parts.host),
      hooks_(std::move(host)),
      cadence_(master_.cadence()),
      tick_(host_, [this] { tick(); }),
      trouble_(master_.settings()) {}

void Rounds::begin() {
  if (master_.calm()) {
    look_again();
  } else if (master_.busy()) {
    want();
  }
}

/// A regular round.
void Rounds::tick() {
  const Instant due = floor_to(host_.now(), cadence_.period);
  if (due <= last_tick_) return await_tick();
  last_tick_ = due;
  want();
}

void Rounds::await_tick() {
  const Duration period = cadence_.period;
  if (period <= Duration::zero() || master_.calm() || !master_.busy()) return;
  const Instant clock = host_.now();
  const Instant due = floor_to(clock, period);
  const Duration settle = master_.settings().round_settle;
  if (due <= last_tick_ || clock >= due + settle) return tick_.at(due + period);
  // Events within the settling of a regular round take part in it.
  last_tick_ = due;
  if (std::exchange(wanted_, true) || seat_.is_planning()) return;
  host_.at(due + settle, [this] { gather(); });
}

/// Nothing has happened since a round that changed nothing. Only throughputs may change without an
/// event: they are looked at again after pauses that double.
void Rounds::look_again() {
  if (!cadence_.wants_throughput || cadence_.period <= Duration::zero()) return;
  quiet_pause_ = std::clamp<std::uint64_t>(2 * quiet_pause_, 1, kMaxQuietPause);
  const Instant due = floor_to(host_.now(), cadence_.period);
  tick_.at(due + cadence_.period * static_cast<Duration::rep>(quiet_pause_));
}

void Rounds::want() {
  if (std::exchange(wanted_, true) || seat_.is_planning()) return;
  gather_later();
}

/// After a decision that failed not before its pause has passed. A policy that rests between its
/// rounds is asked when it has rested: each asking costs the samples of all workers.
void Rounds::gather_later() {
  Duration pause = trouble_.pause(host_.now());
  if (cadence_.rests && gathered_at_) {
    pause = std::max(pause, *gathered_at_ + cadence_.period * kRest / kPeriod - host_.now());
  }
  host_.after(std::max(master_.settings().round_settle, pause), [this] { gather(); });
}

/// Asks the workers that run something; the last answer, or the lack of it, starts the decision.
/// Plain messages: CAF searches an actor's open requests one by one.
void Rounds::gather() {
  gathered_at_ = host_.now();
  samples_.clear();
  progress_.clear();
  ++sample_round_;
  // Those of an asking before that have not answered are waited for, too.
  if (cadence_.wants_throughput) awaiting_samples_.merge(hooks_.ask_samples(sample_round_));
  if (awaiting_samples_.empty()) return decide();
  host_.after(master_.settings().sample_timeout, [this, sample_round = sample_round_] {
    if (sample_round == sample_round_ && !awaiting_samples_.empty()) decide();
  });
}

bool Rounds::is_present(TaskId id, Attempt attempt, InstanceId on) const {
  const TaskRow* task = master_.state().find(id);
  return task != nullptr && task->attempt == attempt && is_there(master_.state(), id, on);
}

std::vector<JobProgress> Rounds::progress_in(const SampleAnswer& answer) const {
  std::vector<JobProgress> progress;
  for (const TaskProgress& each : answer.progress) {
    if (is_present(each.said.task, each.attempt, answer.instance)) progress.push_back(each.said);
  }
  return progress;
}

void Rounds::hear(const SampleAnswer& answer) {
  if (answer.sample_round == kUnasked) return take_unasked(answer);
  if (answer.sample_round != sample_round_) return;
  if (awaiting_samples_.erase(answer.instance) == 0) return;
  for (const TaskThroughput& sample : answer.samples) {
    if (!is_present(sample.task, sample.attempt, answer.instance)) continue;
    samples_.push_back({sample.task, static_cast<double>(sample.scaled) / TaskThroughput::kOne});
  }
  const std::vector<JobProgress> progress = progress_in(answer);
  progress_.insert(progress_.end(), progress.begin(), progress.end());
  if (awaiting_samples_.empty()) decide();
}

void Rounds::take_unasked(const SampleAnswer& answer) {
  const bool heard = master_.note_measured({{}, 0, progress_in(answer)}, host_.stamp());
  if (heard && cadence_.on_progress) want();
  host_.commit();
}

void Rounds::decide() {
  wanted_ = false;
  awaiting_samples_.clear();
  std::sort(samples_.begin(), samples_.end(),
            [](const auto& a, const auto& b) { return a.task < b.task; });
  if (!master_.busy()) return;
  progress_ = master_.of_elastic_jobs(std::move(progress_));
  if (master_.would_repeat(samples_, progress_)) return look_again();
  quiet_pause_ = 0;
  const Duration before = hooks_.stopwatch();
  const bool at_once = seat_.decides_at_once();
  if (at_once && master_.fleet_is_short()) order_fleet();
  auto wish = master_.begin_round(samples_, host_.stamp(), progress_);
  if (!wish) return host_.commit();
  if (at_once) return decide_at_once(*wish, before);
  // Before anything is handed on: no snapshot is asked for until it is over.
  seat_.set_planning(true);
  wish->slice_parts = master_.settings().slice_parts;
  host_.commit();
  seat_.decide(*wish, [this](PlannedRound&& planned) { on_plan(std::move(planned)); });
}

void Rounds::decide_at_once(const RoundWish& wish, Duration before) {
  PlannedRound planned = master_.planner().decide(wish);
  note_planner(planned);
  if (planned.failed) {
    host_.commit();
    return want();
  }
  master_.take_plan(std::move(planned), wish.now);
  while (master_.apply_slice(wish.now)) continue;
  hooks_.took(hooks_.stopwatch() - before);
  host_.commit();
  if (master_.calm()) look_again();
}

void Rounds::order_fleet() {
  bool more = master_.keep_fleet(host_.stamp());
  while (more && seat_.decides_at_once()) more = master_.keep_fleet(host_.stamp());
  if (!more) return;
  host_.post()([this] {
    order_fleet();
    host_.commit();
  });
}

void Rounds::note_planner(const PlannedRound& planned) {
  trouble_.note(planned, host_.now());
  if (!trouble_.text().empty() && hooks_.note) {
    hooks_.note("master " + master_.name() + ": " + trouble_.text());
  }
}

/// The round has not been: orders, ends and caps go on without one, and another is tried later.
void Rounds::on_failed_plan() {
  seat_.set_planning(false);
  seat_.recover();
  host_.commit();
  seat_.save_if_due();
  wanted_ = true;
  gather_later();
}

void Rounds::on_plan(PlannedRound&& planned) {
  note_planner(planned);
  if (planned.failed) return on_failed_plan();
  master_.take_plan(std::move(planned), host_.stamp());
  carry_on();
}

/// Carries out a slice of the plan; messages from meanwhile are heard before the next one.
void Rounds::carry_on() {
  const bool more = master_.apply_slice(host_.stamp());
  hooks_.begin_slice();
  host_.commit();
  hooks_.end_slice(more);
  if (more) return host_.post()([this] { carry_on(); });
  seat_.set_planning(false);
  seat_.save_if_due();
  if (wanted_) {
    gather_later();
  } else if (master_.calm()) {
    look_again();
  }
}

}  // namespace muster
