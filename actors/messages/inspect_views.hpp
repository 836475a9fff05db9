#pragma once

#include "actors/messages/inspect.hpp"
#include "actors/task_ends.hpp"
#include "model/views.hpp"

// How questions about the cluster and their answers travel.

namespace muster {

/// A value that CAF 0.17 cannot carry by itself.
template <class T>
struct OnWire {
  T& value;
};

/// Chooses what travels in the place of the value: itself, or an OnWire that says how.
template <class T>
T& on_wire(T& x) {
  return x;
}
/// The same of numbers,
inline OnWire<double> on_wire(double& x) {
  return {x};
}
/// of instants,
inline OnWire<Instant> on_wire(Instant& x) {
  return {x};
}
/// and of what may not be there.
template <class T>
OnWire<std::optional<T>> on_wire(std::optional<T>& x) {
  return {x};
}

/// Hands the fields of a struct to the inspector, each of them once.
template <class Inspector, class... Fields>
typename Inspector::result_type inspect_fields(Inspector& f, const char* name, Fields&... fields) {
  const auto pass = [&](auto&&... each) { return f(caf::meta::type_name(name), each...); };
  return pass(on_wire(fields)...);
}

/// As its bit pattern, as all floating point (actors/messages/inspect.hpp).
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, OnWire<double>& x) {
  auto bits = std::bit_cast<std::uint64_t>(x.value);
  const auto load = [&]() -> caf::error {
    x.value = std::bit_cast<double>(bits);
    return caf::none;
  };
  return f(bits, caf::meta::load_callback(load));
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, OnWire<Instant>& x) {
  Duration since = x.value.time_since_epoch();
  const auto load = [&]() -> caf::error {
    x.value = Instant{since};
    return caf::none;
  };
  return f(since, caf::meta::load_callback(load));
}

