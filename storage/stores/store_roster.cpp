#include "storage/stores/store_roster.hpp"

#include <algorithm>
#include <initializer_list>

#include "model/live_ids.hpp"
#include "storage/stores/rocks_site_store.hpp"

// Which names of a cluster may change their numbers. Ids carry the number of the site or master
// that made them, so that a name whose ids are still about has to keep it; here a store is asked
// whether any are.

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

using Numbers = std::map<std::string, std::uint32_t>;

/// The name would have another number, or none.
bool changes(const Numbers& before, const Numbers& after, std::uint32_t number) {
  for (const auto& [name, old] : before) {
    if (old != number) continue;
    const auto now = after.find(name);
    return now == after.end() || now->second != number;
  }
  return true;
}

/// There is a record of one of the families.
Expected<bool, StoreError> has_any(const Store& store, std::initializer_list<Family> families) {
  bool any = false;
  const auto found = [&](std::string_view, std::string_view) { return any = true, false; };
  for (const Family family : families) {
    if (auto trouble = store.scan(family, {}, found)) return *trouble;
  }
  return any;
}

/// The store's owner has made ids.
Expected<bool, StoreError> has_made_ids(const Store& store) {
  const auto any =
      has_any(store, {Family::journal, Family::snapshot, Family::handoff, Family::token});
  if (!any) return any.error();
  // Jobs that masters have and that had no token leave nothing else behind.
  const auto next_job = store.get(Family::meta, kNextJob);
  if (!next_job) return next_job.error();
  return any.value() || next_job->has_value();
}

}  // namespace

Expected<bool, StoreError> has_numbered(const Store& store) {
  auto others = has_any(store, {Family::instance, Family::history, Family::spent, Family::ended,
                                Family::cancel, Family::forwarded});
  if (!others || others.value()) return others;
  return has_made_ids(store);
}

Expected<std::string, StoreError> obstacle_to(const ClusterRoster& roster, const Store& store) {
  const auto kept = load_roster(store);
  if (!kept) return kept.error();
  const auto made = has_made_ids(store);
  if (!made) return made.error();
  const std::string& kind = store.meta().kind;  // such as "master m0"
  const std::string own = kind.substr(std::min(kind.find(' ') + 1, kind.size()));
  const bool site = kind.starts_with("site");
  const Numbers& before = site ? kept->sites : kept->masters;
  const auto number = before.find(own);
  if (made.value() && kept->empty()) {
    return kind +
           " has made ids, and its store does not say with which number: start it once with " +
           "the cluster file that it had then";
  }
  if (made.value() && number != before.end() &&
      changes(before, site ? roster.sites : roster.masters, number->second)) {
    return kind + " has made ids with number " + std::to_string(number->second);
  }
  const auto handoffs = handoffs_by_target(store);
  if (!handoffs) return handoffs.error();
  for (const auto& [to, count] : handoffs.value()) {
    const Numbers& old = to.site ? kept->sites : kept->masters;
    if (!changes(old, to.site ? roster.sites : roster.masters, to.index)) continue;
    return std::to_string(count) + (count == 1 ? " job is" : " jobs are") + " on the way to " +
           (to.site ? "site" : "master") + " number " + std::to_string(to.index);
  }
  const auto rented = rented_by_master(store);
  if (!rented) return rented.error();
  for (const auto& [master, count] : rented.value()) {
    if (!changes(kept->masters, roster.masters, master)) continue;
    return std::to_string(count) + " instances are rented for master number " +
           std::to_string(master);
  }
  return std::string{};
}

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

Expected<std::map<HandoffTarget, std::uint64_t>, StoreError> handoffs_by_target(
    const Store& store) {
  std::map<HandoffTarget, std::uint64_t> counts;
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
