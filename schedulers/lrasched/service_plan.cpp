#include "schedulers/lrasched/service_plan.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace muster::lrasched {
namespace {

class Writing {
 public:
  Writing(const ServiceParts& parts, const ServiceInput& input, const ServiceChoice& choice)
      : p_(parts),
        in_(input),
        choice_(choice),
        old_nodes_(static_cast<std::uint32_t>(input.nodes.size())),
        worth_usd_h_(choice.rented.size(), 0),
        team_of_(input.services.size() + choice.rented.size()) {}

  Plan run() {
    plan_.refusals = in_.refusals;
    std::iota(team_of_.begin(), team_of_.end(), 0U);
    for (std::uint32_t i = 0; i < in_.services.size(); ++i) list(i);
    number_teams();
    for (std::uint32_t i = 0; i < in_.services.size(); ++i) place(i);
    launch();
    for (const ServiceRefusal& refused : choice_.refused) refuse(refused);
    return std::move(plan_);
  }

 private:
  std::uint32_t launch_at(std::uint32_t node) const { return node - old_nodes_; }
  std::uint32_t launch_team(std::uint32_t launch) const {
    return static_cast<std::uint32_t>(in_.services.size()) + launch;
  }
  std::uint32_t new_at(std::uint32_t service, const Spot& spot) const {
    return spot.count - count_at(in_.standing[service], spot.node);
  }

  /// Services and launches that belong together are told by the least of their numbers.
  std::uint32_t root(std::uint32_t one) {
    while (team_of_[one] != one) one = team_of_[one] = team_of_[team_of_[one]];
    return one;
  }

  void list(std::uint32_t service) {
    const TaskRow& task = p_.view.state.task(in_.waiting[service].tasks.front());
    const double worth_usd_h = p_.prices.of(task.shape, p_.view.state.markets(task)).usd_h;
    for (const Spot& spot : choice_.placement.spots[service]) {
      if (spot.node < old_nodes_) continue;
      worth_usd_h_[launch_at(spot.node)] += new_at(service, spot) * worth_usd_h;
      // A lost replica is replaced whatever becomes of others.
      if (in_.waiting[service].stands) continue;
      const std::uint32_t a = root(service);
      const std::uint32_t b = root(launch_team(launch_at(spot.node)));
      team_of_[std::max(a, b)] = std::min(a, b);
    }
  }

  /// A group for each team that has a service without places: its parts depend on each other.
  void number_teams() {
    group_of_.assign(team_of_.size(), 0);
    std::uint32_t last = 0;
    for (std::uint32_t i = 0; i < in_.services.size(); ++i) {
      if (in_.waiting[i].stands || choice_.placement.whole[i] == 0) continue;
      std::uint32_t& group = group_of_[root(i)];
      if (group == 0) group = ++last;
    }
  }

  /// Replicas in the order of their numbers, instances in that of their request.
  void place(std::uint32_t service) {
    const std::vector<Slot>& tasks = in_.waiting[service].tasks;
    std::size_t next = 0;
    for (const Spot& spot : choice_.placement.spots[service]) {
      for (std::uint32_t i = new_at(service, spot); i > 0; --i) {
        const TaskId task = p_.view.state.task(tasks[next++]).id;
        const WaitingService& waiting = in_.waiting[service];
        Place place{.task = task, .to = LaunchIndex{}, .cause = {waiting.cause, 0}};
        place.grant = waiting.grant;
        if (spot.node < old_nodes_) {
          place.to = in_.nodes[spot.node];
        } else {
          place.to = LaunchIndex{launch_at(spot.node)};
          place.cause.gain_usd_h = gain_usd_h(launch_at(spot.node));
        }
        place.group = group_of_[root(service)];
        plan_.places.push_back(place);
      }
    }
  }

  double gain_usd_h(std::uint32_t launch) const {
    return worth_usd_h_[launch] - in_.choices[choice_.rented[launch]].price.usd_h();
  }

  void launch() {
    for (std::uint32_t i = 0; i < choice_.rented.size(); ++i) {
      const OfferChoice& offer = in_.choices[choice_.rented[i]];
      plan_.launches.push_back({.type = offer.type,
                                .market = offer.market,
                                .cause = {CauseCode::packed, gain_usd_h(i)},
                                .zone = offer.zone,
                                .group = group_of_[root(launch_team(i))]});
    }
  }

