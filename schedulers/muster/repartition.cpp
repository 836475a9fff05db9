// Exact repartition of a few hosts. With m pieces there are 2^m sets, and each host is added by a
// pass over all pairs of a set and its subset, 3^m in all: 6,561 for eight pieces.

#include "schedulers/muster/repartition.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "model/check.hpp"

namespace muster::own {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
/// Leaving a task without a place that may not wait costs this many times the value of its hour: so
/// much that any place is better, and in proportion to prices, so that their scale decides nothing.
constexpr double kMustNotWait = 1000;

/// How fast the shape runs on the type, relative to its reservation type.
double speed_on(const ReservationPrices& prices, ShapeId shape, TypeId type) {
  return prices.on(shape, type).worth_usd_h / prices.of(shape).usd_h;
}

/// The share of the horizon that a piece works when getting to its place takes so long.
double share_left(double delay_h, double horizon_h) {
  return std::max(0.0, 1 - delay_h / horizon_h);
}

/// The delay of a piece on a host: none where it is at home.
double delay_h(const Piece& piece, std::uint32_t host, double left_h) {
  return piece.home == host ? 0 : left_h + piece.start_h + piece.leave_h;
}

double waiting_value(const Piece& piece) {
  return piece.may_wait ? 0 : -kMustNotWait * piece.value_usd_h;
}

}  // namespace

std::optional<double> value_on(const ValueModel& model, const Host& host,
                               std::span<const Piece* const> pieces, std::uint32_t number) {
  if (pieces.empty() && host.fixed.empty()) return 0;
  Resources used;
  std::vector<const Piece*> all(pieces.begin(), pieces.end());
  for (const Piece& piece : host.fixed) all.push_back(&piece);
  for (const Piece* piece : all) {
    const ShapeOnType& on = model.prices.on(piece->shape, host.type);
    if (!on.fits) return std::nullopt;
    used += on.amount;
  }
  if (!used.fits_in(model.prices.types()[host.type].capacity)) return std::nullopt;
  double sum = -host.price_usd_h;
  for (std::size_t i = 0; i < all.size(); ++i) {
    double log = 0;
    for (std::size_t j = 0; j < all.size(); ++j) {
      if (j != i) log += model.rates.log_rate(all[i]->cls, all[j]->cls);
    }
    const bool stays = i >= pieces.size();
    const double share =
        stays ? 1 : share_left(delay_h(*all[i], number, host.left_h), model.horizon_h);
    sum += all[i]->value_usd_h * speed_on(model.prices, all[i]->shape, host.type) * std::exp(log) *
           share;
  }
  return sum;
}

std::optional<NewHost> best_new(const ValueModel& model, std::span<const Piece* const> pieces) {
  const PricedTypes& types = model.prices.types();
  std::optional<NewHost> best;
  for (std::uint32_t i = 0; i < types.size(); ++i) {
    const TypeId type{i};
    if (!types.offered(type) || (i < model.unavailable.size() && model.unavailable[i])) continue;
    const InstanceType& made = types[type];
    const double price = types.usd_h(type) * share_left(to_hours(made.acquire), model.horizon_h);
    const Host host{type, price, to_hours(made.acquire + made.setup), {}};
    const std::optional<double> value = value_on(model, host, pieces, UINT32_MAX - 1);
    if (value && (!best || *value > best->value_usd_h)) best = NewHost{type, *value};
  }
  return best;
}

const Partition& Repartition::run(std::span<const Host> hosts, std::span<const Piece> pieces) {
  MUSTER_CHECK(pieces.size() <= kMostTasks, "a repartition is of few tasks");
  hosts_ = hosts;
  pieces_ = pieces;
  const std::size_t sets = std::size_t{1} << pieces.size();
  logs_.assign(sets * std::max<std::size_t>(pieces.size(), 1), 0);
  for (Set set = 1; set < sets; ++set) {
    // A set's sums are those of the set without its lowest piece, and that piece beside each.
    const auto low = static_cast<std::uint32_t>(std::countr_zero(set));
    const Set rest = set & (set - 1);
    double own = 0;
    for (Set left = rest; left != 0; left &= left - 1) {
      const auto other = static_cast<std::uint32_t>(std::countr_zero(left));
      own += model_.rates.log_rate(pieces[low].cls, pieces[other].cls);
      logs_[set * pieces.size() + other] =
          rate_sum(rest, other) + model_.rates.log_rate(pieces[other].cls, pieces[low].cls);
    }
    logs_[set * pieces.size() + low] = own;
  }
  rates_.resize(logs_.size());
  std::transform(logs_.begin(), logs_.end(), rates_.begin(),
                 [](double log) { return std::exp(log); });
  value_new();
  fill_new_and_waiting();
  host_choice_.resize(hosts.size());
  for (std::uint32_t i = 0; i < hosts.size(); ++i) {
    value_host(i);
    add_host(i, i + 1 == hosts.size());
  }
  read_back();
  return partition_;
}

