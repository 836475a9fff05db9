#include "schedulers/muster/pack_new.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "model/feasible.hpp"
#include "schedulers/muster/offers.hpp"

namespace muster::own {
namespace {

/// Tasks end one by one, and of n that run equally long on average the last one ends as much later
/// as the n-th harmonic number says: meanwhile the instance is paid for whole. Most of its room is
/// taken again, so that this part of it counts. Of instances that save about as much the smaller
/// one is taken.
constexpr double kDrain = 0.003;

/// Equal pieces that are not packed yet.
struct Kind {
  std::vector<std::uint32_t> left;  ///< their numbers
  double alone_usd_h = 0;           ///< worth of each on an instance of its own
};

/// A new instance with some of the pieces of each kind.
struct Fill {
  std::uint32_t offer = 0;
  double value_usd_h = 0;
  double saved = 0;  ///< share of what its pieces are worth, less what draining loses
  std::vector<std::pair<std::size_t, std::size_t>> of{};  ///< kind, and how many of it
};

class Packer {
 public:
  Packer(const ValueModel& model, std::span<const Piece> pieces) : model_(model), pieces_(pieces) {
    packing_.partition.host_of.assign(pieces.size(), Partition::kWaits);
    gather_kinds();
  }

  Packing run() {
    while (std::optional<Fill> best = best_fill()) {
      if (pays(*best)) {
        carry_out(*best);
      } else {
        let_wait(*best);
      }
    }
    for (const Kind& kind : kinds_) {
      // There is no offer for any of them.
      for (const std::uint32_t piece : kind.left) {
        packing_.partition.value_usd_h += waiting_usd_h(pieces_[piece]);
      }
    }
    return std::move(packing_);
  }

 private:
  /// Those of most value first: small ones fill the gaps that are left.
  void gather_kinds() {
    const auto key = [&](std::uint32_t number) { return kind_of(pieces_[number]); };
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < pieces_.size(); ++i) order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    for (const std::uint32_t number : order) {
      if (kinds_.empty() || key(kinds_.back().left.front()) != key(number)) {
        const Piece* alone[] = {&pieces_[number]};
        const std::optional<NewHost> best = Valuer{model_, paces_}.best_new(alone);
        kinds_.push_back({.left = {},
                          .alone_usd_h = std::max(best ? best->value_usd_h : kNever,
                                                  waiting_usd_h(pieces_[number]))});
      }
      kinds_.back().left.push_back(number);
    }
    // They are taken from the end: of equal ones the first goes first.
    for (Kind& kind : kinds_) std::reverse(kind.left.begin(), kind.left.end());
  }

  /// Worth of leaving the piece without a place for now.
  static double waiting_usd_h(const Piece& piece) {
    return piece.may_wait ? 0 : not_waiting_usd_h(piece);
  }

  /// The instance is worth more than leaving its pieces to wait is.
  bool pays(const Fill& fill) const {
    double waiting = 0;
    for (const auto& [kind, count] : fill.of) {
      waiting += static_cast<double>(count) * waiting_usd_h(pieces_[kinds_[kind].left.back()]);
    }
    return fill.value_usd_h > waiting;
  }

  /// Nothing when no offer holds any piece that is left.
  std::optional<Fill> best_fill() {
    std::optional<Fill> best;
    for (std::uint32_t offer = 0; offer < model_.offers.size(); ++offer) {
      Fill found = fill(offer);
      if (!found.of.empty() && (!best || found.saved > best->saved)) best = std::move(found);
    }
    return best;
  }

  /// Adds pieces as long as they gain more than they would alone, and keeps as many of them as save
  /// the greatest share: beside many others the last ones may slow the first.
  Fill fill(std::uint32_t offer) {
    const Host& host = model_.offers[offer];
    begin(host);
    Fill best{.offer = offer, .saved = kNever};
    Fill now = best;
    double alone_usd_h = 0;
    double worth_usd_h = 0, drains = 0;
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
      for (std::size_t n = 0; n < kinds_[kind].left.size(); ++n) {
        ++packing_.looks;
        const Piece& piece = pieces_[kinds_[kind].left[n]];
        const std::optional<double> gain = gain_by(piece, host);
        if (!gain || (!members_.empty() && *gain <= kinds_[kind].alone_usd_h)) break;
        add(piece, host);
        if (now.of.empty() || now.of.back().first != kind) now.of.emplace_back(kind, 0);
        ++now.of.back().second;
        value_usd_h_ += *gain;
        alone_usd_h += kinds_[kind].alone_usd_h;
        worth_usd_h += piece.value_usd_h;
        now.value_usd_h = value_usd_h_;
        drains += kDrain / static_cast<double>(members_.size());
        // Pieces that are worth nothing come last: of them as much as is saved counts.
        now.saved = (value_usd_h_ - alone_usd_h) / (worth_usd_h > 0 ? worth_usd_h : 1) - drains;
        if (now.saved > best.saved || best.of.empty()) best = now;
      }
    }
    return best;
  }