/// Sends a default value, with a flag that it is none, for what is not there.
template <class Inspector, class T>
typename Inspector::result_type inspect(Inspector& f, OnWire<std::optional<T>>& x) {
  bool has = x.value.has_value();
  T inner = x.value.value_or(T{});
  const auto load = [&]() -> caf::error {
    x.value.reset();
    if (has) x.value = std::move(inner);
    return caf::none;
  };
  auto&& carried = on_wire(inner);
  return f(has, carried, caf::meta::load_callback(load));
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, JobsQuestion& x) {
  return inspect_fields(f, "jobs_question", x.active, x.over, x.user, x.most, x.active_below,
                        x.over_below, x.only);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, JobQuestion& x) {
  return inspect_fields(f, "job_question", x.job, x.explained, x.after, x.phase, x.tasks_only,
                        x.most);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, FindQuestion& x) {
  return inspect_fields(f, "find_question", x.job, x.index);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, RequestQuestion& x) {
  return inspect_fields(f, "request_question", x.job);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, CostQuestion& x) {
  return inspect_fields(f, "cost_question", x.by);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, RentedQuestion& x) {
  return inspect_fields(f, "rented_question", x.most);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, ElasticView& x) {
  return inspect_fields(f, "elastic_view", x.least, x.most, x.width, x.done, x.whole, x.unit);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, SubmissionView& x) {
  return inspect_fields(f, "submission_view", x.job, x.array);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, JobView& x) {
  return inspect_fields(f, "job_view", x.job, x.name, x.user, x.workload_class, x.command, x.market,
                        x.gang, x.movable, x.checkpoints, x.distinct_instances, x.state, x.tasks,
                        x.whole, x.waiting, x.held, x.capped, x.starting, x.running, x.finished,
                        x.failed, x.failed_attempts, x.submitted, x.over, x.usd, x.max_fails,
                        x.exit_code, x.failed_task, x.failure, x.reason, x.master, x.to, x.to_site,
                        x.elastic, x.submission);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, ReasonView& x) {
  return inspect_fields(f, "reason_view", x.kind, x.code, x.text);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, FailureView& x) {
  return inspect_fields(f, "failure_view", x.kind, x.text);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, FigureView& x) {
  return inspect_fields(f, "figure_view", x.name, x.value);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, TaskView& x) {
  return inspect_fields(f, "task_view", x.index, x.phase, x.attempt, x.instance, x.instance_type,
                        x.usd, x.exit_code, x.reason, x.moves, x.failures, x.last_failure, x.ran_s,
                        x.started, x.ended, x.metrics, x.why);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, JobsView& x) {
  return inspect_fields(f, "jobs_view", x.jobs, x.cut, x.rest);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, JobDetails& x) {
  return inspect_fields(f, "job_details", x.known, x.job, x.tasks, x.behind);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, FoundView& x) {
  return inspect_fields(f, "found_view", x.known, x.over, x.position);
}
/// The ends of many tasks in five bytes a task at most, and in few bytes where they are alike.
struct TaskEndsOnWire {
  std::vector<TaskEnd>& ends;
};
inline TaskEndsOnWire on_wire(std::vector<TaskEnd>& x) {
  return {x};
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, TaskEndsOnWire& x) {
  std::uint32_t count = static_cast<std::uint32_t>(x.ends.size());
  std::vector<std::uint32_t> positions = steps_of(x.ends, &TaskEnd::position);
  std::vector<std::uint32_t> indices = steps_of(x.ends, &TaskEnd::index);
  std::string kinds = kinds_of(x.ends);
  const auto load = [&]() -> caf::error {
    const bool fits = put_ends(x.ends, count, {positions, indices, kinds});
    return fits ? caf::error{} : caf::error{caf::sec::invalid_argument};
  };
  return f(count, positions, indices, kinds, caf::meta::load_callback(load));
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, RequestView& x) {
  return inspect_fields(f, "request_view", x.known, x.job, x.whole, x.over, x.tasks);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, OccupantView& x) {
  return inspect_fields(f, "occupant_view", x.job, x.index);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, InstanceView& x) {
  return inspect_fields(f, "instance_view", x.instance, x.type, x.market, x.phase, x.released,
                        x.usd_h, x.requested, x.up, x.master, x.tasks, x.more_tasks, x.used,
                        x.capacity, x.connected, x.limits, x.isolation);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, InstancesView& x) {
  return inspect_fields(f, "instances_view", x.instances, x.more);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, CostPart& x) {
  return inspect_fields(f, "cost_part", x.name, x.usd);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, CostView& x) {
  return inspect_fields(f, "cost_view", x.total_usd, x.unsettled_usd, x.tasks_usd, x.idle, x.by);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, DecisionView& x) {
  return inspect_fields(f, "decision_view", x.at, x.master, x.round, x.choice, x.figures,
                        x.launches, x.placements, x.moves, x.releases, x.resizes);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, DecisionsView& x) {
  return inspect_fields(f, "decisions_view", x.decisions);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, OfferCount& x) {
  return inspect_fields(f, "offer_count", x.type, x.market, x.count);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, CapsView& x) {
  return inspect_fields(f, "caps_view", x.max_instances, x.max_usd_h, x.max_usd_day);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, CountView& x) {
  return inspect_fields(f, "count_view", x.kind, x.of, x.count);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, BucketView& x) {
  return inspect_fields(f, "bucket_view", x.bound, x.count);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, HistogramView& x) {
  return inspect_fields(f, "histogram_view", x.name, x.buckets, x.beyond, x.sum);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, MetricView& x) {
  return inspect_fields(f, "metric_view", x.user, x.name, x.tasks, x.least, x.mean, x.most);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, HistorySample& x) {
  return inspect_fields(f, "history_sample", x.at, x.usd_h, x.spent_usd, x.instances,
                        x.tasks_running, x.tasks_pending, x.jobs_waiting);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, HistoryView& x) {
  return inspect_fields(f, "history_view", x.samples);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, CellFigures& x) {
  return inspect_fields(f, "cell_figures", x.master, x.jobs_waiting, x.jobs_running, x.jobs_held,
                        x.active_jobs, x.over_jobs, x.pending, x.assigned, x.held, x.capped,
                        x.running, x.elastic_jobs, x.elastic_workers, x.instances, x.instance_count,
                        x.usd_h, x.total_usd, x.today_usd, x.rounds, x.last_decision_ms, x.caps,
                        x.trouble, x.counts, x.histograms, x.metrics);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, SiteFigures& x) {
  return inspect_fields(f, "site_figures", x.site, x.waiting, x.trouble);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, PlanView::Launch& x) {
  return inspect_fields(f, "plan_launch", x.type, x.market, x.usd_h);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, PlanView::Place& x) {
  return inspect_fields(f, "plan_place", x.task, x.to);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, PlanView::Refusal& x) {
  return inspect_fields(f, "plan_refusal", x.task, x.kind, x.why);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, PlanView& x) {
  return inspect_fields(f, "plan_view", x.master, x.launches, x.places, x.refusals, x.left_out,
                        x.moves, x.usd_h, x.usd_h_now);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, RentedInstance& x) {
  return inspect_fields(f, "rented_instance", x.instance, x.type, x.market, x.state, x.up, x.gone,
                        x.notice, x.usd_h, x.usd);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, RentedView& x) {
  return inspect_fields(f, "rented_view", x.rented, x.total_usd, x.launched);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, CloudFigures& x) {
  return inspect_fields(f, "cloud_figures", x.instances, x.launched, x.refused, x.worker_restarts,
                        x.trouble);
}

}  // namespace muster
