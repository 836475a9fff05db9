#include "tools/cli/store_fold.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "masters/event_replay.hpp"
#include "replay/metrics/service_check.hpp"
#include "schedulers/registry.hpp"
#include "storage/stores/recovery.hpp"

namespace muster::cli {
namespace {

using Json = nlohmann::ordered_json;

/// All instances that the store speaks of are those of a fleet, and there are some: the master
/// waits for room and rents nothing.
bool has_fixed_fleet(const RecoveredMaster& found) {
  bool some = false;
  if (found.snapshot) {
    for (const InstanceRow& row : found.snapshot->state.instances()) {
      if (!row.owned) return false;
      some = true;
    }
  }
  for (const Event& event : found.tail) {
    const auto* launch = std::get_if<LaunchRequested>(&event.body);
    if (launch == nullptr) continue;
    if (launch->cause.code != CauseCode::fleet) return false;
    some = true;
  }
  return some;
}

class Folding {
 public:
  Folding(const RecoveredMaster& found, const Catalog& catalog)
      : found_(found), catalog_(catalog), fixed_(has_fixed_fleet(found)) {}

  /// `asked_for`: a policy that cannot read its memory in the snapshot is a problem too.
  void under(const std::string& policy, bool asked_for) {
    const auto spec = parse_policy(policy);
    auto made = spec ? make_policy(spec.value(), catalog_)
                     : Expected<std::unique_ptr<Policy>, PolicyError>(spec.error());
    if (!made) {
      fold_.problems.push_back(made.error().message);
      return;
    }
    MasterDependencies parts;
    parts.catalog = &catalog_;
    parts.policy = std::move(made).value();
    if (fixed_ && catalog_.size() > 0) parts.fleet = {{TypeId{0}, Market::on_demand, 1}};
    const ReplayedEvents replayed =
        replay_in_child({found_.snapshot, found_.tail}, std::move(parts));
    tell(policy, replayed);
    if (!replayed.problem.empty()) {
      fold_.problems.push_back(fmt::format("under {}, event {} of the journal: {}", policy,
                                           found_.snapshot_at + replayed.events, replayed.problem));
    } else if (asked_for && !replayed.memory.empty()) {
      fold_.problems.push_back(replayed.memory);
    }
  }

  /// The laws of services do not depend on the policy.
  void audit_services() {
    metrics::ServiceCheck check;
    if (found_.snapshot) check.recall(found_.snapshot->state);
    for (const Event& event : found_.tail) check.see(event);
    for (const std::string& broken : check.broken())
      fold_.problems.push_back("services: " + broken);
  }

  StoreFold take() { return std::move(fold_); }

 private:
  void tell(const std::string& policy, const ReplayedEvents& replayed) {
    const bool starts = replayed.problem.empty();
    fold_.lines.push_back(
        fmt::format("{:<17} {} of {} events{}", policy, replayed.events, found_.tail.size(),
                    !starts                   ? ", then the process ends"
                    : replayed.memory.empty() ? ""
                                              : ", without the snapshot's memory"));
    fold_.document.push_back({{"policy", policy},
                              {"events", replayed.events},
                              {"of", found_.tail.size()},
                              {"remembers", replayed.memory.empty()},
                              {"problem", starts ? Json() : Json(replayed.problem)}});
  }

  const RecoveredMaster& found_;
  const Catalog& catalog_;
  bool fixed_;
  StoreFold fold_;
};

}  // namespace

StoreFold fold_store(const Store& store, const std::string& policy) {
  const Catalog& catalog = store.meta().catalog;
  const auto found = recover_master(store, catalog);
  if (!found) {
    StoreFold fold;
    fold.problems.push_back(found.error().message);
    return fold;
  }
  Folding folding(found.value(), catalog);
  folding.audit_services();
  if (!policy.empty()) {
    folding.under(policy, true);
    return folding.take();
  }
  for (const PolicyModule& module : known_policies()) folding.under(module.name, false);
  return folding.take();
}

}  // namespace muster::cli
