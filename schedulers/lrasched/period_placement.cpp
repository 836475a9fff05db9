#include "schedulers/lrasched/period_placement.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "model/check.hpp"
#include "schedulers/lrasched/service_placer.hpp"

namespace muster::lrasched {

double measure_of(const Service& service, const Amounts& demand) {
  double sum = 0;
  for (std::size_t k = 0; k < kMostDims; ++k) {
    if (demand[k] > 0) sum += service.replicas * service.size[k] / demand[k];
  }
  return sum;
}

std::vector<std::uint32_t> placing_order(std::span<const Service> services, const Demand& demand,
                                         const PlacementRules& rules) {
  std::vector<double> rank(services.size(), 0);
  for (std::size_t i = 0; i < services.size(); ++i) {
    if (rules.order == ServiceOrder::arrival) continue;
    const double measure = measure_of(services[i], demand.total());
    rank[i] = rules.order == ServiceOrder::increasing ? measure : -measure;
  }
  const auto overdue = [&](std::uint32_t i) {
    return services[i].waited > rules.patience ? services[i].waited : 0;
  };
  std::vector<std::uint32_t> order(services.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (services[a].priority != services[b].priority) {
      return services[a].priority > services[b].priority;
    }
    if (overdue(a) != overdue(b)) return overdue(a) > overdue(b);
    return rank[a] < rank[b];
  });
  return order;
}

Fitness::Scale scale_of(const Demand& demand, const NodeRooms& rooms) {
  return {demand.total(), demand.mean(), rooms.total()};
}

std::uint32_t PeriodPlacement::placed() const {
  return static_cast<std::uint32_t>(std::count(whole.begin(), whole.end(), 1));
}

PeriodPlacement place_period(NodeRooms& rooms, std::span<const Service> services,
                             const Demand& demand, const PlacementRules& rules,
                             std::vector<Spots> standing) {
  MUSTER_CHECK(standing.empty() || standing.size() == services.size(), "spots for each service");
  PeriodPlacement placement{std::move(standing), std::vector<char>(services.size(), 0)};
  placement.spots.resize(services.size());
  ServicePlacer placer(rooms);
  for (const std::uint32_t i : placing_order(services, demand, rules)) {
    const Fitness fitness(rules.fit, services[i].size, scale_of(demand, rooms));
    placement.whole[i] = placer.place(services[i], fitness, placement.spots[i]) ? 1 : 0;
  }
  return placement;
}

}  // namespace muster::lrasched
