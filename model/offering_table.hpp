#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/catalog.hpp"
#include "model/offering.hpp"
#include "model/refusal.hpp"

namespace muster {

/// Names what can be rented: a type on a market of a zone.
struct OfferingKey {
  TypeId type;
  Market market = Market::on_demand;
  std::string zone{};  ///< empty: the only one

  friend auto operator<=>(const OfferingKey&, const OfferingKey&) = default;
};

/// An offering as a master knows it.
struct OfferingRow {
  OfferingKey key;
  Price price;
  bool available = true;                ///< orders are worth trying
  double interruptions_h = 0;           ///< expected number in an hour of one instance
  bool told = false;                    ///< a change has said so; otherwise it is the catalog's
  std::optional<std::uint32_t> free{};  ///< that the cloud had left then; see left_of()
  std::uint32_t had = 0;                ///< of the master's instances were of it then

  friend bool operator==(const OfferingRow&, const OfferingRow&) = default;
};

/// The cloud refused an offering lately, and is not asked for it again yet.
struct UnavailableOffering {
  OfferingKey key;
  RefusalCode code = RefusalCode::cloud_capacity;  ///< for which it did
};
using UnavailableOfferings = std::vector<UnavailableOffering>;

/// The offerings that a master knows of: those of its catalog, and what the cloud has told of them
/// and of others. Types that the catalog does not have are not offered.
class OfferingTable {
 public:
  OfferingTable() = default;
  /// Every type on demand, and on the spot market where it has a price there.
  explicit OfferingTable(const Catalog& catalog);

  /// By rising types, markets and zones.
  const std::vector<OfferingRow>& rows() const { return rows_; }
  /// Null: it is not on offer.
  const OfferingRow* find(TypeId type, Market market, std::string_view zone = {}) const;
  const OfferingRow* find(const OfferingKey& key) const {
    return find(key.type, key.market, key.zone);
  }
  /// The number of the newest change; 0: no change was heard. It rises whenever anything changes.
  std::uint64_t known() const { return known_; }
  /// The newest change changed more than how many instances are free: the price of some, whether
  /// orders are worth trying, or how often instances are interrupted. False after restore().
  bool changed_terms() const { return changed_terms_; }

  /// Takes the change in. A number that is known changes nothing. `had`: instances that the master
  /// has of its type on its market. `reprices`: some of them at another price.
  void apply(const OfferingChange& change, const Catalog& catalog, std::uint32_t had,
             bool reprices = false);
  /// The table as changes had made it before a restart.
  void restore(std::uint64_t known, const std::vector<OfferingRow>& told);

 private:
  OfferingRow& row_of(const OfferingKey& key);

  std::vector<OfferingRow> rows_;
  std::uint64_t known_ = 0;
  bool changed_terms_ = false;
};

}  // namespace muster
