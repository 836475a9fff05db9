#pragma once

#include <array>
#include <concepts>
#include <string_view>
#include <type_traits>
#include <variant>

#include "model/event.hpp"
#include "model/field_key.hpp"
#include "model/job_part_fields.hpp"
#include "model/most_an_instance.hpp"

// The members of every event and of its parts, named once for all who go over them: event logs,
// records, messages and the generators of tests. An archive takes (key, value). A later member goes
// by unless_default(key, value, default), as docs/add-a-field.md says: a log has it if it is used.

namespace muster {

/// The names of the events, in the order of EventBody.
inline constexpr std::array<std::string_view, std::variant_size_v<EventBody>> kEventNames = {
    "job_accepted",      "task_refused",     "round_decided",    "plan_part_refused",
    "launch_requested",  "launch_refused",   "instance_up",      "instance_ready",
    "release_decided",   "terminate_issued", "instance_gone",    "task_assigned",
    "task_unassigned",   "start_issued",     "task_started",     "stop_issued",
    "task_checkpointed", "task_finished",    "task_failed",      "job_finished",
    "task_released",     "job_held",         "job_released",     "job_terminating",
    "measured",          "gang_turn",        "offering_changed", "job_resized",
    "room_claimed",      "replica_changed",  "replica_wanted",   "service_scaled",
    "service_settled",   "counterpart_over", "own_checkpoints"};

void fields(auto& a, Like<InstanceType> auto& v) {
  a("name", v.name);
  a("family", v.family);
  a("capacity", v.capacity);
  a("on_demand_usd_h", v.on_demand);
  a("spot_usd_h", v.spot);
  a("acquire_s", v.acquire);
  a("setup_s", v.setup);
  a("terminate_s", v.terminate);
  a.unless_default("labels", v.labels, {});
}

void fields(auto& a, Like<TaskSpec> auto& v) {
  a({"task", "id"}, v.id);
  a("demands", v.demands);
  a("image", v.image);
  a("delays", v.delays);
  a.unless_default("array_index", v.array_index, 0u);
  a("runtime_hint_s", v.runtime_hint);
}

void fields(auto& a, Like<Program> auto& v) {
  a.unless_default("argv", v.argv, {});
  a.unless_default("env", v.env, {});
  a.unless_default("work_dir", v.work_dir, {});
  a.unless_default("time_limit_s", v.time_limit, {});
  a.unless_default("stop_grace_s", v.stop_grace, {});
  a.unless_default("baseline_rate_per_s", v.baseline_rate_per_s, 0);
  a.unless_default("warn_signal", v.warn_signal, 0);
  a.unless_default("warn_before_s", v.warn_before, {});
  a.unless_default("warn_program_only", v.warn_program_only, false);
  a.unless_default("script", v.script, {});
  a.unless_default("make_work_dir", v.make_work_dir, false);
  a.unless_default("stage", v.stage, {});
  a.unless_default("outputs", v.outputs, {});
  a.unless_default("optional_outputs", v.optional_outputs, false);
}

void fields(auto& a, Like<ProcessEnd> auto& v) {
  a.unless_default("exit_code", v.exit_code, 0);
  a.unless_default("out_tail", v.out_tail, {});
  a.unless_default("err_tail", v.err_tail, {});
  a.unless_default("cpu_s", v.cpu, {});
  a.unless_default({"peak_bytes", "peakBytes"}, v.peak_bytes, 0);
}

void fields(auto& a, Like<Cause> auto& v) {
  a("code", v.code);
  a.figure("gain_usd_h", v.gain_usd_h);
}

void fields(auto& a, Like<Grant> auto& v) {
  a("amount", v.amount);
}

void fields(auto& a, Like<Refusal> auto& v) {
  a("kind", v.kind);
  a("code", v.code);
  a("binding", v.binding);
  a.figure("asked", v.asked);
  a.figure("available", v.available);
}

void fields(auto& a, Like<ElasticEpoch> auto& v) {
  a("until", v.until);
  a.unless_default({"rate_per_s", "rate"}, v.rate_per_s, 0.0);
  a.unless_default("speedup", v.speedup, {});
  a.unless_default("spread", v.spread, {});
}

void fields(auto& a, Like<BatchLimits> auto& v) {
  a("initial", v.initial);
  a("largest", v.largest);
  a("local_min", v.local_min);
  a("local_max", v.local_max);
}

void fields(auto& a, Like<TrainingSample> auto& v) {
  a("nodes", v.nodes);
  a("replicas", v.replicas);
  a("local_batch", v.local_batch);
  a("accumulation", v.accumulation);
  a({"step_s", "step"}, v.step_s);
  a({"sync_s", "sync"}, v.sync_s);
  a("grad_sqr", v.grad_sqr);
  a("grad_var", v.grad_var);
}

void fields(auto& a, Like<JobProgress> auto& v) {
  a("task", v.task);
  a("done", v.done);
  a("training", v.training);
}

void fields(auto& a, Like<TaskMetrics> auto& v) {
  a("task", v.task);
  a("values", v.values);
}

void fields(auto& a, Like<ElasticSpec> auto& v) {
  a("min_width", v.min_width);
  a("max_width", v.max_width);
  a.unless_default("speedup", v.speedup, {});
  a.unless_default("epochs", v.epochs, {});
  a.unless_default("unit", v.unit, {});
  a("batch", v.batch);
}

void fields(auto& a, Like<HealthCheck> auto& v) {
  a("kind", v.kind);
  a.unless_default("port", v.port, {});
  a.unless_default("path", v.path, {});
  a.unless_default("command", v.command, {});
  a("every_s", v.every);
  a("timeout_s", v.timeout);
  a("successes", v.successes);
  a("failures", v.failures);
}

void fields(auto& a, Like<ServiceGoal> auto& v) {
  a("metric", v.metric);
  a("bound", v.bound);
  a("at_least", v.at_least);
  a.unless_default("probe", v.probe, {});
  a("every_s", v.every);
  a("timeout_s", v.timeout);
}

void fields(auto& a, Like<ServiceSpec> auto& v) {
  a.unless_default("ports", v.ports, {});
  a.unless_default("ready", v.ready, {});
  a.unless_default("alive", v.alive, {});
  a("start_within_s", v.start_within);
  a.unless_default("drain_s", v.drain, {});
  a("replicas", v.replicas);
  a("surge", v.surge);
  a("max_unavailable", v.max_unavailable);
  a("healthy_for_s", v.healthy_for);
  a("update_within_s", v.update_within);
  a.unless_default("goal", v.goal, {});
  a.unless_default("least", v.least, 0u);
  a.unless_default("most", v.most, 0u);
  a.unless_default("least_cpus", v.size.least_cpus, 0.0);
  a.unless_default("least_memory_gib", v.size.least_memory_gib, 0.0);
  a("revision", v.revision);
  a("replaces", v.replaces);
  a.unless_default("master", v.master, {});
}

void fields(auto& a, Like<ReplicaPort> auto& v) {
  a("name", v.name);
  a("number", v.number);
}

void fields(auto& a, Like<ReplicaState> auto& v) {
  a("ready", v.ready);
  a.unless_default("restarts", v.restarts, 0u);
  a.unless_default("exit_code", v.exit_code, 0);
  a.unless_default("pause_s", v.pause, {});
  a.unless_default("trouble", v.trouble, {});
  a.unless_default("address", v.address, {});
  a.unless_default("ports", v.ports, {});
}

void fields(auto& a, Like<AttemptMetrics> auto& v) {
  a("said", v.said);
  a("attempt", v.attempt);
  a("replica", v.replica);
}

void fields(auto& a, Like<Job> auto& v) {
  a({"job", "id"}, v.id);
  a("name", v.name);
  a("user", v.user);
  a({"class", "workloadClass"}, v.workload_class);
  a("priority", v.priority);
  a("gang", v.gang);
  a("runtime_hint_s", v.runtime_hint);
  a("tasks", v.tasks);
  a.unless_default("program", v.program, {});
  a.unless_default("markets", v.markets, MarketChoice::any);
  a.unless_default("max_running", v.max_running, 0u);
  a("retries", v.retries);
  a.unless_default("token", v.token, {});
  a.template alternative<ElasticSpec>("elastic", v.kind);
  a.template alternative<ServiceSpec>("service", v.kind);
  a.unless_default("length", v.prediction.length, JobLength::unknown);
  a.unless_default("spot_safe", v.prediction.spot_safe, false);
  a("predicted_runtime_s", v.prediction.runtime);
  a.unless_default("confidence", v.prediction.confidence, 0.0);
  a.unless_default("total_tasks", v.total_tasks, 0u);
  a("origin", v.origin);
  a.unless_default({"movable", "!notMovable"}, v.movable, true);
  a.unless_default({"checkpoints", "!noCheckpoints"}, v.checkpoints, true);
  a("max_fails", v.max_fails);
  most_an_instance_fields(a, v.most_an_instance);
  a.unless_default("done_on_stop", v.done_on_stop, false);
  a.unless_default("retry_on", v.retry_on, {});
  a.unless_default("constraint", v.constraint, {});
  a.unless_default("after", v.after, {});
  a.optional_id("again_of", v.again_of);
  a("submitted_s", v.submitted);
  a("begin_s", v.begin);
  a("deadline_s", v.deadline);
  a.unless_default("held", v.held, false);
  a.unless_default("keeps_waiting", v.keeps_waiting, false);
  a.unless_default("every", v.every, {});
  a.unless_default("zone", v.zone, {});
  a.unless_default("overlaps", v.overlaps, false);
  a.optional_id("recurs", v.recurs);
  a.unless_default("notify", v.notify, {});
  a.unless_default("notify_on", v.notify_on, NotifyOn::end);
}

void fields(auto& a, Like<JobAccepted> auto& e) {
  fields(a, e.job);
}

void fields(auto& a, Like<TaskRefused> auto& e) {
  a("task", e.task);
  a("refusal", e.refusal);
}

void fields(auto& a, Like<RoundDecided> auto& e) {
  a("round", e.round);
  a("choice", e.note.choice);
  a("figures", e.note.figures);
  a.unless_default("quiet", e.quiet, std::uint64_t{0});
  a.unless_default("settled", e.settled, false);
  a.unless_default("behind", e.behind, std::uint64_t{0});
  a.unless_default("took_s", e.took, {});
  a.unless_default("budget", e.budget, std::uint64_t{0});
  a.unless_default("ahead_s", e.ahead, {});
}

void fields(auto& a, Like<PlanPartRefused> auto& e) {
  a.optional_id("task", e.task);
  a.optional_id("instance", e.instance);
  a("refusal", e.refusal);
}

void fields(auto& a, Like<LaunchRequested> auto& e) {
  a("instance", e.instance);
  a("type", e.type);
  a("market", e.market);
  a("price_usd_h", e.price);
  a("cause", e.cause);
  a.unless_default("zone", e.zone, {});
  a.unless_default("max_price_usd_h", e.max_price, e.price);
}

void fields(auto& a, Like<LaunchRefused> auto& e) {
  a("instance", e.instance);
  a("refusal", e.refusal);
  a.unless_default("reason", e.reason, CloudReason::not_said);
}

void fields(auto& a, Like<InstanceUp> auto& e) {
  a("instance", e.instance);
  a({"billed_from", "billed"}, e.billed_from);
  a.unless_default("ahead_s", e.ahead, {});
}
void fields(auto& a, Like<InstanceReady> auto& e) {
  a("instance", e.instance);
}

void fields(auto& a, Like<OwnCheckpoints> auto& e) {
  a("instance", e.instance);
}

void fields(auto& a, Like<ReleaseDecided> auto& e) {
  a("instance", e.instance);
  a("cause", e.cause);
  a.unless_default("capped_day", e.capped_day, -1);
  a.unless_default("capped_usd", e.capped_usd, 0.0);
}

void fields(auto& a, Like<TerminateIssued> auto& e) {
  a("instance", e.instance);
}
void fields(auto& a, Like<InstanceGone> auto& e) {
  a("instance", e.instance);
  a({"billed_until", "billed"}, e.billed_until);
  a.unless_default("reason", e.reason, CloudReason::ended);
}

void fields(auto& a, Like<TaskAssigned> auto& e) {
  a("task", e.task);
  a("to", e.to);
  a("cause", e.cause);
  a("grant", e.grant);
}

void fields(auto& a, Like<TaskUnassigned> auto& e) {
  a("task", e.task);
  a("cause", e.cause);
}

void fields(auto& a, Like<StartIssued> auto& e) {
  a("task", e.task);
  a("instance", e.instance);
  a("attempt", e.attempt);
  a("grant", e.grant);
}

void fields(auto& a, Like<TaskStarted> auto& e) {
  a("task", e.task);
  a("attempt", e.attempt);
  a("fetch_s", e.fetch);
  a("build_s", e.build);
}

void fields(auto& a, Like<StopIssued> auto& e) {
  a("task", e.task);
  a("attempt", e.attempt);
}

void fields(auto& a, Like<TaskCheckpointed> auto& e) {
  a("task", e.task);
  a("attempt", e.attempt);
  a("upload_s", e.upload);
  a.unless_default("end", e.end, {});
}

void fields(auto& a, Like<TaskFinished> auto& e) {
  a("task", e.task);
  a("attempt", e.attempt);
  a.unless_default("end", e.end, {});
}

void fields(auto& a, Like<TaskFailed> auto& e) {
  a("task", e.task);
  a("attempt", e.attempt);
  a("reason", e.reason);
  a.unless_default("end", e.end, {});
  a.unless_default("blameless", e.blameless, false);
  a.unless_default("kind", e.kind, FailureKind::unknown);
  a.unless_default("for_good", e.for_good, false);
  a("retry_at", e.retry_at);
}

void fields(auto& a, Like<JobFinished> auto& e) {
  a("job", e.job);
  a("outcome", e.outcome);
  a("mean_throughput", e.mean_throughput);
  a("throughput_samples", e.throughput_samples);
}

void fields(auto& a, Like<TaskReleased> auto& e) {
  a("task", e.task);
}
void fields(auto& a, Like<CounterpartOver> auto& e) {
  a("task", e.task);
  a.unless_default("lost", e.lost, {});
}
void fields(auto& a, Like<JobHeld> auto& e) {
  a("job", e.job);
}
void fields(auto& a, Like<JobReleased> auto& e) {
  a("job", e.job);
}

void fields(auto& a, Like<JobTerminating> auto& e) {
  a("job", e.job);
  a("outcome", e.outcome);
}

void fields(auto& a, Like<Measured> auto& e) {
  a("throughput", e.samples);
  a.unless_default("quiet", e.quiet, std::uint64_t{0});
  a.unless_default("progress", e.progress, {});
  a.unless_default("metrics", e.metrics, {});
}

void fields(auto& a, Like<ReplicaChanged> auto& e) {
  a("task", e.task);
  a("attempt", e.attempt);
  a("state", e.state);
}

void fields(auto& a, Like<ReplicaWanted> auto& e) {
  a("task", e.task);
  a("wanted", e.wanted);
  a("cause", e.cause);
}

void fields(auto& a, Like<ServiceScaled> auto& e) {
  a("job", e.job);
  a("replicas", e.replicas);
  a("measured", e.measured);
}

void fields(auto& a, Like<ServiceSettled> auto& e) {
  a("job", e.job);
}

void fields(auto& a, Like<JobResized> auto& e) {
  a("job", e.job);
  a("width", e.width);
  a("cause", e.cause);
}

void fields(auto& a, Like<GangTurn> auto& e) {
  a("job", e.job);
  a("until", e.until);
}

void fields(auto& a, Like<ClosedInstance> auto& v) {
  a("instance", v.instance);
  a("until", v.until);
}

void fields(auto& a, Like<RoomClaimed> auto& e) {
  a("job", e.job);
  a("task", e.task);
  a("short_of", e.short_of);
  a("instances", e.instances);
  a("price_usd_h", e.price);
  a("closed", e.closed);
}

void fields(auto& a, Like<OfferingChange> auto& v) {
  a("number", v.number);
  a({"changed_at", "at"}, v.at);
  a("type", v.offering.type);
  a("market", v.offering.market);
  a.unless_default("zone", v.offering.zone, {});
  a("price_usd_h", v.offering.price);
  a.unless_default("available", v.offering.available, true);
  a.unless_default("interruptions_h", v.offering.interruptions_h, 0.0);
  a("free", v.offering.free);
}

void fields(auto& a, Like<OfferingChanged> auto& e) {
  fields(a, e.change);
}

/// Does nothing with members: stands for whatever goes over them.
struct FieldProbe {
  void operator()(Key, const auto&) {}
  void unless_default(Key, const auto&, const auto&) {}
  template <class T>
  void alternative(Key, const auto&) {}
  void optional_id(Key, const auto&) {}
  void figure(Key, double) {}
};

/// A type whose `fields` describe its members.
template <class T>
concept Described = requires(FieldProbe& probe, T& value) {
  fields(probe, value);
};

/// An event of the kind, which counts into EventBody.
template <std::size_t kIndex = 0>
EventBody empty_body(std::size_t index) {
  if constexpr (kIndex + 1 < std::variant_size_v<EventBody>) {
    if (index != kIndex) return empty_body<kIndex + 1>(index);
  }
  return EventBody{std::in_place_index<kIndex>};
}

}  // namespace muster
