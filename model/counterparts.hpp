#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/index_ranges.hpp"
#include "model/job.hpp"

// Words between sites and masters about jobs whose tasks wait for their counterparts in other jobs
// (AfterJob::by_index). The site that has numbered such a job asks the masters of the other jobs
// which of their tasks are over, and tells the masters of the job.

namespace muster {

/// A site asks for the tasks of a job that are over, or whether any has started.
struct CounterpartsAsked {
  JobId job;
  std::uint32_t ended = 0;  ///< TasksOver::ended of the last answer that told all
  std::uint32_t from = 0;   ///< TasksOver::next of the last answer
};

/// How far a master's part of a job has come.
struct TasksOver {
  JobId job;
  bool known = false;       ///< it is here, or was
  bool started = false;     ///< some task of it has
  bool over = false;        ///< no more of its tasks will be
  std::uint32_t tasks = 0;  ///< of the part, once it is over; 0: not known
  std::uint32_t ended = 0;  ///< tasks that are over; as many as were asked with: nothing is new
  std::uint32_t next = 0;   ///< position from which on to ask next; 0: all is told
  std::vector<IndexRange> completed{};  ///< array indices
  std::vector<IndexRange> failed{};     ///< for good
};

/// Tasks that cannot begin any more, for their counterparts in the job.
struct LostTasks {
  JobId of;
  std::vector<IndexRange> tasks{};  ///< array indices
  std::string why{};                ///< as "has failed"
};

/// Tasks of a job whose counterparts are over.
struct CounterpartsTold {
  JobId job;
  std::vector<IndexRange> met{};  ///< array indices of those that may begin
  std::vector<LostTasks> lost{};
};

/// A job whose tasks wait for those of another one.
struct AwaitedJob {
  JobId job;
  AfterEnd end = AfterEnd::ok;

  friend bool operator==(const AwaitedJob&, const AwaitedJob&) = default;
};

/// A job at a master some tasks of which wait for their counterparts.
struct AwaitingJob {
  JobId job;
  std::string user{};
  std::vector<AwaitedJob> after{};

  friend bool operator==(const AwaitingJob&, const AwaitingJob&) = default;
};

}  // namespace muster
