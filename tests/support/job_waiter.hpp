#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/support/virtual_system.hpp"

namespace muster::test {

/// How a job has ended: "1 completed".
inline std::string text_of_whole(const JobEnd& end) {
  return std::to_string(end.job.value) + " " + std::string(name_of(end.outcome));
}
/// How a part of one has: "1 completed 2 of 5 from 3".
inline std::string text_of_part(const JobEnd& end) {
  return text_of_whole(end) + " " + std::to_string(end.tasks) + " of " + std::to_string(end.whole) +
         " from " + std::to_string(end.first);
}

/// Somebody who waits for jobs at a site or a master.
class JobWaiter {
 public:
  using Text = std::string (*)(const JobEnd& end);

  JobWaiter(VirtualSystem& system, Text text) : system_(system), text_(text) {
    actor_ = system.actors().spawn([this](JobListener::pointer) -> JobListener::behavior_type {
      return {[this](over_atom, const JobEnd& end) { told_.push_back(text_(end)); }};
    });
  }
  ~JobWaiter() { end(); }
  JobWaiter(const JobWaiter&) = delete;
  JobWaiter& operator=(const JobWaiter&) = delete;

  /// Asks after the jobs; what the answer says is told as well.
  template <class Handle>
  void watch(const Handle& whom, std::vector<JobId> jobs) {
    system_.actors().spawn([this, whom, jobs = std::move(jobs)](caf::event_based_actor* self) {
      self->request(whom, caf::infinite, watch_atom_v, actor_, jobs)
          .then(
              [this](const std::vector<JobEnd>& ends) {
                for (const JobEnd& end : ends) told_.push_back("at once: " + text_(end));
              },
              [this](const caf::error&) { told_.emplace_back("refused"); });
    });
    system_.time().drain();
  }
  const JobListener& actor() const { return actor_; }
  void end() {
    if (actor_) system_.end(actor_);
    actor_ = nullptr;
  }
  std::vector<std::string> told() { return std::exchange(told_, {}); }

 private:
  VirtualSystem& system_;
  Text text_;
  JobListener actor_;
  std::vector<std::string> told_;
};

}  // namespace muster::test
