#pragma once

#include <functional>
#include <string>

namespace muster {

/// How fast a task of a class truly runs beside one task of another class, as a share of its pace
/// alone; both by the names of their classes. Only the world of a replay can say it: elsewhere it
/// is empty.
using PairTruth = std::function<double(const std::string& task, const std::string& neighbour)>;

}  // namespace muster
