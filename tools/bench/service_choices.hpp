#pragma once

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "learning/services/performance_learner.hpp"
#include "tools/bench/service_worlds.hpp"

// Learners of services, how they are asked, and tables of what comes of their choices.

namespace muster::bench {

using Json = nlohmann::json;
using Seeds = std::vector<std::uint64_t>;
using Worlds = std::span<const ServiceWorld>;

/// A learner, and how it is asked.
struct Contender {
  std::string name;
  LearnerParams params{};
  bool chosen = false;    ///< the learner says where to probe; otherwise chance does
  std::size_t least = 2;  ///< probes
  std::size_t most = 2;   ///< up to these while the choice is not settled
};

/// A factorization machine, as printed or mended, and its number of passes.
Contender fm_contender(const std::string& name, bool printed, std::uint32_t passes);
/// A matrix factorization, likewise.
Contender mf_contender(const std::string& name, bool biases, std::uint32_t passes);
/// Past services as hypotheses.
Contender history_contender(const std::string& name, bool chosen, std::size_t probes,
                            double margin);

/// Those that are compared by their errors and first choices.
std::vector<Contender> size_contenders();
/// Those whose choices are mended by samples of production.
std::vector<Contender> corrected_contenders();

/// Means of figures over seeds, one row of a table.
class Figures {
 public:
  void add(const std::string& name, double value);
  Json print(const std::string& row) const;

 private:
  struct Sum {
    std::string name;
    double total = 0, count = 0;
  };
  std::vector<Sum> sums_;
};

/// A learner of the world that knows its profiles.
PerformanceLearner taught(const ServiceWorld& world, const LearnerParams& params);

/// Probes the world's arrival of that number as the contender does. How many probes it took.
std::size_t probe(PerformanceLearner& learner, const Contender& contender, std::size_t service,
                  const ServiceWorld& world);

/// Errors and first choices, over the arrivals of all worlds, in each a learner of its own.
void first_choices(Worlds worlds, const Contender& contender, Figures& figures);

/// Rows of means that know nothing of the arrival, by name: the least that a learner has to beat.
/// Two random probes count as measured.
void blind_choices(Worlds worlds, std::map<std::string, Figures>& rows);

/// Choices mended by samples of production.
void corrected_choices(Worlds worlds, const Contender& contender, std::uint64_t seed,
                       Figures& figures);

/// Runs each contender on each seed and prints a row for it.
template <class Run>
Json table(const std::string& title, const std::vector<Contender>& contenders, const Seeds& seeds,
           const Run& run) {
  fmt::print("\n{}\n", title);
  Json json;
  for (const Contender& contender : contenders) {
    Figures figures;
    for (const std::uint64_t seed : seeds) run(contender, seed, figures);
    json[contender.name] = figures.print(contender.name);
  }
  return json;
}

/// The rows of blind_choices() over the seeds; `worlds` gives those of a seed.
template <class WorldsOf>
Json blind_table(const Seeds& seeds, const WorldsOf& worlds) {
  Json json;
  std::map<std::string, Figures> rows;
  for (const std::uint64_t seed : seeds) blind_choices(worlds(seed), rows);
  fmt::print("Sizes, of services of which nothing is learnt\n");
  for (const auto& [name, figures] : rows) json[name] = figures.print(name);
  return json;
}

}  // namespace muster::bench