/// The best offering of each set. A type that does not hold a set without its lowest piece does not
/// hold the set, so that most sets are done with after a look at the smaller one.
void Repartition::value_new() {
  const PricedTypes& types = model_.prices.types();
  const std::size_t sets = std::size_t{1} << pieces_.size();
  new_value_.assign(sets, kNever);
  new_type_.assign(sets, TypeId{});
  new_value_[0] = 0;
  std::vector<Resources> used(sets);
  std::vector<char> fits(sets);
  for (std::uint32_t i = 0; i < types.size(); ++i) {
    const TypeId type{i};
    if (!types.offered(type) || (i < model_.unavailable.size() && model_.unavailable[i])) continue;
    const InstanceType& made = types[type];
    const double price = types.usd_h(type) * share_left(to_hours(made.acquire), model_.horizon_h);
    const double left_h = to_hours(made.acquire + made.setup);
    std::array<double, kMostTasks> earns{};
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      if (!model_.prices.on(pieces_[p].shape, type).fits) continue;
      earns[p] = pieces_[p].value_usd_h * speed_on(model_.prices, pieces_[p].shape, type) *
                 share_left(left_h + pieces_[p].start_h + pieces_[p].leave_h, model_.horizon_h);
    }
    fits[0] = 1;
    used[0] = {};
    for (Set set = 1; set < sets; ++set) {
      const auto low = static_cast<std::uint32_t>(std::countr_zero(set));
      const Set rest = set & (set - 1);
      const ShapeOnType& on = model_.prices.on(pieces_[low].shape, type);
      fits[set] = fits[rest] != 0 && on.fits;
      if (!fits[set]) continue;
      used[set] = used[rest] + on.amount;
      fits[set] = used[set].fits_in(made.capacity);
      if (!fits[set]) continue;
      ++steps_;
      double value = -price;
      for (Set left = set; left != 0; left &= left - 1) {
        const auto piece = static_cast<std::uint32_t>(std::countr_zero(left));
        value += earns[piece] * rate(set, piece);
      }
      if (value > new_value_[set]) {
        new_value_[set] = value;
        new_type_[set] = type;
      }
    }
  }
}

/// What each set is worth on the host, beside its fixed tasks.
void Repartition::value_host(std::uint32_t number) {
  const Host& host = hosts_[number];
  const std::size_t sets = std::size_t{1} << pieces_.size();
  host_value_.assign(sets, kNever);
  std::vector<Resources> used(sets);
  std::vector<char> fits(sets);
  std::vector<double> fixed_logs(sets * std::max<std::size_t>(host.fixed.size(), 1), 0);
  const std::size_t width = host.fixed.size();
  std::array<double, kMostTasks> earns{};
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    if (!model_.prices.on(pieces_[p].shape, host.type).fits) continue;
    earns[p] = pieces_[p].value_usd_h * speed_on(model_.prices, pieces_[p].shape, host.type) *
               share_left(delay_h(pieces_[p], number, host.left_h), model_.horizon_h);
    double beside_fixed = 0;
    for (const Piece& other : host.fixed) {
      beside_fixed += model_.rates.log_rate(pieces_[p].cls, other.cls);
    }
    earns[p] *= std::exp(beside_fixed);
  }
  for (std::size_t f = 0; f < width; ++f) {
    used[0] += model_.prices.on(host.fixed[f].shape, host.type).amount;
    for (std::size_t g = 0; g < width; ++g) {
      if (g != f) fixed_logs[f] += model_.rates.log_rate(host.fixed[f].cls, host.fixed[g].cls);
    }
  }
  fits[0] = 1;
  for (Set set = 0; set < sets; ++set) {
    if (set != 0) {
      const auto low = static_cast<std::uint32_t>(std::countr_zero(set));
      const Set rest = set & (set - 1);
      const ShapeOnType& on = model_.prices.on(pieces_[low].shape, host.type);
      fits[set] = fits[rest] != 0 && on.fits;
      if (!fits[set]) continue;
      used[set] = used[rest] + on.amount;
      fits[set] = used[set].fits_in(model_.prices.types()[host.type].capacity);
      if (!fits[set]) continue;
      for (std::size_t f = 0; f < width; ++f) {
        fixed_logs[set * width + f] = fixed_logs[rest * width + f] +
                                      model_.rates.log_rate(host.fixed[f].cls, pieces_[low].cls);
      }
    }
    ++steps_;
    // An instance that nothing is left on is given back and costs nothing.
    double value = set == 0 && width == 0 ? 0 : -host.price_usd_h;
    for (Set left = set; left != 0; left &= left - 1) {
      const auto piece = static_cast<std::uint32_t>(std::countr_zero(left));
      value += earns[piece] * rate(set, piece);
    }
    for (std::size_t f = 0; f < width; ++f) {
      value += host.fixed[f].value_usd_h * speed_on(model_.prices, host.fixed[f].shape, host.type) *
               std::exp(fixed_logs[set * width + f]);
    }
    host_value_[set] = value;
  }
}

