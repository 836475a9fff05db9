// Values of subsets, built up from smaller ones: a set that does not fit without its lowest piece
// does not fit, so that most sets are done with after a look at the smaller one.

#include "schedulers/muster/set_values.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "model/feasible.hpp"
#include "schedulers/muster/offers.hpp"

namespace muster::own {
namespace {

/// The share of the horizon that is left after such a delay.
double share_left(double delay_h, double horizon_h) {
  return std::max(0.0, 1 - delay_h / horizon_h);
}

}  // namespace

double speed_on(const ReservationPrices& prices, ShapeId shape, TypeId type) {
  // A resource without a price says nothing of speeds.
  const double alone_usd_h = prices.of(shape).usd_h;
  return alone_usd_h > 0 ? prices.on(shape, type).worth_usd_h / alone_usd_h : 1;
}

double share_on(const ValueModel& model, const Piece& piece, const Host& host, bool at_home) {
  const double delay = piece.start_h + piece.leave_h;
  const double horizon_h = piece.horizon_h > 0 ? piece.horizon_h : model.horizon_h;
  return share_left(at_home ? delay : host.left_h + delay, horizon_h);
}

bool Paces::holds(const ValueModel& model, const Host& host) {
  used_ = {};
  for (const Piece* piece : all_) {
    if (!model.prices.mask().allows(piece->asks(), host.kind())) return false;
    used_ += model.prices.on(piece->shape, host.type).amount;
  }
  return used_.fits_in(model.prices.types()[host.type].capacity);
}

void Paces::find_rates(const ValueModel& model) {
  rates_.clear();
  for (const Piece* piece : all_) {
    // Its own class is among the sum and taken out again: one loop without a branch.
    double log = -model.rates.log_rate(piece->cls, piece->cls);
    for (const Piece* other : all_) log += model.rates.log_rate(piece->cls, other->cls);
    rates_.push_back(std::exp(log));
  }
}

void Paces::take(std::span<const Piece* const> pieces) {
  all_.assign(pieces.begin(), pieces.end());
  rates_.clear();
}

std::span<const double> Paces::on_empty(const ValueModel& model, const Host& host) {
  paces_.clear();
  if (!holds(model, host)) return {};
  if (rates_.empty()) find_rates(model);
  for (std::size_t i = 0; i < all_.size(); ++i) {
    paces_.push_back(speed_on(model.prices, all_[i]->shape, host.type) * rates_[i]);
  }
  return paces_;
}

std::span<const double> Paces::on(const ValueModel& model, const Host& host,
                                  std::span<const Piece* const> pieces) {
  take(pieces);
  for (const Piece& piece : host.fixed) all_.push_back(&piece);
  return on_empty(model, host);
}

void SetValues::take(std::span<const Piece> pieces, std::span<const Gang> gangs) {
  pieces_ = pieces;
  gangs_ = gangs;
  const std::size_t sets = std::size_t{1} << pieces.size();
  rates_.assign(sets * std::max<std::size_t>(pieces.size(), 1), 0);
  peers_.assign(pieces.size(), 0);
  for (std::size_t one = 0; one < pieces.size(); ++one) {
    for (std::size_t other = 0; other < pieces.size(); ++other) {
      if (are_peers(pieces[one], pieces[other])) peers_[one] |= Set{1} << other;
    }
  }
  // A set's sums of logarithms are those of the set without its lowest piece, and that piece beside
  // each of the others.
  for (Set set = 1; set < sets; ++set) {
    const auto low = static_cast<std::uint32_t>(std::countr_zero(set));
    const Set rest = set & (set - 1);
    double own = 0;
    for (Set left = rest; left != 0; left &= left - 1) {
      const auto other = static_cast<std::uint32_t>(std::countr_zero(left));
      own += model_.rates.log_rate(pieces[low].cls, pieces[other].cls);
      rates_[set * pieces.size() + other] =
          rate(rest, other) + model_.rates.log_rate(pieces[other].cls, pieces[low].cls);
    }
    rates_[set * pieces.size() + low] = own;
  }
  std::transform(rates_.begin(), rates_.end(), rates_.begin(),
                 [](double log) { return std::exp(log); });
}

/// How many pieces of the piece's job, whose tasks are kept apart, may come to the host.
std::uint32_t SetValues::newcomers_to(const Host& host, std::uint32_t number,
                                      const Piece& piece) const {
  const auto named = std::ranges::find(host.newcomers, piece.apart.job, &Newcomers::job);
  if (named != host.newcomers.end()) return named->most;
  const auto stays = [&](const Piece& other) { return are_peers(piece, other); };
  const auto is_at_home = [&](const Piece& other) { return stays(other) && other.home == number; };
  const auto there = static_cast<std::uint32_t>(std::ranges::count_if(host.fixed, stays) +
                                                std::ranges::count_if(pieces_, is_at_home));
  return piece.apart.most - std::min(piece.apart.most, there);
}

void SetValues::count_newcomers(const Host& host, std::uint32_t number) {
  newcomers_.assign(pieces_.size(), 0);
  coming_ = 0;
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    if (pieces_[p].home != number) coming_ |= Set{1} << p;
    if (peers_[p] != 0) newcomers_[p] = newcomers_to(host, number, pieces_[p]);
  }
}

