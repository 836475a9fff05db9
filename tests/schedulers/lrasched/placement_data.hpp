#pragma once

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "schedulers/lrasched/period_placement.hpp"
#include "tests/support/places.hpp"

namespace muster::lrasched::test {

inline nlohmann::json json_of(const std::string& file) {
  std::ifstream stream(muster::test::source_dir() / "tests/data/lrasched" / file);
  return nlohmann::json::parse(stream);
}

/// An instance of tests/data/lrasched and what is expected of it.
struct Sample {
  explicit Sample(const std::string& name)
      : expected(json_of("expected_" + name + ".json")), rooms(2) {
    const nlohmann::json json = json_of("place_" + name + ".json");
    const std::size_t dims = json["dims"];
    const auto amounts = [dims](const nlohmann::json& list, std::size_t from) {
      Amounts read{};
      for (std::size_t k = 0; k < dims; ++k) read[k] = list[from + k];
      return read;
    };
    rooms = NodeRooms(dims);
    for (const auto& node : json["nodes"]) rooms.add(amounts(node, 0));
    for (const auto& node : json["new_nodes"]) new_nodes.push_back(amounts(node, 0));
    for (const auto& row : json["services"]) {
      services.push_back({amounts(row, 2), row[0], row[1]});
    }
    demand = Demand(services);
  }

  nlohmann::json expected;
  NodeRooms rooms;
  std::vector<Amounts> new_nodes;
  std::vector<Service> services;
  Demand demand;
};

inline double sum_of(const Amounts& amounts) {
  double sum = 0;
  for (const double amount : amounts) sum += amount;
  return sum;
}

/// The share of the room of `before` that is gone.
inline double used_share(const NodeRooms& before, const NodeRooms& after) {
  return 1 - sum_of(after.total()) / sum_of(before.total());
}

/// Whether a placement is what it says: whole services whole and others nowhere, no node with more
/// than its limit, and the room taken what the spots take. Nothing stood before.
inline bool is_sound(const Sample& sample, const PeriodPlacement& placement,
                     const NodeRooms& after) {
  NodeRooms rooms = sample.rooms;
  for (std::uint32_t n = rooms.count(); n < after.count(); ++n) {
    rooms.add(sample.new_nodes[n - sample.rooms.count()]);
  }
  for (std::size_t i = 0; i < sample.services.size(); ++i) {
    const Service& service = sample.services[i];
    const std::uint32_t wanted = placement.whole[i] != 0 ? service.replicas : 0;
    if (replicas_in(placement.spots[i]) != wanted) return false;
    for (const Spot& spot : placement.spots[i]) {
      if (spot.count > service.most_a_node) return false;
      rooms.take(spot.node, service.size, spot.count);
    }
  }
  for (std::uint32_t n = 0; n < rooms.count(); ++n) {
    const Amounts room = rooms.free(n);
    for (std::size_t k = 0; k < kMostDims; ++k) {
      if (room[k] < -1e-8 || std::abs(room[k] - after.free(n)[k]) > 1e-9) return false;
    }
  }
  return true;
}

}  // namespace muster::lrasched::test
