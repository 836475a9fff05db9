#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <limits>

namespace muster {

/// A number that names one thing of one kind; ids of different kinds do not mix.
/// A default-constructed id names nothing.
template <class Tag, class Number>
struct Id {
  static constexpr Number kNone = std::numeric_limits<Number>::max();
  Number value = kNone;

  constexpr bool valid() const { return value != kNone; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

/// Ids that are handed out for ever and never used again.
using JobId = Id<struct JobTag, std::uint64_t>;
using TaskId = Id<struct TaskTag, std::uint64_t>;
using InstanceId = Id<struct InstanceTag, std::uint64_t>;

/// Positions in a table that only grows: instance types of a catalog, and the workload classes and
/// demand shapes that a cluster state has seen.
using TypeId = Id<struct TypeTag, std::uint32_t>;
using ClassId = Id<struct ClassTag, std::uint32_t>;
using ShapeId = Id<struct ShapeTag, std::uint32_t>;

/// Rises with every (re)start of a task; a message with an older one is outdated.
using Attempt = std::uint32_t;

}  // namespace muster

template <class Tag, class Number>
struct std::hash<muster::Id<Tag, Number>> {
  std::size_t operator()(muster::Id<Tag, Number> id) const noexcept {
    return std::hash<Number>{}(id.value);
  }
};
