#include "schedulers/describe.hpp"
#include "schedulers/stratus/stratus_policy.hpp"

namespace muster {

using stratus::ClearingRules;
using stratus::PackerRules;
using stratus::Packing;
using stratus::StratusParams;

namespace {

constexpr double kLongestRun_s = 604800;
/// How often the simulator that Eva's authors published holds rounds.
constexpr Duration kPeriodOfArtifact = std::chrono::seconds{300};

/// There an instance goes back at a round, and rounds are those of Eva unless they are stated.
StratusParams with_rounds(StratusParams params) {
  if (!params.artifact) return params;
  params.events.at_once = false;
  if (params.events.period == EventRules{}.period) params.events.period = kPeriodOfArtifact;
  return params;
}

}  // namespace

PolicyModule stratus_module() {
  return describe<StratusParams>("stratus",
                                 "Stratus (SoCC'18): packs tasks that end together, buys instances "
                                 "by cost efficiency, clears those that are used little")
      .param("artifact", &StratusParams::artifact, params::flag(),
             "decide as the simulator does that the authors of Eva published: whole run times "
             "count, instances that are used little are dissolved at once, rounds are 300 s apart "
             "and give back what is empty; of the others only run_times, default_s, clearing, "
             "period_s and eager count then")
      .param("packing", in(&StratusParams::packer, &PackerRules::packing),
             params::choice<Packing>(
                 {{"bins", Packing::bins}, {"dot", Packing::dot}, {"none", Packing::none}}),
             "how tasks find running instances: by runtime bins, by the dot product of what they "
             "need and what is free, or not at all")
      .param("unit_s", in(&StratusParams::packer, &PackerRules::unit),
             params::in_seconds(params::above(0).up_to(kLongestRun_s)),
             "bins are the remaining times [0,1), [1,2), [2,4) and so on in this unit")
      .param("up", in(&StratusParams::packer, &PackerRules::up), params::flag(),
             "tasks may go to instances of greater bins")
      .param("down", in(&StratusParams::packer, &PackerRules::down), params::flag(),
             "tasks may go to instances of lesser bins")
      .param("group", &StratusParams::group, params::whole(0, 1'000'000),
             "tasks for which an instance is bought together at most; 0: no bound")
      .param("run_times", in(&StratusParams::run_times, &RunTimeRules::source),
             params::choice<RunTimeSource>({{"unknown", RunTimeSource::unknown},
                                            {"predicted", RunTimeSource::predicted},
                                            {"hinted", RunTimeSource::hinted}}),
             "source of run time estimates")
      .param("default_s", in(&StratusParams::run_times, &RunTimeRules::otherwise),
             params::in_seconds(params::above(0).up_to(kLongestRun_s)),
             "the run time where there is no estimate")
      .param(
          "readjust", in(&StratusParams::run_times, &RunTimeRules::readjust), params::flag(),
          "a task that outlives its estimate has run for half of its time; otherwise it is taken "
          "to end at once")
      .param("clearing", in(&StratusParams::clearing, &ClearingRules::on), params::flag(),
             "instances that have long been used little are cleared")
      .param("clear_after", in(&StratusParams::clearing, &ClearingRules::after),
             params::whole(0, 1'000'000),
             "those used little at more scheduling events without a break than these")
      .param("clear_below", in(&StratusParams::clearing, &ClearingRules::below),
             params::number(params::above(0).up_to(1)),
             "used little: less than this share of every kind of resource")
      .param("bandwidth_mbit_s", in(&StratusParams::clearing, &ClearingRules::bandwidth_mbit_s),
             params::number(params::from(0).up_to(1e9)),
             "network speed at which a moving task's memory is sent, in Mbit/s; 0: a move takes as "
             "long as the delays of its tasks")
      .param("at_once", in(&StratusParams::events, &EventRules::at_once), params::flag(),
             "an instance is given back as soon as it is empty, not at the next event")
      .period(in(&StratusParams::events, &EventRules::period))
      .eager(in(&StratusParams::events, &EventRules::eager))
      .takes_in({.classify_by = ClassifierKind::hint})
      .uses({.prices = true, .predictions = true})
      .made_by([](const StratusParams& params, const Catalog& catalog) {
        return std::make_unique<stratus::StratusPolicy>(catalog, with_rounds(params));
      });
}

}  // namespace muster
