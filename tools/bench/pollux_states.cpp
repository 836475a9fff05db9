// Both searches of Pollux on states that replays come to: follows the log of a replay under
// `pollux`, draws some of its rounds, and compares the fitness that the local and the genetic
// search find for them. The genetic one begins with the present layout alone, as in a round of its
// own.
//   pollux_states STATES POLICY CONFIG [KEY=VALUE...]

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "config/catalog_file.hpp"
#include "replay/replay.hpp"
#include "replay/replay_parts.hpp"
#include "schedulers/pollux/genetic_search.hpp"
#include "schedulers/pollux/local_search.hpp"
#include "schedulers/pollux/pollux_round.hpp"

namespace muster {
namespace {

using pollux::PolluxMemory;
using pollux::PolluxParams;
using pollux::PolluxRound;
using pollux::SearchProblem;

[[noreturn]] void fail(const std::string& message) {
  fmt::print(stderr, "pollux_states: {}\n", message);
  std::exit(1);
}

/// Follows a log as the policy's planner does, and keeps a sample of what its rounds search.
class Recorder {
 public:
  Recorder(const PolluxParams& params, const Catalog& catalog, std::size_t states)
      : params_(params), catalog_(catalog), states_(states), state_(catalog) {}

  void see(const Event& event) {
    state_.apply(event);
    ClusterView view{state_, catalog_, event.at};
    view.offerings = &state_.offerings();
    const auto* round = std::get_if<RoundDecided>(&event.body);
    if (round != nullptr && !round->note.choice.empty()) record(view, round->note);
    memory_.observe(event, view);
  }

  const std::vector<SearchProblem>& sample() const { return sample_; }
  std::size_t seen() const { return seen_; }
  /// Rounds in which another problem would have been searched than was.
  std::size_t astray() const { return astray_; }

 private:
  void record(const ClusterView& view, const RoundNote& note) {
    mask_.learn(state_);
    PolluxRound round(view, mask_, memory_, params_);
    Budget budget;
    const auto seed = static_cast<std::uint64_t>(note.figures.front().second);
    SearchProblem problem = round.pose(seed, budget).search;
    if (problem.jobs.empty() || problem.room.empty()) return;
    ++seen_;
    // A uniform sample of as many rounds as come.
    if (sample_.size() < states_) {
      check(problem, note, seed);
      sample_.push_back(std::move(problem));
    } else if (const std::uint64_t place = rng_.below(seen_); place < states_) {
      check(problem, note, seed);
      sample_[place] = std::move(problem);
    }
  }

  /// The search of the round, repeated, has to find what it found.
  void check(const SearchProblem& problem, const RoundNote& note, std::uint64_t seed) {
    Rng rng(seed);
    Budget budget;
    const double found =
        problem.fitness(pollux::LocalSearch(problem).run(params_.effort.moves, rng, budget));
    astray_ += found != note.figures[1].second;
  }

  const PolluxParams& params_;
  const Catalog& catalog_;
  std::size_t states_;
  ClusterState state_;
  PolluxMemory memory_;
  PlacementMask mask_;
  std::vector<SearchProblem> sample_;
  std::size_t seen_ = 0, astray_ = 0;
  Rng rng_{1};
};

void compare(const Recorder& recorder, const PolluxParams& params) {
  std::size_t better = 0, same = 0, jobs = 0;
  std::vector<double> worse;
  double gain = 0;
  for (std::size_t i = 0; i < recorder.sample().size(); ++i) {
    const SearchProblem& problem = recorder.sample()[i];
    Rng rng(i + 1), other(i + 1);
    Budget budget, also;
    const double local =
        problem.fitness(pollux::LocalSearch(problem).run(params.effort.moves, rng, budget));
    const double bred =
        problem.fitness(pollux::GeneticSearch(problem, params.effort).run({}, other, also).best);
    jobs += problem.jobs.size();
    gain += local / bred - 1;
    if (local > bred * (1 + 1e-9)) {
      ++better;
    } else if (local < bred * (1 - 1e-9)) {
      worse.push_back(1 - local / bred);
    } else {
      ++same;
    }
  }
  const auto count = static_cast<double>(std::max<std::size_t>(1, recorder.sample().size()));
  fmt::print("{} of {} rounds, {:.1f} jobs each: local better in {}, same in {}, worse in {}",
             recorder.sample().size(), recorder.seen(), static_cast<double>(jobs) / count, better,
             same, worse.size());
  if (!worse.empty()) fmt::print(" (by {:.3f}% at most)", 100 * std::ranges::max(worse));
  fmt::print("; fitness {:+.3f}% on average\n", 100 * gain / count);
  if (recorder.astray() > 0) fmt::print("{} states are not the rounds' own\n", recorder.astray());
}

int run(const std::vector<std::string>& args) {
  if (args.size() < 3) fail("usage: pollux_states STATES POLICY CONFIG [KEY=VALUE...]");
  const auto config =
      load_replay_config(replay::replay_parts(), args[2], {args.begin() + 3, args.end()});
  if (!config) fail(config.error().message);
  const auto read = load_catalog(config->catalog);
  if (!read) fail(read.error().message);
  const Catalog catalog = with_delays_of(config->cloud, read.value());
  const auto workload = replay::read_compact_workload(config->workload, config->seed);
  if (!workload) fail(workload.error().message);
  const auto spec = parse_policy(args[1]);
  if (!spec) fail(spec.error().message);
  const auto module = find_module(spec->name);
  if (!module) fail(module.error().message);
  const auto any = module.value()->read(spec.value());
  if (!any) fail(any.error().message);
  const auto* params = std::any_cast<PolluxParams>(&any.value());
  if (params == nullptr) fail("the policy is not one of Pollux's");
  Recorder recorder(*params, catalog, std::strtoull(args[0].c_str(), nullptr, 10));
  replay::RunSetup setup;
  setup.config = &config.value();
  setup.catalog = &catalog;
  setup.workload = &workload.value();
  setup.policy = spec.value();
  setup.label = args[1];
  setup.seed = config->seed;
  setup.stopwatch = [] { return Duration{}; };
  setup.on_event = [&](const Event& event) { recorder.see(event); };
  if (const auto made = replay::run_replay(setup); !made) fail(made.error().message);
  compare(recorder, *params);
  return 0;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  return muster::run({argv + 1, argv + argc});
}
