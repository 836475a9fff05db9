#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "masters/master.hpp"
#include "model/history.hpp"

// The pieces that cell views are made of.

namespace muster::cell {

/// A job that is not over, a job that is.
nlohmann::json job_json(const JobRow& row, const Master& master);
nlohmann::json job_json(const JobHistory& job);

/// A task of a job that is not over; one of a job that is, by its position in the job.
nlohmann::json task_json(const TaskRow& row, const Master& master);
nlohmann::json task_json(const TaskHistory& task, std::size_t position, const JobHistory& job,
                         const Catalog& catalog);

/// The amounts by the names of the kinds: GPUs, CPUs and memory always, others unless they are 0.
nlohmann::json resources_json(const Resources& amounts);

/// "waiting", "running", ...: what most of its users want to know of a job in one word.
std::string_view state_of(const JobRow& row);

/// Why the task waits or where it sits, as a sentence.
std::string why(const TaskRow& row, const Master& master);
/// "not now: spend cap (asked 2, available 1)"
std::string sentence(const Refusal& refusal);

}  // namespace muster::cell
