#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/views.hpp"
#include "serve/node/json_text.hpp"
#include "serve/node/last_answers.hpp"
#include "serve/node/merge.hpp"
#include "serve/node/merge_jobs.hpp"

// Views as the API's documents: the shapes are those of serve/api/schemas.json. Those that
// take `silent` say who has not answered and whether everybody has.

namespace muster::view_json {

/// The jobs, one after the other; for a list that is put together in pieces.
void add_jobs(JsonText& list, const std::vector<JobView>& jobs);
/// The same of tasks. `explained`: with why each of them waits or is where it is.
void add_tasks(JsonText& list, const std::vector<TaskView>& tasks, bool explained);

/// A page of jobs.
std::string jobs(const JsonText& list, const std::optional<JobCursor>& next, const Silent& silent);

/// A page of a job's tasks, where the next begins, and how many tasks come behind it.
struct TaskPage {
  const JsonText& list;
  std::optional<std::uint32_t> next{};
  std::uint64_t behind = 0;
};
/// A job with a page of its tasks; beside them when it is explained, else around them.
std::string job(const JobView& job, const TaskPage& tasks, bool explained, const Silent& silent);

/// The instances of all masters.
std::string instances(const std::vector<InstanceView>& list, const Silent& silent);
/// Rounds of all masters that changed something.
/// The past of the cluster.
std::string history(const std::vector<HistorySample>& samples, const Silent& silent);
std::string decisions(const std::vector<DecisionView>& list, const Silent& silent);
/// Costs of the cluster.
std::string cost(const CostView& cost, const Silent& silent);
/// The cluster at a glance.
std::string status(const merge::ClusterStatus& status, const Silent& silent);
/// The nodes with their roles and loads.
std::string nodes(const std::vector<merge::NodeLine>& list);
/// The plan for one job more.
std::string plan(const PlanView& plan);

}  // namespace muster::view_json
