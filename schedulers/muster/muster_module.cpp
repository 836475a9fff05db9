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
/// Within a horizon in which an instance hardly starts nothing that is rented costs or earns
/// anything: whoever is not worth his instance would move to another type, and on again, for ever.
constexpr double kShortestHorizon_s = 300;

/// What is for masters whose instances are given.
void describe_fleet(Description<MusterParams>& description) {
  description
      .param("reserve", in(&MusterParams::fleet, &FleetParams::reserve),
             params::number(params::from(0).below(1)),
             "of given instances: share of capacity that long tasks leave to short ones")
      .param(
          "task_times", in(&MusterParams::fleet, &FleetParams::task_times),
          params::choice<TaskTimes>({{"off", TaskTimes::off},
                                     {"learnt", TaskTimes::learnt},
                                     {"known", TaskTimes::known}}),
          "there: what long jobs are ordered by besides their unstarted tasks: nothing, the mean "
          "of their finished ones, or what the job says")
      .param("age_s", in(&MusterParams::fleet, &FleetParams::age_s),
             params::number(params::from(0).up_to(kLongestTime_s)),
             "there: seconds that each unstarted task puts its job back in the order of arrival; "
             "0: only tasks count")
      .param("cutoff_s", in(&MusterParams::fleet, &FleetParams::cutoff),
             params::in_seconds(params::from(0).up_to(kLongestTime_s)),
             "there: a short job with a task that runs longer is long; 0: never")
      .param("starve_s", in(&MusterParams::fleet, &FleetParams::starve),
             params::in_seconds(params::from(0).up_to(kLongestTime_s)),
             "there: a job that has waited so long goes first in its class; 0: none does")
      .param("max_passes", in(&MusterParams::fleet, &FleetParams::max_passes),
             params::whole(0, 1'000'000'000),
             "there: starts behind a task for which there is no room before some is kept for it; "
             "0: none is")
      .check([](const MusterParams& params) -> std::string {
        if (params.fleet.age_s == 0 || params.fleet.task_times == TaskTimes::off) return {};
        return "age_s orders by arrival and tasks: task_times has to be off";
      });
}

}  // namespace

PolicyModule muster_module() {
  auto description =
      describe<MusterParams>("muster",
                             "Muster's own: exact repartition of few instances at the price of "
                             "work, with patience in proportion to age")
          .param("strict", &MusterParams::strict, params::flag(),
                 "as patient=false,triples=20,max_tasks=9,theta=0.074: cheapest without anybody "
                 "waiting")
          .param("horizon_s", &MusterParams::horizon,
                 params::in_seconds(params::from(kShortestHorizon_s).up_to(kLongestTime_s)),
                 "seconds over which the cost of a change is spread")
          .param("theta", &MusterParams::theta, params::number(params::from(0).up_to(1000)),
                 "worth of an hour of a user's time, as a share of the price of the task's work")
          .param("theta_usd_h", &MusterParams::theta_usd_h,
                 params::number(params::from(0).up_to(1e6)),
                 "the same as a sum, $/h, on top: then the scale of prices matters")
          .param("patient", &MusterParams::patient, params::flag(),
                 "tasks may wait for a good place, and pause")
          .param("free_wait_s", &MusterParams::free_wait,
                 params::in_seconds(params::from(0).up_to(kLongestTime_s)),
                 "seconds that a task may wait in all, whatever its age")
          .param("wait_share", &MusterParams::wait_share, params::number(params::from(0).up_to(1)),
                 "and the share of its age that it may wait besides")
          .param("most_wait_s", &MusterParams::most_wait,
                 params::in_seconds(params::from(0).up_to(kLongestTime_s)),
                 "seconds that this share comes to at most")
          .param("triples", &MusterParams::triples, params::whole(0, 1000),
                 "sets of three instances that a round tries besides pairs")
          .param("max_tasks", &MusterParams::max_tasks, params::whole(2, own::kMostTasks),
                 "tasks that are shared out anew together at most")
          .param("steps", &MusterParams::steps, params::whole(0, 4'000'000'000),
                 "of subsets that a round takes where no deadline says how many; 0: no bound")
          .param("run_times", &MusterParams::run_times,
                 params::choice<RunTimes>({{"unknown", RunTimes::unknown},
                                           {"predicted", RunTimes::predicted},
                                           {"hinted", RunTimes::hinted}}),
                 "the cost of a change is spread over no more than what is left of a task by that")
          .param("short_runs", &MusterParams::short_runs,
                 params::number(params::from(0).up_to(1e9)),
                 "tasks that are said to run for less than so many times what an instance takes to "
                 "start and a move costs are put together by when they may end, as small ones of "
                 "which run times are said; 0: none are")
          .param("at_once", &MusterParams::at_once, params::flag(),
                 "an instance is given back as soon as it is empty, not at the next round")
          .param(
              "spot", &MusterParams::spot,
              params::choice<SpotUse>({{"allowed", SpotUse::allowed}, {"asked", SpotUse::asked}}),
              "who is put on spot instances where that pays: all jobs that take any market, or "
              "only those that ask for it")
          .param("interruptions_h", &MusterParams::interruptions_h,
                 params::number(params::from(0).up_to(1000)),
                 "of a spot instance in an hour, where the cloud does not say what to expect")
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
