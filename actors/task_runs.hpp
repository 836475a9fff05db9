#pragma once

#include <cstdint>
#include <vector>

#include "model/job.hpp"

namespace muster {

/// Tasks of a job that follow each other and are alike but for their numbers, which rise in equal
/// steps or are not given yet, and their array indices. So a job travels that has as many tasks as
/// it may: an array of 100,000 takes what one task takes, or four bytes more a task where its
/// indices have no order.
struct TaskRun {
  TaskSpec first;
  std::uint32_t count = 1;
  /// From each array index to the next, modulo 2^32: empty for a single task, one step where all
  /// are equal.
  std::vector<std::uint32_t> steps{};
  /// From each task's number to the next: a part of a job has every second task, or every third.
  std::uint32_t id_step = 1;
};

/// Tasks of one job that a message may have; no job of a live cluster has as many.
inline constexpr std::uint64_t kMostTasksInMessage = 1U << 20U;

/// The runs that the tasks are made of, in their order: put_tasks() makes the tasks of them again.
std::vector<TaskRun> runs_of(const std::vector<TaskSpec>& tasks);
/// Puts the tasks that the runs are made of in the place of `tasks`; they share their demands.
/// False when these can be no tasks of one job.
bool put_tasks(std::vector<TaskSpec>& tasks, const std::vector<TaskRun>& runs);

}  // namespace muster
