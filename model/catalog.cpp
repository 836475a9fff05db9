#include "model/catalog.hpp"

#include <algorithm>
#include <utility>

#include "model/check.hpp"

namespace muster {

Catalog::Catalog(std::vector<InstanceType> types) : types_(std::move(types)) {
  for (std::uint32_t i = 0; i < types_.size(); ++i) {
    by_descending_price_.push_back(TypeId{i});
    for (Resource kind : kAllResources) {
      largest_[kind] = std::max(largest_[kind], types_[i].capacity[kind]);
    }
  }
  std::stable_sort(
      by_descending_price_.begin(), by_descending_price_.end(),
      [this](TypeId a, TypeId b) { return types_[a.value].on_demand > types_[b.value].on_demand; });
}

std::optional<TypeId> Catalog::find(std::string_view name) const {
  for (std::uint32_t i = 0; i < types_.size(); ++i) {
    if (types_[i].name == name) return TypeId{i};
  }
  return std::nullopt;
}

const std::string* InstanceType::label(std::string_view key) const {
  const auto found = std::lower_bound(
      labels.begin(), labels.end(), key,
      [](const auto& label, std::string_view wanted) { return label.first < wanted; });
  return found != labels.end() && found->first == key ? &found->second : nullptr;
}

Price Catalog::price(TypeId id, Market market) const {
  const InstanceType& type = types_[id.value];
  if (market == Market::on_demand) return type.on_demand;
  MUSTER_CHECK(type.spot.has_value(), "the type is not offered on the spot market");
  return *type.spot;
}

Catalog Catalog::with_delays(double scale) const {
  if (scale == 1) return *this;
  std::vector<InstanceType> types = types_;
  for (InstanceType& type : types) {
    for (Duration* delay : {&type.acquire, &type.setup, &type.terminate}) {
      *delay = from_seconds(to_seconds(*delay) * scale);
    }
  }
  return Catalog(std::move(types));
}

}  // namespace muster