  void begin(const Host& host) {
    members_.clear();
    works_.clear();
    used_ = {};
    value_usd_h_ = -host.price_usd_h;
    risk_usd_h_ = 0;
  }

  /// Each piece there is slowed by one neighbour more, and the new one by all of them.
  std::optional<double> gain_by(const Piece& piece, const Host& host) {
    if (!model_.prices.mask().allows(piece.asks(), host.kind())) return std::nullopt;
    const auto is_peer = [&](const Piece* member) { return are_peers(*member, piece); };
    if (piece.apart && std::ranges::count_if(members_, is_peer) >= piece.apart.most) {
      return std::nullopt;
    }
    const ShapeOnType& on = model_.prices.on(piece.shape, host.type);
    if (!(used_ + on.amount).fits_in(model_.prices.types()[host.type].capacity)) {
      return std::nullopt;
    }
    double pace = speed_on(model_.prices, piece.shape, host.type);
    double gain = 0;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const Piece& beside = *members_[i];
      gain -= beside.value_usd_h * works_[i] * (1 - model_.rates.rate(beside.cls, piece.cls));
      pace *= model_.rates.rate(piece.cls, beside.cls);
    }
    packing_.looks += members_.size();
    if (host.interruptions_h > 0) {
      members_.push_back(&piece);
      gain -= risk_usd_h(host, members_) - risk_usd_h_;
      members_.pop_back();
    }
    return gain + piece.value_usd_h * pace * share_on(model_, piece, host, false);
  }

  void add(const Piece& piece, const Host& host) {
    double works =
        speed_on(model_.prices, piece.shape, host.type) * share_on(model_, piece, host, false);
    for (std::size_t i = 0; i < members_.size(); ++i) {
      works_[i] *= model_.rates.rate(members_[i]->cls, piece.cls);
      works *= model_.rates.rate(piece.cls, members_[i]->cls);
    }
    members_.push_back(&piece);
    works_.push_back(works);
    used_ += model_.prices.on(piece.shape, host.type).amount;
    if (host.interruptions_h > 0) risk_usd_h_ = risk_usd_h(host, members_);
  }

  void carry_out(const Fill& fill) {
    const auto number = static_cast<std::uint32_t>(packing_.partition.new_hosts.size());
    packing_.partition.new_hosts.push_back(fill.offer);
    packing_.partition.value_usd_h += fill.value_usd_h;
    for (const auto& [kind, count] : fill.of) {
      std::vector<std::uint32_t>& left = kinds_[kind].left;
      for (std::size_t n = 0; n < count; ++n) {
        packing_.partition.host_of[left.back()] = number;
        left.pop_back();
      }
    }
  }

  /// Those that wait keep Partition::kWaits as their host.
  void let_wait(const Fill& fill) {
    for (const auto& [kind, count] : fill.of) {
      std::vector<std::uint32_t>& left = kinds_[kind].left;
      for (std::size_t n = 0; n < count; ++n) {
        packing_.partition.value_usd_h += waiting_usd_h(pieces_[left.back()]);
        left.pop_back();
      }
    }
  }

  const ValueModel& model_;
  std::span<const Piece> pieces_;
  std::vector<Kind> kinds_;
  Packing packing_;
  Paces paces_;
  std::vector<const Piece*> members_;  ///< of the instance that is being filled
  std::vector<double> works_;          ///< of each of them: its pace times the share that it works
  Resources used_{};
  double value_usd_h_ = 0;
  double risk_usd_h_ = 0;
};

}  // namespace

Packing pack_new(const ValueModel& model, std::span<const Piece> pieces) {
  return Packer(model, pieces).run();
}

}  // namespace muster::own
