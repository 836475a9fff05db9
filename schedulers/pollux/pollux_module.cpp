#include <memory>
#include <string>

#include "schedulers/describe.hpp"
#include "schedulers/pollux/pollux_policy.hpp"

namespace muster {
namespace pollux {
namespace {

constexpr double kMostGpus = 40'000;
constexpr std::uint32_t kMostMoves = 10'000'000;
constexpr std::uint32_t kMostOfASearch = 100'000;
constexpr std::uint32_t kMostNodesOfACluster = 10'000;

/// How both policies are told where speeds come from, how to search and when.
Description<PolluxParams>& with_search(Description<PolluxParams>& described) {
  using Effort = SearchEffort;
  return described
      .param("search", &PolluxParams::search,
             params::choice<SearchKind>(
                 {{"local", SearchKind::local}, {"genetic", SearchKind::genetic}}),
             "how the best layout is looked for: by local moves, or by the published genetic "
             "algorithm")
      .param("speedups", &PolluxParams::speedups,
             params::choice<pollux::SpeedSource>({{"oracle", pollux::SpeedSource::oracle},
                                                  {"learned", pollux::SpeedSource::learned}}),
             "source of jobs' speeds by width: the jobs' statements, or the speeds measured of "
             "each job")
      .param("moves", in(&PolluxParams::effort, &Effort::moves), params::whole(1, kMostMoves),
             "moves of a local search")
      .param("population", in(&PolluxParams::effort, &Effort::population),
             params::whole(2, kMostOfASearch), "layouts of a genetic search")
      .param("generations", in(&PolluxParams::effort, &Effort::generations),
             params::whole(2, kMostOfASearch),
             "generations of a genetic search, the present layout the first")
      .period(&PolluxParams::period)
      .param("eager", &PolluxParams::eager, params::flag(),
             "hold a round at once when a job comes or leaves, or resources come free, too")
      .uses({.throughput = true, .prices = true});
}

std::unique_ptr<Policy> make(const PolluxParams& params, const Catalog&) {
  return std::make_unique<PolluxPolicy>(params);
}

/// The rules are there: they are what makes the policy one that scales.
AutoscaleRules& rules_of(PolluxParams& params) {
  return *params.autoscale;
}

}  // namespace
}  // namespace pollux

PolicyModule pollux_module() {
  using pollux::PolluxParams;
  auto described = describe<PolluxParams>(
      "pollux",
      "Pollux: elastic jobs share a fixed cluster so that their goodput is best together");
  described
      .param("budget", &PolluxParams::budget_gpus,
             params::number(params::above(0).up_to(pollux::kMostGpus)),
             "GPUs of the cluster, in whole nodes, where nodes are rented; several masters "
             "have the same share of it each")
      .divided("budget");
  return pollux::with_search(described).made_by(pollux::make);
}

PolicyModule pollux_autoscale_module() {
  using pollux::AutoscaleRules;
  using pollux::PolluxParams;
  PolluxParams defaults;
  defaults.autoscale.emplace();
  auto described = describe<PolluxParams>(
      "pollux-autoscale",
      "Pollux with a cluster that grows and shrinks to keep its efficiency near a target",
      defaults);
  const auto rule = [](auto AutoscaleRules::*member) {
    return [member](PolluxParams & params) -> auto& {
      return pollux::rules_of(params).*member;
    };
  };
  described
      .param("target", rule(&AutoscaleRules::target), params::number(params::above(0).below(1)),
             "speedups over one worker each, by the workers that the cluster has room for")
      .param("window", rule(&AutoscaleRules::window), params::whole(1, pollux::kMostRemembered),
             "rounds whose mean efficiency is held against the target")
      .param("min_nodes", rule(&AutoscaleRules::min_nodes),
             params::whole(1, pollux::kMostNodesOfACluster), "nodes of the cluster at least")
      .param("max_nodes", rule(&AutoscaleRules::max_nodes),
             params::whole(1, pollux::kMostNodesOfACluster), "nodes of the cluster at most")
      .check([](const PolluxParams& params) {
        const AutoscaleRules& rules = *params.autoscale;
        if (rules.min_nodes <= rules.max_nodes) return std::string{};
        return "min_nodes is " + std::to_string(rules.min_nodes) + ", more than max_nodes, " +
               std::to_string(rules.max_nodes);
      });
  return pollux::with_search(described).made_by(pollux::make);
}

}  // namespace muster
