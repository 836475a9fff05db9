#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedulers/lrasched/node_rooms.hpp"

namespace muster::lrasched {

/// A long-running service, which runs with all of its replicas or not at all.
struct Service {
  Amounts size{};                 ///< of each replica
  std::uint32_t replicas = 1;     ///< that are still to be placed
  std::uint32_t most_a_node = 1;  ///< replicas of it on one node, those that stand counted
  std::int32_t priority = 0;
  std::uint32_t waited = 0;  ///< periods in which it was not placed
  /// Whether it may be on nodes of each kind; empty: on all.
  std::vector<char> kinds{};

  bool may_be_on(std::uint32_t kind) const { return kinds.empty() || kinds[kind] != 0; }
};

/// Demand of a set of services, by which sizes are weighed: of those of a period, or of all that
/// were seen lately where a period has few.
class Demand {
 public:
  Demand() = default;
  explicit Demand(std::span<const Service> services) {
    for (const Service& service : services) add(service);
  }
  void add(const Service& service) {
    for (std::size_t k = 0; k < kMostDims; ++k) total_[k] += service.replicas * service.size[k];
    replicas_ += service.replicas;
  }
  const Amounts& total() const { return total_; }
  /// Of a replica.
  Amounts mean() const {
    Amounts mean = total_;
    for (double& amount : mean) amount /= static_cast<double>(replicas_ > 0 ? replicas_ : 1);
    return mean;
  }

 private:
  Amounts total_{};
  std::uint64_t replicas_ = 0;
};

/// Replicas of a service on a node.
struct Spot {
  std::uint32_t node = 0;
  std::uint32_t count = 0;
  friend bool operator==(const Spot&, const Spot&) = default;
};
/// Where a service is: in the order of nodes, no count is 0.
using Spots = std::vector<Spot>;

/// Replicas on that node, 0 where there is no spot.
std::uint32_t count_at(const Spots& spots, std::uint32_t node);
/// Of all spots together.
std::uint32_t replicas_in(const Spots& spots);
/// One replica more on the node.
void put_at(Spots& spots, std::uint32_t node);
/// One replica less on the node, which has one.
void take_from(Spots& spots, std::uint32_t node);

}  // namespace muster::lrasched
