// The part of a master that outlives it: what events do to its memory, and how that comes back.

#include <utility>

#include "masters/cell_pieces.hpp"
#include "masters/master.hpp"

namespace muster {
namespace {

/// Jobs given up of which sites may still have to be told.
constexpr std::size_t kMaxBrokenParts = 1000;
/// The same of parts of jobs of which only so many tasks may fail.
constexpr std::size_t kMaxFailedParts = 1000;

/// Sites add up what has failed of its parts.
bool is_counted(const Job& job) {
  return job.whole_tasks > 0 && job.max_fails.has_value();
}

}  // namespace

/// What an event changes besides the state and the ledger; called before both.
struct Master::Tracker {
  Master& m;
  Instant at;

  void operator()(const JobAccepted& e) {
    m.accepted_.add(e.job.id.value);
    if (is_counted(e.job)) m.counted_.insert(e.job.id);
  }
  void operator()(const LaunchRequested& e) {
    m.over_fleet_.clear();
    m.next_instance_ = std::max(m.next_instance_, e.instance.value + 1);
    m.unanswered_.insert(e.instance);
  }
  void operator()(const LaunchRefused& e) {
    m.over_fleet_.clear();
    const InstanceRow& row = *m.state_.find(e.instance);
    m.rest(row.offering(), e.refusal.code, at);
    m.ended_at_once_.erase(e.instance);
    m.releasing_.erase(e.instance);
    m.unanswered_.erase(e.instance);
  }
  void operator()(const RoundDecided& e) {
    m.rounds_ = e.round + 1;
    m.quiet_ = 0;
    if (e.settled) m.calm_ = Calm{at, m.measured_};
    m.measured_ = {};
  }
  void operator()(const ReleaseDecided& e) {
    m.over_fleet_.clear();
    if (e.cause.code == CauseCode::spend_cap) {
      m.capped_day_ = e.capped_day >= 0 ? e.capped_day : day_of(at);
      m.capped_usd_ = e.capped_usd;
    }
    m.releasing_.emplace(e.instance, m.releases_++);
    m.emptied_.push_back(e.instance);
  }
  void operator()(const TerminateIssued& e) {
    m.releasing_.erase(e.instance);
    m.unanswered_.insert(e.instance);
  }
  void operator()(const InstanceUp& e) {
    const InstanceRow& row = *m.state_.find(e.instance);
    m.spend_.up(row, e.billed_from.value_or(at));
    m.ease_rest(row.offering(), at);
    if (row.phase != InstancePhase::terminating) m.unanswered_.erase(e.instance);
  }
  void operator()(const InstanceGone& e) {
    m.over_fleet_.clear();
    m.unanswered_.erase(e.instance);
    m.ended_at_once_.erase(e.instance);
    m.releasing_.erase(e.instance);
    const InstanceRow& row = *m.state_.find(e.instance);
    m.spend_.gone(row, e.billed_until.value_or(at));
    m.ease_rest(row.offering(), at);
  }
  void operator()(const OfferingChanged& e) {
    m.spend_.reprice(e.change, m.state_);
    const Offering& now = e.change.offering;
    const auto type = m.state_.is_news(e.change) ? m.catalog_->find(now.type) : std::nullopt;
    if (!type || !now.available) return;
    const OfferingKey key{*type, now.market, now.zone};
    const OfferingRow* before = m.state_.offerings().find(key);
    if (before != nullptr && !before->available) m.rests_.erase(key);
  }

