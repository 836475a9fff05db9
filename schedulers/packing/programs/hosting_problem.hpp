#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "schedulers/packing/bound/fluid_problem.hpp"
#include "schedulers/packing/rules.hpp"
#include "schedulers/packing/types/reservation_price.hpp"

namespace muster {

/// The problem of the cheapest instances that host a set of tasks at one moment: a fluid problem in
/// which an hour of work of a kind is one task, all run equally fast wherever they may, and no task
/// slows another. Its bound is what no choice of instances costs less than, $/h.
struct HostingProblem {
  bound::FluidProblem fluid;
  std::vector<std::uint32_t> kind_of;  ///< of each task; kUnassigned: it is not in the problem
  std::vector<TypeId> types;           ///< of each of the problem's types
  std::vector<ShapeId> shapes;         ///< of each kind
  std::uint64_t never_fit = 0;         ///< tasks that no type on offer holds
  std::uint64_t free = 0;              ///< tasks that take nothing of some type which holds them
};

/// Tasks of equal amounts on every type are one kind. `rests`: types that are not to be had; only
/// those count that need one of them. `apart_of`: from which other tasks each is kept apart; empty
/// where no tasks are. Of the equal tasks of such a job, which are a kind of their own, no more
/// share an instance than may be together.
HostingProblem hosting_problem(std::span<const ShapeId> tasks, const ReservationPrices& prices,
                               const std::function<bool(TypeId)>& rests,
                               std::span<const Apart> apart_of = {});

}  // namespace muster
