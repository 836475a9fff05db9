#include "schedulers/site/actor/waiting_room.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

namespace muster {
namespace {

/// Pairs of a job and one that it waits for, which are remembered for each job that may wait.
constexpr std::size_t kPairsOfJob = 4;

/// Why a job cannot begin any more whose condition on the other one is that; nothing: it may.
std::optional<std::string> why_not(const AfterJob& wanted, const JobEnd& end) {
  if (wanted.end == AfterEnd::any) return std::nullopt;
  const std::string job = fmt::format("job {}", end.job.value);
  // A master that has dropped it from its history knows no more than that it is over.
  if (end.whole == 0) return job + " is over, and how it ended is no longer known";
  const bool completed =
      end.outcome == JobOutcome::completed || end.outcome == JobOutcome::replaced;
  const bool failed = end.outcome == JobOutcome::failed || end.outcome == JobOutcome::refused;
  if (wanted.end == AfterEnd::ok ? completed : failed) return std::nullopt;
  return fmt::format("{} ended as {}, and this job was to begin if it {}", job,
                     name_of(end.outcome), wanted.end == AfterEnd::ok ? "completed" : "failed");
}

/// One of the jobs that another waits for.
std::string shown_after(const AfterJob& after) {
  switch (after.end) {
    case AfterEnd::ok:
      break;
    case AfterEnd::any:
      return fmt::format("job {} to be over", after.job.value);
    case AfterEnd::fail:
      return fmt::format("job {} to fail", after.job.value);
  }
  return fmt::format("job {} to complete", after.job.value);
}

}  // namespace

bool WaitingRoom::has_room(const std::vector<Job>& jobs) const {
  std::map<std::string, std::size_t> more;
  std::size_t waiting = 0, pairs = followers_.size();
  for (const Job& job : jobs) {
    if (job.after.empty()) continue;
    ++waiting;
    ++more[job.user];
    pairs += job.after.size();
  }
  if (waiting == 0) return true;
  if (open_.size() + waiting > most_ || pairs > kPairsOfJob * most_) return false;
  return std::all_of(more.begin(), more.end(), [this](const auto& of_user) {
    const auto there = of_users_.find(of_user.first);
    const std::size_t before = there == of_users_.end() ? 0 : there->second;
    return before + of_user.second <= most_ - most_ / 2;
  });
}

void WaitingRoom::add(const Job& job) {
  if (!open_.try_emplace(job.id, Waiting{job.user, job.after}).second) return;
  ++of_users_[job.user];
  for (const AfterJob& each : job.after) {
    followers_.emplace(each.job, job.id);
    unasked_.insert(each.job);
  }
}

void WaitingRoom::ask() {
  if (!unasked_.empty()) {
    const std::vector<JobId> jobs(unasked_.begin(), unasked_.end());
    unasked_.clear();
    host_.watch(jobs);
  }
  look_again();
}

/// One timer, which ends when no job waits.
void WaitingRoom::look_again() {
  if (looks_ || followers_.empty()) return;
  looks_ = true;
  host_.later([this] {
    looks_ = false;
    for (auto it = followers_.begin(); it != followers_.end();) {
      const JobId job = it->first;
      // One that waits here itself cannot be over without this site's knowing.
      if (!waits(job)) unasked_.insert(job);
      it = followers_.upper_bound({job, JobId{std::numeric_limits<std::uint64_t>::max()}});
    }
    ask();
  });
}

void WaitingRoom::hear(const JobEnd& whole) {
  std::vector<JobId> followers;
  for (auto it = followers_.lower_bound({whole.job, JobId{0}});
       it != followers_.end() && it->first == whole.job; ++it) {
    followers.push_back(it->second);
  }
  std::vector<JobId> ready;
  std::vector<SkippedJob> skipped;
  std::vector<JobId> unneeded;
  for (const JobId job : followers) {
    followers_.erase({whole.job, job});
    std::vector<AfterJob>& open = open_.at(job).open;
    std::optional<std::string> why;
    std::erase_if(open, [&](const AfterJob& each) {
      if (each.job != whole.job) return false;
      if (!why) why = why_not(each, whole);
      return true;
    });
    if (why) {
      // The other jobs that it waited for are of no matter.
      leave(std::exchange(open, {}), job, unneeded);
      skipped.push_back({job, *std::move(why)});
    } else if (open.empty()) {
      ready.push_back(job);
    }
  }
  if (!unneeded.empty()) host_.unwatch(unneeded);
  if (!skipped.empty()) host_.skip(skipped);
  if (!ready.empty()) host_.begin(ready);
}

void WaitingRoom::drop(JobId job) {
  const auto found = open_.find(job);
  if (found == open_.end()) return;
  const Waiting gone = std::move(found->second);
  open_.erase(found);
  const auto of_user = of_users_.find(gone.user);
  if (--of_user->second == 0) of_users_.erase(of_user);
  std::vector<JobId> unneeded;
  leave(gone.open, job, unneeded);
  if (!unneeded.empty()) host_.unwatch(unneeded);
}

/// The job waits for these no more. Adds those that no other job waits for: their ends need not be
/// told.
void WaitingRoom::leave(const std::vector<AfterJob>& open, JobId job,
                        std::vector<JobId>& unneeded) {
  for (const AfterJob& each : open) {
    followers_.erase({each.job, job});
    const auto next = followers_.lower_bound({each.job, JobId{0}});
    if (next == followers_.end() || next->first != each.job) unneeded.push_back(each.job);
  }
}

std::string WaitingRoom::why(JobId job) const {
  constexpr std::size_t kShown = 3;
  const auto found = open_.find(job);
  if (found == open_.end() || found->second.open.empty()) return {};
  const std::vector<AfterJob>& open = found->second.open;
  std::string text = "waits for ";
  for (std::size_t i = 0; i < std::min(open.size(), kShown); ++i) {
    text += (i > 0 ? ", " : "") + shown_after(open[i]);
  }
  if (open.size() > kShown) text += fmt::format(" and {} other jobs", open.size() - kShown);
  return text;
}

}  // namespace muster
