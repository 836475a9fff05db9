#include "schedulers/describe.hpp"
#include "schedulers/ilp/ilp_policy.hpp"
#include "schedulers/market_split.hpp"

namespace muster {

using ilp::Form;
using ilp::IlpParams;

PolicyModule ilp_module() {
  return describe<IlpParams>("ilp",
                             "the integer linear program of Eva (EuroSys'25): the cheapest "
                             "instances for all tasks, by the solver CBC")
      .param("form", &IlpParams::form,
             params::choice<Form>({{"patterns", Form::patterns}, {"paper", Form::paper}}),
             "alike tasks as counts, or each task in a slot as the paper prints it")
      .param("tasks", &IlpParams::tasks, params::whole(1, 10000),
             "tasks laid out in a round; where there are more, Full Reconfiguration does it")
      .param("nodes", &IlpParams::nodes, params::whole(0, 1000000000),
             "nodes of the solver's search in a replay, which makes its decision repeatable")
      .param("seconds", &IlpParams::seconds, params::number(params::above(0).up_to(3600)),
             "seconds of the solver's searches in a round on a live cluster")
      .param("gap", &IlpParams::gap_share, params::number(params::from(0).up_to(1)),
             "the search is over when no solution can be cheaper by more than this share")
      .period(&IlpParams::period)
      .eager(&IlpParams::eager)
      .param("spot", &IlpParams::spot,
             params::choice<SpotUse>({{"allowed", SpotUse::allowed}, {"asked", SpotUse::asked}}),
             "jobs on spot instances: those that take any market, while that is cheaper for "
             "them, or only those that ask for it")
      .uses({.prices = true, .solver = true})
      .made_by_services(
          [](const IlpParams& params, const Catalog& catalog, const PolicyServices& services) {
            return std::make_unique<MarketSplit>(
                [&](Market market) {
                  return std::make_unique<ilp::IlpPolicy>(catalog, market, params, services.solver);
                },
                params.spot);
          });
}

}  // namespace muster
