#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "masters/master.hpp"
#include "model/history.hpp"

// The pieces that cell views are made of.

namespace muster::cell {

/// A job that is not over, a job that is.
nlohmann::json job_json(const JobRow& row, const Master& master);
nlohmann::json job_json(const JobHistory& job);

/// A task of a job that is not over; one of a job that is, by its position in the job.
nlohmann::json task_json(const TaskRow& row, const Master& master, Instant now);
nlohmann::json task_json(const TaskHistory& task, std::size_t position, const JobHistory& job,
                         const Catalog& catalog);

/// The word for where a task is, in a job that is not over and in one that is.
std::string_view phase_of(const TaskRow& row);
std::string_view phase_of(const TaskHistory& task);

/// The amounts by the names of the kinds: GPUs, CPUs and memory always, others unless they are 0.
nlohmann::json resources_json(const Resources& amounts);

/// Why some of the job's tasks wait, as a sentence: the reason that most of them have, and how many
/// they are; what has failed of it. Null when nothing of it waits. Looks at every task of the job.
nlohmann::json reason_of(const JobRow& row, const Master& master);
/// Why the job failed or was refused; null when it did not and was not.
nlohmann::json reason_of(const JobHistory& job);

/// Why the task waits or where it sits, as a sentence.
std::string why(const TaskRow& row, const Master& master);
/// "not now: spend cap (asked 2, available 1)"
std::string sentence(const Refusal& refusal);

}  // namespace muster::cell
