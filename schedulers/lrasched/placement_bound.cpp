#include "schedulers/lrasched/placement_bound.hpp"

#include <algorithm>
#include <cmath>
#include <coin/ClpSimplex.hpp>
#include <coin/CoinPackedMatrix.hpp>
#include <utility>
#include <vector>

namespace muster::lrasched {
namespace {

std::uint32_t most_on(const NodeRooms& rooms, std::uint32_t node, const Service& service) {
  return how_many_fit(service.size, rooms.free(node),
                      std::min(service.most_a_node, service.replicas));
}

/// Prices of room that are made lower and higher until their bound falls no more.
class PriceSearch {
 public:
  PriceSearch(const NodeRooms& rooms, std::span<const Service> services)
      : rooms_(rooms), services_(services), prices_(rooms.count()), excess_(rooms.count()) {
    for (const Service& service : services) {
      Cells cells;
      for (std::uint32_t node = 0; node < rooms.count(); ++node) {
        if (const std::uint32_t most = most_on(rooms, node, service)) cells.push_back({node, most});
      }
      cells_.push_back(std::move(cells));
    }
    for (Amounts& price : prices_) price.fill(0);
  }

  /// Polyak's steps towards a little above what is known; shorter ones when they do not help.
  double run(double target, std::uint32_t steps) {
    double best = begin();
    double length = 1;
    std::uint32_t idle = 0;
    for (std::uint32_t step = 0; step < steps; ++step) {
      const double bound = bound_at_prices();
      if (bound < best - 1e-9) {
        best = bound;
        idle = 0;
      } else if (++idle >= kIdleSteps) {
        length /= 2;
        idle = 0;
      }
      double norm = 0;
      for (const auto& excess : excess_) {
        for (std::size_t k = 0; k < rooms_.dims(); ++k) norm += excess[k] * excess[k];
      }
      if (norm <= 0 || bound - target <= 0) break;
      const double by = length * (bound - target) / norm;
      for (std::size_t node = 0; node < excess_.size(); ++node) {
        for (std::size_t k = 0; k < rooms_.dims(); ++k) {
          prices_[node][k] = std::max(0.0, prices_[node][k] - by * excess_[node][k]);
        }
      }
    }
    return best;
  }

 private:
  static constexpr std::uint32_t kIdleSteps = 80;

  /// Begins with the best of a few prices that are equal everywhere, of which the dearest lets no
  /// service gain anything in the mean.
  double begin() {
    constexpr int kTries = 24;
    double sum = 0;
    for (const Service& service : services_) {
      for (const double amount : service.size) sum += service.replicas * amount;
    }
    double best = static_cast<double>(services_.size());
    double best_price = 0;
    double price = sum > 0 ? 2.0 * best / sum : 0;
    for (int i = 0; i < kTries; ++i, price *= 0.8) {
      for (Amounts& of_node : prices_) of_node.fill(price);
      const double bound = bound_at_prices();
      if (bound >= best) continue;
      best = bound;
      best_price = price;
    }
    for (Amounts& of_node : prices_) of_node.fill(best_price);
    return best;
  }

  using Cells = std::vector<Spot>;  ///< how many of a service a node holds by itself
  struct Priced {
    double cost = 0;
    Spot spot;
  };

  /// Fills excess_ with the room that the cheapest places leave: a subgradient.
  double bound_at_prices() {
    double sum = 0;
    for (std::uint32_t node = 0; node < rooms_.count(); ++node) {
      excess_[node] = rooms_.free(node);
      for (std::size_t k = 0; k < rooms_.dims(); ++k) sum += prices_[node][k] * excess_[node][k];
    }
    for (std::size_t i = 0; i < services_.size(); ++i) sum += gain_of(i);
    return sum;
  }

