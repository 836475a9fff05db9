#include "schedulers/lrasched/service_zones.hpp"

#include <algorithm>
#include <cmath>

#include "model/labels.hpp"

namespace muster::lrasched {
namespace {

std::size_t index_of(TypeId type, Market market) {
  return 2 * std::size_t{type.value} + (market == Market::spot ? 1 : 0);
}

}  // namespace

ServiceZones::ServiceZones(const ClusterView& view, double spread) : view_(view), spread_(spread) {
  if (spread <= 0) return;
  find_names();
  if (names_.empty()) return;
  most_.resize(2 * view.catalog.size());
  for (const OfferingRow& row : view.state.offerings().rows()) {
    if (row.key.zone.empty() || !is_had(row)) continue;
    const auto most = static_cast<std::int64_t>(
        std::floor(static_cast<double>(row.price.nano_usd_h()) * (1 + spread_)));
    std::optional<Price>& least = most_[index_of(row.key.type, row.key.market)];
    if (!least || most < least->nano_usd_h()) least = Price::from_nano_usd_h(most);
  }
}

void ServiceZones::find_names() {
  for (const OfferingRow& row : view_.state.offerings().rows()) {
    if (!row.key.zone.empty()) names_.push_back(row.key.zone);
  }
  for (const InstanceType& type : view_.catalog.types()) {
    if (const std::string* label = type.label(kZoneLabel)) names_.push_back(*label);
  }
  std::ranges::sort(names_);
  names_.erase(std::ranges::unique(names_).begin(), names_.end());
  if (names_.size() < 2) names_.clear();
}

std::uint32_t ServiceZones::number(const std::string& name) const {
  const auto found = std::ranges::lower_bound(names_, name);
  if (found == names_.end() || *found != name) return 0;
  return 1 + static_cast<std::uint32_t>(found - names_.begin());
}

std::uint32_t ServiceZones::of(const InstanceRow& row) const {
  if (!any()) return 0;
  if (row.zone.empty()) return of(row.type);
  const OfferingRow* offer = view_.state.offerings().find(row.offering());
  const std::optional<Price>& most = most_[index_of(row.type, row.market)];
  return offer != nullptr && most && offer->price > *most ? 0 : number(row.zone);
}

std::uint32_t ServiceZones::of(TypeId type) const {
  const std::string* label = any() ? view_.catalog[type].label(kZoneLabel) : nullptr;
  return label != nullptr ? number(*label) : 0;
}

std::vector<ZoneOffer> ServiceZones::offers(TypeId type, Market market) const {
  std::vector<ZoneOffer> offers;
  if (!any() || !most_[index_of(type, market)]) return offers;
  const auto& rows = view_.state.offerings().rows();
  const auto key = [](const OfferingRow& row) { return std::pair(row.key.type, row.key.market); };
  for (const OfferingRow& row :
       std::ranges::equal_range(rows, std::pair(type, market), std::ranges::less{}, key)) {
    if (row.key.zone.empty() || !is_had(row)) continue;
    if (row.price > *most_[index_of(type, market)]) continue;
    offers.push_back({row.key.zone, number(row.key.zone), row.price});
  }
  return offers;
}

/// The cloud has it, by its own word, and has not refused it lately.
bool ServiceZones::is_had(const OfferingRow& row) const {
  return row.available && std::ranges::none_of(view_.unavailable_offerings, [&](const auto& rest) {
           return rest.key == row.key;
         });
}

}  // namespace muster::lrasched
