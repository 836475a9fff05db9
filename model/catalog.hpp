#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/enum_words.hpp"
#include "model/ids.hpp"
#include "model/labels.hpp"
#include "model/money.hpp"
#include "model/resources.hpp"
#include "model/time.hpp"

namespace muster {

/// How an instance is rented: at a fixed price until released, or cheaper until the cloud wants it.
enum class Market : std::uint8_t { on_demand, spot };
constexpr auto words_of(Market) {
  using E = Market;
  return std::to_array<EnumWord<E>>({{E::on_demand, "on-demand"}, {E::spot, "spot"}});
}

/// One kind of machine that a cloud rents out.
struct InstanceType {
  std::string name;
  std::string family;  ///< tasks may state other demands and speeds for each family
  Resources capacity;
  Price on_demand;
  std::optional<Price> spot;  ///< absent: not offered on the spot market
  Duration acquire{};         ///< from the request to "up", when billing begins
  Duration setup{};           ///< from "up" to "ready", when tasks may start
  Duration terminate{};       ///< from the request to "gone", when billing ends
  Labels labels{};

  /// The value of the label; null: the type does not have it.
  const std::string* label(std::string_view key) const;
};

/// The instance types on offer, in the order of their file; a TypeId is a position in it.
class Catalog {
 public:
  Catalog() = default;
  explicit Catalog(std::vector<InstanceType> types);

  const std::vector<InstanceType>& types() const { return types_; }
  const InstanceType& operator[](TypeId id) const { return types_[id.value]; }
  std::size_t size() const { return types_.size(); }
  std::optional<TypeId> find(std::string_view name) const;

  /// Price of an hour of the type on the market; the type has to be offered there.
  Price price(TypeId id, Market market) const;

  /// All types, the dearest (on demand) first, ties in catalog order.
  const std::vector<TypeId>& by_descending_price() const { return by_descending_price_; }
  /// This catalog with all delays of its types multiplied by `scale`.
  Catalog with_delays(double scale) const;

  /// As much as any type on offer has, kind by kind.
  const Resources& largest() const { return largest_; }

 private:
  std::vector<InstanceType> types_;
  std::vector<TypeId> by_descending_price_;
  Resources largest_;
};

}  // namespace muster
