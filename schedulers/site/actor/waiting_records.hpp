#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>

#include "actors/messages/messages.hpp"
#include "model/expected.hpp"
#include "schedulers/site/actor/handoffs.hpp"
#include "schedulers/site/actor/waiting_room.hpp"
#include "schedulers/site/site_peers.hpp"
#include "schedulers/site/site_writer.hpp"

namespace muster {

/// Changes of jobs that wait at a site, in the store as in the waiting room: their users hold and
/// release them, and others that they wait for are over.
class WaitingRecords {
 public:
  using Answer = std::function<void(Expected<JobId, ActorError>)>;
  struct Parts {
    const SitePeers& peers;
    SiteWriter& writer;
    Handoffs& handoffs;
    WaitingRoom& room;
  };
  /// `later` runs a step after a pause.
  WaitingRecords(const Parts& parts, std::function<void(std::function<void()> step)> later,
                 std::function<Instant()> now)
      : parts_(parts), later_(std::move(later)), now_(std::move(now)) {}

  /// Answers when it is durable. A job that does not wait here, or no longer, is unknown.
  void hold(JobId job, bool held, const Answer& answer);
  /// The other one is over as it should be, or has been resubmitted. Written within a pause, with
  /// others: after a crash it is asked for once more.
  void met(const WaitingPair& pair);
  /// Does not wait for that pause: no other place knows of resubmissions.
  void write();

 private:
  void write_later();
  void on_written(JobId job, bool held, bool durable);

  const Parts parts_;
  std::function<void(std::function<void()> step)> later_;
  std::function<Instant()> now_;
  std::map<JobId, std::size_t> orders_;  ///< holds and releases that are being written
  std::set<JobId> changed_;              ///< jobs whose record is to be written
  bool comes_ = false;                   ///< write() is to come
};

}  // namespace muster
