#include "actors/job_watch.hpp"

// Two sets of the same pairs, one by job and one by listener, so that an end and the loss of a
// listener each cost no more than the pairs that they concern. Slots stand for listeners: their
// order is that of arrival and not of addresses, which differ from run to run.

namespace muster {

bool JobWatch::add(const JobListener& listener, JobId job) {
  const auto [known, is_new] = slots_.try_emplace(listener.address(), next_);
  if (is_new) listeners_.emplace(next_++, listener);
  by_job_.emplace(job, known->second);
  by_listener_.emplace(known->second, job);
  return is_new;
}

void JobWatch::remove(const JobListener& listener, JobId job) {
  const auto known = slots_.find(listener.address());
  if (known == slots_.end()) return;
  by_job_.erase({job, known->second});
  by_listener_.erase({known->second, job});
}

std::vector<JobListener> JobWatch::take(JobId job) {
  std::vector<JobListener> all;
  auto next = by_job_.lower_bound({job, 0});
  while (next != by_job_.end() && next->first == job) {
    all.push_back(listeners_.at(next->second));
    by_listener_.erase({next->second, job});
    next = by_job_.erase(next);
  }
  return all;
}

std::vector<JobId> JobWatch::drop(const caf::actor_addr& listener) {
  std::vector<JobId> alone;
  const auto known = slots_.find(listener);
  if (known == slots_.end()) return alone;
  const Slot slot = known->second;
  auto next = by_listener_.lower_bound({slot, JobId{0}});
  while (next != by_listener_.end() && next->first == slot) {
    const JobId job = next->second;
    by_job_.erase({job, slot});
    if (!watches(job)) alone.push_back(job);
    next = by_listener_.erase(next);
  }
  listeners_.erase(slot);
  slots_.erase(known);
  return alone;
}

bool JobWatch::watches(JobId job) const {
  const auto first = by_job_.lower_bound({job, 0});
  return first != by_job_.end() && first->first == job;
}

void JobWatch::clear() {
  slots_.clear();
  listeners_.clear();
  by_job_.clear();
  by_listener_.clear();
}

void NewestEnds::add(const JobEnd& end) {
  // An end that is told again keeps its age: by_age_ holds each job once.
  if (ends_.insert_or_assign(end.job, end).second) by_age_.push_back(end.job);
  if (by_age_.size() <= kMost) return;
  ends_.erase(by_age_.front());
  by_age_.pop_front();
}

const JobEnd* NewestEnds::find(JobId job) const {
  const auto found = ends_.find(job);
  return found == ends_.end() ? nullptr : &found->second;
}

}  // namespace muster
