// How well the learners of services predict, and how fast: on a drawn family of services, whose
// performance is known in full, by seed. With --measured on services that were measured, in a file
// as tools/bench/service_curves writes it: each is left out once, and learnt of by the others.
//   service_learners [--json FILE] [--arrivals N] SEED...
//   service_learners --measured FILE [--json FILE] SEED...

#include <fmt/format.h>
#include <time.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "learning/services/degree_learner.hpp"
#include "tools/bench/service_measured.hpp"

namespace muster::bench {
namespace {

struct Options {
  std::size_t arrivals = 300;
  std::string json, measured;
  Seeds seeds;
};

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
      probe(learner, contender, i, world);
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

Json all_tables(const Options& options) {
  const auto world = [&](std::uint64_t seed) {
    return std::vector{draw_world(seed, kPast, options.arrivals)};
  };
  Json json;
  json["blind"] = blind_table(options.seeds, world);
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
                            degree_choices(world(seed).front(), one, seed, out);
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
    const bool has_value =
        args[i] == "--json" || args[i] == "--arrivals" || args[i] == "--measured";
    if (has_value && i + 1 == args.size()) fail(args[i] + " should have a value behind it");
    if (args[i] == "--json") {
      options.json = args[++i];
    } else if (args[i] == "--measured") {
      options.measured = args[++i];
    } else if (args[i] == "--arrivals") {
      options.arrivals = std::max<std::uint64_t>(1, number_of(args[++i]));
    } else {
      options.seeds.push_back(number_of(args[i]));
    }
  }
  if (options.seeds.empty()) {
    fail("usage: service_learners [--measured FILE] [--json FILE] [--arrivals N] SEED...");
  }
  return options;
}

Json tables_of_measured(const Options& options) {
  const auto measured = train::read_past_services(options.measured, kMostPastServices);
  if (!measured) fail(measured.error().message);
  if (measured->services.size() < 2) fail(options.measured + " should have two services or more");
  return measured_tables(measured.value(), options.seeds);
}

int run(const std::vector<std::string>& args) {
  const Options options = options_of(args);
  const Json json = options.measured.empty() ? all_tables(options) : tables_of_measured(options);
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
