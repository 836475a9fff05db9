#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/catalog.hpp"
#include "tests/support/builders.hpp"

// Catalogs and demands for tests of policies.

namespace muster::testing {

inline InstanceType type_of(std::string name, std::string family, Resources capacity,
                            double usd_h) {
  InstanceType type;
  type.name = std::move(name);
  type.family = std::move(family);
  type.capacity = capacity;
  type.on_demand = Price::from_usd_h(usd_h);
  type.acquire = std::chrono::seconds{20};
  type.setup = std::chrono::seconds{160};
  type.terminate = std::chrono::seconds{1};
  return type;
}

/// The instance types of the Eva paper's Table 3.
inline Catalog table_3() {
  return test::table3_catalog();
}

/// The tasks of the Eva paper's Table 3.
inline std::vector<Demands> tasks_of_table_3() {
  return {Demands(Resources::of(2, 8, 24)), Demands(Resources::of(1, 4, 10)),
          Demands(Resources::of(0, 6, 20)), Demands(Resources::of(0, 4, 12))};
}

}  // namespace muster::testing