/// Of the job of the set's lowest piece no more tasks come than may; the set without that piece is
/// known to be fine.
bool SetValues::may_be_together(Set set) const {
  const auto low = static_cast<std::uint32_t>(std::countr_zero(set));
  if (peers_[low] == 0 || (coming_ & (Set{1} << low)) == 0) return true;
  return static_cast<std::uint32_t>(std::popcount(peers_[low] & set & coming_)) <= newcomers_[low];
}

/// Worth of a piece on the host when it is alone with the fixed tasks.
SetValues::Standing SetValues::standing(const Piece& piece, const Host& host, std::uint32_t number,
                                        std::span<const GangLimits> limits) const {
  if (!model_.prices.mask().allows(piece.asks(), host.kind())) return {};
  const bool at_home = piece.home == number;
  // A task that stays keeps working, unless its gang has to start anew around it.
  double share = at_home ? 1 : share_on(model_, piece, host, false);
  double beside = 0;
  for (const Piece& other : host.fixed) beside += model_.rates.log_rate(piece.cls, other.cls);
  const double speed = speed_on(model_.prices, piece.shape, host.type) * std::exp(beside);
  if (piece.gang == kNoGang) return {true, piece.value_usd_h * speed * share, 1};
  using Fate = GangLimits::Fate;
  const GangLimits& limit = limits[piece.gang];
  if (limit.fate == Fate::waits || (limit.fate == Fate::stays && !at_home)) return {};
  if (limit.fate == Fate::starts) share = share_on(model_, piece, host, at_home);
  // A gang of which one task comes to another place starts with the last of its tasks.
  const bool starts = limit.fate == Fate::starts || !at_home;
  if (starts) share = std::min(share, gangs_[piece.gang].share_elsewhere);
  share = std::min(share, limit.share_cap);
  return {share > limit.share_floor, piece.value_usd_h * share, speed};
}

/// Worth of the fixed tasks, and their rates beside each other. False when the limits leave no way
/// for one of them.
bool SetValues::look_at_fixed(const Host& host, std::span<const GangLimits> limits) {
  const std::size_t width = host.fixed.size();
  fixed_.assign(width, {});
  used_[0] = {};
  for (std::size_t f = 0; f < width; ++f) {
    const Piece& piece = host.fixed[f];
    used_[0] += model_.prices.on(piece.shape, host.type).amount;
    for (std::size_t g = 0; g < width; ++g) {
      if (g != f) fixed_logs_[f] += model_.rates.log_rate(piece.cls, host.fixed[g].cls);
    }
    double share = 1;
    if (piece.gang != kNoGang) {
      const GangLimits& limit = limits[piece.gang];
      if (limit.fate == GangLimits::Fate::starts) {
        const double elsewhere = gangs_[piece.gang].share_elsewhere;
        share = std::min(share_on(model_, piece, host, true), elsewhere);
      }
      share = std::min(share, limit.share_cap);
      if (share <= limit.share_floor) return false;
    }
    const double speed = speed_on(model_.prices, piece.shape, host.type);
    fixed_[f] = piece.gang == kNoGang ? Standing{true, piece.value_usd_h * speed * share, 1}
                                      : Standing{true, piece.value_usd_h * share, speed};
  }
  return true;
}

