#pragma once

#include "model/cluster_state.hpp"

// Whether a job is to have one of its tasks at work.

namespace muster {

/// An elastic job has its width without it.
inline bool is_beyond_width(const TaskRow& row, const JobRow& job) {
  return job.width > 0 && row.index >= job.width;
}
/// Its service has its replicas without it.
inline bool is_unwanted(const TaskRow& row, const JobRow& job) {
  return !row.wanted && job.job.service() != nullptr;
}

}  // namespace muster