  void refuse(const ServiceRefusal& refused) {
    // A replica that runs goes on where it is, with the size that it has.
    if (in_.waiting[refused.service].runs()) return;
    const std::vector<Slot>& tasks = in_.waiting[refused.service].tasks;
    const Refusal refusal = reason_of(refused);
    const std::uint32_t placed = replicas_in(choice_.placement.spots[refused.service]) -
                                 replicas_in(in_.standing[refused.service]);
    for (std::size_t i = placed; i < tasks.size(); ++i) {
      const TaskRow& task = p_.view.state.task(tasks[i]);
      // Compared without amounts, which change with every task that starts or ends.
      if (task.reason.code == refusal.code && task.reason.binding == refusal.binding) continue;
      plan_.refusals.push_back({task.id, refusal});
    }
  }

  Refusal reason_of(const ServiceRefusal& refused) const {
    const Service& service = in_.services[refused.service];
    // Further instances would hold it whatever the limit: there it is the caps that bind.
    if (p_.view.rents()) return why_not_rented(service);
    if (refused.cause == RefusalCause::limit) return why_limited(refused.service);
    Refusal refusal{RefusalKind::not_now, RefusalCode::awaiting_capacity,
                    kAllResources[refused.dim], service.replicas * service.size[refused.dim], 0};
    for (std::uint32_t node = 0; node < old_nodes_; ++node) {
      if (!service.may_be_on(in_.rooms.kind(node))) continue;
      refusal.available += std::max(in_.rooms.of_dim(refused.dim)[node], 0.0);
    }
    return refusal;
  }

  /// Instances that it may be on hold too few, each no more than it may have there.
  Refusal why_limited(std::uint32_t number) const {
    const Service& service = in_.services[number];
    double nodes = 0;
    for (std::uint32_t node = 0; node < in_.rooms.count(); ++node) {
      nodes += service.may_be_on(in_.rooms.kind(node)) ? 1 : 0;
    }
    const double all = service.replicas + replicas_in(in_.standing[number]);
    return {RefusalKind::not_now,
            RefusalCode::distinct_instances,
            {},
            all / service.most_a_node,
            nodes};
  }

  /// A cap leaves too little, or the cloud has nothing that holds it.
  Refusal why_not_rented(const Service& service) const {
    const bool offered =
        std::any_of(in_.offers.begin(), in_.offers.end(), [&](const NodeOffer& offer) {
          return service.may_be_on(offer.kind) && fits(service.size, offer.capacity);
        });
    const RentLeft& left = p_.view.left;
    if (!offered || (!left.instances && !left.nano_usd_h)) {
      return p_.view.nothing_to_rent();
    }
    // As if there were no caps, and nothing else.
    NodeRooms rooms = in_.rooms;
    PeriodPlacement alone{std::vector<Spots>(1), std::vector<char>(1, 0)};
    const Demand demand(std::span(&service, 1));
    const Purchases needed =
        buy_nodes(rooms, std::span(&service, 1), demand, {.offers = in_.offers}, alone);
    std::int64_t nano_usd_h = 0;
    for (const std::uint32_t offer : needed.offers) {
      nano_usd_h += in_.choices[offer].price.nano_usd_h();
    }
    if (left.instances && *left.instances < needed.offers.size()) {
      return {RefusalKind::not_now,
              RefusalCode::instance_cap,
              {},
              static_cast<double>(needed.offers.size()),
              static_cast<double>(*left.instances)};
    }
    return {RefusalKind::not_now,
            RefusalCode::spend_cap,
            {},
            Price::from_nano_usd_h(nano_usd_h).usd_h(),
            Price::from_nano_usd_h(std::max<std::int64_t>(left.nano_usd_h.value_or(0), 0)).usd_h()};
  }

  const ServiceParts& p_;
  const ServiceInput& in_;
  const ServiceChoice& choice_;
  std::uint32_t old_nodes_;
  std::vector<double> worth_usd_h_;      ///< of the replicas on each launch
  std::vector<std::uint32_t> team_of_;   ///< of each service, then of each launch
  std::vector<std::uint32_t> group_of_;  ///< of each team, by its least number
  Plan plan_;
};

}  // namespace

Plan plan_of_services(const ServiceParts& parts, const ServiceInput& input,
                      const ServiceChoice& choice) {
  return Writing(parts, input, choice).run();
}

Price price_of(const ClusterView& view, const Launch& launch) {
  const OfferingRow* offer = view.state.offerings().find(launch.type, launch.market, launch.zone);
  return offer != nullptr ? offer->price : Price{};
}

}  // namespace muster::lrasched
