// The ways out of a site scheduler, to masters and to other sites, and what is heard on them.

#include <algorithm>
#include <utility>

#include "schedulers/site/site_actor.hpp"

namespace muster {
std::size_t SiteScheduler::jobs_in_hand() const {
  std::size_t count = 0;
  for (const Lane& each : masters_) count += each.waiting.size();
  for (const Lane& each : sites_) count += each.waiting.size();
  return count;
}

double SiteScheduler::own_load() const {
  return static_cast<double>(jobs_in_hand()) / static_cast<double>(setup_.room);
}

/// Hands over the next jobs of a lane, one request at a time, until all are taken.
void SiteScheduler::hand_over(const HandTarget& to) {
  Lane& out = lane(to);
  if (out.busy || out.waiting.empty()) return;
  out.busy = true;
  std::vector<Job> batch;
  out.waiting.oldest_first([&](const OnItsWay& each) {
    batch.push_back(each.job);
    return batch.size() < setup_.life.hand_batch;
  });
  const auto heard = [this, to](const Verdicts& verdicts) { taken(to, verdicts); };
  const auto failed = [this, to](const caf::error&) {
    timer_.at(now() + setup_.life.hand_retry, [this, to] {
      lane(to).busy = false;
      hand_over(to);
    });
  };
  if (to.site) {
    request(out.site, setup_.accept_timeout, forward_atom_v, std::move(batch)).then(heard, failed);
  } else {
    request(out.master, setup_.accept_timeout, hand_atom_v, std::move(batch)).then(heard, failed);
  }
}

void SiteScheduler::taken(const HandTarget& to, const Verdicts& verdicts) {
  Lane& out = lane(to);
  out.busy = false;
  for (const AcceptVerdict& verdict : verdicts) {
    const auto found = out.waiting.take(verdict.job);
    if (!found) continue;
    arrived(*found);
    ++handed_;
    setup_.book->handed_over(verdict.job, to);
    if (!cancelled_.contains(verdict.job)) continue;
    if (to.site) {
      send(out.site, cancel_atom_v, verdict.job);
    } else {
      send(out.master, cancel_atom_v, verdict.job);
    }
  }
  if (jobs_in_hand() == 0) cancelled_.clear();
  hand_over(to);
}

/// It need not be waited for any more.
void SiteScheduler::arrived(const OnItsWay& handoff) {
  const auto& promise = handoff.promise;
  if (promise && --promise->open == 0 && promise->writes == 0) settle(*promise);
}

void SiteScheduler::ask_loads() {
  const auto nothing = [](const caf::error&) {};
  for (std::size_t i = 0; i < masters_.size(); ++i) {
    request(masters_[i].master, setup_.load_every, load_atom_v)
        .then([this, i](const LoadReport& report) { hear(masters_[i], report); }, nothing);
  }
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    if (i == own_) continue;
    request(sites_[i].site, setup_.load_every, load_atom_v)
        .then([this, i](const LoadReport& report) { hear(sites_[i], report); }, nothing);
  }
  timer_.at(now() + setup_.load_every, [this] { ask_loads(); });
}

/// When one part of a job was given up, the other masters' parts are for nothing.
void SiteScheduler::hear(Lane& from, const LoadReport& report) {
  from.load = report;
  from.heard = {report.load, now()};
  from.given = 0;
  if (setup_.desk) {
    for (const JobRuntime& ran : report.completed) {
      setup_.desk->heard(ran.job, ran.tasks, ran.together);
    }
    train_if_due();
  }
  for (JobId job : report.broken) {
    if (!broken_.add(job)) continue;
    if (setup_.desk) setup_.desk->forget(job);
    for (const Lane& each : masters_) send(each.master, cancel_atom_v, job);
  }
}

void SiteScheduler::cancel(JobId id) {
  for (const std::vector<Lane>* lanes : {&masters_, &sites_}) {
    for (const Lane& each : *lanes) {
      if (each.waiting.find(id) != nullptr) cancelled_.insert(id);
    }
  }
  for (const Lane& each : masters_) send(each.master, cancel_atom_v, id);
}

}  // namespace muster
