#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "masters/master_commands.hpp"
#include "masters/plan/plan_rules.hpp"
#include "masters/services/services.hpp"
#include "masters/tasks/job_ends.hpp"

namespace muster {

/// Carries a round's plan out, slice by slice: holds each against the state of then, sets about
/// what stands, and puts on record what is refused.
class PlanApplication {
 public:
  struct Parts {
    JobEnds& ends;
    const PlanRules& rules;
    Services& services;
  };
  PlanApplication(const MasterCommands& commands, const Parts& parts);

  /// The slices of a plan: those of the last one are through.
  void take(std::vector<Plan>&& slices);
  /// Sets about the next slice, if any.
  void apply_next(Instant now);
  std::size_t slices_left() const { return slices_.size(); }

 private:
  const ClusterState& state() const { return commands_.recorder.facts().state; }
  bool ends_job(const JobRow& job, const Refusal& by) const;
  void apply_refusals(const Plan& plan, Instant now);
  /// The jobs that start again, since they run and have become narrower.
  std::vector<Slot> apply_resizes(const Plan& plan, Instant now);
  /// The jobs that start again, since tasks of them that run have got other places, or since tasks
  /// that were not of them have got some.
  std::vector<Slot> apply_places(const Plan& plan, const CheckedPlan& checked, Instant now);
  void apply_stops(const Plan& plan, const CheckedPlan& checked, Instant now);
  void apply_releases(const Plan& plan, const CheckedPlan& checked, Instant now);
  void place(const Place& place, InstanceId to, Instant now);
  void refuse_part(const PlanPartRefused& part, Instant now) {
    commands_.recorder.record(part, now);
  }

  MasterCommands commands_;
  JobEnds& ends_;
  const PlanRules& rules_;
  Services& services_;
  std::deque<Plan> slices_;  ///< still to be carried out
};

}  // namespace muster
