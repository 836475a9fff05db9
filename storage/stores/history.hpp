#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "model/history.hpp"
#include "model/job_cursor.hpp"
#include "model/job_ending.hpp"
#include "model/job_filter.hpp"
#include "storage/stores/store_error.hpp"

namespace muster {

/// Figures of a job that is over, as lists and bills need them.
struct HistoryEntry {
  JobId job;
  std::string user;
  std::string name;
  Money cost;           ///< of all its tasks
  Instant listed_at{};  ///< of its place in lists
  Instant submitted{};  ///< where its site did not say, when its master had it
  Instant over_at{};
  JobOutcome outcome = JobOutcome::completed;
  bool failed = false;  ///< a task of it, for good
  std::optional<std::int32_t> exit_code{};

  JobPlace place() const { return {listed_at, job}; }
  friend bool operator==(const HistoryEntry&, const HistoryEntry&) = default;
};
/// The job's cost is the sum over its tasks; its exit code is 0 when it is completed, else that of
/// the task that has failed and has the lowest index.
HistoryEntry entry_of(const JobHistory& history);

/// Which of the jobs that are over a page of them shows.
struct HistoryPage {
  JobFilter filter{};
  JobPlace below{};  ///< only later places
  std::size_t limit = 0;
};

/// Finished jobs, the newest up to a bound, and the cost of all of them.
class History {
 public:
  using Use = std::function<bool(const JobHistory&)>;

  virtual ~History() = default;

  /// Durable no later than events that are appended to the journal afterwards.
  virtual void add(JobHistory job) = 0;
  /// The job is not over after all: its master ended between the record and the events that were to
  /// follow it. Nothing when it is not kept.
  virtual void drop(JobId /*job*/) {}
  /// How many jobs are kept.
  virtual std::size_t size() const = 0;
  /// The job as it was added; may wait for the disk, as newest() and list() may.
  virtual std::optional<JobHistory> find(JobId id) const = 0;
  /// How the job has ended, which may be known for longer than the job; nothing: that is not known.
  /// May wait for the disk.
  virtual Expected<std::optional<JobEnding>, StoreError> ending(JobId id) const;
  /// Newest first, at most `limit`; calls `use` for each until it says false.
  virtual void newest(std::size_t limit, const Use& use) const = 0;

  /// The jobs of the page in the order of JobPlace; calls `use` for each until it says false.
  virtual void list(const HistoryPage& page, const Use& use) const;
  /// Whether the job is kept; never waits for the disk where that matters.
  virtual bool contains(JobId id) const { return find(id).has_value(); }
  /// Cost of each user's jobs, including those that are no longer kept; no wait for the disk, as
  /// contains().
  virtual std::map<std::string, Money> spent_by_user() const;
  /// Newest first, at most `limit`; no wait for the disk, as contains().
  virtual void newest_entries(std::size_t limit,
                              const std::function<void(const HistoryEntry&)>& use) const;
  /// Calls `read` once where a wait for the disk harms no actor: at once, or later from a thread of
  /// the history's own. False: it is not called, for too many wait already.
  virtual bool read_apart(std::function<void()> read) const;
};

}  // namespace muster
