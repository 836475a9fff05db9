#pragma once

#include <memory>
#include <string>

#include "replay/interference.hpp"
#include "replay/workload/workload.hpp"
#include "schedulers/pair_truth.hpp"

namespace muster::replay {

/// The world's true rates of pairs of tasks, by their classes. Of jobs of one class that differ in
/// their interference the first speaks. The workload has to outlive it; it is read when the first
/// pair is asked for.
PairTruth true_pairs(const JobSource& workload, std::shared_ptr<Interference> interference);

/// A pair of a world in which no task slows another, for who only asks whether a policy can be
/// made.
inline double harmless_pair(const std::string&, const std::string&) {
  return 1;
}

}  // namespace muster::replay
