#include "schedulers/describe.hpp"
#include "schedulers/eva/eva_policy.hpp"
#include "schedulers/market_split.hpp"

namespace muster {

using eva::EvaParams;

PolicyModule eva_module() {
  return describe<EvaParams>("eva",
                             "Eva (EuroSys'25): packs by reservation price, chooses between Full "
                             "and Partial Reconfiguration")
      .param("artifact", &EvaParams::artifact, params::flag(),
             "decide as the paper's published simulator does")
      .param("paper", &EvaParams::cheapest_types, params::negated_flag(),
             "rent the types that the paper's Algorithm 1 finds, also where a cheaper one would do")
      .param("full-only", &EvaParams::full_only, params::flag(),
             "always adopt the Full Reconfiguration")
      .param("partial-only", &EvaParams::partial_only, params::flag(),
             "always adopt the Partial Reconfiguration")
      .param("rp", &EvaParams::interference, params::negated_flag(),
             "assume that tasks never slow each other")
      .param("single", &EvaParams::gangs, params::negated_flag(),
             "treat the tasks of multi-task jobs as independent")
      .param("t", &EvaParams::default_pair, params::number(params::above(0).up_to(1)),
             "expected throughput of a task beside a neighbour never observed")
      .period(&EvaParams::period)
      .eager(&EvaParams::eager)
      .param("spot", &EvaParams::spot,
             params::choice<SpotUse>({{"allowed", SpotUse::allowed}, {"asked", SpotUse::asked}}),
             "jobs on spot instances: those that take any market, while that is cheaper for them, "
             "or only those that ask for it")
      .check([](const EvaParams& params) -> std::string {
        if (!params.full_only || !params.partial_only) return {};
        return "full-only and partial-only exclude each other";
      })
      .uses({.throughput = true, .prices = true})
      .made_by([](const EvaParams& params, const Catalog& catalog) {
        return std::make_unique<MarketSplit>(
            [&catalog, &params](Market market) {
              return std::make_unique<eva::EvaPolicy>(catalog, market, params);
            },
            params.spot);
      });
}

}  // namespace muster
