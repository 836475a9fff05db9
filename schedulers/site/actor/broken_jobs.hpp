#pragma once

#include <cstddef>
#include <functional>

#include "schedulers/site/actor/peer_loads.hpp"
#include "schedulers/site/recent_jobs.hpp"
#include "schedulers/site/site_peers.hpp"
#include "schedulers/site/site_writer.hpp"

namespace muster {

/// The jobs that cannot be completed any more, since a part of them was terminated or too many of
/// their tasks have failed: the other masters' parts are for nothing. One site is enough to cancel
/// them: the one that has numbered the job, and the others when that one is silent.
class BrokenJobs {
 public:
  struct Host {
    std::function<Instant()> now;
    /// A cancel of the job is in the store.
    std::function<void(JobId)> cancel_kept;
  };
  struct Parts {
    const SitePeers& peers;
    SiteWriter& writer;
    const PeerLoads& loads;
  };
  /// `started`: since when the site can have heard others.
  BrokenJobs(const Parts& parts, Instant started, Host host)
      : parts_(parts), started_(started), host_(std::move(host)) {}

  /// False: the job is known to be broken. end_rest_of() is to follow where it is not.
  bool add(JobId job) { return broken_.add(job); }
  void end_rest_of(JobId job);
  /// The site that was to do it may have gone before the cancel was durable there.
  void cancel_what_others_left();
  /// Another site asks for the cancel, or a user.
  void leave(JobId job) { left_.erase(job); }

 private:
  static constexpr std::size_t kMaxBroken = 100'000;  ///< that are remembered
  /// Of these, left to the sites that have numbered them; as many as a master tells of.
  static constexpr std::size_t kMaxLeft = 1'000;

  bool is_mine(JobId job) const;
  void cancel(JobId job);

  const Parts parts_;
  const Instant started_;
  Host host_;
  RecentJobs broken_{kMaxBroken};
  RecentJobs left_{kMaxLeft};  ///< whose cancels are others' or could not be kept
};

}  // namespace muster
