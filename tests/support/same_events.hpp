#pragma once

#include <algorithm>
#include <variant>

#include "model/event.hpp"

namespace muster::test {

inline bool same(const TaskSpec& a, const TaskSpec& b) {
  return a.id == b.id && a.demands == b.demands && a.image == b.image && a.delays == b.delays &&
         a.array_index == b.array_index;
}

inline bool same(const Job& a, const Job& b) {
  return a.id == b.id && a.name == b.name && a.user == b.user &&
         a.workload_class == b.workload_class && a.priority == b.priority && a.gang == b.gang &&
         a.runtime_hint == b.runtime_hint && a.program == b.program && a.markets == b.markets &&
         a.max_running == b.max_running && a.retries == b.retries && a.token == b.token &&
         a.movable == b.movable && a.checkpoints == b.checkpoints && a.max_fails == b.max_fails &&
         a.kind == b.kind && a.prediction == b.prediction && a.whole_tasks == b.whole_tasks &&
         a.origin == b.origin &&
         std::equal(a.tasks.begin(), a.tasks.end(), b.tasks.begin(), b.tasks.end(),
                    [](const TaskSpec& s, const TaskSpec& t) { return same(s, t); });
}

/// Field by field, without the help of the writer.
struct SameBody {
  const EventBody& other;

  bool operator()(const JobAccepted& a) const {
    return same(a.job, std::get<JobAccepted>(other).job);
  }
  bool operator()(const TaskRefused& a) const {
    const auto& b = std::get<TaskRefused>(other);
    return a.task == b.task && a.refusal == b.refusal;
  }
  bool operator()(const RoundDecided& a) const {
    const auto& b = std::get<RoundDecided>(other);
    return a.round == b.round && a.note == b.note && a.quiet == b.quiet && a.settled == b.settled;
  }
  bool operator()(const PlanPartRefused& a) const {
    const auto& b = std::get<PlanPartRefused>(other);
    return a.task == b.task && a.instance == b.instance && a.refusal == b.refusal;
  }
  bool operator()(const LaunchRequested& a) const {
    const auto& b = std::get<LaunchRequested>(other);
    return a.instance == b.instance && a.type == b.type && a.market == b.market &&
           a.price == b.price && a.cause == b.cause && a.zone == b.zone &&
           a.max_price == b.max_price;
  }
  bool operator()(const LaunchRefused& a) const {
    const auto& b = std::get<LaunchRefused>(other);
    return a.instance == b.instance && a.refusal == b.refusal && a.reason == b.reason;
  }
  bool operator()(const InstanceUp& a) const {
    const auto& b = std::get<InstanceUp>(other);
    return a.instance == b.instance && a.billed_from == b.billed_from && a.ahead == b.ahead;
  }
  bool operator()(const InstanceReady& a) const {
    return a.instance == std::get<InstanceReady>(other).instance;
  }
  bool operator()(const ReleaseDecided& a) const {
    const auto& b = std::get<ReleaseDecided>(other);
    return a.instance == b.instance && a.cause == b.cause && a.capped_day == b.capped_day &&
           a.capped_usd == b.capped_usd;
  }
  bool operator()(const TerminateIssued& a) const {
    return a.instance == std::get<TerminateIssued>(other).instance;
  }
  bool operator()(const InstanceGone& a) const {
    const auto& b = std::get<InstanceGone>(other);
    return a.instance == b.instance && a.billed_until == b.billed_until && a.reason == b.reason;
  }
  bool operator()(const TaskAssigned& a) const {
    const auto& b = std::get<TaskAssigned>(other);
    return a.task == b.task && a.to == b.to && a.cause == b.cause && a.grant == b.grant;
  }
  bool operator()(const TaskUnassigned& a) const {
    const auto& b = std::get<TaskUnassigned>(other);
    return a.task == b.task && a.cause == b.cause;
  }
  bool operator()(const StartIssued& a) const {
    const auto& b = std::get<StartIssued>(other);
    return a.task == b.task && a.instance == b.instance && a.attempt == b.attempt &&
           a.grant == b.grant;
  }
  bool operator()(const TaskStarted& a) const {
    const auto& b = std::get<TaskStarted>(other);
    return a.task == b.task && a.attempt == b.attempt && a.fetch == b.fetch && a.build == b.build;
  }
  bool operator()(const StopIssued& a) const {
    const auto& b = std::get<StopIssued>(other);
    return a.task == b.task && a.attempt == b.attempt;
  }
  bool operator()(const TaskLeft& a) const {
    const auto& b = std::get<TaskLeft>(other);
    return a.task == b.task && a.attempt == b.attempt && a.upload == b.upload && a.end == b.end;
  }
  bool operator()(const TaskFinished& a) const {
    const auto& b = std::get<TaskFinished>(other);
    return a.task == b.task && a.attempt == b.attempt && a.end == b.end;
  }
  bool operator()(const TaskFailed& a) const {
    const auto& b = std::get<TaskFailed>(other);
    return a.task == b.task && a.attempt == b.attempt && a.reason == b.reason && a.end == b.end &&
           a.blameless == b.blameless;
  }
  bool operator()(const JobFinished& a) const {
    const auto& b = std::get<JobFinished>(other);
    return a.job == b.job && a.outcome == b.outcome && a.mean_throughput == b.mean_throughput &&
           a.throughput_samples == b.throughput_samples;
  }
  bool operator()(const TaskReleased& a) const {
    return a.task == std::get<TaskReleased>(other).task;
  }
  bool operator()(const JobHeld& a) const { return a.job == std::get<JobHeld>(other).job; }
  bool operator()(const JobReleased& a) const { return a.job == std::get<JobReleased>(other).job; }
  bool operator()(const JobGivenUp& a) const {
    const auto& b = std::get<JobGivenUp>(other);
    return a.job == b.job && a.outcome == b.outcome;
  }
  bool operator()(const Measured& a) const {
    const auto& b = std::get<Measured>(other);
    return a.samples == b.samples && a.quiet == b.quiet;
  }
  bool operator()(const GangTurn& a) const {
    const auto& b = std::get<GangTurn>(other);
    return a.job == b.job && a.until == b.until;
  }
  bool operator()(const OfferingChanged& a) const {
    return a.change == std::get<OfferingChanged>(other).change;
  }
};

inline bool same(const EventBody& a, const EventBody& b) {
  return a.index() == b.index() && std::visit(SameBody{b}, a);
}

}  // namespace muster::test
