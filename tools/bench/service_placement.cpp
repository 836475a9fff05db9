// Section 4.2.2 of LRASched: services of many replicas on machines of several dimensions, how many
// of them each scheme places and how much of the machines they use, by scheme, dimensions and seed;
// how many machines each needs for all of them; and the processor time of one placement.
//   service_placement [--services N] [--nodes N] [--dims A,B..] [--seeds A,B..] [--period N]
//                     [--load X] [--schemes TEXT] [--machines] [--bound] [--latency]
//                     [--json FILE]
// --bound adds how many services no placement exceeds, by prices of room. --latency measures
// processor times alone. --schemes: those alone whose name begins with the text.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schedulers/lrasched/first_fit.hpp"
#include "schedulers/lrasched/period_placement.hpp"
#include "schedulers/lrasched/placement_bound.hpp"
#include "schedulers/lrasched/service_moves.hpp"
#include "schedulers/lrasched/service_placer.hpp"
#include "tools/bench/service_instances.hpp"

namespace muster::lrasched {
namespace {

[[noreturn]] void fail(const std::string& message) {
  fmt::print(stderr, "service_placement: {}\n", message);
  std::exit(1);
}

struct Options {
  std::uint32_t services = 500;
  std::uint32_t nodes = 100;
  std::vector<std::uint64_t> dims{3, 4, 5, 6};
  std::vector<std::uint64_t> seeds{1, 2, 3, 4, 5};
  std::uint32_t period = 25;
  double load = 1;
  bool machines = false;
  bool latency = false;
  bool bound = false;
  std::string schemes;
  std::string json;
};

std::vector<std::uint64_t> numbers_in(const std::string& text) {
  std::vector<std::uint64_t> numbers;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    numbers.push_back(std::strtoull(text.substr(begin, end - begin).c_str(), nullptr, 10));
    if (numbers.back() == 0) fail("a list is of numbers from 1, such as 3,4,5: " + text);
    begin = end + 1;
  }
  return numbers;
}

Options options_of(std::span<char*> words) {
  Options options;
  const auto number = [](const std::string& value) {
    return static_cast<std::uint32_t>(numbers_in(value).front());
  };
  const std::map<std::string, std::function<void(const std::string&)>, std::less<>> takes{
      {"--services", [&](const auto& value) { options.services = number(value); }},
      {"--nodes", [&](const auto& value) { options.nodes = number(value); }},
      {"--period", [&](const auto& value) { options.period = number(value); }},
      {"--dims", [&](const auto& value) { options.dims = numbers_in(value); }},
      {"--seeds", [&](const auto& value) { options.seeds = numbers_in(value); }},
      {"--load", [&](const auto& value) { options.load = std::strtod(value.c_str(), nullptr); }},
      {"--schemes", [&](const auto& value) { options.schemes = value; }},
      {"--json", [&](const auto& value) { options.json = value; }}};
  const std::map<std::string, bool*, std::less<>> flags{{"--machines", &options.machines},
                                                        {"--bound", &options.bound},
                                                        {"--latency", &options.latency}};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const auto flag = flags.find(word);
    if (flag != flags.end()) {
      *flag->second = true;
      continue;
    }
    const auto take = takes.find(word);
    if (take == takes.end() || i + 1 == words.size()) {
      fail(fmt::format("no such option, or no value for it: {}", word));
    }
    take->second(words[++i]);
  }
  return options;
}

double processor_s() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// One way to place services that come, period by period or all at once.
struct Scheme {
  std::string name;
  bool by_period = true;
  std::function<PeriodPlacement(NodeRooms&, std::span<const Service>, const Demand&, Rng&)> place;
  bool for_all = false;  ///< machines for all services are counted under it
};

Scheme of_rules(std::string name, bool by_period, const PlacementRules& rules) {
  return {std::move(name), by_period,
          [rules](NodeRooms& rooms, std::span<const Service> services, const Demand& demand, Rng&) {
            return place_period(rooms, services, demand, rules);
          }};
}

Scheme of_first_fit(std::string name, bool by_period, FirstFit kind) {
  return {std::move(name), by_period,
          [kind](NodeRooms& rooms, std::span<const Service> services, const Demand& demand, Rng&) {
            return place_first_fit(rooms, services, demand, kind);
          }};
}

Scheme of_moves(std::string name, bool by_period, const PlacementRules& rules) {
  return {
      std::move(name), by_period,
      [rules](NodeRooms& rooms, std::span<const Service> services, const Demand& demand, Rng& rng) {
        return place_with_moves({rooms, services, demand, rules}, {}, rng);
      }};
}

