#pragma once

#include <cstddef>
#include <vector>

#include "learning/classifier_training.hpp"
#include "replay/workload/workload.hpp"

namespace muster::train {

/// A job of the past, with what a scheduler could have seen when it was submitted.
struct PastJob {
  const Job* job = nullptr;
  Instant submit;
  Duration runtime{};  ///< its mean task duration
  SystemUse use;

  Instant end() const { return submit + runtime; }
};

/// A workload as the past, in the order of submission: a first part to learn from and a later one
/// to be tested on.
struct History {
  std::vector<PastJob> jobs;
  std::size_t first_test = 0;  ///< the position of the first job of the later part
  Resources capacity;          ///< estimated

  /// The instant at which what is trained would begin to be used.
  Instant trained_at() const;
};

/// A workload has no record of its system, so it is estimated: every job counts as started when it
/// was submitted and as over a mean task duration later. In use at a submission is what the jobs
/// ask for that have been submitted before and are not over; the capacity of each kind is the 95th
/// percentile of that over the submissions of the first part. `test_share` in [0, 1) of the jobs
/// are the later part. The workload has to outlive the history.
History make_history(const replay::Workload& workload, double test_share);

/// The positions of the first part's jobs whose length was known before the later part began: they
/// were over, or had already run for longer than the threshold.
std::vector<std::size_t> known_jobs(const History& history, Duration threshold);

}  // namespace muster::train
