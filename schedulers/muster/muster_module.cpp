#include "schedulers/describe.hpp"
#include "schedulers/market_split.hpp"
#include "schedulers/muster/muster_policy.hpp"
#include "schedulers/muster/repartition.hpp"

namespace muster {

using own::MusterParams;
using own::RunTimes;

PolicyModule muster_module() {
  constexpr double kLongest_s = 604800;
  return describe<MusterParams>("muster",
                                "Muster's own: exact repartition of few instances at the price of "
                                "work, with patience in proportion to age")
      .param("horizon_s", &MusterParams::horizon,
             params::in_seconds(params::above(0).up_to(kLongest_s)),
             "seconds over which the cost of a change is spread")
      .param("theta", &MusterParams::theta, params::number(params::from(0).up_to(1000)),
             "worth of an hour of a user's time, as a share of the price of the task's work")
      .param("theta_usd_h", &MusterParams::theta_usd_h, params::number(params::from(0).up_to(1e6)),
             "the same as a sum, $/h, on top: then the scale of prices matters")
      .param("patient", &MusterParams::patient, params::flag(),
             "tasks may wait for a good place, and pause")
      .param("free_wait_s", &MusterParams::free_wait,
             params::in_seconds(params::from(0).up_to(kLongest_s)),
             "seconds that a task may wait in all, whatever its age")
      .param("wait_share", &MusterParams::wait_share, params::number(params::from(0).up_to(1)),
             "and the share of its age that it may wait besides")
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
      .param("t", &MusterParams::default_pair, params::number(params::above(0).up_to(1)),
             "expected throughput of a task beside a neighbour never observed")
      .period(&MusterParams::period)
      .eager(&MusterParams::eager)
      .uses({.throughput = true, .prices = true})
      .made_by([](const MusterParams& params, const Catalog& catalog) {
        return std::make_unique<MarketSplit>([&catalog, &params](Market market) {
          return std::make_unique<own::MusterPolicy>(catalog, market, params);
        });
      });
}

}  // namespace muster
