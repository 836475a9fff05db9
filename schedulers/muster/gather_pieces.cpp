#include "schedulers/muster/gather_pieces.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "model/feasible.hpp"
#include "schedulers/packing/rounds/moves.hpp"

namespace muster::own {
namespace {

/// Where this number of types were refused on the spot market, and it has no instance, it is the
/// market that is refused, as to an account without a quota for it. Going on type by type would
/// keep tasks waiting for as many rounds as there are types.
constexpr std::ptrdiff_t kRefusedTypes = 3;
/// Where no more than its class's time is known of a task, its horizon is never less than this many
/// changes: in one that is less than a change no place would be worth anything.
constexpr int kLeastHorizon = 3;

}  // namespace

bool refuses_spot(const ClusterView& view) {
  const auto& refused = view.unavailable_offerings;
  const auto types = std::count_if(refused.begin(), refused.end(), [](const auto& offering) {
    return offering.key.market == Market::spot;
  });
  if (types < kRefusedTypes) return false;
  const FleetSums& sums = view.state.sums();
  for (std::uint32_t i = 0; i < view.catalog.size(); ++i) {
    if (sums.count(TypeId{i}, Market::spot) > 0) return false;
  }
  return true;
}

namespace {

class Gathering {
 public:
  Gathering(const RoundParts& parts, std::span<const Host> offers, double horizon_h)
      : p_(parts), offers_(offers), horizon_h_(horizon_h) {
    any_spot_ = std::any_of(offers.begin(), offers.end(),
                            [](const Host& offer) { return offer.market == Market::spot; });
    spot_is_out_ = refuses_spot(parts.view);
  }

  Piece piece_of(const RoundInput::Task& task) {
    const TaskRow& row = p_.view.state.task(task.slot);
    const Delays& delays = p_.view.state.spec(row).delays;
    Piece piece;
    piece.shape = row.shape;
    piece.cls = row.cls;
    piece.home = task.home;
    piece.start_h = to_hours(delays.fetch + delays.build + delays.init);
    // A task whose instance is going away leaves it whatever is decided.
    if (row.phase == TaskPhase::running && task.home != kUnassigned) {
      // Unsaved work would have to be done again.
      const Duration lost = unsaved(p_.view.state, row, p_.view.now);
      piece.leave_h = to_hours(delays.stop + delays.upload + lost);
    }
    const std::optional<Duration> left = expected_left(row);
    if (left) piece.horizon_h = std::min(horizon_h_, to_hours(*left));
    piece.markets = markets_of(row);
    // On average an interruption comes half-way through what would be lost by it.
    if (!keeps_work(p_.view.state, row))
      piece.at_risk_h = (left ? to_hours(*left) : horizon_h_) / 2;
    piece.value_usd_h = work_usd_h(row, piece) * (1 + p_.params.theta) + p_.params.theta_usd_h;
    piece.stake_usd_h = piece.value_usd_h;
    piece.alone_usd_h = p_.prices.of(row.shape, piece.markets).usd_h;
    if (piece.alone_usd_h <= 0) {
      const double here_usd_h =
          task.home == kUnassigned ? 0 : p_.input.instances()[task.home].price_usd_h;
      piece.alone_usd_h = std::max(least_on_offer_usd_h(row.shape), here_usd_h);
    }
    return piece;
  }

 private:
  bool runs_on_demand(const TaskRow& row) const {
    return p_.prices.of(row.shape, MarketChoice::on_demand).fits();
  }

  MarketChoice markets_of(const TaskRow& row) const {
    const MarketChoice asked = p_.view.state.markets(row);
    const bool stays =
        asked == MarketChoice::any && (spot_is_out_ || p_.params.spot == SpotUse::asked);
    return stays && runs_on_demand(row) ? MarketChoice::on_demand : asked;
  }

  /// The rest of the task's expected run time; nothing without an expectation, or when the task has
  /// outlived it.
  std::optional<Duration> expected_left(const TaskRow& row) const {
    const muster::Job& job = p_.view.state.job(row.job).job;
    const auto known = p_.times.of(job, p_.view.state.spec(row), row.cls);
    if (!known) return std::nullopt;
    Duration left = known->run - row.ran;
    if (row.phase == TaskPhase::running) left -= p_.view.now - row.started_at;
    if (known->is_learnt) {
      const Duration change = change_of(row);
      if (!p_.times.is_short(*known, change)) return std::nullopt;
      left = std::max(left, kLeastHorizon * change);
    }
    return left > Duration{} ? std::optional(left) : std::nullopt;
  }

  /// The start of an instance for the task, and a move of it.
  Duration change_of(const TaskRow& row) const {
    const Delays& delays = p_.view.state.spec(row).delays;
    const ReservationPrice& alone = p_.prices.of(row.shape, p_.view.state.markets(row));
    if (!alone.fits()) return move_time(delays);
    return change_time(p_.view.catalog[alone.type], delays);
  }

  /// Work that costs nothing on a type that cannot be had now is to be done on another one
  /// nevertheless: the least price of these.
  double least_on_offer_usd_h(ShapeId shape) {
    // Tasks of a job come one after the other, and mostly are alike.
    if (free_shape_ == shape) return free_usd_h_;
    free_shape_ = shape;
    free_usd_h_ = 0;
    bool any = false;
    for (const Host& offer : offers_) {
      if (!p_.prices.on(shape, offer.type).fits) continue;
      free_usd_h_ = any ? std::min(free_usd_h_, offer.price_usd_h) : offer.price_usd_h;
      any = true;
    }
    return free_usd_h_;
  }

  /// The price of the task's work on the market where it is least.
  double work_usd_h(const TaskRow& row, const Piece& piece) {
    const bool on_demand = wants(piece.markets, Market::on_demand) && runs_on_demand(row);
    // A resource that is on offer nowhere now is worth something nevertheless.
    const double least = on_demand ? p_.work.on_demand(row.shape, row.cls, p_.view.state, p_.prices)
                                   : p_.prices.of(row.shape, piece.markets).usd_h;
    if (!any_spot_ || !wants(piece.markets, Market::spot)) return least;
    const JobRow& job = p_.view.state.job(row.job);
    const RiskyWork work{.shape = row.shape,
                         .lost_h = piece.start_h + piece.at_risk_h,
                         .tasks = is_gang(job) ? static_cast<double>(job.tasks.size()) : 1,
                         .may_choose = on_demand};
    // Tasks of a job come one after the other, and mostly are alike.
    if (!(work == last_)) {
      last_ = work;
      last_usd_h_ = work_price_on_spot(work, offers_, p_.prices);
    }
    const bool any = last_usd_h_ < std::numeric_limits<double>::infinity();
    return on_demand ? std::min(least, last_usd_h_) : any ? last_usd_h_ : least;
  }

  const RoundParts& p_;
  std::span<const Host> offers_;
  double horizon_h_;
  bool any_spot_ = false;
  bool spot_is_out_ = false;  ///< for whoever need not be there
  RiskyWork last_;
  double last_usd_h_ = 0;
  ShapeId free_shape_;  ///< the last one whose work costs nothing; invalid: there was no such one
  double free_usd_h_ = 0;
};

}  // namespace

std::vector<Piece> gather_pieces(const RoundParts& parts, std::span<const Host> offers,
                                 double horizon_h) {
  Gathering gathering(parts, offers, horizon_h);
  std::vector<Piece> pieces;
  for (const RoundInput::Task& task : parts.input.tasks()) {
    pieces.push_back(gathering.piece_of(task));
    pieces.back().apart = task.apart;
  }
  return pieces;
}

}  // namespace muster::own
