#include "schedulers/lrasched/service_input.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "model/feasible.hpp"
#include "schedulers/lrasched/limit_search.hpp"
#include "schedulers/lrasched/service_zones.hpp"
#include "schedulers/lrasched/size_moves.hpp"
#include "schedulers/packing/rules.hpp"

namespace muster::lrasched {
namespace {

constexpr std::uint32_t kAnyNumber = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kNoNode = std::numeric_limits<std::uint32_t>::max();
/// An offering that costs nothing is worth its whole load for next to nothing.
constexpr double kLeastPrice_usd_h = 1e-9;

class Gathering {
 public:
  explicit Gathering(const ServiceParts& parts)
      : p_(parts), zones_(parts.view, parts.params.spread) {}

  ServiceInput run() {
    for (const JobId id : p_.memory.services()) gather_waiting(*p_.view.state.find(id));
    return finish();
  }

  ServiceInput run(InstanceId from, std::span<const Slot> tasks) {
    leaves_ = from;
    for (const Slot slot : tasks) {
      const TaskRow& task = state().task(slot);
      const auto alike = std::ranges::find_if(in_.waiting, [&](const WaitingService& one) {
        const TaskRow& other = state().task(one.tasks.front());
        return one.job == task.job && *one.grant == task.held &&
               asks_of(state(), other) == asks_of(state(), task);
      });
      if (alike != in_.waiting.end()) {
        alike->tasks.push_back(slot);
      } else {
        in_.waiting.push_back(
            {task.job, {slot}, true, task.held, CauseCode::partial_reconfiguration});
      }
    }
    return finish();
  }

 private:
  const ClusterState& state() const { return p_.view.state; }

  ServiceInput finish() {
    if (in_.waiting.empty()) return std::move(in_);
    gather_nodes();
    if (p_.view.rents()) gather_offers();
    for (WaitingService& waiting : std::exchange(in_.waiting, {})) gather(std::move(waiting));
    in_.demand = p_.memory.demand(p_.view.now);
    for (std::size_t i = 0; i < in_.waiting.size(); ++i) add_older(i);
    return std::move(in_);
  }

  /// Replicas of the job that want a place, in lists of those that ask alike.
  void gather_waiting(const JobRow& row) {
    if (row.terminal_outcome || !p_.view.may_start(row)) return;
    const TaskRow* only = p_.view.turn_of_task();
    const std::size_t first = in_.waiting.size();
    const SizedService* sized = p_.sizes.find(row.job.id);
    std::optional<Grant> grant;
    if (sized != nullptr) grant = Grant::of(sized->grant(sized->chosen));
    bool stands = false;
    for (const Slot slot : row.tasks) {
      const TaskRow& task = state().task(slot);
      stands |= task.target != kNoSlot || task.phase == TaskPhase::running;
      if (!wants_place(task) || (only != nullptr && only != &task)) continue;
      auto alike = std::find_if(in_.waiting.begin() + static_cast<std::ptrdiff_t>(first),
                                in_.waiting.end(), [&](const WaitingService& one) {
                                  return asks_of(state(), state().task(one.tasks.front())) ==
                                         asks_of(state(), task);
                                });
      if (alike == in_.waiting.end()) {
        alike = in_.waiting.insert(alike, {row.slot, {}, false, grant});
      }
      alike->tasks.push_back(slot);
    }
    if (sized != nullptr && only == nullptr) gather_resizes(row, *sized);
    if (only == nullptr && in_.waiting.size() == first) gather_too_many(row);
    for (std::size_t i = first; i < in_.waiting.size(); ++i) in_.waiting[i].stands = stands;
  }

  /// Replicas that run and are to have another size, each by itself.
  void gather_resizes(const JobRow& row, const SizedService& sized) {
    for (const SizeMove& move : size_moves(p_.view, row, sized)) {
      in_.waiting.push_back(
          {row.slot, {move.task}, true, Grant::of(sized.grant(move.size)), CauseCode::resized});
    }
  }

  /// A replica that runs where more of its service are than may be.
  void gather_too_many(const JobRow& row) {
    const auto slot = one_too_many(p_.view, row, p_.limits.limit_of(row.job.id));
    if (!slot) return;
    in_.waiting.push_back(
        {row.slot, {*slot}, true, state().task(*slot).held, CauseCode::partial_reconfiguration});
  }
  /// There may be instances enough for the limit by which it has to leave.
  bool has_to_leave(const WaitingService& waiting, const JobRow& job) const {
    return waiting.cause != CauseCode::partial_reconfiguration || leaves_ != InstanceId{} ||
           one_too_many(p_.view, job, most_a_node(job)).has_value();
  }

