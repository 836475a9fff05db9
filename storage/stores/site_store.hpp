#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/event.hpp"
#include "model/job.hpp"
#include "model/letter.hpp"
#include "model/number_set.hpp"

namespace muster {

/// Receiver of a job: a master, or another site.
struct HandoffTarget {
  bool site = false;
  std::uint32_t index = 0;  ///< its number in the cluster's roster

  friend auto operator<=>(const HandoffTarget&, const HandoffTarget&) = default;
};

/// A job, or a part of one, that a site answers for until another has taken it. One that is for
/// the site itself waits there for other jobs to be over.
struct Handoff {
  Job job;
  HandoffTarget to;  ///< never changes
};

/// A submission that was answered: the same token of the same user gets the same job. Or a job that
/// another site has left to this one.
struct KnownToken {
  std::string token;  ///< empty when forwarded
  JobId job;
  std::optional<std::string> user{};      ///< nothing: written when users were not kept
  bool forwarded = false;                 ///< kept for good, as a number
  std::optional<std::uint64_t> digest{};  ///< of what the user said; nothing: it was not kept
};

/// A job, or a part of one, that is over without a master's ever having had it.
struct EndedHandoff {
  Job job;  ///< without its tasks
  HandoffTarget to;
  std::uint32_t tasks = 0;
  JobOutcome outcome = JobOutcome::refused;
  std::string reason;
  Instant at;
  bool conflict = false;  ///< its number was another job's: of that one it says nothing
};

/// Jobs that ended at a site, or parts of which did, however long ago, by how. The rest of a job is
/// given up with a part, whose end counts as the job's where no more is known. Not those whose
/// number was another job's.
using PastEnds = std::map<JobOutcome, NumberSet>;

/// A job that waits at the site has changed: its record in place of the one before.
struct ChangedHandoff {
  Handoff handoff;
  /// As it was; it is put back when the news could not be kept. Nothing: either may be found then.
  std::optional<Job> before{};
};

/// A site's promises of one moment, all or nothing.
struct SiteNews {
  std::vector<Handoff> handoffs;
  std::vector<KnownToken> tokens;
  std::uint64_t next_job = 0;  ///< none of the site's own jobs has this number or a later one
  std::vector<EndedHandoff> ended{};  ///< in place of their hand-offs
  std::vector<Handoff> begun{};       ///< waited here, and are among `handoffs` from now on
  std::vector<ChangedHandoff> changed{};
  std::vector<JobId> cancels{};      ///< that are to reach everybody
  bool numbers_known = false;        ///< no site or master has to be asked for next_job any more
  bool asks_numbers = false;         ///< others have to be asked for next_job again
  std::vector<JobLetter> letters{};  ///< of jobs among `handoffs` whose ends are to be told
};

/// A site scheduler's memory after a restart.
struct SiteMemory {
  std::vector<Handoff> handoffs;      ///< in the order of their jobs' ids
  std::vector<KnownToken> tokens;     ///< the newest ones, oldest first
  std::uint64_t next_job = 0;         ///< the largest that was kept
  std::string classifier;             ///< the newest text of persist_classifier()
  std::vector<EndedHandoff> ended{};  ///< the newest ones, oldest first
  PastEnds past{};                    ///< those, and all that ended before them
  std::vector<JobId> cancels{};       ///< that have not reached everybody
  NumberSet forwarded{};              ///< all jobs that other sites ever left to this one
  bool asks_numbers = false;          ///< next_job may be too low: others have to be asked
  std::vector<JobLetter> letters{};   ///< in the order of their jobs' ids
};

/// Where a site scheduler writes down what it has promised.
class SiteStore {
 public:
  virtual ~SiteStore() = default;

  /// Everything that was kept and not forgotten.
  virtual SiteMemory recall() = 0;
  /// Keeps the news. `durable` is called once when they are written down for good, with an empty
  /// text, or with the reason why they could not be: before this returns or later, from whatever
  /// thread. Refused news may be recalled after all, and as a whole, when the process ends before
  /// anything else is kept; the next news that is kept takes its place. (Of ends and cancels traces
  /// may stay: they may come true.)
  virtual void persist(SiteNews&& news,
                       std::function<void(const std::string& trouble)> durable) = 0;
  /// The receiver has the job; its token stays known for a while. Need not be durable at once.
  virtual void handed_over(JobId job, const HandoffTarget& to) = 0;
  /// The cancel has reached everybody. The job is cancelled; its token stays known for a while.
  virtual void cancelled(JobId job) = 0;
  /// Keeps what was learnt of jobs, in place of what was kept before. Keeps the classifier in place
  /// of the one before.
  virtual void persist_classifier(std::string text) = 0;
  /// Keeps the letter in place of what was kept of its job; without addresses nothing is kept. Need
  /// not be durable at once: a receiver knows a repetition by the letter's id.
  virtual void persist_letter(JobLetter letter) = 0;
};

}  // namespace muster
