#include "storage/store_roster.hpp"

#include "model/live_ids.hpp"

namespace muster {
namespace {

constexpr std::string_view kRoster = "roster";

/// Calls `use` with every decoded record of the family, until one cannot be decoded.
template <class Decode, class Use>
StoreTrouble read_all(const Store& store, Family family, Decode decode, Use use) {
  StoreTrouble bad;
  const auto each = [&](std::string_view, std::string_view bytes) {
    const auto value = decode(bytes);
    if (value) {
      use(value.value());
    } else {
      bad = bad_record(store, family, value.error().message);
    }
    return !bad;
  };
  if (auto trouble = store.scan(family, {}, each)) return trouble;
  return bad;
}

}  // namespace

Expected<ClusterRoster, StoreError> load_roster(const Store& store) {
  const auto bytes = store.get(Family::meta, kRoster);
  if (!bytes) return bytes.error();
  if (!bytes.value()) return ClusterRoster{};
  auto roster = decode_roster(*bytes.value());
  if (!roster) return bad_record(store, Family::meta, roster.error().message);
  return roster;
}

StoreTrouble keep_roster(Store& store, const ClusterRoster& roster) {
  StoreBatch batch;
  batch.put(Family::meta, kRoster, encode_roster(roster));
  return store.write(batch, Durability::machine);
}

Expected<std::map<HandTarget, std::uint64_t>, StoreError> handoffs_by_target(const Store& store) {
  std::map<HandTarget, std::uint64_t> counts;
  const auto count = [&](const Handoff& handoff) { ++counts[handoff.to]; };
  if (auto trouble = read_all(store, Family::handoff, decode_handoff, count)) return *trouble;
  return counts;
}

Expected<std::map<std::uint32_t, std::uint64_t>, StoreError> rented_by_master(const Store& store) {
  std::map<std::uint32_t, std::uint64_t> counts;
  const auto count = [&](const RentedRecord& rented) {
    if (!rented.gone_at && !rented.refused) ++counts[master_of(rented.instance)];
  };
  if (auto trouble = read_all(store, Family::instance, decode_rented, count)) return *trouble;
  return counts;
}

}  // namespace muster
