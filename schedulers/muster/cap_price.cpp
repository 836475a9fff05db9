#include "schedulers/muster/cap_price.hpp"

#include <algorithm>

#include "schedulers/muster/memory.hpp"

namespace muster::own {
namespace {

/// The first price, as a share of the mean instance's. Where prices are in proportion to sizes any
/// price of a place makes large instances the better ones.
constexpr double kFirstShare = 0.1;
constexpr double kRise = 2;
/// Places come free by chance, too: a price that fell as fast as it rises would go up and down,
/// and each time tasks would be moved.
constexpr double kFall = 1.2;
/// With that share of the places left there is no want of them.
constexpr double kSparePlaces = 0.2;
/// Times the price of the mean instance, which grows with the instances that are rented: else work
/// would come to be worth any instance.
constexpr double kMostTimes = 2;

}  // namespace

void CapPrice::observe(const Event& event) {
  const auto* round = std::get_if<RoundDecided>(&event.body);
  if (round == nullptr || round->note.choice != kRepartition) return;
  usd_h_ = figure_of(round->note, kPlacePrice).value_or(0);
}

double CapPrice::after(const Round& round, const ClusterView& view) const {
  if (!view.left.instances) return 0;
  const auto left = static_cast<double>(*view.left.instances);
  const auto launches = static_cast<double>(round.launches);
  const auto all = left + static_cast<double>(round.instances);
  const double mean = round.usd_h / std::max(1.0, static_cast<double>(round.instances));
  if (launches > left || (left == 0 && round.any_waits)) {
    return std::min(std::max(kFirstShare * mean, kRise * usd_h_), kMostTimes * mean);
  }
  if (left - launches <= kSparePlaces * all) return usd_h_;
  const double less = usd_h_ / kFall;
  return less < kFirstShare * mean / 2 ? 0 : less;
}

}  // namespace muster::own
