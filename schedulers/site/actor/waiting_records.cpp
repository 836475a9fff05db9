#include "schedulers/site/actor/waiting_records.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace muster {

void WaitingRecords::hold(JobId job, bool held, const Answer& answer) {
  Job* found = parts_.handoffs.waiting_job(job);
  if (found == nullptr) return answer(Failure<ActorError>{ActorError::unknown, {}});
  if (found->held == held && !orders_.contains(job)) return answer(job);
  // Before it is durable: other writes of the record that follow have it, too.
  found->held = held;
  // No run of a recurring job is made up for whose time passed while it was held.
  if (!held && !found->every.empty()) {
    found->begin = std::max(found->begin.value_or(Instant{}), now_());
  }
  // A job that is let go waits until that is durable, for it may not be held any more then.
  if (held) parts_.room.hold(job, true);
  ++orders_[job];
  SiteNews news;
  news.changed.push_back({{*found, parts_.peers.self().to}});
  parts_.writer.persist(std::move(news), [this, job, held, answer](const std::string& trouble) {
    on_written(job, held, trouble.empty());
    if (trouble.empty()) return answer(job);
    answer(Failure<ActorError>{ActorError::store_failed, trouble});
  });
}

/// Of several orders the last one counts.
void WaitingRecords::on_written(JobId job, bool held, bool durable) {
  const auto order = orders_.find(job);
  if (--order->second > 0) return;
  orders_.erase(order);
  Job* there = parts_.handoffs.waiting_job(job);
  if (there == nullptr) return;
  if (!durable) there->held = !held;
  parts_.room.hold(job, there->held);
}

void WaitingRecords::met(const WaitingPair& pair) {
  Job* found = parts_.handoffs.waiting_job(pair.job);
  if (found == nullptr) return;
  pair.put_in(found->after);
  changed_.insert(pair.job);
  write_later();
}

void WaitingRecords::write_later() {
  if (std::exchange(comes_, true)) return;
  later_([this] {
    comes_ = false;
    write();
  });
}

/// Some hundred at a time: others are heard between, and the store takes them.
void WaitingRecords::write() {
  constexpr std::size_t kAtOnce = 500;
  SiteNews news;
  while (!changed_.empty() && news.changed.size() < kAtOnce) {
    const JobId job = *changed_.begin();
    changed_.erase(changed_.begin());
    const Job* found = parts_.handoffs.waiting_job(job);
    if (found != nullptr) news.changed.push_back({{*found, parts_.peers.self().to}});
  }
  if (!changed_.empty()) write_later();
  // After a restart those are asked for once more that could not be written.
  if (!news.changed.empty()) parts_.writer.persist(std::move(news), [](const std::string&) {});
}

}  // namespace muster
