#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "model/cancel.hpp"
#include "storage/stores/site_store.hpp"

namespace muster {

/// The cancels that not everybody has confirmed who may have a part of the job.
///
/// A job goes from the site that has numbered it to at most one other site and from there to
/// masters. Everybody is asked at once; but who answers "not here" may be given the job later by
/// one further up. So when a site answers that it has had the job, all further down are asked once
/// more: their earlier answers do not count.
class OpenCancels {
 public:
  /// A job of which somebody is asked, and in which round. No two rounds have the same number, so
  /// that a late answer about an earlier cancel of the same job counts for nothing.
  struct Asked {
    JobId job;
    std::uint64_t round = 0;
  };

  /// A site or a master, before the first cancel.
  void add_party(const HandoffTarget& party) { parties_.push_back(party); }

  std::size_t size() const { return open_.size(); }
  bool contains(JobId job) const { return open_.contains(job); }
  /// It will be open: no master or site is asked yet.
  void prepare(JobId job);
  /// Everybody has to be asked; nothing changes when it is open already.
  void open(JobId job);

  /// Takes the next cancels that the party has to be asked for, at most `most`. Each of them has to
  /// come to confirm() or to put_back().
  std::vector<Asked> next(const HandoffTarget& to, std::size_t most);
  /// It did not answer, or cannot say yet: it is to be asked again.
  void put_back(const HandoffTarget& to, const Asked& asked);
  /// How the job stands with the party, which is not in_hand. True: everybody has confirmed.
  bool confirm(const HandoffTarget& by, const Asked& asked, CancelStanding standing);
  /// Result of the answers.
  CancelStanding standing(JobId job) const;
  /// Those who have not confirmed.
  std::vector<HandoffTarget> unconfirmed(JobId job) const;
  void close(JobId job) { open_.erase(job); }

 private:
  struct Party {
    bool confirmed = false;
    std::uint64_t round = 0;
  };
  struct Cancel {
    std::map<HandoffTarget, Party> parties;
    std::size_t unconfirmed = 0;
    bool asks = false;
    CancelStanding standing = CancelStanding::unknown;
  };
  struct Queue {
    std::deque<JobId> jobs;
    std::set<JobId> queued;
  };

  void queue(const HandoffTarget& to, JobId job);
  void ask_further_down(JobId job, Cancel& cancel, const HandoffTarget& from);

  std::vector<HandoffTarget> parties_;
  std::map<JobId, Cancel> open_;
  std::uint64_t rounds_ = 0;
  std::map<HandoffTarget, Queue> queues_;
};

}  // namespace muster
