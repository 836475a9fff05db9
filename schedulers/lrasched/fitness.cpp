#include "schedulers/lrasched/fitness.hpp"

#include <algorithm>
#include <cmath>

namespace muster::lrasched {
namespace {

/// Room is never counted as less than this share of a mean demand: the logarithm stays finite, and
/// a node that is full in one resource is not yet worthless.
constexpr double kLeastRoom = 0.05;
/// Weight of the cosine between room and replica beside the logarithm of the room that is left.
constexpr double kCosineWeight = 2;
/// The bound of a node's fitness is rounded otherwise than the fitness is.
constexpr double kBoundSlack = 1e-9;

double by(double amount, double unit) {
  return unit > 0 ? amount / unit : 0;
}

/// Marks the nodes that a replica does not fit on.
void mark_full(const NodeRooms& rooms, std::size_t first, const Amounts& size,
               Fitness::Bounds& bounds) {
  std::array<double, Fitness::kBlock> lack{};
  for (std::size_t k = 0; k < rooms.dims(); ++k) {
    const double* room = rooms.of_dim(k).data() + first;
    const double least = size[k] - kRoomEpsilon;
    for (std::size_t j = 0; j < Fitness::kBlock; ++j) lack[j] = std::max(lack[j], least - room[j]);
  }
  for (std::size_t j = 0; j < Fitness::kBlock; ++j) {
    bounds[j] = lack[j] > 0 ? Fitness::kNoRoom : bounds[j];
  }
}

}  // namespace

Fitness::Fitness(Fit fit, const Amounts& size, const Scale& scale) : fit_(fit), size_(size) {
  double norm = 0;
  for (std::size_t k = 0; k < kMostDims; ++k) {
    if (fit == Fit::dot) {
      weight_[k] = by(by(size[k], scale.demand[k]), scale.free[k]);
    } else {
      weight_[k] = by(1, scale.mean[k]);
      share_[k] = size[k] * weight_[k];
      norm += share_[k] * share_[k];
    }
  }
  per_norm_ = by(kCosineWeight, std::sqrt(norm));
}

double Fitness::of(const Amounts& room) const {
  if (!fits(size_, room)) return kNoRoom;
  if (fit_ == Fit::balanced) return balance_of(room);
  double sum = 0;
  for (std::size_t k = 0; k < kMostDims; ++k) sum += weight_[k] * room[k];
  return sum;
}

double Fitness::balance_of(const Amounts& room) const {
  double left = 1;
  double before = 1;
  double dot = 0;
  double norm = 0;
  for (std::size_t k = 0; k < kMostDims; ++k) {
    const double have = room[k] * weight_[k];
    left *= std::max(have - share_[k], 0.0) + kLeastRoom;
    before *= have + kLeastRoom;
    dot += share_[k] * have;
    norm += have * have;
  }
  return std::log(left / before) + by(per_norm_ * dot, std::sqrt(norm));
}

void Fitness::bound_block(const NodeRooms& rooms, std::size_t first, Bounds& bounds) const {
  if (fit_ == Fit::dot) {
    bound_dot(rooms, first, bounds);
  } else {
    bound_balanced(rooms, first, bounds);
  }
  mark_full(rooms, first, size_, bounds);
}

void Fitness::bound_dot(const NodeRooms& rooms, std::size_t first, Bounds& bounds) const {
  bounds.fill(0);
  for (std::size_t k = 0; k < rooms.dims(); ++k) {
    const double* room = rooms.of_dim(k).data() + first;
    for (std::size_t j = 0; j < kBlock; ++j) bounds[j] += weight_[k] * room[j];
  }
}

/// ln x <= x - 1: most nodes are found to be no candidates without a logarithm.
void Fitness::bound_balanced(const NodeRooms& rooms, std::size_t first, Bounds& bounds) const {
  std::array<double, kBlock> before;
  std::array<double, kBlock> dot{};
  std::array<double, kBlock> norm{};
  bounds.fill(1);
  before.fill(1);
  for (std::size_t k = 0; k < rooms.dims(); ++k) {
    const double* room = rooms.of_dim(k).data() + first;
    for (std::size_t j = 0; j < kBlock; ++j) {
      const double have = room[j] * weight_[k];
      bounds[j] *= std::max(have - share_[k], 0.0) + kLeastRoom;
      before[j] *= have + kLeastRoom;
      dot[j] += share_[k] * have;
      norm[j] += have * have;
    }
  }
  for (std::size_t j = 0; j < kBlock; ++j) {
    const double least = norm[j] > 0 ? norm[j] : 1;
    bounds[j] = bounds[j] / before[j] - 1 + per_norm_ * dot[j] / std::sqrt(least) + kBoundSlack;
  }
}

}  // namespace muster::lrasched
