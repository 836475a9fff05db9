#include "tools/bench/service_choices.hpp"

#include <cstdio>

namespace muster::bench {
namespace {

constexpr int kMostCorrections = 3;

/// Means over arrivals of how their choices do.
class Choices {
 public:
  void add(const ServiceWorld& world, const Arrival& arrival, std::uint32_t at) {
    met_ += arrival.truth[at] >= arrival.goal;
    price_ += world.sizes[at].price_usd_h / world.sizes[arrival.cheapest].price_usd_h;
    ++count_;
  }
  double count() const { return count_; }
  double met() const { return met_ / count_; }
  double price() const { return price_ / count_; }

 private:
  double met_ = 0, price_ = 0, count_ = 0;
};

/// Means that know nothing of the arrival, by name.
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

/// The figures of first choices that every row has.
void add_first(const ErrorSum& errors, const Choices& choices, Figures& figures) {
  figures.add("rmse", errors.rmse());
  figures.add("worst", errors.worst());
  figures.add("met", choices.met());
  figures.add("price", choices.price());
}

}  // namespace

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

void Figures::add(const std::string& name, double value) {
  const auto known = std::ranges::find(sums_, name, &Sum::name);
  Sum& sum = known == sums_.end() ? sums_.emplace_back(Sum{name}) : *known;
  sum.total += value;
  ++sum.count;
}

Json Figures::print(const std::string& row) const {
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

PerformanceLearner taught(const ServiceWorld& world, const LearnerParams& params) {
  PerformanceLearner learner(world.sizes, params);
  learner.learn_curves(world.profiles);
  return learner;
}

std::size_t probe(PerformanceLearner& learner, const Contender& contender, std::size_t service,
                  const ServiceWorld& world) {
  const Arrival& arrival = world.arrivals[service];
  PerformanceEstimate scratch;
  std::size_t done = 0;
  for (; done < contender.most; ++done) {
    if (done >= contender.least && learner.choose(service, arrival.goal, scratch).settled) break;
    std::uint32_t at = arrival.random[done];
    if (contender.chosen && !(done == 0 && world.largest_first)) at = *learner.next_probe(service);
    learner.observe(service, {at, arrival.probed[at], kProbeNoise});
  }
  return done;
}

void first_choices(Worlds worlds, const Contender& contender, Figures& figures) {
  PerformanceEstimate estimate;
  ErrorSum errors;
  Choices choices;
  double probes = 0;
  for (const ServiceWorld& world : worlds) {
    PerformanceLearner learner = taught(world, contender.params);
    for (std::size_t i = 0; i < world.arrivals.size(); ++i) {
      const Arrival& arrival = world.arrivals[i];
      probes += static_cast<double>(probe(learner, contender, i, world));
      const SizeChoice choice = learner.choose(i, arrival.goal, estimate);
      errors.add(arrival.truth, estimate.mean, learner.measured(i));
      choices.add(world, arrival, choice.at);
    }
  }
  add_first(errors, choices, figures);
  figures.add("probes", probes / choices.count());
}

void blind_choices(Worlds worlds, std::map<std::string, Figures>& rows) {
  std::map<std::string, std::pair<ErrorSum, Choices>> sums;
  for (const ServiceWorld& world : worlds) {
    for (const auto& [name, mean] : blind_means(world)) {
      auto& [errors, choices] = sums[name];
      const PerformanceEstimate estimate{mean, PerformanceCurve(mean.size(), 0.0), 0};
      for (const Arrival& arrival : world.arrivals) {
        std::vector<MeasuredPoint> measured;
        for (const std::uint32_t at : std::span(arrival.random).first(2)) {
          take_up(measured, {at, arrival.probed[at], kProbeNoise});
        }
        const SizeChoice choice = choose_size(world.sizes, estimate, measured, {arrival.goal, 0});
        errors.add(arrival.truth, mean, measured);
        choices.add(world, arrival, choice.at);
      }
    }
  }
  for (const auto& [name, sum] : sums) add_first(sum.first, sum.second, rows[name]);
}

void corrected_choices(Worlds worlds, const Contender& contender, std::uint64_t seed,
                       Figures& figures) {
  PerformanceEstimate estimate;
  Rng rng(seed ^ 0x5eedULL);
  Choices first, then;
  double corrections = 0, probes = 0;
  for (const ServiceWorld& world : worlds) {
    PerformanceLearner learner = taught(world, contender.params);
    for (std::size_t i = 0; i < world.arrivals.size(); ++i) {
      const Arrival& arrival = world.arrivals[i];
      probes += static_cast<double>(probe(learner, contender, i, world));
      SizeChoice choice = learner.choose(i, arrival.goal, estimate);
      first.add(world, arrival, choice.at);
      for (int done = 0; done < kMostCorrections; ++done) {
        const double value = noisy_performance(arrival.truth[choice.at], kProductionNoise, rng);
        learner.observe(i, {choice.at, value, kProductionNoise});
        const SizeChoice next = learner.choose(i, arrival.goal, estimate);
        if (next.at == choice.at) break;
        choice = next;
        ++corrections;
      }
      then.add(world, arrival, choice.at);
    }
  }
  figures.add("first met", first.met());
  figures.add("first price", first.price());
  figures.add("then met", then.met());
  figures.add("then price", then.price());
  figures.add("corrections", corrections / then.count());
  figures.add("probes", probes / then.count());
}

}  // namespace muster::bench