  double gain_of(std::size_t service) {
    const Service& of = services_[service];
    priced_.clear();
    for (const Spot& spot : cells_[service]) {
      double cost = 0;
      for (std::size_t k = 0; k < rooms_.dims(); ++k) cost += of.size[k] * prices_[spot.node][k];
      priced_.push_back({cost, spot});
    }
    std::sort(priced_.begin(), priced_.end(), [](const Priced& a, const Priced& b) {
      return a.cost != b.cost ? a.cost < b.cost : a.spot.node < b.spot.node;
    });
    double gain = 1;
    std::uint32_t left = of.replicas;
    std::size_t used = 0;
    for (; used < priced_.size() && left > 0; ++used) {
      Spot& spot = priced_[used].spot;
      spot.count = std::min(spot.count, left);
      gain -= spot.count * priced_[used].cost;
      left -= spot.count;
    }
    if (left > 0 || gain <= 0) return 0;
    for (std::size_t i = 0; i < used; ++i) {
      const Spot& spot = priced_[i].spot;
      for (std::size_t k = 0; k < rooms_.dims(); ++k) {
        excess_[spot.node][k] -= spot.count * of.size[k];
      }
    }
    return gain;
  }

  const NodeRooms& rooms_;
  std::span<const Service> services_;
  std::vector<Cells> cells_;  ///< of each service
  std::vector<Amounts> prices_;
  std::vector<Amounts> excess_;
  std::vector<Priced> priced_;
};

}  // namespace

double bound_by_prices(const NodeRooms& rooms, std::span<const Service> services,
                       std::uint32_t known, std::uint32_t steps) {
  return PriceSearch(rooms, services).run(known, steps);
}

double bound_by_program(const NodeRooms& rooms, std::span<const Service> services) {
  CoinPackedMatrix matrix(false, 0, 0);
  const auto room_rows = static_cast<int>(rooms.count() * rooms.dims());
  std::vector<double> cost;
  std::vector<double> most;
  const auto rows = room_rows + static_cast<int>(services.size());
  matrix = CoinPackedMatrix(true, 0, 0);
  matrix.setDimensions(rows, 0);
  for (std::size_t i = 0; i < services.size(); ++i) {
    const Service& service = services[i];
    const int whole = room_rows + static_cast<int>(i);
    const double replicas = -static_cast<double>(service.replicas);
    matrix.appendCol(1, &whole, &replicas);
    cost.push_back(-1);
    most.push_back(1);
    for (std::uint32_t node = 0; node < rooms.count(); ++node) {
      const std::uint32_t count = most_on(rooms, node, service);
      if (count == 0) continue;
      std::vector<int> at{whole};
      std::vector<double> amounts{1};
      for (std::size_t k = 0; k < rooms.dims(); ++k) {
        at.push_back(static_cast<int>(node * rooms.dims() + k));
        amounts.push_back(service.size[k]);
      }
      matrix.appendCol(static_cast<int>(at.size()), at.data(), amounts.data());
      cost.push_back(0);
      most.push_back(count);
    }
  }
  std::vector<double> low(static_cast<std::size_t>(rows), 0);
  std::vector<double> high(static_cast<std::size_t>(rows), 0);
  for (std::uint32_t node = 0; node < rooms.count(); ++node) {
    for (std::size_t k = 0; k < rooms.dims(); ++k) {
      low[node * rooms.dims() + k] = -COIN_DBL_MAX;
      high[node * rooms.dims() + k] = std::max(rooms.of_dim(k)[node], 0.0);
    }
  }
  const std::vector<double> least(cost.size(), 0);
  ClpSimplex simplex;
  simplex.setLogLevel(0);
  simplex.loadProblem(matrix, least.data(), most.data(), cost.data(), low.data(), high.data());
  simplex.dual();
  return simplex.isProvenOptimal() ? -simplex.objectiveValue()
                                   : static_cast<double>(services.size());
}

double placement_bound(const NodeRooms& rooms, std::span<const Service> services,
                       std::uint32_t known, const BoundEffort& effort) {
  if (services.size() * rooms.count() <= effort.most_lp_cells) {
    return bound_by_program(rooms, services);
  }
  return bound_by_prices(rooms, services, known, effort.steps);
}

}  // namespace muster::lrasched
