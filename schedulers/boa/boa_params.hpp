#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "model/time.hpp"

namespace muster::boa {

/// What a budget is held against.
enum class BudgetCounts : std::uint8_t {
  used,   ///< the GPUs that jobs have
  rented  ///< those of the instances, whoever has them
};

/// Where rates of arrival come from until the jobs themselves show them.
struct ArrivalRules {
  Duration window{std::chrono::hours{24}};  ///< over which arrivals are counted
  std::vector<std::string> stated;          ///< "class:jobs an hour"; none: they are counted
};

/// What the policy can be told.
struct BoaParams {
  Duration period{std::chrono::seconds{60}};
  bool eager = true;  ///< a round when a job comes, goes on to another epoch or leaves room, too
  double budget_gpus = 64;
  BudgetCounts counts = BudgetCounts::rented;
  Duration recompute{std::chrono::minutes{15}};
  bool rescales = true;  ///< the width plan knows what a change of width costs
  ArrivalRules arrivals;
};

}  // namespace muster::boa
