#pragma once

#include <span>

#include "schedulers/packing/rounds/round_input.hpp"

namespace muster {

/// Assumed cost of a move.
struct MoveRules {
  bool on = true;
  double bandwidth_mbit_s = 160;  ///< over which a task's memory is sent
  double margin_usd = 0;          ///< that a move has to save at least
  bool billed_from_request =
      false;  ///< a new instance is paid for from its request, not from ready
};

/// A move under consideration: from an instance to new ones.
struct Move {
  double from_usd_h = 0;
  Duration left{};      ///< of the longest task that moves
  Duration transfer{};  ///< of its memory
  Duration spin_up{};   ///< of the new instances
};

/// An instance that would be rented for a move.
struct MoveTo {
  double usd_h = 0;
  Duration left{};  ///< of its longest task
};

/// Time for which a task that moves does not work: it stops, and starts again elsewhere.
inline Duration move_time(const Delays& delays) {
  return delays.stop + delays.upload + delays.fetch + delays.build + delays.init;
}

/// The time to send that amount of memory over a link.
Duration time_to_send(double memory_gib, double bandwidth_mbit_s);

/// All tasks of the instance run and may be moved, without a loss and without others of their jobs.
bool is_free_to_move(const ClusterView& view, const RoundInput& input,
                     const RoundInput::Instance& instance);

/// Whether moving costs less than staying: the old instance is kept while the new ones spin up and
/// the memory is copied; these are paid for from then until their tasks end.
bool pays(const Move& move, std::span<const MoveTo> to, const MoveRules& rules);

}  // namespace muster
