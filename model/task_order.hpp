#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/fields.hpp"
#include "model/job.hpp"
#include "model/resources.hpp"

// A master's order to a worker to run a task. One struct is the actors' message, the frame of the
// worker link, an executor's argument and the text in an attempt's folder: each goes over
// `fields`. docs/add-a-field.md says what there is to touch for a new member.

namespace muster {

/// One attempt of a task, ordered of a worker.
struct TaskOrder {
  JobId job;
  TaskSpec task;
  Attempt attempt = 0;
  Resources granted;  ///< resources that the attempt may use on its instance
  Program program;
  std::uint32_t task_count = 1;  ///< of the job; of an elastic one: its width
  std::string workload_class;
  std::string user;                      ///< whose job it is
  std::optional<ServiceSpec> service{};  ///< the task is a replica of it

  friend bool operator==(const TaskOrder&, const TaskOrder&) = default;
};

/// The order to run an attempt of a job's task. Of an elastic job, the count of tasks is the
/// caller's to set.
inline TaskOrder order_of(const Job& job, const TaskSpec& task, Attempt attempt,
                          const Resources& granted) {
  TaskOrder order;
  order.job = job.id;
  order.task = task;
  order.attempt = attempt;
  order.granted = granted;
  order.program = job.program;
  order.task_count = job.task_count();
  order.workload_class = job.workload_class;
  order.user = job.user;
  if (const ServiceSpec* service = job.service()) order.service = *service;
  return order;
}

void fields(auto& a, Like<TaskOrder> auto& v) {
  a("job", v.job);
  a("task", v.task);
  a("attempt", v.attempt);
  a("granted", v.granted);
  a("program", v.program);
  a("task_count", v.task_count);
  a("workload_class", v.workload_class);
  // "user" is the account's number where a task's process is described.
  a({"user_name", "user"}, v.user);
  a("service", v.service);
}

}  // namespace muster
