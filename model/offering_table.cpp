#include "model/offering_table.hpp"

#include <algorithm>
#include <tuple>

// Rows in the order of their keys: found by halving, and listed in the same order in every run. A
// row that was told once stays, with its last price and availability.

namespace muster {
namespace {

auto order_of(const OfferingRow& row) {
  return std::tuple(row.key.type, row.key.market, std::string_view(row.key.zone));
}

}  // namespace

OfferingTable::OfferingTable(const Catalog& catalog) {
  for (std::uint32_t i = 0; i < catalog.size(); ++i) {
    const InstanceType& type = catalog[TypeId{i}];
    // Rows are made in the order of their keys, which find() relies on.
    rows_.push_back({{TypeId{i}, Market::on_demand, {}}, type.on_demand});
    if (type.spot) rows_.push_back({{TypeId{i}, Market::spot, {}}, *type.spot});
  }
}

const OfferingRow* OfferingTable::find(TypeId type, Market market, std::string_view zone) const {
  const auto key = std::tuple(type, market, zone);
  const auto found =
      std::lower_bound(rows_.begin(), rows_.end(), key,
                       [](const OfferingRow& row, const auto& k) { return order_of(row) < k; });
  return found != rows_.end() && order_of(*found) == key ? &*found : nullptr;
}

OfferingRow& OfferingTable::row_of(const OfferingKey& key) {
  const auto found =
      std::lower_bound(rows_.begin(), rows_.end(), key,
                       [](const OfferingRow& row, const OfferingKey& k) { return row.key < k; });
  if (found != rows_.end() && found->key == key) return *found;
  return *rows_.insert(found, OfferingRow{key, {}});
}

void OfferingTable::apply(const OfferingChange& change, const Catalog& catalog, std::uint32_t had,
                          bool reprices) {
  changed_terms_ = false;
  // Repeated, or overtaken by a newer one.
  if (change.number <= known_) return;
  known_ = change.number;
  // A member that an offering has more stops the compiler here: its row has it, too.
  const auto& [name, market, zone, price, available, interruptions_h, free] = change.offering;
  const auto type = catalog.find(name);
  // A type that only the cloud knows cannot be asked for.
  if (!type) return;
  OfferingRow& row = row_of({*type, market, zone});
  changed_terms_ = reprices || !row.told || row.price != price || row.available != available ||
                   row.interruptions_h != interruptions_h;
  row.price = price;
  row.available = available;
  row.interruptions_h = interruptions_h;
  row.told = true;
  row.free = free;
  row.had = had;
}

void OfferingTable::restore(std::uint64_t known, const std::vector<OfferingRow>& told) {
  known_ = known;
  for (const OfferingRow& row : told) row_of(row.key) = row;
}

}  // namespace muster