  /// Instances that may take something, in the order of request.
  void gather_nodes() {
    node_of_.clear();
    for (const InstanceRow& row : state().instances()) {
      if (row.released || row.phase == InstancePhase::terminating || p_.view.is_closed(row)) {
        continue;
      }
      if ((!p_.view.rents() && row.phase != InstancePhase::ready) || row.id == leaves_) continue;
      const Resources room = p_.view.catalog[row.type].capacity - row.committed;
      if (row.slot >= node_of_.size()) node_of_.resize(row.slot + std::size_t{1}, kNoNode);
      node_of_[row.slot] =
          in_.rooms.add(room.amounts(), kind_of(row.type, row.market), zones_.of(row));
      in_.nodes.push_back(row.id);
    }
  }

  void gather_offers() {
    for (std::uint32_t i = 0; i < p_.view.catalog.size(); ++i) {
      const TypeId type{i};
      for (const Market market : {Market::on_demand, Market::spot}) {
        const std::optional<Price> price = p_.prices.types().price(type, market);
        if (!price || p_.view.rests(type, market)) continue;
        for (const ZoneOffer& offer : zones_.offers(type, market)) {
          add_offer({type, market, offer.price, offer.name}, offer.zone);
        }
        if (in_.choices.empty() || in_.choices.back().type != type ||
            in_.choices.back().market != market) {
          add_offer({type, market, *price, {}}, zones_.of(type));
        }
      }
    }
  }

  void add_offer(OfferChoice choice, std::uint32_t zone) {
    in_.offers.push_back({.capacity = p_.view.catalog[choice.type].capacity.amounts(),
                          .price = std::max(choice.price.usd_h(), kLeastPrice_usd_h),
                          .kind = kind_of(choice.type, choice.market),
                          .zone = zone});
    in_.choices.push_back(std::move(choice));
  }

  /// Markets for what is to run for long: where one is rented, spot instances are for those who
  /// ask for them, or have no other choice.
  MarketChoice markets_of(const TaskRow& task) const {
    const MarketChoice asked = state().markets(task);
    const bool stays = p_.view.rents() && asked == MarketChoice::any &&
                       p_.prices.of(task.shape, MarketChoice::on_demand).fits();
    return stays ? MarketChoice::on_demand : asked;
  }

  /// The type by which the replica's amounts are told: families may have amounts of their own, and
  /// all replicas go to one of them.
  std::optional<TypeId> type_for(const PlaceAsks& asks) const {
    const ReservationPrice& price = p_.prices.of(asks.shape, asks.markets);
    if (p_.view.rents()) return price.fits() ? std::optional(price.type) : std::nullopt;
    for (const InstanceId id : in_.nodes) {
      const InstanceRow& row = *state().find(id);
      if (p_.prices.mask().allows(asks, muster::kind_of(row))) return row.type;
    }
    return std::nullopt;
  }

  /// Replicas of one service take from each other: where it has a goal few share an instance, as
  /// far as there may be instances enough.
  std::uint32_t most_a_node(const JobRow& job) const {
    const std::uint32_t own = keeps_apart(job) ? job.job.most_an_instance : kAnyNumber;
    const std::uint32_t learnt = p_.limits.limit_of(job.job.id);
    if (p_.params.limit > 0) {
      return std::min({own, p_.params.limit, learnt > 0 ? learnt : kAnyNumber});
    }
    if (p_.params.goal_limit == 0 || !job.job.service()->goal.is_there()) return own;
    const std::uint32_t most = learnt > 0 ? learnt : p_.params.goal_limit;
    std::uint64_t nodes = in_.nodes.size();
    if (p_.view.rents()) nodes += p_.view.left.instances.value_or(kAnyNumber);
    const std::uint64_t needed = (job.replicas + nodes - 1) / std::max<std::uint64_t>(nodes, 1);
    return std::min(own, std::max(most, static_cast<std::uint32_t>(needed)));
  }

