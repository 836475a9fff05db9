#include "tools/bound/bound_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace muster::bound {
namespace {

using Json = nlohmann::ordered_json;

/// Kinds of a pattern, each with how many tasks of it there are.
std::vector<std::pair<std::uint32_t, std::uint32_t>> counts_of(const Pattern& pattern) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> counts;
  for (const std::uint32_t kind : pattern.kinds) {
    if (counts.empty() || counts.back().first != kind) counts.emplace_back(kind, 0);
    ++counts.back().second;
  }
  return counts;
}

std::string tasks_text(const FluidProblem& problem, const Pattern& pattern) {
  std::string text;
  for (const auto& [kind, count] : counts_of(pattern)) {
    if (!text.empty()) text += " + ";
    if (count > 1) text += fmt::format("{} x ", count);
    text += problem.kinds[kind].name;
  }
  return text;
}

double share(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

std::string patterns_text(const TrialBound& trial) {
  const std::vector<PatternHours>& patterns = trial.bound.patterns;
  std::string text = "of cost %       hours  type             tasks: gpu/cpu/memory_gib\n";
  for (std::size_t i = 0; i < std::min(patterns.size(), kShownPatterns); ++i) {
    const PatternHours& rented = patterns[i];
    text += fmt::format("{:>9.1f}  {:>10.1f}  {:<15}  {}\n",
                        100 * share(rented.usd, trial.bound.reached_usd), rented.hours,
                        trial.workload.problem.types[rented.pattern.type].name,
                        tasks_text(trial.workload.problem, rented.pattern));
  }
  if (patterns.size() > kShownPatterns) {
    text += fmt::format("and {} more (--json has them all)\n", patterns.size() - kShownPatterns);
  }
  return text;
}

/// Notes that a reader needs to understand the bound.
std::string notes_text(const TrialBound& trial) {
  const FluidWorkload& workload = trial.workload;
  std::string text;
  if (!trial.bound.exact) {
    text +=
        "The search for patterns was cut off (--nodes): the least cost lies between bound and "
        "reached.\n";
  }
  if (workload.never_fit > 0) {
    text += fmt::format("{} of {} tasks fit no type and are left out.\n", workload.never_fit,
                        workload.tasks);
  }
  if (workload.free > 0) {
    text += fmt::format("{} of {} tasks take nothing where they run and are counted as free.\n",
                        workload.free, workload.tasks);
  }
  if (!workload.interference) {
    text += "Interference is left out: this model has no rates of pairs.\n";
  }
  if (workload.prices_vary) {
    text += "Each type is counted at the least that it costs at any time in cloud.prices.\n";
  }
  return text;
}

Json json_of(const FluidProblem& problem, const PatternHours& rented, double reached_usd) {
  Json tasks = Json::array();
  for (const auto& [kind, count] : counts_of(rented.pattern)) {
    tasks.push_back({{"kind", problem.kinds[kind].name}, {"count", count}});
  }
  return {{"type", problem.types[rented.pattern.type].name},
          {"hours", rented.hours},
          {"usd", rented.usd},
          {"share", share(rented.usd, reached_usd)},
          {"tasks", std::move(tasks)}};
}

Json json_of(const TrialBound& trial) {
  const FluidWorkload& workload = trial.workload;
  const FluidBound& bound = trial.bound;
  Json json{{"seed", trial.seed},
            {"bound_usd", bound.bound_usd},
            {"exact", bound.exact},
            {"proof", proof_of(bound)},
            {"reached_usd", bound.reached_usd},
            {"alone_usd", workload.alone_usd},
            {"share_of_alone", share(bound.bound_usd, workload.alone_usd)},
            {"stretch", bound.stretch},
            {"work_h", workload.work_h},
            {"tasks", workload.tasks},
            {"tasks_never_fit", workload.never_fit},
            {"tasks_free", workload.free},
            {"interference_counted", workload.interference},
            {"prices_vary", workload.prices_vary},
            {"rounds", bound.rounds},
            {"nodes", bound.nodes},
            {"kinds", Json::array()},
            {"patterns", Json::array()}};
  const std::vector<FluidKind>& kinds = workload.problem.kinds;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    json["kinds"].push_back({{"kind", kinds[i].name},
                             {"tasks", kinds[i].tasks},
                             {"work_h", kinds[i].work_h},
                             {"usd_per_work_h", bound.usd_per_work_h[i]}});
  }
  for (const PatternHours& rented : bound.patterns) {
    json["patterns"].push_back(json_of(workload.problem, rented, bound.reached_usd));
  }
  return json;
}

}  // namespace

std::string proof_of(const FluidBound& bound) {
  if (bound.exact) return "exact";
  return bound.divided ? "divided" : "Farley";
}

std::string bound_text(double usd) {
  return fmt::format("{:.2f}", std::floor(usd * 100) / 100);
}

std::string bound_table(std::span<const TrialBound> trials) {
  std::string text = fmt::format("{:<6} {:>14} {:<7} {:>14} {:>14} {:>10} {:>9} {:>6} {:>9}\n",
                                 "seed", "bound $", "proof", "reached $", "each alone $",
                                 "of alone %", "run time x", "kinds", "patterns");
  for (const TrialBound& trial : trials) {
    const FluidBound& bound = trial.bound;
    text += fmt::format("{:<6} {:>14} {:<7} {:>14.2f} {:>14.2f} {:>10.1f} {:>10.3f} {:>6} {:>9}\n",
                        trial.seed, bound_text(bound.bound_usd), proof_of(bound), bound.reached_usd,
                        trial.workload.alone_usd,
                        100 * share(bound.bound_usd, trial.workload.alone_usd), bound.stretch,
                        trial.workload.problem.kinds.size(), bound.patterns.size());
  }
  if (trials.empty()) return text;
  return text + "\n" + patterns_text(trials.front()) + notes_text(trials.front());
}

std::string bound_json(std::span<const TrialBound> trials) {
  Json json{{"bounds", Json::array()}};
  for (const TrialBound& trial : trials) json["bounds"].push_back(json_of(trial));
  return json.dump(2) + "\n";
}

}  // namespace muster::bound
