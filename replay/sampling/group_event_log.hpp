#pragma once

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <vector>

#include "actors/messages/messages.hpp"
#include "model/catalog.hpp"
#include "schedulers/sampling/protocol.hpp"
#include "storage/stores/journal.hpp"

namespace muster::sampling {

/// A worker's instance.
struct Host {
  InstanceId instance;
  TypeId type;
};

/// The one event log of a sampling group: its jobs, and every step as the event that a master would
/// record. All actors of the group write to it, each before it sends what follows from the step;
/// they run one at a time.
class GroupEventLog {
 public:
  GroupEventLog(const Catalog& catalog, Journal& journal)
      : catalog_(&catalog), journal_(&journal) {}

  void record(EventBody body, Instant now);

  /// Takes a job in. Its tasks count as long as its hint; nothing for an id that is known.
  SharedJob submit(Job job, Instant now);
  const Job& job(JobId id) const { return open_.at(id).job; }
  /// The job will not run: a reason for each of its tasks, and its end.
  void refuse(JobId id, const Refusal& refusal, Instant now);
  void cancel(JobId id, Instant now);

  /// The task is to run there.
  void assign(const TaskRef& task, const Host& to, CauseCode why, Instant now);
  /// The task starts there, where it was assigned; returns the order for its worker.
  TaskOrder start(const TaskRef& task, const Host& on, Instant now);
  void started(const WorkerReport& report, Instant now);
  /// The job when this was its last task, else nothing.
  std::optional<JobId> finished(const WorkerReport& report, Instant now);
  /// The job is over, with all its tasks.
  void close(JobId id, JobOutcome outcome, Instant now);

  std::size_t open_jobs() const { return open_.size(); }

 private:
  struct Open {
    Job job;
    std::size_t left = 0;  ///< tasks that are not finished
  };

  std::vector<std::optional<Resources>> demand_by_type(const Job& job) const;
  Grant granted(const TaskSpec& task, TypeId on) const;

  const Catalog* catalog_;
  Journal* journal_;
  std::unordered_map<JobId, Open> open_;
  std::unordered_map<TaskId, JobId> jobs_;  ///< of the tasks that run
};

}  // namespace muster::sampling
