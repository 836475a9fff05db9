#pragma once

#include <string>
#include <string_view>

#include "masters/master.hpp"
#include "model/history.hpp"
#include "model/views.hpp"

// The pieces that cell views are made of.

namespace muster::cell {

/// A job that is not over, a job that is.
JobView job_view(const JobRow& row, const Master& master);
JobView job_view(const JobHistory& job);

/// A task of a job that is not over; one of a job that is, by its position in the job.
TaskView task_view(const TaskRow& row, const Master& master, Instant now);
/// Costs of the task since what it holds was booked last.
Money unsettled(const TaskRow& row, const Master& master, Instant now);
TaskView task_view(const TaskHistory& task, std::size_t position, const JobHistory& job,
                   const Catalog& catalog);

/// How a task stands, in a job that is not over and in one that is.
ShownPhase phase_of(const TaskRow& row);
ShownPhase phase_of(const TaskHistory& task);

/// The reason why some of the job's tasks wait, as a sentence: the reason that most of them have,
/// with their number; and the job's failures. Nothing when nothing of it waits. Looks at every task
/// of the job.
std::optional<std::string> reason_of(const JobRow& row, const Master& master);
/// It is a revision of a service that did not come about. The last known trouble of its
/// replicas stands as the reason of its tasks.
bool is_given_up(const JobHistory& job);
/// Why the job failed or was refused; nothing when it did not and was not.
std::optional<std::string> reason_of(const JobHistory& job);

/// When the policy's next regular round is, as the end of a sentence about a task that waits for a
/// place; empty where the policy has no such rounds, or the task waits for something else.
std::string next_round_text(const TaskRow& row, const Master& master, Instant now);
/// Why the task waits or where it sits, as a sentence.
std::string why(const TaskRow& row, const Master& master);
/// "not now: spend cap (asked 2, available 1)"
std::string sentence(const Refusal& refusal);

}  // namespace muster::cell
