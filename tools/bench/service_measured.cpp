#include "tools/bench/service_measured.hpp"

#include <fmt/format.h>

namespace muster::bench {
namespace {

/// For comparisons of teachers.
std::vector<Contender> few_contenders() {
  return {fm_contender("FTRL-FM mended, ten passes", false, 10),
          history_contender("history, random probes", false, 2, 0),
          history_contender("history, chosen probes", true, 2, 0),
          history_contender("history, chosen probes, margin 0.5", true, 2, 0.5),
          history_contender("history, three chosen probes", true, 3, 0)};
}

/// Moves the largest size, which a service begins with, to the front of a random order.
void put_first(std::vector<std::uint32_t>& order, std::uint32_t largest) {
  std::iter_swap(order.begin(), std::ranges::find(order, largest));
}

/// Drawn services at the sizes of the measured ones, taught by as few: to tell what is due to
/// their number, and what to the services.
ServiceWorld drawn_alike(const ServiceSizes& sizes, std::size_t past, std::uint64_t seed) {
  constexpr std::size_t kArrivals = 100;
  ServiceWorld world = draw_world(seed, past, kArrivals, sizes);
  world.largest_first = true;
  for (Arrival& arrival : world.arrivals) put_first(arrival.random, sizes.largest());
  return world;
}

/// A row for each service.
Json by_service(const train::MeasuredServices& measured, const Seeds& seeds,
                const Contender& contender) {
  fmt::print("\nEach service, {}\n", contender.name);
  Json json;
  for (std::size_t i = 0; i < measured.services.size(); ++i) {
    Figures figures;
    for (const std::uint64_t seed : seeds) {
      const auto worlds = measured_worlds(measured.services, seed, Teachers::others);
      first_choices(Worlds(worlds).subspan(i, 1), contender, figures);
    }
    json[measured.names[i]] = figures.print(measured.names[i]);
  }
  return json;
}

}  // namespace

ServiceSizes measured_sizes(const PastService& first) {
  const ServiceSizes family = family_sizes();
  const ServiceSize& most = family[family.largest()];
  std::vector<double> cores, memory_gib;
  for (const double each : first.cores) cores.push_back(each / first.cores.back() * most.cores);
  for (const double each : first.memory_gib) {
    memory_gib.push_back(each / first.memory_gib.back() * most.memory_gib);
  }
  return ServiceSizes::grid(cores, memory_gib);
}

std::vector<ServiceWorld> measured_worlds(std::span<const PastService> services, std::uint64_t seed,
                                          Teachers teachers) {
  const ServiceSizes sizes = measured_sizes(services.front());
  Rng rng(seed);
  ServiceWorld shared{.sizes = sizes, .past = {}, .profiles = {}, .arrivals = {}};
  if (teachers != Teachers::others) shared = draw_world(seed, kPast, 0, sizes);
  shared.largest_first = true;
  std::vector<ServiceWorld> worlds(services.size(), shared);
  for (std::size_t i = 0; i < services.size(); ++i) {
    Arrival arrival = known_arrival(sizes, curve_of(services[i], sizes), rng);
    put_first(arrival.random, sizes.largest());
    worlds[i].arrivals.push_back(std::move(arrival));
    if (teachers == Teachers::drawn) continue;
    for (std::size_t other = 0; other < services.size(); ++other) {
      if (other != i) worlds[i].profiles.push_back(curve_of(services[other], sizes));
    }
  }
  return worlds;
}

Json measured_tables(const train::MeasuredServices& measured, const Seeds& seeds) {
  const auto& services = measured.services;
  const auto worlds = [&](std::uint64_t seed) {
    return measured_worlds(services, seed, Teachers::others);
  };
  const auto first_of = [&](Teachers teachers) {
    return [&, teachers](const Contender& one, std::uint64_t seed, Figures& out) {
      first_choices(measured_worlds(services, seed, teachers), one, out);
    };
  };
  Json json;
  json["blind"] = blind_table(seeds, worlds);
  json["sizes"] = table("Sizes, taught by the other services", size_contenders(), seeds,
                        first_of(Teachers::others));
  json["corrections"] = table("Sizes with at most three corrections", corrected_contenders(), seeds,
                              [&](const Contender& one, std::uint64_t seed, Figures& out) {
                                corrected_choices(worlds(seed), one, seed, out);
                              });
  json["by_drawn"] = table(fmt::format("Sizes, taught by {} drawn services", kPast),
                           few_contenders(), seeds, first_of(Teachers::drawn));
  json["by_both"] =
      table("Sizes, taught by both", few_contenders(), seeds, first_of(Teachers::both));
  json["drawn_alike"] = table(
      "Drawn services at the same sizes, taught by as few", few_contenders(), seeds,
      [&](const Contender& one, std::uint64_t seed, Figures& out) {
        const auto alike = drawn_alike(measured_sizes(services.front()), services.size() - 1, seed);
        first_choices({&alike, 1}, one, out);
      });
  json["services"] =
      by_service(measured, seeds, history_contender("history, chosen probes", true, 2, 0));
  return json;
}

}  // namespace muster::bench
