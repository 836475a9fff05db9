// Opens the stores of a node's roles (cloud, master, site) and compares their rosters with each
// other and their contents with the cluster file. Ids are made of the roster's numbers, so a node
// whose stores contradict each other does not start.

#include "serve/node/node_stores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "storage/stores/store_roster.hpp"

namespace muster {
namespace {

using Numbers = std::map<std::string, std::uint32_t>;

Failure<NodeError> failure(const Failure<StoreError>& error) {
  return {NodeError::store, error.message};
}

std::string name_with(const Numbers& numbers, std::uint32_t number) {
  const auto found = std::find_if(numbers.begin(), numbers.end(),
                                  [&](const auto& each) { return each.second == number; });
  return found == numbers.end() ? std::string{} : found->first;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Opens stores one after the other and compares what they know.
class Opening {
 public:
  Opening(const NodeSetup& setup, const Catalog& catalog, const std::filesystem::path& state)
      : setup_(setup), catalog_(catalog), state_(state), names_(names_of(setup.config)) {}

  std::optional<Failure<NodeError>> open_all(NodeStores& stores) {
    const NodeConfig& self = *setup_.config.find(setup_.node);
    read_permit();
    std::optional<Failure<NodeError>> trouble;
    if (self.cloud) trouble = open(stores.cloud, "cloud", "cloud");
    if (!trouble && self.master) trouble = open(stores.master, "master", "master " + *self.master);
    if (!trouble && self.site) trouble = open(stores.site, "site", "site " + *self.site);
    std::error_code bad;
    // The permit goes only when all stores are open: a start that fails half-way may make the
    // others the next time.
    if (!trouble) std::filesystem::remove(state_ / kStorePermit, bad);
    return trouble;
  }

  Expected<bool, StoreError> has_numbered() const {
    for (const Store* store : opened_) {
      const auto numbered = muster::has_numbered(*store);
      if (!numbered || numbered.value()) return numbered;
    }
    return false;
  }

  /// Puts another roster in the place of that of all of the stores.
  std::optional<Failure<NodeError>> replace(const ClusterRoster& roster) {
    for (const Store* store : opened_) {
      // All stores are asked before the first one is changed.
      const auto obstacle = obstacle_to(roster, *store);
      if (!obstacle) return failure(obstacle.error());
      if (obstacle->empty()) continue;
      return Failure<NodeError>{NodeError::store,
                                store->directory().string() + ": " + obstacle.value()};
    }
    // The node may have numbered jobs or instances since it reported to have numbered nothing.
    const auto numbered = has_numbered();
    if (!numbered) return failure(numbered.error());
    if (numbered.value()) {
      return Failure<NodeError>{NodeError::store,
                                state_.string() + " has jobs or instances of its own numbers"};
    }
    // No roster contradicts none: whichever stores a crash leaves without one, they are of one
    // node.
    for (Store* store : opened_) {
      if (const auto trouble = keep_roster(*store, {})) return failure(*trouble);
    }
    roster_ = roster;
    return persist();
  }

  /// The numbers of all names; in no store yet, for a start that is refused changes nothing.
  const ClusterRoster& number() { return roster_ = with_names(std::move(roster_), names_); }

  /// Writes the numbers down in all of the stores.
  std::optional<Failure<NodeError>> persist() const {
    for (Store* store : opened_) {
      const auto on_persisted = load_roster(*store);
      if (!on_persisted) return failure(on_persisted.error());
      if (on_persisted.value() == roster_) continue;
      if (const auto trouble = keep_roster(*store, roster_)) return failure(*trouble);
    }
    return std::nullopt;
  }

  /// A site or master that the cluster file does not name would never confirm the jobs that wait
  /// for it.
  std::optional<Failure<NodeError>> check_handoffs(const Store& site) const {
    const auto counts = handoffs_by_target(site);
    if (!counts) return failure(counts.error());
    for (const auto& [to, count] : counts.value()) {
      const std::string what = fmt::format("{} job{} on the way to", count, count == 1 ? "" : "s");
      if (auto trouble = check_name(site, what, to)) return trouble;
    }
    return std::nullopt;
  }

  /// An instance of a master that the cluster file does not name would never be released.
  std::optional<Failure<NodeError>> check_instances(const Store& cloud) const {
    const auto counts = rented_by_master(cloud);
    if (!counts) return failure(counts.error());
    for (const auto& [master, count] : counts.value()) {
      const std::string what =
          fmt::format("{} instance{} rented for", count, count == 1 ? "" : "s");
      if (auto trouble = check_name(cloud, what, {false, master})) return trouble;
    }
    return std::nullopt;
  }

 private:
  void read_permit() {
    std::ifstream in(state_ / kStorePermit);
    std::string text;
    may_make_ = setup_.new_stores || in.is_open();
    std::getline(in, text);
    first_start_ = text + "\n" == kFirstStores;
  }

  std::optional<Failure<NodeError>> open(std::unique_ptr<Store>& store, const std::string& folder,
                                         const std::string& kind) {
    StoreOptions options;
    options.meta.kind = kind;
    options.meta.cluster = setup_.config.name;
    options.meta.catalog = catalog_;
    options.may_make = may_make_;
    options.reserve_bytes = setup_.config.storage.reserve_mib << 20;
    if (!first_start_) options.fill = [](Store& made) { return keep_asking(made); };
    auto opened = Store::open(state_ / folder, options);
    if (!opened && opened.error().code == StoreError::wrong_kind) {
      return Failure<NodeError>{
          NodeError::store,
          fmt::format("{}: that is what {} says (name, and {} of node {})", opened.error().message,
                      setup_.config.file.string(), folder, setup_.node)};
    }
    if (!opened) return failure(opened.error());
    store = std::move(opened).value();
    const auto on_persisted = load_roster(*store);
    if (!on_persisted) return failure(on_persisted.error());
    const std::string directory = store->directory().string();
    if (const auto wrong = contradiction(roster_, first_, on_persisted.value(), directory);
        !wrong.empty()) {
      return Failure<NodeError>{NodeError::store, wrong + ": they are not of one node"};
    }
    if (first_.empty() && !on_persisted->empty()) first_ = directory;
    roster_ = joined(std::move(roster_), on_persisted.value());
    opened_.push_back(store.get());
    return std::nullopt;
  }

  /// The file has to name the site or master of that number, for the store has `what` it.
  std::optional<Failure<NodeError>> check_name(const Store& store, const std::string& what,
                                               const HandoffTarget& of) const {
    const std::string role = of.site ? "site" : "master";
    const std::string name = name_with(of.site ? roster_.sites : roster_.masters, of.index);
    if (has(of.site ? names_.sites : names_.masters, name)) return std::nullopt;
    const std::string directory = store.directory().string();
    if (name.empty()) {
      return Failure<NodeError>{
          NodeError::store, fmt::format("{} has {} {} number {}, which its roster does not know",
                                        directory, what, role, of.index)};
    }
    return Failure<NodeError>{
        NodeError::store,
        fmt::format("{} has {} {} {}, but {} names no such {}: it has to stay in the file for as "
                    "long as something needs it",
                    directory, what, role, name, setup_.config.file.string(), role)};
  }

  const NodeSetup& setup_;
  const Catalog& catalog_;
  const std::filesystem::path& state_;
  const ClusterNames names_;
  ClusterRoster roster_;
  bool may_make_ = false;     ///< stores that are not there
  bool first_start_ = false;  ///< of the whole cluster
  std::string first_;         ///< directory of the first store that had a roster
  std::vector<Store*> opened_;
};

}  // namespace

ClusterNames names_of(const ClusterConfig& config) {
  ClusterNames names;
  for (const NodeConfig* node : config.sites()) names.sites.push_back(*node->site);
  for (const NodeConfig* node : config.masters()) names.masters.push_back(*node->master);
  return names;
}

Expected<NodeStores, NodeError> open_stores(const NodeSetup& setup, const Catalog& catalog,
                                            const std::filesystem::path& state) {
  NodeStores stores;
  Opening opening(setup, catalog, state);
  auto trouble = opening.open_all(stores);
  if (trouble) return *std::move(trouble);
  const auto numbered = opening.has_numbered();
  if (!numbered) return failure(numbered.error());
  stores.numbered = numbered.value();
  stores.roster = opening.number();
  // The checks come before the write: a start that is refused leaves the rosters as they were.
  if (stores.site) trouble = opening.check_handoffs(*stores.site);
  if (!trouble && stores.cloud) trouble = opening.check_instances(*stores.cloud);
  if (!trouble) trouble = opening.persist();
  if (trouble) return *std::move(trouble);
  return stores;
}

std::optional<Failure<NodeError>> take_roster(const NodeSetup& setup, const Catalog& catalog,
                                              const ClusterRoster& roster,
                                              const std::filesystem::path& state) {
  NodeStores stores;
  Opening opening(setup, catalog, state);
  if (auto trouble = opening.open_all(stores)) return trouble;
  return opening.replace(roster);
}

}  // namespace muster
