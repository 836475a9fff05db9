#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "actors/messages/messages.hpp"
#include "config/site_settings.hpp"
#include "learning/job_features.hpp"
#include "model/rng.hpp"
#include "schedulers/site/routing.hpp"
#include "schedulers/site/site_peers.hpp"

namespace muster {

/// The loads of masters and other sites as a site has heard them, and who is chosen by it.
class PeerLoads {
 public:
  /// The settings have to outlive it.
  PeerLoads(const SitePeers& peers, const SiteSettings& settings, std::uint64_t seed);

  /// Asks for what the last reports have not said.
  LoadQuestion question_to(const HandoffTarget& to) const;
  /// True: something has changed since the last report.
  bool take(const HandoffTarget& from, const LoadReport& report, Instant now);
  /// Those of the jobs in the report of which more tasks have failed than may, with all masters.
  std::vector<JobId> with_too_many_failed(const LoadReport& report) const;
  /// Whether some master has an unfinished part of a job whose failed tasks are counted here.
  bool counts_failed() const;
  /// Of all masters' instances, as it was heard last.
  SystemUse use() const;
  /// Whether nothing was heard of the peer lately. Of one that was never heard it counts from
  /// `since`: its first answer can come after those of others.
  bool is_silent(const HandoffTarget& whom, Instant since, Instant now) const;
  /// Whether the peer has ever reported.
  bool was_heard(const HandoffTarget& whom) const { return state_.at(whom).heard.at.has_value(); }

  /// The site that is to see to the job, by its place in the world. `own_load`: a site does not
  /// report to itself.
  HandoffTarget choose_site(const Job& job, double own_load, Instant now) const;
  /// Splits the job among masters that are not heavily loaded.
  std::vector<Handoff> parts_of(Job job, Instant now);

 private:
  struct PeerState {
    LoadReport load{};
    Heard heard{};
    std::uint64_t given = 0;               ///< jobs given to it since it was heard
    std::map<JobId, FailedPart> failed{};  ///< of its parts, put together of several reports
    JobId failed_after{};                  ///< those of higher jobs are asked for next
  };

  static void take_failed(PeerState& from, const LoadReport& report);
  std::vector<std::uint32_t> choose_masters(Instant now);
  std::uint32_t least_busy_master(Instant now) const;
  const SitePeer* master_of_revision(const Job& job) const;

  const SitePeers& peers_;
  const SiteSettings& settings_;
  Rng rng_;
  PerPeer<PeerState> state_;
};

}  // namespace muster
