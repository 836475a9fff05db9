#include "schedulers/describe.hpp"
#include "schedulers/muster/muster_policy.hpp"
#include "schedulers/muster/repartition.hpp"

// The parameters in the order in which a user meets them: the one that stands for several, what
// trades cost against time, what bounds the search, and then those that count on given instances
// only.

namespace muster {

using own::FleetParams;
using own::MusterParams;
using own::RunTimes;
using own::TaskTimes;
using own::with_strict;

namespace {

constexpr double kLongestTime_s = 604800;
/// Within a horizon in which an instance hardly starts no rented instance costs or earns anything:
/// a task that is not worth its instance would move to another type, and on again, for ever.
constexpr double kShortestHorizon_s = 300;

/// Parameters for masters whose instances are given.
void describe_fleet(Description<MusterParams>& description) {
  description
      .param("reserve", in(&MusterParams::fleet, &FleetParams::reserve),
             params::number(params::from(0).below(1)),
             "fixed fleets only: share of capacity that long tasks leave to short ones")
      .param("task_times", in(&MusterParams::fleet, &FleetParams::task_times),
             params::choice<TaskTimes>({{"off", TaskTimes::off},
                                        {"learnt", TaskTimes::learnt},
                                        {"known", TaskTimes::known}}),
             "fixed fleets only: task times by which long jobs are ordered besides their number of "
             "unstarted tasks: off, the mean of finished tasks (learnt), or the job's statement "
             "(known)")
      .param("age_s", in(&MusterParams::fleet, &FleetParams::age_s),
             params::number(params::from(0).up_to(kLongestTime_s)),
             "fixed fleets only: seconds that each unstarted task puts its job back in the order "
             "of arrival; 0: only tasks count")
      .param(
          "cutoff_s", in(&MusterParams::fleet, &FleetParams::cutoff),
          params::in_seconds(params::from(0).up_to(kLongestTime_s)),
          "fixed fleets only: run time of a task from which its short job counts as long; 0: never")
      .param("starve_s", in(&MusterParams::fleet, &FleetParams::starve),
             params::in_seconds(params::from(0).up_to(kLongestTime_s)),
             "fixed fleets only: wait after which a job goes first in its class; 0: never")
      .param("max_passes", in(&MusterParams::fleet, &FleetParams::max_passes),
             params::whole(0, 1'000'000'000),
             "fixed fleets only: starts that pass a task that does not fit, before capacity is "
             "reserved for it; 0: no capacity is reserved")
      .check([](const MusterParams& params) -> std::string {
        if (params.fleet.age_s == 0 || params.fleet.task_times == TaskTimes::off) return {};
        return "age_s orders by arrival and tasks: task_times has to be off";
      });
}

void describe_run_times(Description<MusterParams>& description) {
  description
      .param("run_times", &MusterParams::run_times,
             params::choice<RunTimes>({{"unknown", RunTimes::unknown},
                                       {"predicted", RunTimes::predicted},
                                       {"hinted", RunTimes::hinted}}),
             "source of run times: the cost of a change is spread over no more than a task's "
             "remaining time")
      .param("short_runs", &MusterParams::short_runs, params::number(params::from(0).up_to(1e9)),
             "tasks whose run times are known are packed by their ends when small, or when they "
             "run for less than this many times an instance's start and a move; 0: no such tasks")
      .param("learnt_runs", &MusterParams::learnt_runs, params::number(params::from(0).up_to(1e9)),
             "likewise of tasks of which nothing is said, by how long those of their class "
             "have run; 0: no such tasks");
}

}  // namespace

PolicyModule muster_module() {
  auto description =
      describe<MusterParams>("muster",
                             "Muster's own: exact repartition of few instances at the price of "
                             "work, with patience in proportion to age")
          .param("strict", &MusterParams::strict, params::flag(),
                 "short for patient=false,triples=20,max_tasks=9,theta=0.074: the cheapest plan in "
                 "which no task waits")
          .param("horizon_s", &MusterParams::horizon,
                 params::in_seconds(params::from(kShortestHorizon_s).up_to(kLongestTime_s)),
                 "seconds over which the cost of a change is spread")
          .param("theta", &MusterParams::theta, params::number(params::from(0).up_to(1000)),
                 "worth of an hour of a user's time, as a share of the price of the task's work")
          .param("theta_usd_h", &MusterParams::theta_usd_h,
                 params::number(params::from(0).up_to(1e6)),
                 "worth of an hour of a user's time in $/h, on top of theta; with it the scale of "
                 "prices matters")
          .param("patient", &MusterParams::patient, params::flag(),
                 "tasks may wait for a good place, and pause")
          .param("free_wait_s", &MusterParams::free_wait,
                 params::in_seconds(params::from(0).up_to(kLongestTime_s)),
                 "seconds that a task may wait in all, whatever its age")
          .param("wait_share", &MusterParams::wait_share, params::number(params::from(0).up_to(1)),
                 "share of its age that a task may wait on top of free_wait_s")
          .param("most_wait_s", &MusterParams::most_wait,
                 params::in_seconds(params::from(0).up_to(kLongestTime_s)),
                 "longest wait in seconds by wait_share")
          .param("triples", &MusterParams::triples, params::whole(0, 1000),
                 "sets of three instances that a round tries besides pairs")
          .param("max_tasks", &MusterParams::max_tasks, params::whole(2, own::kMostTasks),
                 "most tasks that are repartitioned together")
          .param("steps", &MusterParams::steps, params::whole(0, 4'000'000'000),
                 "steps of the subset search that a round takes where no deadline bounds them; 0: "
                 "no bound");
  describe_run_times(description);
  description
      .param("keep", &MusterParams::keep, params::number(params::from(0).up_to(1000)),
             "an empty instance is kept for this many times as long as a start of another one "
             "takes, a period at most; less where no other one was wanted soon lately")
      .param("at_once", &MusterParams::at_once, params::flag(),
             "an instance is given back as soon as it is empty, not at the next round")
      .param("spot", &MusterParams::spot,
             params::choice<SpotUse>({{"allowed", SpotUse::allowed}, {"asked", SpotUse::asked}}),
             "jobs on spot instances where that pays: all that take any market, or only those "
             "that ask for it")
      .param("interruptions_h", &MusterParams::interruptions_h,
             params::number(params::from(0).up_to(1000)),
             "expected interruptions of a spot instance in an hour, where the cloud states no "
             "rate")
      .param("t", &MusterParams::default_pair, params::number(params::above(0).up_to(1)),
             "expected throughput of a task beside a neighbour never observed");
  describe_fleet(description);
  return description.period(&MusterParams::period)
      .eager(&MusterParams::eager)
      .uses({.throughput = true, .prices = true, .predictions = true})
      .made_by([](const MusterParams& given, const Catalog& catalog) {
        return std::make_unique<own::MusterPolicy>(catalog, with_strict(given));
      });
}

}  // namespace muster
