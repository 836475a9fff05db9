#include "schedulers/market_split.hpp"

#include <utility>
#include <vector>

namespace muster {
namespace {

std::shared_ptr<const Catalog> at_spot_prices(const Catalog& catalog) {
  std::vector<InstanceType> types = catalog.types();
  for (InstanceType& type : types) {
    if (type.spot) {
      type.on_demand = *type.spot;
    } else {
      type.capacity = {};
    }
  }
  return std::make_shared<const Catalog>(std::move(types));
}

bool wants_spot(const Job& job) {
  return job.markets == MarketChoice::spot;
}

/// Adds the plan for the spot market; its launches come after those that are there.
void append(Plan&& spot, Plan& plan) {
  const auto before = static_cast<std::uint32_t>(plan.launches.size());
  for (Launch& launch : spot.launches) {
    launch.market = Market::spot;
    plan.launches.push_back(launch);
  }
  for (Place& place : spot.places) {
    if (auto* launch = std::get_if<LaunchIndex>(&place.to)) launch->value += before;
    plan.places.push_back(place);
  }
  plan.stops.insert(plan.stops.end(), spot.stops.begin(), spot.stops.end());
  plan.releases.insert(plan.releases.end(), spot.releases.begin(), spot.releases.end());
  plan.refusals.insert(plan.refusals.end(), spot.refusals.begin(), spot.refusals.end());
  if (!spot.note.choice.empty()) plan.note.choice += "; spot: " + spot.note.choice;
}

}  // namespace

MarketSplit::MarketSplit(const Catalog& catalog, const Make& make)
    : spot_catalog_(at_spot_prices(catalog)),
      on_demand_(make(catalog)),
      spot_(make(*spot_catalog_)) {}

MarketSplit::MarketSplit(const MarketSplit& other)
    : Policy(other),
      spot_catalog_(other.spot_catalog_),
      on_demand_(other.on_demand_->clone()),
      spot_(other.spot_->clone()),
      spot_wanted_(other.spot_wanted_) {}

ClusterView MarketSplit::spot_view(const ClusterView& view) const {
  return {view.state, *spot_catalog_, view.now, Market::spot, view.fixed_fleet};
}

void MarketSplit::observe(const Event& event, const ClusterView& view) {
  if (const auto* accepted = std::get_if<JobAccepted>(&event.body)) {
    spot_wanted_ |= wants_spot(accepted->job);
  }
  on_demand_->observe(event, view);
  if (spot_wanted_) spot_->observe(event, spot_view(view));
}

Plan MarketSplit::decide(const ClusterView& view, Rng& rng) {
  Plan plan = on_demand_->decide(view, rng);
  if (spot_wanted_) append(spot_->decide(spot_view(view), rng), plan);
  return plan;
}

bool MarketSplit::recall(std::string_view text, const ClusterState& state) {
  for (const JobRow& job : state.jobs()) spot_wanted_ |= wants_spot(job.job);
  for (const InstanceRow& row : state.instances()) spot_wanted_ |= row.market == Market::spot;
  return on_demand_->recall(text, state) && spot_->recall(text, state);
}

}  // namespace muster
