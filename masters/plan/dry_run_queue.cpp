#include "masters/plan/dry_run_queue.hpp"

#include <fmt/format.h>

#include <utility>

namespace muster {

void DryRunQueue::ask(Asked asked) {
  const std::string& user = asked.job.user;
  const auto known = of_user_.find(user);
  if (known != of_user_.end() && known->second >= bounds_.of_user) {
    return asked.turn_away(
        fmt::format("the limit of waiting dry runs of one user ({0} of '{1}') is reached "
                    "(master.dry_runs_of_user): ask again when they are answered",
                    bounds_.of_user, user));
  }
  if (waiting_.size() >= bounds_.most) {
    return asked.turn_away(
        fmt::format("the limit of waiting dry runs ({}) is reached (master.dry_runs): ask again in "
                    "a few seconds",
                    bounds_.most));
  }
  ++of_user_[user];
  if (running_) {
    waiting_.push_back(std::move(asked));
  } else {
    begin(std::move(asked));
  }
}

void DryRunQueue::begin(Asked asked) {
  running_ = asked.job.user;
  asked.run(std::move(asked.job));
}

void DryRunQueue::ended(Instant now) {
  if (running_) leave(*std::exchange(running_, std::nullopt));
  while (!waiting_.empty() && !running_) {
    Asked next = std::move(waiting_.front());
    waiting_.pop_front();
    if (now - next.at < bounds_.age) {
      begin(std::move(next));
      continue;
    }
    leave(next.job.user);
    next.turn_away("the dry run has waited longer than master.dry_run_age: ask again later");
  }
}

void DryRunQueue::leave(const std::string& user) {
  const auto known = of_user_.find(user);
  if (--known->second == 0) of_user_.erase(known);
}

}  // namespace muster
