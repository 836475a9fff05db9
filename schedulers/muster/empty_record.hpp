#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>

#include "model/event.hpp"
#include "schedulers/policy.hpp"

namespace muster::own {

/// How soon after an instance has emptied another one of its type is wanted: by that an empty one
/// is kept, or given back at once. A fold over the events.
class EmptyRecord {
 public:
  /// Emptied instances of a type.
  struct OfType {
    std::deque<Instant> open{};  ///< when those emptied that no other one was wanted after yet
    /// Of the last ones, the time until one was wanted, as a share of a start's; 1: later.
    std::deque<double> gaps{};
  };

  /// `changes`: the instances that the event made empty, or not so any more.
  void observe(const Event& event, std::span<const InstanceId> changes, const ClusterView& view);
  /// For how long an empty one of the type would best have been kept lately, as a share of the time
  /// that a start takes. At most 1, which is at most twice as dear as the best there is.
  double keep(TypeId type) const;

  const std::map<std::uint32_t, OfType>& types() const { return types_; }
  void restore(std::map<std::uint32_t, OfType> types) { types_ = std::move(types); }

 private:
  void note_wanted(TypeId type, Instant at, const Catalog& catalog);
  void close(OfType& of, TypeId type, Instant at, const Catalog& catalog);

  std::map<std::uint32_t, OfType> types_;
};

/// From its request to its end, but for the time between.
Duration start_of(const InstanceType& type);

}  // namespace muster::own
