// Looks into the stores of masters before a cluster is started with another catalog. Records name
// types; a store knows all types that it was ever opened with, so that it can be read here whatever
// the catalog has lost.

#include "serve/local/gone_types.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <set>
#include <utility>
#include <variant>

#include "storage/stores/recovery.hpp"
#include "storage/stores/store.hpp"

namespace muster::local {
namespace {

/// The catalog's types, and behind them those that the store knows besides.
Catalog joined(const Catalog& catalog, const Catalog& known) {
  std::vector<InstanceType> types = catalog.types();
  for (const InstanceType& type : known.types()) {
    if (!catalog.find(type.name)) types.push_back(type);
  }
  return Catalog(std::move(types));
}

/// The types that recovery needs and the catalog lacks: those of instances that are in the snapshot
/// or were asked for since.
std::set<std::string> gone_types(const Store& store, const Catalog& catalog) {
  std::set<std::string> gone;
  const Catalog all = joined(catalog, store.meta().catalog);
  if (all.size() == catalog.size()) return gone;
  const auto found = recover_master(store, all);
  if (!found) return gone;
  const auto note = [&](TypeId type) {
    if (type.value >= catalog.size()) gone.insert(all[type].name);
  };
  if (found->snapshot) {
    for (const InstanceRow& row : found->snapshot->state.instances()) note(row.type);
  }
  for (const Event& event : found->tail) {
    if (const auto* launch = std::get_if<LaunchRequested>(&event.body)) note(launch->type);
  }
  return gone;
}

}  // namespace

std::string gone_types_fault(const ClusterConfig& config, const Catalog& catalog) {
  std::string masters;
  std::set<std::string> types;
  for (const NodeConfig* node : config.masters()) {
    StoreOptions look;
    look.read_only = true;
    const std::filesystem::path folder = config.state / node->name / "master";
    if (!std::filesystem::exists(folder)) continue;
    const auto store = Store::open(folder, look);
    if (!store) continue;
    const std::set<std::string> gone = gone_types(*store.value(), catalog);
    if (gone.empty()) continue;
    masters += (masters.empty() ? "" : ", ") + *node->master;
    types.insert(gone.begin(), gone.end());
  }
  if (types.empty()) return {};
  return fmt::format(
      "{} lacks instance types of which there are records of instances (master {}): {}. Add these "
      "to it, or go on with the catalog from before, or begin anew: `muster down --erase`, then "
      "`muster up` with the flag",
      config.catalog.string(), masters, fmt::join(types, ", "));
}

}  // namespace muster::local
