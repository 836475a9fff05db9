#include "tools/report/json_report.hpp"

#include <nlohmann/json.hpp>

namespace muster::report {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& figure) {
  return figure ? Json(*figure) : Json(nullptr);
}

Json if_any_round(const metrics::RunResult& run, double figure) {
  return run.rounds > 0 ? Json(figure) : Json(nullptr);
}

Json purposes_of(const metrics::RunResult& run) {
  Json purposes = Json::object();
  for (const auto& [purpose, usd] : run.cost_by_purpose) purposes[purpose] = usd;
  return purposes;
}

Json not_completed_of(const metrics::RunResult& run) {
  Json jobs = Json::array();
  for (const auto& [job, reason] : run.not_completed) {
    jobs.push_back({{"job", job}, {"reason", reason}});
  }
  return jobs;
}

Json class_of(const std::optional<metrics::ClassFigures>& figures) {
  if (!figures) return nullptr;
  return {{"jobs_submitted", figures->submitted},
          {"jobs_completed", figures->completed},
          {"mean_jct_s", or_null(figures->mean_jct_s)},
          {"p50_jct_s", or_null(figures->p50_jct_s)},
          {"p90_jct_s", or_null(figures->p90_jct_s)},
          {"p99_jct_s", or_null(figures->p99_jct_s)},
          {"slo_met", or_null(figures->slo_met)},
          {"normalized_jct", or_null(figures->normalized_jct)}};
}

Json utilization_of(const metrics::RunResult& run) {
  Json utilization = Json::object();
  for (std::size_t i = 0; i < kResourceKinds; ++i) {
    utilization[std::string(name_of(kAllResources[i]))] = or_null(run.utilization[i]);
  }
  return utilization;
}

Json json_of(const metrics::RunResult& run) {
  return {{"policy", run.policy},
          {"seed", run.seed},
          {"jobs_submitted", run.jobs_submitted},
          {"jobs_completed", run.jobs_completed},
          {"total_cost_usd", run.total_cost_usd},
          {"normalized_cost", or_null(run.normalized_cost)},
          {"mean_jct_h", or_null(run.mean_jct_h)},
          {"p50_jct_h", or_null(run.p50_jct_h)},
          {"p95_jct_h", or_null(run.p95_jct_h)},
          {"p99_jct_h", or_null(run.p99_jct_h)},
          {"normalized_jct", or_null(run.normalized_jct)},
          {"short_jobs", class_of(run.short_jobs)},
          {"long_jobs", class_of(run.long_jobs)},
          {"makespan_s", or_null(run.makespan_s)},
          {"throughput_jobs_h", or_null(run.throughput_jobs_h)},
          {"normalized_throughput", or_null(run.normalized_throughput)},
          {"utilization", utilization_of(run)},
          {"mean_idle_h", or_null(run.mean_idle_h)},
          {"mean_normalized_throughput", or_null(run.mean_normalized_throughput)},
          {"tasks_per_instance", or_null(run.tasks_per_instance)},
          {"allocation",
           {{"gpu", or_null(run.allocation_gpu)},
            {"cpu", or_null(run.allocation_cpu)},
            {"memory", or_null(run.allocation_memory)}}},
          {"instances_launched", run.instances_launched},
          {"interruptions", run.interruptions},
          {"lost_work_h", run.lost_work_h},
          {"migrations_per_task", or_null(run.migrations_per_task)},
          {"full_reconfiguration_share", or_null(run.full_reconfiguration_share)},
          {"rounds", run.rounds},
          {"decision_ms_mean", if_any_round(run, run.decision_ms_mean)},
          {"decision_ms_p99", if_any_round(run, run.decision_ms_p99)},
          {"wall_s", run.wall_s},
          {"events", run.events},
          {"event_log_sha256", run.event_log_sha256},
          {"cost_by_purpose", purposes_of(run)},
          {"jobs_not_completed", run.not_completed.size()},
          {"not_completed", not_completed_of(run)}};
}

}  // namespace

std::string json_report(std::span<const metrics::RunResult> runs) {
  Json list = Json::array();
  for (const metrics::RunResult& run : runs) list.push_back(json_of(run));
  return Json{{"runs", list}}.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace muster::report
