// Exact repartition of a few hosts. With m pieces there are 2^m sets, and each host is added by a
// pass over all pairs of a set and its subset, 3^m in all: 6,561 for eight pieces.

#include "schedulers/muster/repartition.hpp"

#include <algorithm>
#include <bit>

#include "model/check.hpp"
#include "schedulers/muster/offers.hpp"

namespace muster::own {
namespace {

/// Leaving a task without a place that may not wait costs this many times the value of its hour, or
/// the price of an instance for it alone: so much that any place is better, and in proportion to
/// prices, so that their scale decides nothing.
constexpr double kMustNotWait = 1000;
/// Where nothing has a price, a place is better than waiting.
constexpr double kLeastStake_usd_h = 1e-9;

}  // namespace

double not_waiting_usd_h(const Piece& piece) {
  // A task that asks for next to nothing is worth next to nothing, and would never pay for an
  // instance.
  return -kMustNotWait * std::max({piece.value_usd_h, piece.alone_usd_h, kLeastStake_usd_h});
}

std::optional<double> value_on(const ValueModel& model, const Host& host,
                               std::span<const Piece* const> pieces, std::uint32_t number) {
  Paces paces;
  return Valuer{model, paces}.on(host, pieces, number);
}

std::optional<double> Valuer::on(const Host& host, std::span<const Piece* const> pieces,
                                 std::uint32_t number) const {
  if (pieces.empty() && host.fixed.empty()) return 0;
  return worth(paces.on(model, host, pieces), host, pieces, number);
}

/// Of the pieces and the fixed tasks of the host at those paces; nothing where they do not fit.
std::optional<double> Valuer::worth(std::span<const double> found, const Host& host,
                                    std::span<const Piece* const> pieces,
                                    std::uint32_t number) const {
  if (found.empty()) return std::nullopt;
  double sum = -host.price_usd_h - risk_usd_h(host, paces.pieces());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Piece& piece = i < pieces.size() ? *pieces[i] : host.fixed[i - pieces.size()];
    const bool stays = i >= pieces.size() || piece.home == number;
    const double works = found[i] * (stays ? 1 : share_on(model, piece, host, false));
    const bool job_wide = piece.gang != kNoGang && model.gang_loss == GangLoss::job_wide;
    sum +=
        job_wide ? piece.value_usd_h - (1 - works) * piece.gang_usd_h : piece.value_usd_h * works;
  }
  return sum;
}

std::optional<NewHost> best_new(const ValueModel& model, std::span<const Piece* const> pieces) {
  Paces paces;
  return Valuer{model, paces}.best_new(pieces);
}

std::optional<NewHost> Valuer::best_new(std::span<const Piece* const> pieces) const {
  std::optional<NewHost> best;
  if (pieces.empty()) return best;
  paces.take(pieces);
  for (std::uint32_t i = 0; i < model.offers.size(); ++i) {
    const Host& offer = model.offers[i];
    const std::optional<double> value =
        worth(paces.on_empty(model, offer), offer, pieces, kNewHost);
    if (value && (!best || *value > best->value_usd_h)) best = NewHost{i, *value};
  }
  return best;
}

const Partition& Repartition::run(std::span<const Host> hosts, std::span<const Piece> pieces) {
  MUSTER_CHECK(pieces.size() <= kMostTasks, "a repartition is of few tasks");
  hosts_ = hosts;
  pieces_ = pieces;
  values_.take(pieces, {});
  return search({});
}

/// The best way within the limits. With gangs its value is one that no way within the limits
/// exceeds, and need not be that of the way found.
const Partition& Repartition::search(std::span<const GangLimits> limits) {
  value_new(limits);
  fill_new_and_waiting(limits);
  host_choice_.resize(hosts_.size());
  for (std::uint32_t i = 0; i < hosts_.size(); ++i) {
    steps_ += values_.on(hosts_[i], i, limits, host_value_);
    add_host(i, i + 1 == hosts_.size());
  }
  read_back();
  return partition_;
}

/// The best offer for each set.
void Repartition::value_new(std::span<const GangLimits> limits) {
  const std::size_t sets = std::size_t{1} << pieces_.size();
  new_value_.assign(sets, kNever);
  new_offer_.assign(sets, 0);
  new_value_[0] = 0;
  for (std::uint32_t i = 0; i < model_.offers.size(); ++i) {
    steps_ += values_.on(model_.offers[i], kNewHost, limits, host_value_);
    for (Set set = 1; set < sets; ++set) {
      if (!(host_value_[set] > new_value_[set])) continue;
      new_value_[set] = host_value_[set];
      new_offer_[set] = i;
    }
  }
}

/// A gang waits as a whole: a piece of one that is to have places, or is not all here, cannot.
double Repartition::waiting_value(const Piece& piece, std::span<const GangLimits> limits) const {
  if (piece.gang != kNoGang) {
    const GangLimits::Fate fate = limits[piece.gang].fate;
    if (fate == GangLimits::Fate::stays || fate == GangLimits::Fate::starts) return kNever;
    if (!values_.gangs()[piece.gang].whole) return kNever;
  }
  return piece.may_wait ? 0 : not_waiting_usd_h(piece);
}

/// The best of each set without any present host: its lowest piece waits, or is on a new host with
/// some of the others.
void Repartition::fill_new_and_waiting(std::span<const GangLimits> limits) {
  const std::size_t sets = std::size_t{1} << pieces_.size();
  best_.assign(sets, 0);
  new_choice_.assign(sets, 0);
  for (Set set = 1; set < sets; ++set) {
    const auto low = static_cast<std::uint32_t>(std::countr_zero(set));
    const Set rest = set & (set - 1);
    double best = best_[rest] + waiting_value(pieces_[low], limits);
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
  partition_.new_hosts.clear();
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
    put(on_new, static_cast<std::uint32_t>(hosts_.size() + partition_.new_hosts.size()));
    partition_.new_hosts.push_back(new_offer_[on_new]);
    left ^= on_new;
  }
}

}  // namespace muster::own
