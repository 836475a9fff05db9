#include "replay/workload/service_truth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "config/numbers.hpp"
#include "model/check.hpp"
#include "replay/workload/demands_text.hpp"

// Performance of services: the formula of their family, or sizes and degrees that were measured. A
// measured replica does as well as the best measured one that has no more than it has.

namespace muster::replay {
namespace {

constexpr std::string_view kMeasured = "measured";
constexpr NumberRange kPerformance{.low = 0, .high = 1};
constexpr NumberRange kDegreeFactor{.low = 0, .high = 10};
/// Of the numbers of a family's member: a cap that keeps their formula finite.
constexpr NumberRange kFamilyNumber{.low = 0, .high = 1e6};
constexpr NumberRange kFamilyPositive{.low = 0, .high = 1e6, .above_low = true};

/// The numbers of a member, in the order of its text.
constexpr std::array<double FamilyService::*, 7> kNumbers = {
    &FamilyService::load_cores,   &FamilyService::exponent,     &FamilyService::working_set_gib,
    &FamilyService::hit_exponent, &FamilyService::miss_penalty, &FamilyService::contention,
    &FamilyService::locality};
/// The first ones have to be above 0.
constexpr std::size_t kPositives = 3;

std::optional<double> number_in(std::string_view text, const NumberRange& range) {
  const auto number = parse_number(text);
  return number && range.contains(*number) ? number : std::nullopt;
}

std::optional<ServicePerformance> parse_member(ServiceKind kind, std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '/');
  if (parts.size() != kNumbers.size()) return std::nullopt;
  FamilyService service;
  service.kind = kind;
  for (std::size_t i = 0; i < kNumbers.size(); ++i) {
    const auto number = number_in(parts[i], i < kPositives ? kFamilyPositive : kFamilyNumber);
    if (!number) return std::nullopt;
    service.*kNumbers[i] = *number;
  }
  return ServicePerformance(service);
}

bool parse_degree(std::string_view name, double factor, MeasuredPerformance& to) {
  const auto degree = parse_whole(name);
  if (!degree || *degree < 2 || *degree > kLargestService || !kDegreeFactor.contains(factor)) {
    return false;
  }
  return to.degrees.emplace(static_cast<std::uint32_t>(*degree), factor).second;
}

bool parse_size(std::string_view name, double performance, MeasuredPerformance& to) {
  const std::vector<std::string_view> parts = split(name, '/');
  if (parts.size() != 2 || !kPerformance.contains(performance)) return false;
  const auto cores = number_in(parts[0], kFamilyPositive);
  const auto memory = number_in(parts[1], kFamilyPositive);
  if (!cores || !memory) return false;
  to.sizes.emplace_back(ServiceSize{*cores, *memory, comparison_price_usd_h(*cores, *memory)},
                        performance);
  return true;
}

std::optional<ServicePerformance> parse_measured(std::string_view text) {
  MeasuredPerformance measured;
  for (const std::string_view part : split(text, ';')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0) return std::nullopt;
    const auto value = parse_number(part.substr(equals + 1));
    const std::string_view name = part.substr(0, equals);
    const bool read = value && (name[0] == 'x' ? parse_degree(name.substr(1), *value, measured)
                                               : parse_size(name, *value, measured));
    if (!read) return std::nullopt;
  }
  if (measured.sizes.empty()) return std::nullopt;
  return ServicePerformance(std::move(measured));
}

/// Made once: the price of each is compared with that of every service.
const ServiceSizes& sizes_of_family() {
  static const ServiceSizes kSizes = family_sizes();
  return kSizes;
}

}  // namespace

ServicePerformance::ServicePerformance(const FamilyService& service)
    : kind_(service), unit_(performance_unit(service, sizes_of_family())) {}

ServicePerformance::ServicePerformance(MeasuredPerformance measured) : kind_(std::move(measured)) {
  auto& sizes = std::get<MeasuredPerformance>(kind_).sizes;
  MUSTER_CHECK(!sizes.empty(), "something was measured");
  std::stable_sort(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) {
    return a.first.price_usd_h < b.first.price_usd_h;
  });
}

double ServicePerformance::at(const ReplicaPlace& place, double load) const {
  if (is_measured()) return measured_at(place);
  FamilyService service = std::get<FamilyService>(kind_);
  service.load_cores *= load;
  return std::min(1.0, raw_performance(service, place) / unit_);
}

double ServicePerformance::measured_at(const ReplicaPlace& place) const {
  const auto& measured = std::get<MeasuredPerformance>(kind_);
  double best = 0;
  for (const auto& [size, performance] : measured.sizes) {
    const bool has_it = size.cores <= place.cores && size.memory_gib <= place.memory_gib;
    if (has_it) best = std::max(best, performance);
  }
  const auto next = measured.degrees.upper_bound(static_cast<std::uint32_t>(place.degree));
  const double factor = next == measured.degrees.begin() ? 1 : std::prev(next)->second;
  return std::min(1.0, best * factor);
}

ServiceSize ServicePerformance::right_size(double goal, double load) const {
  if (is_measured()) {
    const auto& sizes = std::get<MeasuredPerformance>(kind_).sizes;
    for (const auto& [size, performance] : sizes) {
      if (performance >= goal) return size;
    }
    return sizes.back().first;
  }
  const ServiceSizes& sizes = sizes_of_family();
  for (const std::uint32_t at_size : sizes.by_price()) {
    const ServiceSize& size = sizes[at_size];
    if (at({size.cores, size.memory_gib, 1}, load) >= goal) return size;
  }
  return sizes[sizes.largest()];
}

std::string ServicePerformance::text() const {
  std::string text;
  if (const auto* service = std::get_if<FamilyService>(&kind_)) {
    for (const auto number : kNumbers) {
      text += text.empty() ? std::string(name_of(service->kind)) + ':' : "/";
      text += number_text(service->*number);
    }
    return text;
  }
  const auto& measured = std::get<MeasuredPerformance>(kind_);
  for (const auto& [size, performance] : measured.sizes) {
    text += text.empty() ? std::string(kMeasured) + ':' : ";";
    text += fmt::format("{}/{}={}", number_text(size.cores), number_text(size.memory_gib),
                        number_text(performance));
  }
  for (const auto& [degree, factor] : measured.degrees) {
    text += fmt::format(";x{}={}", degree, number_text(factor));
  }
  return text;
}

std::optional<ServicePerformance> parse_performance(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view kind = text.substr(0, colon);
  text.remove_prefix(colon + 1);
  if (kind == kMeasured) return parse_measured(text);
  for (const ServiceKind known : kServiceKinds) {
    if (name_of(known) == kind) return parse_member(known, text);
  }
  return std::nullopt;
}

double ServiceTruth::peak() const {
  return day.empty() ? 1 : *std::max_element(day.begin(), day.end());
}

double comparison_price_usd_h(double cores, double memory_gib) {
  return cores * kCorePrice_usd_h + memory_gib * kGibPrice_usd_h;
}

}  // namespace muster::replay
