// How well the learners of services predict, and how fast: on a drawn family of services, whose
// performance is known in full, by seed.
//   service_learners [--json FILE] [--arrivals N] SEED...

#include <fmt/format.h>
#include <time.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "learning/services/degree_learner.hpp"
#include "learning/services/performance_learner.hpp"
#include "tools/bench/service_worlds.hpp"

namespace muster::bench {
namespace {

using Json = nlohmann::json;
using Seeds = std::vector<std::uint64_t>;

constexpr std::size_t kPast = 200;
constexpr int kMostCorrections = 3;

struct Options {
  std::size_t arrivals = 300;
  std::string json;
  Seeds seeds;
};

/// A learner, and how it is asked.
struct Contender {
  std::string name;
  LearnerParams params{};
  bool chosen = false;    ///< the learner says where to probe; otherwise chance does
  std::size_t least = 2;  ///< probes
  std::size_t most = 2;   ///< up to these while the choice is not settled
};

Contender fm_contender(const std::string& name, bool printed, std::uint32_t passes) {
  Contender one{name};
  one.params.kind = LearnerKind::fm;
  one.params.margin = 0;
  one.params.rows.passes = passes;
  one.params.fm.printed = {printed, printed, printed};
  return one;
}

Contender mf_contender(const std::string& name, bool biases, std::uint32_t passes) {
  Contender one{name};
  one.params.kind = LearnerKind::mf;
  one.params.margin = 0;
  one.params.rows.passes = passes;
  one.params.mf.biases = biases;
  return one;
}

Contender history_contender(const std::string& name, bool chosen, std::size_t probes,
                            double margin) {
  Contender one{name};
  one.params.margin = margin;
  one.chosen = chosen;
  one.least = one.most = probes;
  return one;
}

/// Means of figures over seeds, one row of a table.
class Figures {
 public:
  void add(const std::string& name, double value) {
    const auto known = std::ranges::find(sums_, name, &Sum::name);
    Sum& sum = known == sums_.end() ? sums_.emplace_back(Sum{name}) : *known;
    sum.total += value;
    ++sum.count;
  }
  Json print(const std::string& row) const {
    Json json;
    fmt::print("{:<46}", row);
    for (const Sum& sum : sums_) {
      fmt::print("  {} {:.3f}", sum.name, sum.total / sum.count);
      json[sum.name] = sum.total / sum.count;
    }
    fmt::print("\n");
    std::fflush(stdout);
    return json;
  }

