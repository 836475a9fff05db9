#pragma once

#include <chrono>
#include <cstdint>

#include "model/cluster_state.hpp"

namespace muster {

/// Source of expected run times.
enum class RunTimeSource : std::uint8_t {
  unknown,    ///< no source
  predicted,  ///< the site, which predicts it
  hinted      ///< users, who say it
};

/// How the run times of tasks are estimated.
struct RunTimeRules {
  RunTimeSource source = RunTimeSource::predicted;
  Duration otherwise{std::chrono::seconds{300}};  ///< where the source says nothing
  /// A task that outlives its estimate is taken to have run for half of its time; otherwise it is
  /// taken to end at once.
  bool readjust = true;
};

/// How long the task of the job is taken to run alone, from its beginning; never 0. Of a user who
/// speaks of the task the word on the job does not count.
Duration expected_run(const Job& job, const TaskSpec& task, const RunTimeRules& rules);

/// The rest of such a time after the task has run for `ran`. Stratus 3.4: an estimate that was too
/// low is doubled as often as it takes.
Duration expected_left(Duration expected, Duration ran, const RunTimeRules& rules);

/// How long the task has run so far, as far as that is not lost.
Duration ran_so_far(const TaskRow& task, Instant now);

}  // namespace muster
