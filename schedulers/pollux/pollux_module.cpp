#include "schedulers/describe.hpp"
#include "schedulers/pollux/pollux_policy.hpp"

namespace muster {
namespace pollux {
namespace {

constexpr double kMostGpus = 1'000'000;
constexpr std::uint32_t kMostMoves = 10'000'000;
constexpr std::uint32_t kMostOfASearch = 100'000;

}  // namespace
}  // namespace pollux

PolicyModule pollux_module() {
  using Params = pollux::PolluxParams;
  using Effort = pollux::SearchEffort;
  using Search = pollux::SearchKind;
  using Speeds = pollux::SpeedSource;
  return describe<Params>("pollux",
                          "Pollux: elastic jobs share a fixed cluster so that their goodput "
                          "is best together")
      .param("budget", &Params::budget_gpus,
             params::number(params::above(0).up_to(pollux::kMostGpus)),
             "GPUs of the cluster, in whole nodes, where nodes are rented")
      .param("search", &Params::search,
             params::choice<Search>({{"local", Search::local}, {"genetic", Search::genetic}}),
             "how the best layout is looked for: by local moves, or by the published genetic "
             "algorithm")
      .param("speedups", &Params::speedups,
             params::choice<Speeds>({{"oracle", Speeds::oracle}, {"learned", Speeds::learned}}),
             "how fast jobs are at which width: what they state, where they state it, or what each "
             "of them has shown")
      .param("moves", in(&Params::effort, &Effort::moves), params::whole(1, pollux::kMostMoves),
             "moves of a local search")
      .param("population", in(&Params::effort, &Effort::population),
             params::whole(2, pollux::kMostOfASearch), "layouts of a genetic search")
      .param("generations", in(&Params::effort, &Effort::generations),
             params::whole(1, pollux::kMostOfASearch), "generations of a genetic search")
      .period(&Params::period)
      .param("eager", &Params::eager, params::flag(),
             "hold a round at once when a job comes or leaves, or resources come free, too")
      .uses({.throughput = true, .prices = true})
      .made_by([](const Params& params, const Catalog&) {
        return std::make_unique<pollux::PolluxPolicy>(params);
      });
}

}  // namespace muster