std::vector<Scheme> all_schemes() {
  const PlacementRules by_arrival{Fit::balanced, ServiceOrder::arrival};
  const PlacementRules dot_by_arrival{Fit::dot, ServiceOrder::arrival};
  std::vector<Scheme> schemes{of_rules("lrasched", true, kPaperRules),
                              of_rules("lrasched at once", false, kPaperRules),
                              of_rules("lrasched at once, by arrival", false, dot_by_arrival),
                              of_first_fit("ffd dot", true, FirstFit::dot),
                              of_first_fit("ffd dot at once", false, FirstFit::dot),
                              of_first_fit("ffd at once", false, FirstFit::number),
                              of_rules("balanced", true, {}),
                              of_moves("balanced, moves", true, {}),
                              of_rules("balanced by arrival", true, by_arrival),
                              of_rules("balanced at once", false, {}),
                              of_moves("balanced at once, moves", false, {})};
  for (Scheme& scheme : schemes) {
    scheme.for_all = !scheme.by_period && scheme.name != "ffd at once";
  }
  return schemes;
}

struct Outcome {
  double placed_share = 0;
  double used_share = 0;
  double cpu_s = 0;
};

double sum_of(const Amounts& amounts) {
  double sum = 0;
  for (const double amount : amounts) sum += amount;
  return sum;
}

/// A service that is not placed in its period is gone. Demand is that of the period for what the
/// paper has, and of all services seen so far for the balanced fit.
Outcome run_scheme(const Scheme& scheme, const Instance& instance, const Options& options,
                   std::size_t dims) {
  NodeRooms rooms(dims, instance.nodes);
  const double capacity = sum_of(rooms.total());
  const std::span<const Service> all(instance.services);
  const std::size_t period = scheme.by_period ? options.period : all.size();
  Rng rng(1);
  Demand seen;
  std::size_t placed = 0;
  const double begin = processor_s();
  for (std::size_t first = 0; first < all.size(); first += period) {
    const auto some = all.subspan(first, std::min(period, all.size() - first));
    for (const Service& service : some) seen.add(service);
    const Demand& demand = scheme.name.starts_with("balanced") ? seen : Demand(some);
    placed += scheme.place(rooms, some, demand, rng).placed();
  }
  return {static_cast<double>(placed) / static_cast<double>(all.size()),
          1 - sum_of(rooms.total()) / capacity, processor_s() - begin};
}

/// The least number of machines with which the scheme places all services, packed anew at each.
std::uint32_t machines_for_all(const Scheme& scheme, const Instance& instance, std::size_t dims) {
  const Demand demand(instance.services);
  NodeRooms rooms(dims);
  std::vector<Amounts> nodes = instance.nodes;
  nodes.insert(nodes.end(), instance.further.begin(), instance.further.end());
  for (const Amounts& node : nodes) {
    rooms.add(node);
    if (!fits(demand.total(), rooms.total())) continue;
    NodeRooms tried = rooms;
    Rng rng(1);
    const auto placement = scheme.place(tried, instance.services, demand, rng);
    if (placement.placed() == instance.services.size()) return rooms.count();
  }
  fail("further machines would be needed");
}

/// Processor time of placing one service of 20 replicas in six dimensions, on empty
/// nodes, all of which are candidates, as a live master does it when a service comes.
void print_latency(std::uint32_t nodes, Fit fit) {
  constexpr std::size_t kDims = 6;
  constexpr std::size_t kCalls = 2000;
  const InstanceShape shape{
      .dims = kDims, .services = 200, .nodes = nodes, .least_replicas = 20, .most_replicas = 20};
  Instance instance = draw_instance(shape, 1);
  // The sizes of an instance of 500 services on 100 nodes, however many nodes there are.
  for (Service& service : instance.services) {
    for (double& amount : service.size) amount *= 40.0 / nodes;
  }
  NodeRooms rooms(kDims, instance.nodes);
  const Demand demand(instance.services);
  ServicePlacer placer(rooms);
  std::vector<double> times_us;
  for (std::size_t call = 0; call < kCalls; ++call) {
    const Service& service = instance.services[call % instance.services.size()];
    Spots spots;
    const double begin = processor_s();
    const Fitness fitness(fit, service.size, scale_of(demand, rooms));
    const bool is_placed = placer.place(service, fitness, spots);
    times_us.push_back((processor_s() - begin) * 1e6);
    if (!is_placed) fail("a service of the measurement finds no room");
    for (const Spot& spot : spots) {
      rooms.take(spot.node, service.size, -static_cast<std::int64_t>(spot.count));
    }
  }
  std::sort(times_us.begin(), times_us.end());
  fmt::print("{:8} fit, {:6} nodes: p50 {:.1f} us, p99 {:.1f} us\n",
             fit == Fit::dot ? "dot" : "balanced", nodes, times_us[kCalls / 2],
             times_us[kCalls * 99 / 100]);
}

