#include "schedulers/packing/types/never_fits.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "model/constraint.hpp"
#include "model/feasible.hpp"
#include "model/rounded_text.hpp"
#include "schedulers/packing/types/reservation_price.hpp"

// Puts the refusal of reservation_price() into words: the same search decides for policies, so that
// both name the same resource.

namespace muster {
namespace {

/// The types that the job may get, whatever its constraint says.
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

/// Of these the ones that its constraint admits.
Catalog admitted_of(const Catalog& offered, const Constraint& constraint) {
  std::vector<InstanceType> types;
  for (const InstanceType& type : offered.types()) {
    if (constraint.admits(type)) types.push_back(type);
  }
  return Catalog(std::move(types));
}

/// The values that types have under the key, each once: "a, b, c and 12 more"
std::string values_there(const Catalog& offered, const std::string& key) {
  constexpr std::size_t kMostShown = 12;
  std::set<std::string> values;
  for (const InstanceType& type : offered.types()) {
    std::string value = value_under(type, key);
    if (!value.empty()) values.insert(std::move(value));
  }
  if (values.empty()) return "no type has a " + key;
  std::string text;
  std::size_t shown = 0;
  for (const std::string& value : values) {
    if (++shown > kMostShown) break;
    text += (text.empty() ? key + " is " : ", ") + value;
  }
  if (values.size() <= kMostShown) return text;
  return text + " and " + std::to_string(values.size() - kMostShown) + " more";
}

/// That no type meets the constraint, and what there is of what it asks for.
std::string constraint_sentence(const Constraint& constraint, const Catalog& offered,
                                const std::string& nothing) {
  std::string text = nothing + " meets the constraint " + constraint.text();
  std::string mark = "; ";
  for (const std::string& key : constraint.keys()) {
    text += mark + values_there(offered, key);
    mark = ", ";
  }
  return text;
}

/// "gpus", "memory"
std::string plural_of(Resource kind) {
  const bool counted = kind == Resource::gpu || kind == Resource::cpu;
  return std::string(name_of(kind)) + (counted ? "s" : "");
}

std::string amount_of(Resource kind, double amount) {
  const std::string number = rounded_text(amount);
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
  text += rounded_text(refusal.available);
  return largest == offered.types().end() ? text : text + " (" + largest->name + ")";
}

/// Least demand of each kind, whichever family the task gets.
Resources least_demand(const TaskSpec& task) {
  const std::vector<FamilyDemand>& entries = task.demands.entries();
  if (entries.empty()) return {};
  Resources least = entries.front().amount;
  for (const FamilyDemand& entry : entries) {
    for (Resource kind : kAllResources) least[kind] = std::min(least[kind], entry.amount[kind]);
  }
  return least;
}

/// The tasks that start together; one where nothing has to.
std::size_t tasks_together(const Job& job) {
  if (const auto* elastic = std::get_if<ElasticSpec>(&job.kind)) return elastic->min_width;
  return job.gang ? job.tasks.size() : 1;
}

/// An instance of the type may have a task of the job.
bool takes_some(const InstanceType& type, const Job& job, const Constraint& constraint) {
  const Demands* looked_at = nullptr;
  if (!constraint.admits(type)) return false;
  return std::any_of(job.tasks.begin(), job.tasks.end(), [&](const TaskSpec& task) {
    if (looked_at != nullptr && task.demands == *looked_at) return false;
    looked_at = &task.demands;
    const FamilyDemand* demand = task.demands.on(type.family);
    return demand != nullptr && demand->amount.fits_in(type.capacity);
  });
}

/// The type's price of an hour on the cheapest market that the job takes; infinity: it is on no
/// such market.
double wanted_usd_h(const Job& job, const InstanceType& type) {
  double usd_h = std::numeric_limits<double>::infinity();
  if (wants(job.markets, Market::on_demand)) usd_h = type.on_demand.usd_h();
  if (wants(job.markets, Market::spot) && type.spot) usd_h = std::min(usd_h, type.spot->usd_h());
  return usd_h;
}

/// Less than this no instances that hold the amounts together can be or cost.
struct LeastRent {
  double instances = 0;
  double usd_h = 0;
};

/// Of the types that take a task of the job. Each kind of resource by itself bounds both: by the
/// type with the most of it, and by the one where it is cheapest.
LeastRent least_rent(const Job& job, const Catalog& catalog, const Resources& asked) {
  const Constraint constraint = Constraint::of(job.constraint);
  Resources most;
  std::array<double, kAllResources.size()> usd_of_unit{};
  usd_of_unit.fill(std::numeric_limits<double>::infinity());
  double cheapest = std::numeric_limits<double>::infinity();
  for (const InstanceType& type : catalog.types()) {
    const double usd_h = wanted_usd_h(job, type);
    if (!std::isfinite(usd_h) || !takes_some(type, job, constraint)) continue;
    cheapest = std::min(cheapest, usd_h);
    for (std::size_t i = 0; i < kAllResources.size(); ++i) {
      const double has = type.capacity[kAllResources[i]];
      if (has <= 0) continue;
      most[kAllResources[i]] = std::max(most[kAllResources[i]], has);
      usd_of_unit[i] = std::min(usd_of_unit[i], usd_h / has);
    }
  }
  LeastRent least{1, cheapest};
  for (std::size_t i = 0; i < kAllResources.size(); ++i) {
    const double amount = asked[kAllResources[i]];
    if (amount <= kResourceEpsilon || most[kAllResources[i]] <= 0) continue;
    least.instances =
        std::max(least.instances, std::ceil(amount / most[kAllResources[i]] - kResourceEpsilon));
    least.usd_h = std::max(least.usd_h, amount * usd_of_unit[i]);
  }
  // A task that no type takes is refused by another rule.
  return std::isfinite(least.usd_h) ? least : LeastRent{};
}

}  // namespace

std::optional<std::string> why_never_fits(const Job& job, const Catalog& catalog,
                                          const Fleet& fleet) {
  const Catalog on_markets = offered_to(job, catalog, fleet);
  std::string nothing = fleet.empty() ? "no instance type on offer" : "no instance of the fleet";
  if (job.markets == MarketChoice::spot) nothing += " on the spot market";
  if (job.markets == MarketChoice::on_demand && !fleet.empty()) nothing += " on demand";
  // An empty catalog has no binding resource, and sentence() would have nothing to name.
  if (on_markets.size() == 0) return "there is " + nothing;
  const Constraint constraint = Constraint::of(job.constraint);
  // Most jobs have no constraint, and a copy of a catalog is all of its types.
  std::optional<Catalog> admitted;
  if (!constraint.is_empty()) {
    admitted = admitted_of(on_markets, constraint);
    if (admitted->size() == 0) return constraint_sentence(constraint, on_markets, nothing);
    nothing += " that meets the constraint " + constraint.text();
  }
  const Catalog& offered = admitted ? *admitted : on_markets;
  const Demands* looked_at = nullptr;  // the tasks of a job are mostly alike
  for (const TaskSpec& task : job.tasks) {
    if (looked_at != nullptr && task.demands == *looked_at) continue;
    looked_at = &task.demands;
    const ReservationPrice price = reservation_price(Shape{task.demands}, offered);
    if (!price.fits()) return sentence(price.refusal, offered, nothing);
  }
  return std::nullopt;
}

std::optional<Refusal> why_task_never_fits(const Job& job, const Catalog& catalog,
                                           const Fleet& fleet) {
  if (fleet.empty()) return std::nullopt;
  const Constraint constraint = Constraint::of(job.constraint);
  const Demands* looked_at = nullptr;  // the tasks of a job are mostly alike
  for (const TaskSpec& task : job.tasks) {
    if (looked_at != nullptr && task.demands == *looked_at) continue;
    looked_at = &task.demands;
    const bool fits = std::any_of(fleet.begin(), fleet.end(), [&](const FleetShare& share) {
      const InstanceType& type = catalog[share.type];
      const FamilyDemand* demand = constraint.admits(type) ? task.demands.on(type.family) : nullptr;
      return share.count > 0 && wants(job.markets, share.market) && demand != nullptr &&
             demand->speed > 0 && demand->amount.fits_in(type.capacity);
    });
    if (fits) continue;
    const Shape shape{task.demands, constraint};
    Refusal refusal = reservation_price(shape, offered_to(job, catalog, fleet)).refusal;
    if (refusal.code != RefusalCode::constraint) refusal.code = RefusalCode::fixed_fleet;
    return refusal;
  }
  return std::nullopt;
}

std::optional<Refusal> why_gang_never_fits(const Job& job, const Catalog& catalog,
                                           const Fleet& fleet) {
  const std::size_t together = std::min(tasks_together(job), job.tasks.size());
  if (fleet.empty() || together <= 1) return std::nullopt;
  const Constraint constraint = Constraint::of(job.constraint);
  Resources capacity;
  std::uint64_t instances = 0;
  for (const FleetShare& share : fleet) {
    const InstanceType& type = catalog[share.type];
    if (!wants(job.markets, share.market) || !takes_some(type, job, constraint)) continue;
    for (Resource kind : kAllResources) capacity[kind] += type.capacity[kind] * share.count;
    instances += share.count;
  }
  const std::uint64_t places = instances * job.most_an_instance;
  if (job.most_an_instance > 0 && together > places) {
    return Refusal{RefusalKind::never,
                   RefusalCode::distinct_instances,
                   {},
                   static_cast<double>(together),
                   static_cast<double>(places)};
  }
  Resources least;
  for (std::size_t i = 0; i < together; ++i) least += least_demand(job.tasks[i]);
  const auto binding = least.first_exceeding(capacity);
  if (!binding) return std::nullopt;
  return Refusal{RefusalKind::never, RefusalCode::fixed_fleet, binding, least[*binding],
                 capacity[*binding]};
}

std::optional<std::string> why_beyond_caps(const Job& job, const Catalog& catalog,
                                           const RentCaps& caps) {
  const std::size_t together = std::min(tasks_together(job), job.tasks.size());
  if (together == 0 || (caps.instances == 0 && caps.usd_h <= 0)) return std::nullopt;
  Resources asked;
  for (std::size_t i = 0; i < together; ++i) asked += least_demand(job.tasks[i]);
  const LeastRent least = least_rent(job, catalog, asked);
  const std::string who = together > 1 ? "its " + rounded_text(static_cast<double>(together)) +
                                             " tasks start together and need"
                                       : "each of its tasks needs";
  const std::string never = "it can never run under the caps as they are: " + who;
  double instances = least.instances;
  if (job.most_an_instance > 0) {
    instances = std::max(instances, std::ceil(static_cast<double>(together) /
                                              static_cast<double>(job.most_an_instance)));
  }
  if (caps.instances > 0 && instances > caps.instances) {
    return never + " at least " + rounded_text(instances) + " instances; the cap is " +
           rounded_text(caps.instances);
  }
  if (caps.usd_h > 0 && least.usd_h > caps.usd_h * (1 + kResourceEpsilon)) {
    return never + " at least $" + rounded_text(least.usd_h, 4) + " an hour; the cap is $" +
           rounded_text(caps.usd_h, 4);
  }
  return std::nullopt;
}

double least_usd_h(const Job& job, const TaskSpec& task, const Catalog& catalog) {
  const Constraint constraint = Constraint::of(job.constraint);
  double least = std::numeric_limits<double>::infinity();
  for (const InstanceType& type : catalog.types()) {
    const double usd_h = wanted_usd_h(job, type);
    const FamilyDemand* demand = usd_h < least ? task.demands.on(type.family) : nullptr;
    if (demand == nullptr || !demand->amount.fits_in(type.capacity)) continue;
    if (constraint.admits(type)) least = usd_h;
  }
  return least;
}

std::string gang_sentence(const Refusal& refusal) {
  if (refusal.binding) {
    return "the tasks of the gang ask for " + amount_of(*refusal.binding, refusal.asked) +
           " together; a master's fleet has " + rounded_text(refusal.available) + " for them";
  }
  return "the gang has " + rounded_text(refusal.asked) +
         " tasks; a master's fleet has places for " + rounded_text(refusal.available) +
         " of them, with no more of them on an instance than the job allows";
}

}  // namespace muster
