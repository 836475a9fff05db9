#include "schedulers/baselines/hotspot.hpp"
#include "schedulers/baselines/spot_fleet.hpp"
#include "schedulers/baselines/supercloud.hpp"
#include "schedulers/describe.hpp"

// The baselines of the Stratus paper. They have the parameters of events, moves and run times in
// one wording.

namespace muster {
namespace {

constexpr double kLongestWait_s = 604800;

template <class Params>
void describe_moves(Description<Params>& description) {
  description
      .param("moves", in(&Params::moves, &MoveRules::on), params::flag(),
             "tasks that run move to cheaper instances where that pays")
      .param("bandwidth_mbit_s", in(&Params::moves, &MoveRules::bandwidth_mbit_s),
             params::number(params::above(0).up_to(1e9)),
             "network speed at which a moving task's memory is sent, in Mbit/s")
      .param("margin_usd", in(&Params::moves, &MoveRules::margin_usd),
             params::number(params::from(0).up_to(1e6)), "dollars that a move has to save")
      .param("billed_from_request", in(&Params::moves, &MoveRules::billed_from_request),
             params::flag(), "moves are reckoned with new instances paid for from their request")
      .param("run_times", in(&Params::run_times, &RunTimeRules::source),
             params::choice<RunTimeSource>({{"unknown", RunTimeSource::unknown},
                                            {"predicted", RunTimeSource::predicted},
                                            {"hinted", RunTimeSource::hinted}}),
             "source of run time estimates")
      .param("default_s", in(&Params::run_times, &RunTimeRules::otherwise),
             params::in_seconds(params::above(0).up_to(kLongestWait_s)),
             "the run time where there is no estimate");
}

template <class Params>
Description<Params>& describe_events(Description<Params>& description) {
  return description
      .param("at_once", in(&Params::events, &EventRules::at_once), params::flag(),
             "an instance is given back as soon as it is empty, not at the next event")
      .period(in(&Params::events, &EventRules::period))
      .eager(in(&Params::events, &EventRules::eager));
}

}  // namespace

PolicyModule hotspot_module() {
  auto description = describe<HotspotParams>(
      "hotspot", "HotSpot (SoCC'17): a task an instance, which follows the cheapest type");
  description.param("bid", &HotspotParams::bid, params::number(params::from(1).up_to(1000)),
                    "the most that a spot instance may cost, in prices on demand");
  describe_moves(description);
  return describe_events(description)
      .uses({.prices = true, .predictions = true})
      .made_by([](const HotspotParams& params, const Catalog& catalog) {
        return std::make_unique<Hotspot>(catalog, params);
      });
}

PolicyModule spot_fleet_module() {
  auto description = describe<SpotFleetParams>(
      "spot-fleet",
      "Spot Fleet's lowestPrice and the binpack of ECS: the fullest instance with "
      "room, or the cheapest type");
  description
      .param("pack", &SpotFleetParams::packed,
             params::choice<Resource>(
                 {{"cpu", Resource::cpu}, {"memory", Resource::memory}, {"gpu", Resource::gpu}}),
             "the resource of which the least is to be left")
      .param(
          "price", &SpotFleetParams::rank,
          params::choice<PriceRank>({{"instance", PriceRank::instance}, {"cpu", PriceRank::cpu}}),
          "the type with the lowest price of an instance, or of a cpu (a weighted fleet)");
  return describe_events(description)
      .uses({.prices = true})
      .made_by([](const SpotFleetParams& params, const Catalog& catalog) {
        return std::make_unique<SpotFleet>(catalog, params);
      });
}

PolicyModule supercloud_module() {
  auto description = describe<SupercloudParams>(
      "supercloud",
      "SuperCloud-Spot: buys for all waiting tasks by a greedy on the most constrained resource, "
      "moves instances' tasks to cheaper ones");
  description
      .param("rank", &SupercloudParams::rank,
             params::choice<GreedyRank>(
                 {{"used", GreedyRank::used}, {"capacity", GreedyRank::capacity}}),
             "the type with the lowest price of what its tasks use, or of what it has")
      .param("dot", &SupercloudParams::dot, params::flag(),
             "tasks first join running instances by the dot product of need and free room");
  describe_moves(description);
  return describe_events(description)
      .uses({.prices = true, .predictions = true})
      .made_by([](const SupercloudParams& params, const Catalog& catalog) {
        return std::make_unique<Supercloud>(catalog, params);
      });
}

}  // namespace muster