/// The pace of each gang with tasks in the set or fixed here, as far as it is decided here. False
/// when one is at its floor.
bool SetValues::pace_gangs(Set set, const Host& host, std::span<const GangLimits> limits) {
  for (std::size_t g = 0; g < gangs_.size(); ++g) {
    gang_pace_[g] = std::min(gangs_[g].pace_elsewhere, limits[g].pace_cap);
  }
  const auto slow = [&](std::uint32_t gang, double pace) {
    if (gang == kNoGang) return true;
    gang_pace_[gang] = std::min(gang_pace_[gang], pace);
    return pace > limits[gang].pace_floor;
  };
  for (Set left = set; left != 0; left &= left - 1) {
    const auto p = static_cast<std::uint32_t>(std::countr_zero(left));
    if (!slow(pieces_[p].gang, standing_[p].pace * rate(set, p))) return false;
  }
  const std::size_t width = host.fixed.size();
  for (std::size_t f = 0; f < width; ++f) {
    const double pace = fixed_[f].pace * std::exp(fixed_logs_[set * width + f]);
    if (!slow(host.fixed[f].gang, pace)) return false;
  }
  return true;
}

double SetValues::value(Set set, const Host& host) {
  const std::size_t width = host.fixed.size();
  // An instance that nothing is left on is given back and costs nothing.
  double sum = set == 0 && width == 0 ? 0 : -host.price_usd_h;
  for (Set left = set; left != 0; left &= left - 1) {
    const auto p = static_cast<std::uint32_t>(std::countr_zero(left));
    const std::uint32_t gang = pieces_[p].gang;
    sum += standing_[p].earns_usd_h * (gang == kNoGang ? rate(set, p) : gang_pace_[gang]);
  }
  for (std::size_t f = 0; f < width; ++f) {
    const std::uint32_t gang = host.fixed[f].gang;
    sum += fixed_[f].earns_usd_h *
           (gang == kNoGang ? std::exp(fixed_logs_[set * width + f]) : gang_pace_[gang]);
  }
  if (host.interruptions_h > 0) {
    at_risk_.clear();
    for (Set left = set; left != 0; left &= left - 1) {
      at_risk_.push_back(&pieces_[static_cast<std::size_t>(std::countr_zero(left))]);
    }
    for (const Piece& piece : host.fixed) at_risk_.push_back(&piece);
    sum -= risk_usd_h(host, at_risk_);
  }
  return sum;
}

std::uint64_t SetValues::on(const Host& host, std::uint32_t number,
                            std::span<const GangLimits> limits, std::vector<double>& values) {
  const std::size_t sets = std::size_t{1} << pieces_.size();
  const std::size_t width = host.fixed.size();
  values.assign(sets, kNever);
  used_.resize(sets);
  fits_.assign(sets, 0);
  fixed_logs_.assign(sets * width, 0);
  gang_pace_.resize(gangs_.size());
  count_newcomers(host, number);
  standing_.clear();
  for (const Piece& piece : pieces_) standing_.push_back(standing(piece, host, number, limits));
  if (!look_at_fixed(host, limits)) return 0;
  if (!used_[0].fits_in(model_.prices.types()[host.type].capacity)) {
    // More stays there than it holds: nothing is added, and what is there is worth nothing.
    values[0] = -host.price_usd_h;
    return 1;
  }
  std::uint64_t looked = 0;
  fits_[0] = 1;
  for (Set set = 0; set < sets; ++set) {
    if (set != 0) {
      const auto low = static_cast<std::uint32_t>(std::countr_zero(set));
      const Set rest = set & (set - 1);
      if (fits_[rest] == 0 || !standing_[low].fits || !may_be_together(set)) continue;
      used_[set] = used_[rest] + model_.prices.on(pieces_[low].shape, host.type).amount;
      if (!used_[set].fits_in(model_.prices.types()[host.type].capacity)) continue;
      fits_[set] = 1;
      for (std::size_t f = 0; f < width; ++f) {
        fixed_logs_[set * width + f] = fixed_logs_[rest * width + f] +
                                       model_.rates.log_rate(host.fixed[f].cls, pieces_[low].cls);
      }
    }
    ++looked;
    if (!gangs_.empty() && !pace_gangs(set, host, limits)) continue;
    values[set] = value(set, host);
  }
  return looked;
}

}  // namespace muster::own
