#include "schedulers/site/actor/waiting_room.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "config/recurrence.hpp"
#include "model/time_text.hpp"
#include "schedulers/site/after_ends.hpp"

namespace muster {
namespace {

/// Pairs of a job and one that it waits for, which are remembered for each job that may wait.
constexpr std::size_t kPairsOfJob = 4;
/// Jobs that are looked at before others are heard, when their time has come.
constexpr std::size_t kLooksAtOnce = 500;

void set_next_run(WaitingJob& waiting, Instant after) {
  waiting.begin = next_recurrence(waiting.every, waiting.zone, after).value_or(Instant::max());
}

bool is_due(const WaitingJob& waiting, Instant now) {
  return waiting.open.empty() && !waiting.held && !waiting.begins && !waiting.ends &&
         waiting.begin <= now && !waiting.run;
}

/// When it is to be looked at if nothing else happens.
Instant next_look(const WaitingJob& waiting) {
  if (waiting.ends) return Instant::max();
  const bool by_time = waiting.open.empty() && !waiting.held && !waiting.begins;
  // The time of a run that cannot begin is passed over, but for one that was missed before.
  return by_time && !waiting.missed ? std::min(waiting.begin, waiting.deadline) : waiting.deadline;
}

std::string why_by_clock(const WaitingJob& waiting) {
  if (waiting.every.empty()) {
    return waiting.begin > Instant{} ? "begins at " + utc_text(waiting.begin) : "";
  }
  std::string text = "next run at " + utc_text(waiting.begin);
  if (waiting.run) text += fmt::format("; job {}, its last, is not over", waiting.run->value);
  return text;
}

std::string why_waits(const WaitingJob& waiting) {
  constexpr std::size_t kShown = 3;
  if (waiting.held) return "held until it is released";
  if (!waiting.kept.empty()) return waiting.kept + ": it waits for a resubmission of that";
  const std::vector<AfterJob>& open = waiting.open;
  if (open.empty()) return why_by_clock(waiting);
  std::string text = "waits for ";
  for (std::size_t i = 0; i < std::min(open.size(), kShown); ++i) {
    text += (i > 0 ? ", " : "") + shown_after(open[i]);
  }
  if (open.size() > kShown) text += fmt::format(" and {} other jobs", open.size() - kShown);
  return text;
}

/// The resubmission of the job that this one is to wait for; not valid: it is not known. Its own
/// record says so for good, and `again` where it came too late for that.
JobId again_of(JobId job, const WaitingJob& waiting, const Resubmissions& again) {
  for (const AfterJob& each : waiting.open) {
    if (each.job == job && each.again.valid()) return each.again;
  }
  return again.of(job);
}

}  // namespace

void WaitingPair::put_in(std::vector<AfterJob>& after) const {
  for (AfterJob& each : after) {
    if (each.job != other || each.by_index) continue;
    if (started && each.end != AfterEnd::start) continue;
    if (!instead.valid()) {
      each.met = true;
    } else if (unheard) {
      each.again = instead;
    } else {
      if (!each.first.valid()) each.first = other;
      each.job = instead;
      each.again = {};
    }
  }
}

bool WaitingRoom::is_for(const Job& job, Instant now) {
  // Tasks that wait for their counterparts do so at a master.
  const bool waits = std::any_of(job.after.begin(), job.after.end(),
                                 [](const AfterJob& each) { return !each.by_index; });
  return waits || job.held || !job.every.empty() || (job.begin && *job.begin > now);
}

bool WaitingRoom::has_room(const std::vector<Job>& jobs) const {
  UserCounts more, recurring;
  std::size_t waiting = 0, pairs = followers_.size() + kept_.size();
  const Instant now = host_.now();
  for (const Job& job : jobs) {
    if (!is_for(job, now)) continue;
    ++waiting;
    more.add(job.user);
    if (!job.every.empty()) recurring.add(job.user);
    pairs += job.after.size();
  }
  if (waiting == 0) return true;
  if (open_.size() + waiting > most_.jobs || pairs > kPairsOfJob * most_.jobs) return false;
  return of_users_.has_room(more, most_.jobs - most_.jobs / 2) &&
         recurring_of_.has_room(recurring, most_.recurring);
}

void WaitingRoom::add(const Job& job) {
  const auto [place, fresh] = open_.try_emplace(job.id);
  if (!fresh) return;
  WaitingJob& waiting = place->second;
  waiting.user = job.user;
  waiting.begin = job.begin.value_or(Instant{});
  waiting.deadline = job.deadline.value_or(Instant::max());
  waiting.keeps = job.keeps_waiting;
  waiting.held = job.held;
  waiting.every = job.every;
  waiting.zone = job.zone;
  waiting.overlaps = job.overlaps;
  of_users_.add(job.user);
  for (const AfterJob& each : job.after) {
    if (each.met || each.by_index) continue;
    if (each.end == AfterEnd::start) unstarted_.add(each.job, job.id);
    waiting.open.push_back(each);
    if (each.again.valid()) again_.note(each.job, each.again);
    if (each.first.valid()) again_.note(each.first, each.job);
    followers_.add(each.job, job.id);
    if (job.keeps_waiting) keepers_.add(each.job, job.id);
    unasked_.insert(each.job);
  }
  if (!job.every.empty()) {
    recurring_of_.add(job.user);
    recall_runs(job, waiting);
  }
  put_time(job.id, waiting);
}

/// Of the runs that were missed while the site was away one is made up for.
void WaitingRoom::recall_runs(const Job& job, WaitingJob& waiting) {
  if (!job.recurs.valid()) {
    constexpr std::chrono::seconds kJustBefore{1};
    const Instant submitted = job.submitted.value_or(host_.now());
    return set_next_run(waiting, job.begin ? *job.begin - kJustBefore : submitted);
  }
  const Instant now = host_.now();
  // The clock may have been set back since.
  set_next_run(waiting, std::min(waiting.begin, now));
  if (waiting.overlaps) return;
  waiting.missed = waiting.begin <= now;
  waiting.run = job.recurs;
  followers_.add(job.recurs, job.id);
  unasked_.insert(job.recurs);
}

void WaitingRoom::ask() {
  if (!unasked_.empty()) {
    const std::vector<JobId> jobs(unasked_.begin(), unasked_.end());
    unasked_.clear();
    host_.watch(jobs);
  }
  if (!unstarted_.empty()) host_.await_starts();
  look_again();
  look_at_clock();
}

/// One timer, which ends when no job waits for another.
void WaitingRoom::look_again() {
  if (looks_ || followers_.empty()) return;
  looks_ = true;
  host_.later([this] {
    looks_ = false;
    for (const JobId job : followers_.others()) {
      // One that waits here itself cannot be over without this site's knowing.
      if (!waits(job)) unasked_.insert(job);
    }
    ask();
  });
}

void WaitingRoom::put_time(JobId job, const WaitingJob& waiting) {
  take_time(job);
  const Instant at = next_look(waiting);
  if (at == Instant::max()) return;
  times_.emplace(at, job);
  time_of_.emplace(job, at);
}

void WaitingRoom::take_time(JobId job) {
  const auto found = time_of_.find(job);
  if (found == time_of_.end()) return;
  times_.erase({found->second, job});
  time_of_.erase(found);
}

void WaitingRoom::look_at_clock() {
  const Instant now = host_.now();
  std::vector<JobId> due;
  std::vector<SkippedJob> late;
  std::vector<JobId> unneeded;
  for (std::size_t looks = 0; looks < kLooksAtOnce && !times_.empty(); ++looks) {
    const auto [at, job] = *times_.begin();
    if (at > now) break;
    WaitingJob& waiting = open_.at(job);
    if (waiting.deadline <= now) {
      // One that has been told to begin has not left yet.
      waiting.ends = true;
      waiting.begins = false;
      leave(std::exchange(waiting.open, {}), job, unneeded);
      late.push_back({job, "its deadline, " + utc_text(waiting.deadline) + ", has passed",
                      JobOutcome::expired});
    } else if (is_due(waiting, now)) {
      waiting.begins = true;
      due.push_back(job);
    } else if (!waiting.every.empty()) {
      set_next_run(waiting, now);
    }
    put_time(job, waiting);
  }
  if (!times_.empty()) host_.wake(times_.begin()->first);
  if (!unneeded.empty()) host_.unwatch(unneeded);
  if (!late.empty()) host_.skip(late);
  if (!due.empty()) host_.begin(due);
}

/// The job waits for that one, which is over. The answer says why it is not to begin any more.
std::optional<SkippedJob> WaitingRoom::hear_of(JobId job, const JobEnd& end,
                                               std::vector<JobId>& unneeded) {
  WaitingJob& waiting = open_.at(job);
  if (waiting.run == end.job) {
    waiting.run.reset();
    waiting.missed = false;
    return std::nullopt;
  }
  unstarted_.erase(end.job, job);
  std::string why;
  // One that was skipped is not resubmitted.
  const bool keeps = waiting.keeps && end.outcome != JobOutcome::skipped;
  std::erase_if(waiting.open, [&](const AfterJob& each) {
    if (each.job != end.job) return false;
    const auto fault = why_not(each, end);
    if (fault) why = *fault;
    return !fault || !keeps;
  });
  if (why.empty()) {
    host_.met({.job = job, .other = end.job});
    return std::nullopt;
  }
  if (keeps) {
    kept_.add(end.job, job);
    waiting.kept = why;
    const JobId again = again_of(end.job, waiting, again_);
    if (again.valid()) wait_instead(job, end.job, again);
    return std::nullopt;
  }
  // The other jobs that it waited for are of no matter.
  leave(std::exchange(waiting.open, {}), job, unneeded);
  waiting.ends = true;
  return SkippedJob{job, std::move(why)};
}

void WaitingRoom::hear(const JobEnd& whole) {
  std::vector<SkippedJob> skipped;
  std::vector<JobId> unneeded;
  for (const JobId job : followers_.of(whole.job)) {
    followers_.erase(whole.job, job);
    keepers_.erase(whole.job, job);
    if (auto skip = hear_of(job, whole, unneeded)) skipped.push_back(*std::move(skip));
    put_time(job, open_.at(job));
  }
  if (!unneeded.empty()) host_.unwatch(unneeded);
  if (!skipped.empty()) host_.skip(skipped);
  look_at_clock();
}

void WaitingRoom::hear_start(JobId other) {
  std::vector<JobId> unneeded;
  for (const JobId job : unstarted_.of(other)) {
    unstarted_.erase(other, job);
    WaitingJob& waiting = open_.at(job);
    std::erase_if(waiting.open, [&](const AfterJob& each) {
      return each.job == other && each.end == AfterEnd::start;
    });
    host_.met({.job = job, .other = other, .started = true});
    // It may wait for the other one's end, too.
    const bool waits_on = std::any_of(waiting.open.begin(), waiting.open.end(),
                                      [&](const auto& each) { return each.job == other; });
    if (!waits_on) {
      followers_.erase(other, job);
      keepers_.erase(other, job);
      if (!followers_.any(other)) unneeded = {other};
    }
    put_time(job, waiting);
  }
  if (!unneeded.empty()) host_.unwatch(unneeded);
  look_at_clock();
}

void WaitingRoom::hold(JobId job, bool held) {
  const auto found = open_.find(job);
  if (found == open_.end()) return;
  WaitingJob& waiting = found->second;
  // No time of a recurring job is made up for that has passed while it was held.
  if (!held && waiting.held && !waiting.every.empty()) set_next_run(waiting, host_.now());
  waiting.held = held;
  if (held) waiting.begins = false;
  put_time(job, waiting);
  look_at_clock();
}

bool WaitingRoom::may_begin(JobId job) const {
  const auto found = open_.find(job);
  return found != open_.end() && found->second.begins;
}

void WaitingRoom::recurred(JobId job, JobId run) {
  const auto found = open_.find(job);
  if (found == open_.end()) return;
  WaitingJob& waiting = found->second;
  waiting.begins = false;
  set_next_run(waiting, host_.now());
  if (!waiting.overlaps) {
    waiting.run = run;
    followers_.add(run, job);
    unasked_.insert(run);
  }
  put_time(job, waiting);
  ask();
}

std::vector<WaitingPair> WaitingRoom::kept_for(JobId failed, JobId again, std::size_t most) const {
  std::vector<WaitingPair> kept;
  const auto take = [&](const JobPairs& pairs, JobId other, bool unheard) {
    for (const JobId job : pairs.of(other, most - kept.size())) {
      kept.push_back({.job = job, .other = other, .instead = again, .unheard = unheard});
    }
  };
  for (const JobId each : again_.known_as(failed, again)) {
    take(kept_, each, false);
    take(keepers_, each, true);
  }
  return kept;
}

void WaitingRoom::resubmitted(JobId failed, JobId again) {
  const std::vector<WaitingPair> kept = kept_for(failed, again, SIZE_MAX);
  again_.note(failed, again);
  for (const WaitingPair& each : kept) {
    if (each.unheard) {
      each.put_in(open_.at(each.job).open);
      again_.note(each.other, again);
      host_.met(each);
    } else {
      wait_instead(each.job, each.other, again);
    }
  }
}

/// It waits for a resubmission of the job that failed, and that is this one.
void WaitingRoom::wait_instead(JobId job, JobId failed, JobId again) {
  kept_.erase(failed, job);
  WaitingJob& waiting = open_.at(job);
  WaitingPair{.job = job, .other = failed, .instead = again}.put_in(waiting.open);
  const bool more = std::any_of(waiting.open.begin(), waiting.open.end(),
                                [&](const auto& each) { return kept_.contains(each.job, job); });
  if (!more) waiting.kept.clear();
  followers_.add(again, job);
  keepers_.add(again, job);
  unasked_.insert(again);
  host_.met({.job = job, .other = failed, .instead = again});
}

void WaitingRoom::drop(JobId job) {
  const auto found = open_.find(job);
  if (found == open_.end()) return;
  take_time(job);
  WaitingJob gone = std::move(found->second);
  open_.erase(found);
  of_users_.take(gone.user);
  if (!gone.every.empty()) recurring_of_.take(gone.user);
  if (gone.run) gone.open.push_back({*gone.run});
  std::vector<JobId> unneeded;
  leave(gone.open, job, unneeded);
  if (!unneeded.empty()) host_.unwatch(unneeded);
}

/// The job waits for these no more. Adds those that no other job waits for: their ends need not be
/// told.
void WaitingRoom::leave(const std::vector<AfterJob>& open, JobId job,
                        std::vector<JobId>& unneeded) {
  for (const AfterJob& each : open) {
    unstarted_.erase(each.job, job);
    // It is over.
    if (kept_.erase(each.job, job) > 0) continue;
    followers_.erase(each.job, job);
    keepers_.erase(each.job, job);
    if (!followers_.any(each.job)) unneeded.push_back(each.job);
  }
}

std::vector<JobId> WaitingRoom::unneeded(std::vector<JobId> jobs) const {
  std::erase_if(jobs, [this](JobId job) { return followers_.any(job); });
  return jobs;
}

bool WaitingRoom::is_held(JobId job) const {
  const auto found = open_.find(job);
  return found != open_.end() && found->second.held;
}

std::string WaitingRoom::why(JobId job) const {
  const auto found = open_.find(job);
  return found == open_.end() ? "" : why_waits(found->second);
}

}  // namespace muster
