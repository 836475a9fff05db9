#include "schedulers/packing/types/cheapest_types.hpp"

#include <array>
#include <optional>
#include <variant>
#include <vector>

#include "schedulers/market_view.hpp"

namespace muster {
namespace {

/// A task's demand on a type, and its speed there in a unit of its own.
struct Need {
  Resources amount;
  double speed = 0;
};

/// `need(task, type)` answers the Need, or nothing where the task does not run. `price(type)`
/// answers nothing for a type that is not to be had.
template <class NeedOf, class PriceOf>
TypeId cheapest_type(std::size_t tasks, TypeId planned, const std::vector<InstanceType>& types,
                     const NeedOf& need, const PriceOf& price) {
  TypeId best = planned;
  std::optional<Price> least = price(planned);
  // A planned type without a price leaves nothing to compare with.
  if (!least) return planned;
  for (std::uint32_t i = 0; i < types.size(); ++i) {
    const TypeId type{i};
    const std::optional<Price> asked = price(type);
    if (!asked || *asked >= *least) continue;
    Resources sum;
    bool good = true;
    for (std::size_t task = 0; good && task < tasks; ++task) {
      const std::optional<Need> there = need(task, type);
      const std::optional<Need> planned_need = need(task, planned);
      // Speeds are compared task by task, not in sum: no task is to run slower than planned.
      good = there && planned_need && there->speed >= planned_need->speed;
      if (good) sum += there->amount;
      good = good && sum.fits_in(types[i].capacity);  // most types are too small soon
    }
    if (!good) continue;
    best = type;
    least = asked;
  }
  return best;
}

/// Data that is looked up once for all launches of a plan on a market.
struct AskedMarket {
  // Built once a market and plan: learning prices and asking what backs off costs O(types), too
  // much for every launch.
  AskedMarket(const ClusterView& view, Market market) : types(view.catalog, only(market)) {
    types.learn(view.state.offerings());
    for (std::uint32_t i = 0; i < types.size(); ++i) rests.push_back(view.rests(TypeId{i}, market));
  }

  /// Nothing: it is not to be had. The planned type is asked for whether it rests or not.
  std::optional<Price> price(TypeId type, TypeId planned) const {
    if (!types.offered(type) || (type != planned && rests[type.value])) return std::nullopt;
    return types.price(type);
  }

  PricedTypes types;
  std::vector<char> rests;  ///< of each type
};

std::vector<std::vector<const Place*>> places_of_launches(const Plan& plan) {
  std::vector<std::vector<const Place*>> places(plan.launches.size());
  for (const Place& place : plan.places) {
    const auto* launch = std::get_if<LaunchIndex>(&place.to);
    if (launch != nullptr) places[launch->value].push_back(&place);
  }
  return places;
}

}  // namespace

void use_cheapest_types(const ClusterView& view, const PlacementMask& mask, Plan& plan) {
  const auto places = places_of_launches(plan);
  // Gains of places are those of their instances, so that a saving is added to the launch and to
  // each place on it.
  std::vector<double> saved_usd_h(plan.launches.size(), 0);
  std::array<std::optional<AskedMarket>, 2> markets;  // those that the plan speaks of
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    Launch& launch = plan.launches[i];
    if (places[i].empty()) continue;
    std::optional<AskedMarket>& market = markets[launch.market == Market::spot ? 1 : 0];
    if (!market) market.emplace(view, launch.market);
    const auto price = [&](TypeId type) { return market->price(type, launch.type); };
    const auto need = [&](std::size_t task, TypeId type) -> std::optional<Need> {
      const Place& place = *places[i][task];
      const TaskRow& row = *view.state.find(place.task);
      if (!mask.allows(asks_of(view.state, row), {type, launch.market})) return std::nullopt;
      const FamilyDemand* demand = view.state.demand(row, type);
      return Need{place.grant ? place.grant->amount : demand->amount, demand->speed};
    };
    const TypeId type =
        cheapest_type(places[i].size(), launch.type, market->types.all(), need, price);
    if (type == launch.type) continue;
    saved_usd_h[i] = price(launch.type)->usd_h() - price(type)->usd_h();
    launch.cause.gain_usd_h += saved_usd_h[i];
    launch.type = type;
  }
  for (Place& place : plan.places) {
    const auto* launch = std::get_if<LaunchIndex>(&place.to);
    if (launch != nullptr) place.cause.gain_usd_h += saved_usd_h[launch->value];
  }
}

void use_cheapest_types(const PackingTasks& tasks, const WorthModel& model,
                        const std::function<bool(TypeId)>& rests, Configuration& configuration) {
  const PricedTypes& types = model.prices.types();
  InstanceWorth worth;
  std::vector<std::uint32_t> kinds;
  std::vector<std::uint32_t> last_kinds;
  TypeId last_planned;
  const Configuration::Bin* last = nullptr;
  for (Configuration::Bin& bin : configuration.bins) {
    const auto members = configuration.tasks_of(bin);
    kinds.clear();
    for (std::uint32_t task : members) kinds.push_back(tasks.kind_of[task]);
    const TypeId planned = bin.type;
    // Equal bins in a row, as those of an array, take over the answer of the bin before: the search
    // costs O(types x tasks).
    if (last != nullptr && last_planned == planned && last_kinds == kinds) {
      if (last->type != planned) bin.worth_usd_h = last->worth_usd_h;
      bin.type = last->type;
      continue;
    }
    last = &bin;
    last_planned = planned;
    last_kinds.swap(kinds);
    const auto price = [&](TypeId type) -> std::optional<Price> {
      if (!types.offered(type) || (type != bin.type && rests(type))) return std::nullopt;
      // There are no more machines than the packing has used.
      if (type != bin.type && types.counted(type)) return std::nullopt;
      return types.price(type);
    };
    const auto need = [&](std::size_t task, TypeId type) -> std::optional<Need> {
      const TaskKind& kind = tasks.kinds[tasks.kind_of[members[task]]];
      const ShapeOnType& shape = model.prices.on(kind.shape, type);
      // Of one task what it is worth on a type is in proportion to its speed there.
      return shape.fits ? std::optional(Need{shape.amount, shape.worth_usd_h}) : std::nullopt;
    };
    const TypeId type = cheapest_type(members.size(), bin.type, types.all(), need, price);
    if (type == bin.type) continue;
    bin.type = type;
    // TNRP follows the speeds of the new type, so that it is added up again.
    worth.clear(model);
    for (std::uint32_t task : members) {
      worth.add(entrant_of(model, tasks.kinds[tasks.kind_of[task]], type));
    }
    bin.worth_usd_h = worth.usd_h();
  }
}

}  // namespace muster