  void operator()(const StartIssued& e) {
    TaskHistory& task = m.tasks_[e.task];
    task.attempts = e.attempt;
    task.instance = e.instance;
    task.type = m.state_.find(e.instance)->type;
  }
  void operator()(const TaskStarted& e) {
    TaskHistory& task = m.tasks_[e.task];
    if (!task.started_at) task.started_at = at;
  }
  JobId job_of(TaskId id) const { return m.state_.job(m.state_.find(id)->job).job.id; }
  void end(TaskId id, const ProcessEnd& end) {
    TaskHistory& task = m.tasks_[id];
    task.ended_at = at;
    task.end = end;
    const InstanceRow& left = m.state_.instance(m.state_.find(id)->at);
    if (left.released) m.emptied_.push_back(left.id);
  }
  void operator()(const TaskLeft& e) {
    const TaskRow& task = *m.state_.find(e.task);
    end(e.task, e.end);
    const bool ends = m.state_.job(task.job).given_up.has_value();
    m.tasks_[e.task].moves += !ends && task.target != task.at;
  }
  void operator()(const TaskFinished& e) {
    end(e.task, e.end);
    m.tasks_[e.task].finished = true;
    const auto failed = m.failures_.find(job_of(e.task));
    if (failed != m.failures_.end()) failed->second.open.erase(e.task);
  }
  void operator()(const TaskFailed& e) {
    end(e.task, e.end);
    TaskHistory& task = m.tasks_[e.task];
    task.failures += !e.blameless;
    task.losses += e.kind == FailureKind::lost;
    task.reason = e.reason;
    task.failure = e.kind;
    task.failed = e.for_good;
    if (e.blameless && !e.for_good) return;
    JobFailures& job = m.failures_[job_of(e.task)];
    job.attempts += !e.blameless;
    job.open.insert(e.task);
    if (!e.for_good) return;
    const TaskRow& row = *m.state_.find(e.task);
    job.for_good.emplace(m.state_.spec(row).array_index, e.task);
    const JobId of = m.state_.job(row.job).job.id;
    if (m.counted_.contains(of)) m.failing_.insert(of);
  }
  void operator()(const Measured& e) {
    for (const ThroughputSample& sample : e.samples) {
      const TaskRow& task = *m.state_.find(sample.task);
      ThroughputSum& sum = m.throughput_[m.state_.job(task.job).job.id];
      sum.sum += sample.normalized * static_cast<double>(e.rounds());
      sum.count += e.rounds();
    }
    m.quiet_ += e.quiet;
    if (e.quiet == 0) m.measured_ = e;
  }
  void operator()(const JobFinished& e) {
    m.throughput_.erase(e.job);
    m.failures_.erase(e.job);
    // Sites ask for these: the job's other parts are for nothing.
    const JobRow& over = *m.state_.find(e.job);
    m.note_over(over);
    if (!over.all_ended() && over.job.whole_tasks > 0) {
      m.broken_parts_.push_back(e.job);
      if (m.broken_parts_.size() > kMaxBrokenParts) m.broken_parts_.pop_front();
    }
    for (Slot slot : m.state_.find(e.job)->tasks) {
      const TaskId id = m.state_.task(slot).id;
      m.tasks_.erase(id);
      m.ledger_.close(id);
    }
  }
  template <class Other>
  void operator()(const Other&) {}
};

void Master::absorb(const Event& event) {
  newest_ = std::max(newest_, event.at);
  calm_.reset();
  std::visit(Tracker{*this, event.at}, event.body);
  gangs_.absorb(event, state_);
  ledger_.observe(event, state_);
  candidates_.before(event, state_);
  state_.apply(event);
  candidates_.after(state_);
}

JobHistory Master::history_of(const JobFinished& over, Instant now) const {
  const JobRow& row = *state_.find(over.job);
  JobHistory history{row.job, over.outcome, row.accepted_at, now, over.mean_throughput, {}};
  for (Slot slot : row.tasks) {
    const TaskId id = state_.task(slot).id;
    const auto known = tasks_.find(id);
    history.tasks.push_back(known == tasks_.end() ? TaskHistory{} : known->second);
    TaskHistory& task = history.tasks.back();
    task.cost = ledger_.task(id);
    const Refusal& refusal = state_.task(slot).reason;
    if (over.outcome == JobOutcome::refused && refusal.kind == RefusalKind::never) {
      task.reason = cell::sentence(refusal);
    }
  }
  return history;
}

const TaskHistory* Master::task_history(TaskId id) const {
  const auto found = tasks_.find(id);
  return found == tasks_.end() ? nullptr : &found->second;
}

const JobFailures* Master::failures_of(JobId id) const {
  const auto found = failures_.find(id);
  return found == failures_.end() ? nullptr : &found->second;
}

/// The job's other parts may not be over: what failed of this one counts on.
void Master::note_over(const JobRow& job) {
  if (counted_.erase(job.job.id) == 0 || failing_.erase(job.job.id) == 0) return;
  failed_parts_.push_back({job.job.id, job.failed, *job.job.max_fails});
  if (failed_parts_.size() > kMaxFailedParts) failed_parts_.pop_front();
}

std::vector<FailedPart> Master::failing_parts() const {
  std::vector<FailedPart> parts;
  for (const JobId id : failing_) {
    const JobRow& row = *state_.find(id);
    parts.push_back({id, row.failed, *row.job.max_fails});
  }
  return parts;
}

void Master::count_parts() {
  for (const JobRow& row : state_.jobs()) {
    if (!is_counted(row.job)) continue;
    counted_.insert(row.job.id);
    if (row.failed > 0) failing_.insert(row.job.id);
  }
  // Earlier versions had unfinished ones among them, and those of which nothing has failed.
  std::erase_if(failed_parts_, [this](const FailedPart& part) {
    return part.failed == 0 || counted_.contains(part.job);
  });
}

void Master::count_failures() {
  for (const auto& [id, task] : tasks_) {
    const TaskRow* row = state_.find(id);
    if (row == nullptr || (task.failures == 0 && !task.failed)) continue;
    JobFailures& job = failures_[state_.job(row->job).job.id];
    job.attempts += task.failures;
    if (!task.finished) job.open.insert(id);
    if (task.failed) job.for_good.emplace(state_.spec(*row).array_index, id);
  }
}

std::optional<Instant> Master::up_since(InstanceId id) const {
  const InstanceRow* row = state_.find(id);
  return row == nullptr || !row->up ? std::nullopt : std::optional(row->up_at);
}

MasterImage Master::image() const {
  MasterImage image{state_, ledger_, {}, {}, {}, 0, 0, {}, {}, 0, {}};
  image.tasks = tasks_;
  image.throughput = throughput_;
  image.resting = rests_;
  image.spend = spend_;
  image.next_instance = next_instance_;
  image.rounds = rounds_;
  image.policy_state = policy_->save_state(state_);
  image.newest = newest_;
  image.capped_day = capped_day_;
  image.capped_usd = capped_usd_;
  image.quiet = quiet_;
  image.calm = calm_;
  image.gangs = gangs_.book();
  image.broken_parts = broken_parts_;
  image.failed_parts = failed_parts_;
  image.accepted = accepted_;
  return image;
}

std::string Master::restore(std::optional<MasterImage> image, std::span<const Event> tail) {
  std::string trouble;
  if (image) {
    state_ = std::move(image->state);
    ledger_ = std::move(image->ledger);
    tasks_ = std::move(image->tasks);
    count_failures();
    throughput_ = std::move(image->throughput);
    rests_ = std::move(image->resting);
    spend_ = std::move(image->spend);
    next_instance_ = std::max(next_instance_, image->next_instance);
    rounds_ = image->rounds;
    quiet_ = image->quiet;
    capped_day_ = image->capped_day;
    capped_usd_ = image->capped_usd;
    calm_ = std::move(image->calm);
    newest_ = image->newest;
    gangs_.restore(std::move(image->gangs));
    broken_parts_ = std::move(image->broken_parts);
    failed_parts_ = std::move(image->failed_parts);
    count_parts();
    accepted_ = std::move(image->accepted);
    for (const InstanceRow& row : state_.instances()) {
      if (!row.up || row.phase == InstancePhase::terminating) unanswered_.insert(row.id);
      if (!row.released || row.phase == InstancePhase::terminating) continue;
      releasing_.emplace(row.id, releases_++);
      emptied_.push_back(row.id);
    }
    candidates_.mark_all(state_);
    trouble = restore_policy(image->policy_state, tail.empty() ? newest_ : tail[0].at);
  }
  for (const Event& event : tail) {
    absorb(event);
    show(event);
  }
  // Whether all of the fleet was there is not on record: the next round looks.
  fleet_is_short_ = !fleet_.empty();
  return trouble;
}

std::string Master::restore_policy(const std::string& text, Instant at) {
  std::unique_ptr<Policy> blank = policy_->clone();
  if (policy_->load_state(text, view(at))) return {};
  policy_ = std::move(blank);
  return "the policy does not understand what the snapshot remembers for it (" +
         std::to_string(text.size()) +
         " bytes, of another policy or version): it knows only what happened since";
}

}  // namespace muster
