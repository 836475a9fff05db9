#include "schedulers/muster/offers.hpp"

#include <algorithm>

namespace muster::own {
namespace {

bool holds_as_much(const Resources& capacity, const Resources& other) {
  return std::all_of(kAllResources.begin(), kAllResources.end(),
                     [&](Resource kind) { return capacity[kind] >= other[kind]; });
}

/// Any set of tasks on `other` is worth no less on `host`.
bool replaces(const Host& host, const Host& other, const ReservationPrices& prices) {
  const PricedTypes& types = prices.types();
  const PlacementMask& mask = prices.mask();
  const InstanceType& type = types[host.type];
  const InstanceType& other_type = types[other.type];
  return host.market == other.market && mask.group_of(host.type) == mask.group_of(other.type) &&
         *types.price(host.type, host.market) <= *types.price(other.type, other.market) &&
         host.price_usd_h <= other.price_usd_h && host.left_h <= other.left_h &&
         host.interruptions_h <= other.interruptions_h && host.renew_h <= other.renew_h &&
         holds_as_much(type.capacity, other_type.capacity);
}

}  // namespace

Host to_rent(const PricedTypes& types, TypeId type, Market market, double horizon_h) {
  const InstanceType& made = types[type];
  const double acquire_h = to_hours(made.acquire);
  const double usd_h = types.price(type, market).value_or(types.price(type)).usd_h();
  Host host{type,
            usd_h * std::max(0.0, 1 - acquire_h / horizon_h),
            to_hours(made.acquire + made.setup),
            {}};
  host.market = market;
  host.renew_h = host.left_h;
  return host;
}

double interruptions_h(const ClusterView& view, TypeId type, Market market,
                       const MusterParams& params) {
  if (market == Market::on_demand) return 0;
  const OfferingRow* row = view.state.offerings().find(type, market);
  return row != nullptr && row->told ? row->interruptions_h : params.interruptions_h;
}

std::vector<Host> offers(const ClusterView& view, const ReservationPrices& prices,
                         const MusterParams& params) {
  const PricedTypes& types = prices.types();
  std::vector<Host> found;
  for (std::uint32_t i = 0; i < types.size(); ++i) {
    for (const Market market : {Market::on_demand, Market::spot}) {
      const TypeId type{i};
      if (!types.price(type, market) || types.counted(type) || view.rests(type, market)) continue;
      Host host = to_rent(types, type, market, to_hours(params.horizon));
      host.interruptions_h = interruptions_h(view, type, market, params);
      found.push_back(std::move(host));
    }
  }
  drop_replaced(found, prices);
  return found;
}

void drop_replaced(std::vector<Host>& offers, const ReservationPrices& prices) {
  std::vector<char> replaced(offers.size(), 0);
  for (std::size_t i = 0; i < offers.size(); ++i) {
    for (std::size_t j = 0; j < offers.size() && replaced[i] == 0; ++j) {
      if (i == j || replaced[j] != 0 || !replaces(offers[j], offers[i], prices)) continue;
      // Two that replace each other are equal.
      replaced[i] = j < i || !replaces(offers[i], offers[j], prices) ? 1 : 0;
    }
  }
  std::size_t at = 0;
  std::erase_if(offers, [&](const Host&) { return replaced[at++] != 0; });
}

double risk_usd_h(const Host& host, std::span<const Piece* const> pieces) {
  if (host.interruptions_h <= 0) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Piece& piece = *pieces[i];
    const auto of_same_gang = [&](const Piece* other) { return other->gang == piece.gang; };
    const auto before = pieces.first(i);
    if (piece.gang != kNoGang && std::any_of(before.begin(), before.end(), of_same_gang)) continue;
    sum += piece.stake_usd_h * (host.renew_h + piece.start_h + piece.at_risk_h);
  }
  return host.interruptions_h * sum;
}

}  // namespace muster::own