/// The best of each set without any present host: its lowest piece waits, or is on a new host with
/// some of the others.
void Repartition::fill_new_and_waiting() {
  const std::size_t sets = std::size_t{1} << pieces_.size();
  best_.assign(sets, 0);
  new_choice_.assign(sets, 0);
  for (Set set = 1; set < sets; ++set) {
    const auto low = static_cast<std::uint32_t>(std::countr_zero(set));
    const Set rest = set & (set - 1);
    double best = best_[rest] + waiting_value(pieces_[low]);
    Set choice = 0;
    for (Set others = rest;; others = (others - 1) & rest) {
      const Set on_new = others | (Set{1} << low);
      if (new_value_[on_new] != kNever) {
        ++steps_;
        const double value = new_value_[on_new] + best_[set ^ on_new];
        if (value > best) best = value, choice = on_new;
      }
      if (others == 0) break;
    }
    best_[set] = best;
    new_choice_[set] = choice;
  }
}

/// Adds a present host to the choice of each set; the last one only to that of all pieces.
void Repartition::add_host(std::uint32_t number, bool last) {
  const std::size_t sets = std::size_t{1} << pieces_.size();
  std::vector<Set>& choice = host_choice_[number];
  choice.assign(sets, 0);
  std::vector<double> best(best_);
  for (Set set = last ? static_cast<Set>(sets - 1) : 0; set < sets; ++set) {
    best[set] = best_[set] + host_value_[0];
    for (Set on_host = set; on_host != 0; on_host = (on_host - 1) & set) {
      if (host_value_[on_host] == kNever) continue;
      ++steps_;
      const double value = host_value_[on_host] + best_[set ^ on_host];
      if (value > best[set]) best[set] = value, choice[set] = on_host;
    }
  }
  best_.swap(best);
}

void Repartition::read_back() {
  auto left = static_cast<Set>((std::size_t{1} << pieces_.size()) - 1);
  partition_.value_usd_h = best_[left];
  partition_.host_of.assign(pieces_.size(), Partition::kWaits);
  partition_.new_types.clear();
  const auto put = [&](Set set, std::uint32_t host) {
    for (; set != 0; set &= set - 1) {
      partition_.host_of[static_cast<std::size_t>(std::countr_zero(set))] = host;
    }
  };
  for (auto number = static_cast<std::uint32_t>(hosts_.size()); number-- > 0;) {
    const Set on_host = host_choice_[number][left];
    put(on_host, number);
    left ^= on_host;
  }
  while (left != 0) {
    const Set on_new = new_choice_[left];
    if (on_new == 0) {
      left &= left - 1;  // the lowest one waits
      continue;
    }
    put(on_new, static_cast<std::uint32_t>(hosts_.size() + partition_.new_types.size()));
    partition_.new_types.push_back(new_type_[on_new]);
    left ^= on_new;
  }
}

}  // namespace muster::own
