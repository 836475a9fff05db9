#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "actors/messages/messages.hpp"
#include "config/site_settings.hpp"
#include "schedulers/site/actor/peer_loads.hpp"
#include "schedulers/site/site_peers.hpp"

namespace muster {

/// When a site asks all masters and all other sites for their loads: again after `load_every` while
/// something goes on, after pauses that double while the answers have nothing new, and not at all
/// while no master has a job. Then the next job that comes in waits for fresh answers; and so it
/// does in the first askings while somebody has never answered, whose link is still being made.
class LoadRounds {
 public:
  using Answered = std::function<void(const LoadReport* report)>;  ///< null: no report came in time
  struct Host {
    /// Calls `answered` once, after `load_every` at the latest.
    std::function<void(const HandoffTarget&, const LoadQuestion&, Answered answered)> ask;
    std::function<void(const HandoffTarget& from, const LoadReport&)> heard;
    /// Everybody has answered, or has not in time: that has to do.
    std::function<void()> all_heard;
    /// Whether something is open at the site for which others have to be asked.
    std::function<bool()> has_work;
    /// ask() is to be called after that time, at the earliest of the times that were wanted.
    std::function<void(Duration)> wake;
    /// It need not be called any more.
    std::function<void()> sleep;
  };
  /// The peers, loads and settings have to outlive it.
  LoadRounds(const SitePeers& peers, const PeerLoads& loads, const SiteSettings& settings,
             Host host);

  void ask();
  /// After the shortest pause, where loads are asked for at all.
  void ask_soon();
  /// Something has changed: the pauses get short.
  void note_news() { heard_news_ = true; }

  /// The loads are fresh enough to choose by.
  bool is_fresh() const;
  /// False: too many jobs wait for loads. They are in memory only, so that their number is bounded;
  /// a refused client repeats.
  bool has_room(std::size_t jobs) const { return unrouted_ + jobs <= settings_.max_unrouted; }
  /// Runs the step, which takes that many jobs in, when loads have been heard, in the order in
  /// which they came.
  void await(std::size_t jobs, std::function<void()> take);
  /// Drops all that waits.
  void clear() { awaiting_.clear(); }

 private:
  void answered();

  const SitePeers& peers_;
  const PeerLoads& loads_;
  const SiteSettings& settings_;
  Host host_;
  Duration pause_{};                             ///< from the last asking for loads to the next
  std::size_t asked_ = 0;                        ///< masters and sites that have not answered it
  bool heard_news_ = false;                      ///< something has changed since the asking before
  bool unheard_ = false;                         ///< somebody has not answered, now or ever
  std::uint32_t askings_ = 0;                    ///< up to kFirstAskings
  bool masters_may_work_ = false;                ///< some master has jobs, or has not answered
  std::vector<std::function<void()>> awaiting_;  ///< in the order in which they came
  std::size_t unrouted_ = 0;                     ///< jobs in these
};

}  // namespace muster
