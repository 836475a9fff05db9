#pragma once

#include <vector>

#include "model/views.hpp"
#include "schedulers/site/actor/handoffs.hpp"
#include "schedulers/site/actor/waiting_room.hpp"
#include "schedulers/site/ended_jobs.hpp"
#include "schedulers/site/site_peers.hpp"

namespace muster {

/// A site's jobs as its users are shown them: those on their way, and those that ended here.
///
/// Pages go by submission, the newest first. Every way out gives as many jobs as a page has, which
/// is enough for any order among them, so that a page costs O(peers x page).
class SiteView {
 public:
  SiteView(const SitePeers& peers, const Handoffs& handoffs, const EndedJobs& ended,
           const WaitingRoom& waiting)
      : peers_(peers), handoffs_(handoffs), ended_(ended), waiting_(waiting) {}

  /// The jobs that were asked for, in the order of JobCursor, as many as go into one message. Only
  /// those that are shown are written out; the parts of a job stay together.
  JobsView jobs(const JobsQuestion& wanted) const;

 private:
  /// A job, or a part of one, that is shown.
  struct Shown {
    const Job* job;
    const HandoffTarget* to;                  ///< null when it ended here
    const EndedHandoff* ended;                ///< null when it is on its way
    const PendingHandoff* waiting = nullptr;  ///< null when it ended here
  };

  std::vector<Shown> page(const JobsQuestion& wanted, JobsView& list) const;
  ShownState state_of(const Job& job, const HandoffTarget& to) const;
  FilteredJob filtered(const Shown& one) const;
  std::vector<Shown> parts_of(JobId job) const;
  JobView view_of_part(const Shown& each) const;
  static void put_rest(JobsView& list, const std::vector<Shown>& rest);

  const SitePeers& peers_;
  const Handoffs& handoffs_;
  const EndedJobs& ended_;
  const WaitingRoom& waiting_;
};

}  // namespace muster
