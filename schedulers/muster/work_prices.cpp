#include "schedulers/muster/work_prices.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace muster::own {
namespace {

/// Factor for the part of a well-filled instance that stays empty, on top of the used part.
constexpr double kFragmentation = 1.1;
/// Where interruptions leave less of an hour's work than that, the spot market does not count for
/// tasks that need not be there.
constexpr double kLeastUndisturbed = 0.1;

/// Patterns are never filled as well as their program assumes.
constexpr double kPatternMargin = 1.05;
/// The dual of a task that fills room without another use is 0; it is to be done nevertheless.
constexpr double kLeastOfShare = 0.5;

constexpr double kNone = std::numeric_limits<double>::infinity();

/// Share of the type that the shape fills, and its speed there; nothing where it does not run.
struct Filled {
  double share = 0;
  double speed = 1;
};

std::optional<Filled> filled_by(ShapeId shape, TypeId type, const ReservationPrices& prices) {
  const ShapeOnType& on = prices.on(shape, type);
  if (!on.fits || on.worth_usd_h <= 0) return std::nullopt;
  return Filled{on.amount.dominant_share(prices.types()[type].capacity),
                on.worth_usd_h / prices.of(shape).usd_h};
}

/// Of an hour on an instance of its own, on demand; kNone where no type there holds it.
double price_alone(ShapeId shape, const ReservationPrices& prices) {
  const ReservationPrice& fastest = prices.of(shape);  // speeds are relative to that type's
  const ReservationPrice& alone = prices.of(shape, MarketChoice::on_demand);
  if (!alone.fits()) return kNone;
  const bool same = alone.type == fastest.type || fastest.usd_per_iteration <= 0;
  return same ? alone.usd_h : alone.usd_per_iteration * fastest.usd_h / fastest.usd_per_iteration;
}

double price_of_share(ShapeId shape, const ReservationPrices& prices) {
  double least = price_alone(shape, prices);
  if (least == kNone) return kNone;
  const bool counted = prices.types().counted(prices.of(shape, MarketChoice::on_demand).type);
  for (std::uint32_t i = 0; i < prices.types().size(); ++i) {
    // Counted machines set a price only where nothing else holds the task.
    if (prices.types().counted(TypeId{i}) != counted) continue;
    const std::optional<Price> price = prices.types().price(TypeId{i}, Market::on_demand);
    const std::optional<Filled> filled = filled_by(shape, TypeId{i}, prices);
    if (!price || !filled) continue;
    least = std::min(least, kFragmentation * price->usd_h() * filled->share / filled->speed);
  }
  return least;
}

}  // namespace

double WorkPrices::on_demand(ShapeId shape, ClassId cls, const ClusterState& state,
                             const ReservationPrices& prices) {
  if (version_ != prices.version()) {
    shapes_.clear();
    version_ = prices.version();
  }
  if (shape.value >= shapes_.size()) shapes_.resize(shape.value + std::size_t{1});
  Known& known = shapes_[shape.value];
  if (known.made != state.shape_made(shape)) {
    known = {state.shape_made(shape), price_of_share(shape, prices), price_alone(shape, prices)};
  }
  const std::optional<double> of_patterns = patterns_.of(shape, cls);
  if (!of_patterns) return known.share_usd_h;
  return std::clamp(kPatternMargin * *of_patterns, kLeastOfShare * known.share_usd_h,
                    known.alone_usd_h);
}

double work_price_on_spot(const RiskyWork& work, std::span<const Host> offers,
                          const ReservationPrices& prices) {
  double least = kNone;
  for (const Host& offer : offers) {
    if (offer.market != Market::spot) continue;
    const std::optional<Filled> filled = filled_by(work.shape, offer.type, prices);
    if (!filled) continue;
    const double instances = std::max(1.0, work.tasks * filled->share);
    const double undone = offer.interruptions_h * instances * (offer.renew_h + work.lost_h);
    if (work.may_choose && undone > 1 - kLeastUndisturbed) continue;
    const double usd_h = prices.types().price(offer.type, Market::spot)->usd_h();
    const double share = std::min(1.0, kFragmentation * filled->share);
    least =
        std::min(least, usd_h * share / filled->speed / std::max(kLeastUndisturbed, 1 - undone));
  }
  return least;
}

}  // namespace muster::own
