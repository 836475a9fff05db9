#include "schedulers/packing/never_fits.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "model/feasible.hpp"
#include "schedulers/packing/reservation_price.hpp"

// Puts the refusal of reservation_price() into words: the same search decides for policies, so that
// both name the same resource.

namespace muster {
namespace {

/// The types that the job may get.
Catalog offered_to(const Job& job, const Catalog& catalog, const Fleet& fleet) {
  std::vector<InstanceType> types;
  if (fleet.empty()) {
    for (const InstanceType& type : catalog.types()) {
      // Every type has a price on demand; only some have one on the spot market.
      if (wants(job.markets, Market::on_demand) || type.spot) types.push_back(type);
    }
    return Catalog(std::move(types));
  }
  for (const FleetShare& share : fleet) {
    if (share.count > 0 && wants(job.markets, share.market)) types.push_back(catalog[share.type]);
  }
  return Catalog(std::move(types));
}

/// "8", "0.5"
std::string number_of(double amount) {
  // std::to_string writes six decimals: there is a point, at which the cutting of zeros ends.
  std::string text = std::to_string(amount);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

/// "gpus", "memory"
std::string plural_of(Resource kind) {
  const bool counted = kind == Resource::gpu || kind == Resource::cpu;
  return std::string(name_of(kind)) + (counted ? "s" : "");
}

std::string amount_of(Resource kind, double amount) {
  const std::string number = number_of(amount);
  if (kind == Resource::memory) return number + " GiB of memory";
  const bool counted = kind == Resource::gpu || kind == Resource::cpu;
  return number + " " + std::string(name_of(kind)) + (counted && amount != 1 ? "s" : "");
}

std::string sentence(const Refusal& refusal, const Catalog& offered, const std::string& nothing) {
  if (!refusal.binding) return nothing + " takes such a task";
  const Resource kind = *refusal.binding;
  const auto has = [&](double amount) {
    return std::find_if(
        offered.types().begin(), offered.types().end(),
        [&](const InstanceType& type) { return type.capacity[kind] + kResourceEpsilon >= amount; });
  };
  const bool none_has_any =
      std::none_of(offered.types().begin(), offered.types().end(),
                   [&](const InstanceType& type) { return type.capacity[kind] > 0; });
  if (none_has_any) return nothing + " has " + plural_of(kind);
  const bool alone = has(refusal.asked) == offered.types().end();
  const auto largest = std::find_if(
      offered.types().begin(), offered.types().end(),
      [&](const InstanceType& type) { return type.capacity[kind] == refusal.available; });
  // `alone`: no type has this much even by itself. Otherwise some has, but not beside the rest, and
  // `available` is the most among those that have the rest.
  std::string text = nothing + " has " + amount_of(kind, refusal.asked);
  text +=
      alone ? "; the largest has " : " beside what else is asked for; the largest of those has ";
  text += number_of(refusal.available);
  return largest == offered.types().end() ? text : text + " (" + largest->name + ")";
}

}  // namespace

std::optional<std::string> why_never_fits(const Job& job, const Catalog& catalog,
                                          const Fleet& fleet) {
  const Catalog offered = offered_to(job, catalog, fleet);
  std::string nothing = fleet.empty() ? "no instance type on offer" : "no instance of the fleet";
  if (job.markets == MarketChoice::spot) nothing += " on the spot market";
  if (job.markets == MarketChoice::on_demand && !fleet.empty()) nothing += " on demand";
  // An empty catalog has no binding resource, and sentence() would have nothing to name.
  if (offered.size() == 0) return "there is " + nothing;
  const Demands* looked_at = nullptr;  // the tasks of a job are mostly alike
  for (const TaskSpec& task : job.tasks) {
    if (looked_at != nullptr && task.demands == *looked_at) continue;
    looked_at = &task.demands;
    const ReservationPrice price = reservation_price(task.demands, offered);
    if (!price.fits()) return sentence(price.refusal, offered, nothing);
  }
  return std::nullopt;
}

}  // namespace muster
