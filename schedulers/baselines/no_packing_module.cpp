#include "schedulers/baselines/no_packing.hpp"
#include "schedulers/describe.hpp"
#include "schedulers/market_split.hpp"

namespace muster {

PolicyModule no_packing_module() {
  return describe<NoPackingParams>(
             "no-packing",
             "every task gets an instance of its own, of the cheapest type that holds it")
      .period(&NoPackingParams::period)
      .eager(&NoPackingParams::eager)
      .param("spot", &NoPackingParams::spot,
             params::choice<SpotUse>({{"allowed", SpotUse::allowed}, {"asked", SpotUse::asked}}),
             "jobs on spot instances: those that take any market, while that is cheaper for them, "
             "or only those that ask for it")
      .uses({.throughput = true, .prices = true})
      .made_by([](const NoPackingParams& params, const Catalog& catalog) {
        return std::make_unique<MarketSplit>(
            [&catalog, &params](Market market) {
              return std::make_unique<NoPacking>(catalog, market, params);
            },
            params.spot);
      });
}

}  // namespace muster
