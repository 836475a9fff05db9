#pragma once

#include <cstddef>

#include "model/event.hpp"
#include "schedulers/policy.hpp"

namespace muster::own {

/// Figure of a round's note: the price of an instance's place under the cap.
inline constexpr const char* kPlacePrice = "place_usd_h";

/// The price of a place among as many instances as the cap allows, on top of each instance's own
/// price: it rises while tasks wait for want of a place, so that few large instances come to cost
/// less than many small ones, and falls when there are places again. 0 without a cap. A fold over
/// the notes of rounds.
class CapPrice {
 public:
  /// A round, as far as places are concerned.
  struct Round {
    std::size_t instances = 0;  ///< that are there and count under the cap
    double usd_h = 0;           ///< their price, all together
    std::size_t launches = 0;
    bool any_waits = false;  ///< some task has no instance
  };

  void observe(const Event& event);
  double usd_h() const { return usd_h_; }
  /// The price after the round.
  double after(const Round& round, const ClusterView& view) const;
  void restore(double usd_h) { usd_h_ = usd_h; }

 private:
  double usd_h_ = 0;
};

}  // namespace muster::own
