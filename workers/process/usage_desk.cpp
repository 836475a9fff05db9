#include "workers/process/usage_desk.hpp"

#include <algorithm>
#include <utility>

namespace muster::process {

UsageDesk::UsageDesk(const ExecutorHost& host, std::function<void()> look, DiskBytes disk_bytes)
    : host_(host), look_(std::move(look)), disk_bytes_(std::move(disk_bytes)) {}

void UsageDesk::ask(const Answer& answer) {
  const Instant now = host_.now();
  const bool is_fresh = looked_at_ && now - *looked_at_ < kFresh && now >= *looked_at_;
  if (waiting_.empty() ? is_fresh : waiting_.size() >= kMostWaiting) return answer(usages());
  waiting_.push_back(answer);
  // The answer to the first question that waits is the answer to all of them.
  if (waiting_.size() > 1) return;
  const bool is_first = !looked_at_ || now - *looked_at_ >= kOld || now < *looked_at_;
  looked_at_ = now;
  look_();
  if (is_first) later(kBetween, &UsageDesk::look_again);
  later(kWait + (is_first ? kBetween : Duration::zero()), &UsageDesk::answer_all);
}

void UsageDesk::note(const AttemptKey& attempt, const UsageLook& look) {
  const Instant now = host_.now();
  const auto [found, is_new] = looks_.try_emplace(attempt, Looks{look, now});
  Looks& looks = found->second;
  if (is_new || look.at <= looks.last.at) return;
  if (look.at - looks.last.at >= kLeastApart) looks.before = looks.last;
  looks.last = look;
  looks.heard = now;
}

void UsageDesk::later(Duration wait, void (UsageDesk::*step)()) {
  host_.at(host_.now() + wait, [this, step, alive = std::weak_ptr<const bool>(alive_)] {
    if (!alive.expired()) (this->*step)();
  });
}

void UsageDesk::answer_all() {
  const std::vector<AttemptUsage> all = usages();
  for (const Answer& answer : std::exchange(waiting_, {})) answer(all);
}

std::vector<AttemptUsage> UsageDesk::usages() const {
  std::vector<AttemptUsage> all;
  const Instant now = host_.now();
  for (const auto& [key, looks] : looks_) {
    if (all.size() == kMostUsageRows) break;
    // Of a shim that does not answer any more nothing is known of the present.
    if (now - looks.heard >= kOld) continue;
    AttemptUsage usage{key.task, key.attempt, looks.last.so_far, looks.last.memory_bytes};
    const Duration apart = looks.before ? looks.last.at - looks.before->at : Duration::zero();
    if (apart >= kLeastApart && apart < kOld) {
      const Duration busy = looks.last.so_far.cpu - looks.before->so_far.cpu;
      usage.cores = std::clamp(to_seconds(busy) / to_seconds(apart), 0.0, kMostCores);
    }
    usage.disk_bytes = disk_bytes_(key);
    all.push_back(usage);
  }
  return all;
}

}  // namespace muster::process
