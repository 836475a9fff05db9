#include "learning/services/past_services.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace muster {
namespace {

constexpr std::string_view kPastKind = "past-services";
constexpr unsigned kPastVersion = 1;

bool is_ascending(std::span<const double> amounts) {
  const auto is_sound = [](double each) { return each >= kLeastLearnt && each <= kGreatestLearnt; };
  return std::ranges::all_of(amounts, is_sound) &&
         std::ranges::adjacent_find(amounts, std::greater_equal<>()) == amounts.end();
}

/// An amount among ascending ones: which two it lies between, how near to the higher one, and the
/// share of the least one that it is, where it is below.
struct Position {
  std::size_t low = 0, high = 0;
  double to_high = 0;
  double left = 1;
};

/// Sizes double from one to the next: an amount in the middle is so by its logarithm.
Position position_of(double amount, std::span<const double> among) {
  if (amount <= among.front()) return {.left = amount / among.front()};
  const auto above = std::ranges::lower_bound(among, amount);
  const auto high = static_cast<std::size_t>(above - among.begin());
  if (above == among.end()) return {high - 1, high - 1};
  const double step = std::log(among[high] / among[high - 1]);
  return {high - 1, high, std::log(amount / among[high - 1]) / step};
}

struct WrittenServices {
  std::span<const PastService> services;

  void write(ModelWriter& out) const {
    out.line("services").whole(services.size());
    for (const PastService& service : services) {
      out.line("cores").whole(service.cores.size());
      for (const double each : service.cores) out.number(each);
      out.line("memory_gib").whole(service.memory_gib.size());
      for (const double each : service.memory_gib) out.number(each);
      out.line("values");
      for (const double each : service.values) out.number(each);
    }
  }
};

std::vector<double> read_amounts(std::string_view name, ModelReader& in) {
  in.line(name);
  std::vector<double> amounts(in.whole(1, kMostPoints));
  for (double& each : amounts) each = in.number(kLeastLearnt, kGreatestLearnt);
  return amounts;
}

std::vector<PastService> read_services(ModelReader& in) {
  in.line("services");
  const std::uint64_t count = in.whole(1, kMostPastServices);
  std::vector<PastService> services;
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    PastService& service = services.emplace_back();
    service.cores = read_amounts("cores", in);
    service.memory_gib = read_amounts("memory_gib", in);
    in.line("values");
    service.values.resize(service.cores.size() * service.memory_gib.size());
    for (double& each : service.values) each = in.number(0, 1);
    if (in.ok() && !valid_past_service(service)) in.refuse("sizes do not rise, or are too many");
  }
  return services;
}

}  // namespace

bool valid_past_service(const PastService& service) {
  const std::size_t sizes = service.cores.size() * service.memory_gib.size();
  return sizes > 0 && sizes <= kMostPoints && service.values.size() == sizes &&
         is_ascending(service.cores) && is_ascending(service.memory_gib) &&
         std::ranges::all_of(service.values, [](double each) { return each >= 0 && each <= 1; }) &&
         service.values.back() > 0;
}

PerformanceCurve curve_of(const PastService& past, const ServiceSizes& sizes) {
  MUSTER_CHECK(valid_past_service(past), "past services are checked where they are read");
  const ServiceSize& most = sizes[sizes.largest()];
  const std::size_t width = past.memory_gib.size();
  PerformanceCurve curve;
  for (std::uint32_t at = 0; at < sizes.size(); ++at) {
    const Position cores =
        position_of(sizes[at].cores / most.cores * past.cores.back(), past.cores);
    const Position memory = position_of(
        sizes[at].memory_gib / most.memory_gib * past.memory_gib.back(), past.memory_gib);
    const auto along_memory = [&](std::size_t row) {
      return std::lerp(past.values[row * width + memory.low],
                       past.values[row * width + memory.high], memory.to_high);
    };
    curve.push_back(std::lerp(along_memory(cores.low), along_memory(cores.high), cores.to_high) *
                    cores.left * memory.left);
  }
  const double best = *std::ranges::max_element(curve);
  if (best > 0) {
    for (double& each : curve) each /= best;
  }
  return curve;
}

std::string past_services_text(std::span<const PastService> services) {
  return sealed_text(kPastKind, kPastVersion, WrittenServices{services});
}

Expected<std::vector<PastService>, LearnError> parse_past_services(std::string_view text) {
  return parse_sealed(kPastKind, kPastVersion, text, read_services);
}

}  // namespace muster
