#pragma once

#include <cstdint>
#include <vector>

#include "model/rng.hpp"
#include "schedulers/lrasched/service.hpp"

// Instances of section 4.2.2 of LRASched, drawn from a seed.

namespace muster::lrasched {

/// Bounds within which an instance is drawn. The section's sizes cannot be meant as printed, so
/// that these are scaled: the services ask for `load` of what all dimensions of the nodes have
/// together.
struct InstanceShape {
  std::size_t dims = 3;
  std::uint32_t services = 500;
  std::uint32_t nodes = 100;
  double load = 1;
  std::uint32_t least_replicas = 10;
  std::uint32_t most_replicas = 30;
  std::uint32_t most_limit = 10;
  std::uint32_t further_nodes = 0;  ///< that may be added
};

/// Machines and services.
struct Instance {
  std::vector<Amounts> nodes;
  std::vector<Amounts> further;
  std::vector<Service> services;
};

/// Machines are uniform on [0.1, 1], sizes are uniform, limits on 1..most_limit.
inline Instance draw_instance(const InstanceShape& shape, std::uint64_t seed) {
  Rng rng(seed);
  const auto draw = [&](double low, double high) {
    Amounts amounts{};
    for (std::size_t k = 0; k < shape.dims; ++k) amounts[k] = rng.uniform(low, high);
    return amounts;
  };
  Instance instance;
  double capacity = 0;
  for (std::uint32_t n = 0; n < shape.nodes; ++n) {
    instance.nodes.push_back(draw(0.1, 1));
    for (const double amount : instance.nodes.back()) capacity += amount;
  }
  double demand = 0;
  for (std::uint32_t i = 0; i < shape.services; ++i) {
    Service service;
    service.size = draw(0, 1);
    service.replicas =
        shape.least_replicas +
        static_cast<std::uint32_t>(rng.below(shape.most_replicas - shape.least_replicas + 1));
    service.most_a_node = 1 + static_cast<std::uint32_t>(rng.below(shape.most_limit));
    for (const double amount : service.size) demand += service.replicas * amount;
    instance.services.push_back(service);
  }
  for (Service& service : instance.services) {
    for (double& amount : service.size) amount *= shape.load * capacity / demand;
  }
  for (std::uint32_t n = 0; n < shape.further_nodes; ++n) instance.further.push_back(draw(0.1, 1));
  return instance;
}

}  // namespace muster::lrasched