class Report {
 public:
  explicit Report(const Options& options) : options_(options) {}

  void run() {
    fmt::print("{} services on {} machines, load {}, {} a period\n", options_.services,
               options_.nodes, options_.load, options_.period);
    for (const Scheme& scheme : all_schemes()) {
      if (scheme.name.starts_with(options_.schemes)) run(scheme);
    }
    if (options_.bound) print_bound();
  }
  const nlohmann::json& rows() const { return rows_; }

 private:
  Instance instance_of(std::uint64_t dims, std::uint64_t seed) const {
    const InstanceShape shape{.dims = dims,
                              .services = options_.services,
                              .nodes = options_.nodes,
                              .load = options_.load,
                              .further_nodes = 2 * options_.nodes};
    return draw_instance(shape, seed * 100 + dims);
  }

  void print_bound() {
    constexpr std::uint32_t kSteps = 600;
    fmt::print("{:30} placed", "no placement exceeds");
    double sum = 0;
    for (const std::uint64_t dims : options_.dims) {
      double of_dims = 0;
      for (const std::uint64_t seed : options_.seeds) {
        const Instance instance = instance_of(dims, seed);
        const NodeRooms rooms(dims, instance.nodes);
        NodeRooms tried = rooms;
        const Demand demand(instance.services);
        const std::uint32_t known = place_period(tried, instance.services, demand, {}).placed();
        const double bound = bound_by_prices(rooms, instance.services, known, kSteps);
        const double share = bound / static_cast<double>(instance.services.size());
        rows_.push_back({{"scheme", "bound"}, {"dims", dims}, {"seed", seed}, {"placed", share}});
        of_dims += share / static_cast<double>(options_.seeds.size());
      }
      fmt::print(" {:5.1f}", 100 * of_dims);
      sum += of_dims;
    }
    fmt::print(", mean {:.1f} %\n", 100 * sum / static_cast<double>(options_.dims.size()));
  }

  void run(const Scheme& scheme) {
    Outcome mean;
    double machines = 0;
    std::string by_dims;
    const bool for_all = options_.machines && scheme.for_all;
    for (const std::uint64_t dims : options_.dims) {
      double placed = 0;
      double needed = 0;
      for (const std::uint64_t seed : options_.seeds) {
        const Instance instance = instance_of(dims, seed);
        const Outcome outcome = run_scheme(scheme, instance, options_, dims);
        nlohmann::json row{{"scheme", scheme.name},
                           {"dims", dims},
                           {"seed", seed},
                           {"placed", outcome.placed_share},
                           {"used", outcome.used_share},
                           {"cpu_s", outcome.cpu_s}};
        if (for_all) {
          const std::uint32_t count = machines_for_all(scheme, instance, dims);
          row["machines"] = count;
          needed += count;
        }
        rows_.push_back(row);
        placed += outcome.placed_share;
        mean.used_share += outcome.used_share;
        mean.cpu_s += outcome.cpu_s;
      }
      const auto seeds = static_cast<double>(options_.seeds.size());
      by_dims += fmt::format(" {:5.1f}", 100 * placed / seeds);
      if (for_all) by_dims += fmt::format(" ({:.1f})", needed / seeds);
      mean.placed_share += placed;
      machines += needed;
    }
    const auto runs = static_cast<double>(options_.seeds.size() * options_.dims.size());
    fmt::print("{:30} placed{}, mean {:.1f} %, used {:.1f} %, {:.3f} s", scheme.name, by_dims,
               100 * mean.placed_share / runs, 100 * mean.used_share / runs, mean.cpu_s / runs);
    if (for_all) fmt::print(", machines for all {:.1f}", machines / runs);
    fmt::print("\n");
    std::fflush(stdout);
  }

  const Options& options_;
  nlohmann::json rows_ = nlohmann::json::array();
};

}  // namespace
}  // namespace muster::lrasched

int main(int count, char** words) {
  using namespace muster::lrasched;
  const Options options =
      options_of(std::span<char*>(words, static_cast<std::size_t>(count)).subspan(1));
  if (options.latency) {
    for (const std::uint32_t nodes : {500U, 5'000U, 20'000U}) {
      print_latency(nodes, Fit::dot);
      print_latency(nodes, Fit::balanced);
    }
    return 0;
  }
  Report report(options);
  report.run();
  if (!options.json.empty()) std::ofstream(options.json) << report.rows().dump(1) << "\n";
  return 0;
}