  void gather(WaitingService waiting) {
    const TaskRow& task = state().task(waiting.tasks.front());
    const PlaceAsks asks{task.shape, markets_of(task)};
    const std::optional<TypeId> type = type_for(asks);
    if (!type) return refuse(waiting, asks);
    const JobRow& job = state().job(waiting.job);
    if (!has_to_leave(waiting, job)) return;
    const Resources& asked = *p_.prices.mask().amount(asks.shape, *type);
    Service service{.size = waiting.grant ? waiting.grant->amount.amounts() : asked.amounts(),
                    .replicas = static_cast<std::uint32_t>(waiting.tasks.size()),
                    .most_a_node = most_a_node(job),
                    .priority = p_.view.rank(job).priority};
    const Duration waited = p_.view.now - job.accepted_at;
    service.waited = static_cast<std::uint32_t>(
        std::min<std::int64_t>(waited / p_.params.batch.period, kAnyNumber));
    service.kinds.assign(2 * p_.view.catalog.size(), 0);
    for (std::uint32_t i = 0; i < p_.view.catalog.size(); ++i) {
      for (const Market market : {Market::on_demand, Market::spot}) {
        const bool may = p_.prices.mask().allows(asks, {TypeId{i}, market}) &&
                         p_.prices.mask().amount(asks.shape, TypeId{i}) == asked;
        service.kinds[kind_of(TypeId{i}, market)] = may ? 1 : 0;
      }
    }
    in_.services.push_back(std::move(service));
    in_.standing.push_back(standing_of(job));
    in_.waiting.push_back(std::move(waiting));
  }

  /// A replica that moves counts where it is and where it is to be.
  Spots standing_of(const JobRow& job) const {
    Spots spots;
    const auto count = [&](Slot instance) {
      if (instance >= node_of_.size() || node_of_[instance] == kNoNode) return;
      put_at(spots, node_of_[instance]);
    };
    for (const Slot slot : job.tasks) {
      const TaskRow& task = state().task(slot);
      count(task.target);
      if (task.at != task.target) count(task.at);
    }
    return spots;
  }

  /// Nothing holds a replica: on offer, or of the fleet.
  void refuse(const WaitingService& waiting, const PlaceAsks& asks) {
    const ReservationPrice& price = p_.prices.of(asks.shape, asks.markets);
    Refusal refusal = price.refusal;
    if (price.fits()) {
      const Resources& asked = *p_.prices.mask().amount(asks.shape, price.type);
      Resources largest;
      for (const InstanceId id : in_.nodes) {
        const Resources& there = p_.view.catalog[state().find(id)->type].capacity;
        for (const Resource kind : kAllResources) {
          largest[kind] = std::max(largest[kind], there[kind]);
        }
      }
      const Resource binding = asked.first_exceeding(largest).value_or(
          asked.dominant(p_.view.catalog[price.type].capacity));
      refusal = {RefusalKind::not_now, RefusalCode::fixed_fleet, binding, asked[binding],
                 largest[binding]};
    }
    for (const Slot slot : waiting.tasks) {
      const TaskRow& task = state().task(slot);
      if (!(task.reason == refusal)) in_.refusals.push_back({task.id, refusal});
    }
  }

  /// One that waits longer than arrivals are remembered counts as long as it waits.
  void add_older(std::size_t i) {
    const Instant came = state().job(in_.waiting[i].job).accepted_at;
    if (came + ServiceMemory::kRemembered < p_.view.now) in_.demand.add(in_.services[i]);
  }

  const ServiceParts& p_;
  ServiceZones zones_;
  ServiceInput in_;
  InstanceId leaves_{};                 ///< nothing goes there
  std::vector<std::uint32_t> node_of_;  ///< of each instance, by slot
};

}  // namespace

bool wants_places(const ClusterState& state, const JobRow& service) {
  return service.pending > 0 ||
         std::any_of(service.tasks.begin(), service.tasks.end(),
                     [&](Slot slot) { return wants_place(state.task(slot)); });
}

bool wants_places(const ClusterView& view, const JobRow& service, const SizeBook& sizes,
                  const LimitBook& limits) {
  if (wants_places(view.state, service)) return true;
  if (service.terminal_outcome) return false;
  const SizedService* sized = sizes.find(service.job.id);
  if (sized != nullptr && !size_moves(view, service, *sized).empty()) return true;
  return one_too_many(view, service, limits.limit_of(service.job.id)).has_value();
}

ServiceInput gather_services(const ServiceParts& parts) {
  return Gathering(parts).run();
}

ServiceInput gather_moves(const ServiceParts& parts, InstanceId from, std::span<const Slot> tasks) {
  return Gathering(parts).run(from, tasks);
}

}  // namespace muster::lrasched