 private:
  struct Sum {
    std::string name;
    double total = 0, count = 0;
  };
  std::vector<Sum> sums_;
};

PerformanceLearner taught(const ServiceWorld& world, const LearnerParams& params) {
  PerformanceLearner learner(world.sizes, params);
  learner.learn_curves(world.profiles);
  return learner;
}

/// Probes an arrival as the contender does. How many probes it took.
std::size_t probe(PerformanceLearner& learner, const Contender& contender, std::uint64_t service,
                  const Arrival& arrival) {
  PerformanceEstimate scratch;
  std::size_t done = 0;
  for (; done < contender.most; ++done) {
    if (done >= contender.least && learner.choose(service, arrival.goal, scratch).settled) break;
    const std::uint32_t at = contender.chosen ? *learner.next_probe(service) : arrival.random[done];
    learner.observe(service, {at, arrival.probed[at], kProbeNoise});
  }
  return done;
}

double price_of(const ServiceWorld& world, const Arrival& arrival, std::uint32_t at) {
  return world.sizes[at].price_usd_h / world.sizes[arrival.cheapest].price_usd_h;
}

/// Errors and first choices.
void first_choices(const ServiceWorld& world, const Contender& contender, Figures& figures) {
  PerformanceLearner learner = taught(world, contender.params);
  PerformanceEstimate estimate;
  ErrorSum errors;
  double met = 0, price = 0, probes = 0;
  for (std::size_t i = 0; i < world.arrivals.size(); ++i) {
    const Arrival& arrival = world.arrivals[i];
    probes += static_cast<double>(probe(learner, contender, i, arrival));
    const SizeChoice choice = learner.choose(i, arrival.goal, estimate);
    errors.add(arrival.truth, estimate.mean, learner.measured(i));
    met += arrival.truth[choice.at] >= arrival.goal;
    price += price_of(world, arrival, choice.at);
  }
  const auto count = static_cast<double>(world.arrivals.size());
  figures.add("rmse", errors.rmse());
  figures.add("worst", errors.worst());
  figures.add("met", met / count);
  figures.add("price", price / count);
  figures.add("probes", probes / count);
}

/// Means that know nothing of the arrival, by name: the least that a learner has to beat.
std::vector<std::pair<std::string, PerformanceCurve>> blind_means(const ServiceWorld& world) {
  PerformanceCurve by_size(world.sizes.size(), 0.0);
  double all = 0;
  for (const PerformanceCurve& profile : world.profiles) {
    for (std::size_t at = 0; at < profile.size(); ++at) {
      by_size[at] += profile[at] / static_cast<double>(world.profiles.size());
    }
  }
  for (const double mean : by_size) all += mean / static_cast<double>(by_size.size());
  return {{"always 0", PerformanceCurve(by_size.size(), 0.0)},
          {"mean of all", PerformanceCurve(by_size.size(), all)},
          {"mean of the configuration", by_size}};
}

/// Their rows. Two random probes count as measured.
void blind_choices(const ServiceWorld& world, std::map<std::string, Figures>& rows) {
  for (const auto& [name, mean] : blind_means(world)) {
    const PerformanceEstimate estimate{mean, PerformanceCurve(mean.size(), 0.0), 0};
    ErrorSum errors;
    double met = 0, price = 0;
    for (const Arrival& arrival : world.arrivals) {
      std::vector<MeasuredPoint> measured;
      for (const std::uint32_t at : std::span(arrival.random).first(2)) {
        take_up(measured, {at, arrival.probed[at], kProbeNoise});
      }
      const SizeChoice choice = choose_size(world.sizes, estimate, measured, {arrival.goal, 0});
      errors.add(arrival.truth, mean, measured);
      met += arrival.truth[choice.at] >= arrival.goal;
      price += price_of(world, arrival, choice.at);
    }
    const auto count = static_cast<double>(world.arrivals.size());
    Figures& figures = rows[name];
    figures.add("rmse", errors.rmse());
    figures.add("worst", errors.worst());
    figures.add("met", met / count);
    figures.add("price", price / count);
  }
}

/// Choices mended by samples of production.
void corrected_choices(const ServiceWorld& world, const Contender& contender, std::uint64_t seed,
                       Figures& figures) {
  PerformanceLearner learner = taught(world, contender.params);
  PerformanceEstimate estimate;
  Rng rng(seed ^ 0x5eedULL);
  double first_met = 0, first_price = 0, met = 0, price = 0, corrections = 0, probes = 0;
  for (std::size_t i = 0; i < world.arrivals.size(); ++i) {
    const Arrival& arrival = world.arrivals[i];
    probes += static_cast<double>(probe(learner, contender, i, arrival));
    SizeChoice choice = learner.choose(i, arrival.goal, estimate);
    first_met += arrival.truth[choice.at] >= arrival.goal;
    first_price += price_of(world, arrival, choice.at);
    for (int done = 0; done < kMostCorrections; ++done) {
      const double value = noisy_performance(arrival.truth[choice.at], kProductionNoise, rng);
      learner.observe(i, {choice.at, value, kProductionNoise});
      const SizeChoice next = learner.choose(i, arrival.goal, estimate);
      if (next.at == choice.at) break;
      choice = next;
      ++corrections;
    }
    met += arrival.truth[choice.at] >= arrival.goal;
    price += price_of(world, arrival, choice.at);
  }
  const auto count = static_cast<double>(world.arrivals.size());
  figures.add("first met", first_met / count);
  figures.add("first price", first_price / count);
  figures.add("then met", met / count);
  figures.add("then price", price / count);
  figures.add("corrections", corrections / count);
  figures.add("probes", probes / count);
}

/// Degrees at the cheapest right size, two of four probed.
void degree_choices(const ServiceWorld& world, const Contender& contender, std::uint64_t seed,
                    Figures& figures) {
  constexpr double kKept = 0.95;  // of the goal, by which replicas together may be slower
  DegreeLearner learner({kFamilyDegrees.begin(), kFamilyDegrees.end()}, world.sizes.size(),
                        contender.params);
  Rng rng(seed ^ 0xdeULL);
  std::vector<std::vector<PerformanceCurve>> by_degree;
  for (const FamilyService& past : world.past) {
    auto& own = by_degree.emplace_back();
    for (const auto degree : kFamilyDegrees) {
      own.push_back(noisy_curve(performance_curve(past, world.sizes, degree), kProfileNoise, rng));
    }
  }
  for (std::uint32_t size = 0; size < world.sizes.size(); ++size) {
    std::vector<PerformanceCurve> curves;
    for (const auto& own : by_degree) {
      PerformanceCurve& curve = curves.emplace_back();
      for (const PerformanceCurve& at : own) curve.push_back(at[size]);
    }
    learner.learn_curves(size, curves);
  }
  PerformanceEstimate estimate;
  ErrorSum errors;
  double met = 0, share = 0;
  for (std::size_t i = 0; i < world.arrivals.size(); ++i) {
    const Arrival& arrival = world.arrivals[i];
    const std::uint32_t size = arrival.cheapest;
    PerformanceCurve truth;
    for (const auto degree : kFamilyDegrees) {
      truth.push_back(performance_curve(arrival.service, world.sizes, degree)[size]);
    }
    const auto order = drawn_order(static_cast<std::uint32_t>(truth.size()), rng);
    for (std::size_t done = 0; done < contender.least; ++done) {
      const std::uint32_t at = contender.chosen ? *learner.next_probe(i, size) : order[done];
      learner.observe(i, size, {at, noisy_performance(truth[at], kProbeNoise, rng), kProbeNoise});
    }
    learner.estimate(i, size, estimate);
    errors.add(truth, estimate.mean, learner.measured(i, size));
    const double goal = kKept * arrival.goal;
    const DegreeChoice choice = learner.choose(i, size, goal);
    std::size_t best = truth.size() - 1;
    while (best > 0 && truth[best] < goal) --best;
    met += truth[choice.at] >= kKept * goal;
    share += static_cast<double>(choice.degree) / kFamilyDegrees[best];
  }
  const auto count = static_cast<double>(world.arrivals.size());
  figures.add("rmse", errors.rmse());
  figures.add("met", met / count);
  figures.add("of the largest right one", share / count);
}

/// Errors by hundred arrivals after ten profiles, with a sample of production each (Figure 5).
void over_time(std::uint64_t seed, const Contender& contender, Figures& figures) {
  constexpr std::size_t kWindow = 100, kWindows = 8, kFew = 10;
  const ServiceWorld world = draw_world(seed, kFew, kWindow * kWindows);
  PerformanceLearner learner = taught(world, contender.params);
  PerformanceEstimate estimate;
  Rng rng(seed ^ 0x71ULL);
  for (std::size_t window = 0; window < kWindows; ++window) {
    ErrorSum errors;
    for (std::size_t i = window * kWindow; i < (window + 1) * kWindow; ++i) {
      const Arrival& arrival = world.arrivals[i];
      probe(learner, contender, i, arrival);
      const SizeChoice choice = learner.choose(i, arrival.goal, estimate);
      errors.add(arrival.truth, estimate.mean, learner.measured(i));
      const double value = noisy_performance(arrival.truth[choice.at], kProductionNoise, rng);
      learner.observe(i, {choice.at, value, kProductionNoise});
    }
    figures.add(std::to_string((window + 1) * kWindow), errors.rmse());
  }
}

double cpu_us() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

/// Processor time of an act, by itself; the clock takes a part of a microsecond of it.
template <class Act>
Json timed(const std::string& name, std::size_t runs, const Act& act) {
  std::vector<double> took;
  for (std::size_t i = 0; i < runs; ++i) {
    const double from = cpu_us();
    act(i);
    took.push_back(cpu_us() - from);
  }
  std::ranges::sort(took);
  const double p50 = took[runs / 2], p99 = took[runs * 99 / 100];
  fmt::print("{:<46}  p50 {:.2f} us  p99 {:.2f} us\n", name, p50, p99);
  return {{"p50_us", p50}, {"p99_us", p99}};
}

Json timings(std::uint64_t seed) {
  constexpr std::size_t kRuns = 5000, kBatch = 1000;
  const ServiceWorld world = draw_world(seed, kPast, 300);
  Json json;
  FactorizationMachine machine;
  machine.grow(500);
  Rng rng(1);
  std::vector<FmFeature> row(4), wide(32);
  double kept = 0;
  for (auto* each : {&row, &wide}) {
    for (std::size_t i = 0; i < each->size(); ++i) {
      (*each)[i] = {static_cast<std::uint32_t>(i * 15), rng.uniform()};
    }
    for (int i = 0; i < 100; ++i) machine.learn(*each, 0.5);
    const auto name = fmt::format("a thousand predictions, {} features", each->size());
    json[name] = timed(name, 200, [&](std::size_t) {
      for (std::size_t i = 0; i < kBatch; ++i) {
        each->front().value = static_cast<double>(i) / kBatch;
        kept += machine.predict(*each);
      }
    });
    const auto learns = fmt::format("a thousand updates, {} features", each->size());
    json[learns] = timed(learns, 200, [&](std::size_t) {
      for (std::size_t i = 0; i < kBatch; ++i) kept += machine.learn(*each, 0.5);
    });
  }
  PerformanceLearner learner = taught(world, {});
  PerformanceEstimate scratch;
  for (const std::size_t probes : {0, 1, 2, 3}) {
    const auto name = fmt::format("a size of 30, 200 curves, {} probes", probes);
    json[name] = timed(name, kRuns, [&](std::size_t i) {
      const std::size_t service = i % world.arrivals.size();
      kept += learner.choose(service, world.arrivals[service].goal, scratch).at;
    });
    const auto next = fmt::format("the next probe after {}", probes);
    json[next] = timed(next, kRuns / 10, [&](std::size_t i) {
      kept += *learner.next_probe(i % world.arrivals.size());
    });
    for (std::size_t i = 0; i < world.arrivals.size(); ++i) {
      const std::uint32_t at = *learner.next_probe(i);
      learner.observe(i, {at, world.arrivals[i].probed[at]});
    }
  }
  // So that nothing above is left out by the compiler.
  if (kept == 0.125) fmt::print("\n");
  return json;
}

std::vector<Contender> size_contenders() {
  Contender adaptive = history_contender("history, 2 to 4 chosen probes, margin 0.5", true, 2, 0.5);
  adaptive.most = 4;
  return {fm_contender("FTRL-FM as printed, one pass", true, 1),
          fm_contender("FTRL-FM mended, one pass", false, 1),
          fm_contender("FTRL-FM mended, ten passes", false, 10),
          mf_contender("MF, one pass", false, 1),
          mf_contender("MF, twenty passes", false, 20),
          mf_contender("MF with biases, one pass", true, 1),
          mf_contender("MF with biases, twenty passes", true, 20),
          history_contender("history, random probes", false, 2, 0),
          history_contender("history, chosen probes", true, 2, 0),
          history_contender("history, chosen probes, margin 0.5", true, 2, 0.5),
          history_contender("history, chosen probes, margin 1", true, 2, 1),
          history_contender("history, three chosen probes", true, 3, 0),
          history_contender("history, four chosen probes", true, 4, 0),
          adaptive};
}

std::vector<Contender> corrected_contenders() {
  Contender wary = fm_contender("FTRL-FM mended, ten passes, margin 0.5", false, 10);
  wary.params.margin = 0.5;
  Contender adaptive = history_contender("history, 2 to 4 chosen probes, margin 0.5", true, 2, 0.5);
  adaptive.most = 4;
  return {fm_contender("FTRL-FM mended, ten passes", false, 10), wary,
          history_contender("history, random probes", false, 2, 0),
          history_contender("history, chosen probes, margin 0.5", true, 2, 0.5), adaptive};
}

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

Json all_tables(const Options& options) {
  const auto world = [&](std::uint64_t seed) { return draw_world(seed, kPast, options.arrivals); };
  Json json, blind;
  std::map<std::string, Figures> rows;
  for (const std::uint64_t seed : options.seeds) blind_choices(world(seed), rows);
  fmt::print("Sizes, of services of which nothing is learnt\n");
  for (const auto& [name, figures] : rows) blind[name] = figures.print(name);
  json["blind"] = blind;
  json["sizes"] =
      table("Sizes", size_contenders(), options.seeds,
            [&](const auto& one, auto seed, auto& out) { first_choices(world(seed), one, out); });
  json["corrections"] = table("Sizes with at most three corrections", corrected_contenders(),
                              options.seeds, [&](const auto& one, auto seed, auto& out) {
                                corrected_choices(world(seed), one, seed, out);
                              });
  json["degrees"] = table("Degrees, two of four probed",
                          {fm_contender("FTRL-FM mended, one a size", false, 10),
                           history_contender("history of shapes, random probes", false, 2, 0),
                           history_contender("history of shapes, chosen probes", true, 2, 0)},
                          options.seeds, [&](const auto& one, auto seed, auto& out) {
                            degree_choices(world(seed), one, seed, out);
                          });
  json["over_time"] = table(
      "Over time, ten profiles, rmse by hundred arrivals",
      {fm_contender("FTRL-FM as printed, one pass", true, 1),
       fm_contender("FTRL-FM mended, ten passes", false, 10),
       mf_contender("MF, one pass", false, 1),
       history_contender("history, chosen probes", true, 2, 0)},
      options.seeds, [&](const auto& one, auto seed, auto& out) { over_time(seed, one, out); });
  fmt::print("\nProcessor time\n");
  json["timings"] = timings(options.seeds.front());
  return json;
}

[[noreturn]] void fail(const std::string& message) {
  fmt::print(stderr, "service_learners: {}\n", message);
  std::exit(1);
}

std::uint64_t number_of(const std::string& text) {
  char* end = nullptr;
  const std::uint64_t number = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0') fail("'" + text + "' should be a whole number");
  return number;
}

Options options_of(const std::vector<std::string>& args) {
  Options options;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const bool has_value = args[i] == "--json" || args[i] == "--arrivals";
    if (has_value && i + 1 == args.size()) fail(args[i] + " should have a value behind it");
    if (args[i] == "--json") {
      options.json = args[++i];
    } else if (args[i] == "--arrivals") {
      options.arrivals = std::max<std::uint64_t>(1, number_of(args[++i]));
    } else {
      options.seeds.push_back(number_of(args[i]));
    }
  }
  if (options.seeds.empty()) fail("usage: service_learners [--json FILE] [--arrivals N] SEED...");
  return options;
}

int run(const std::vector<std::string>& args) {
  const Options options = options_of(args);
  const Json json = all_tables(options);
  if (options.json.empty()) return 0;
  std::ofstream file(options.json);
  file << json.dump(2) << '\n';
  file.flush();
  if (!file) fail("cannot write " + options.json);
  return 0;
}

}  // namespace
}  // namespace muster::bench

int main(int argc, char** argv) {
  return muster::bench::run({argv + 1, argv + argc});
}
