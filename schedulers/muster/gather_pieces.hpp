#pragma once

#include <span>
#include <vector>

#include "schedulers/muster/class_times.hpp"
#include "schedulers/muster/memory.hpp"
#include "schedulers/muster/muster_params.hpp"
#include "schedulers/muster/pair_rates.hpp"
#include "schedulers/muster/piece.hpp"
#include "schedulers/muster/work_prices.hpp"
#include "schedulers/packing/rounds/round_input.hpp"

namespace muster::own {

/// Tasks that start and wait together; a gang of one is a task like any other.
inline bool is_gang(const JobRow& job) {
  return job.job.gang && job.tasks.size() > 1;
}

/// Inputs of a round; all of them outlive the round.
struct RoundParts {
  const MusterParams& params;
  const ClusterView& view;
  const RoundInput& input;
  const ReservationPrices& prices;
  const PairRates& rates;
  const Memory& memory;
  WorkPrices& work;
  const TaskKinds& kinds;
  KnownTimes times;
};

/// The spot market as a whole is refused for now, and nothing of it is there.
bool refuses_spot(const ClusterView& view);

/// The round's tasks as pieces, by number: the worth of an hour of each, and the time that a move
/// or stop keeps it from its work. Parts that count for all of a gang are still to be added up.
/// O(tasks), and where spot instances are on offer times their kinds.
std::vector<Piece> gather_pieces(const RoundParts& parts, std::span<const Host> offers,
                                 double horizon_h);

}  // namespace muster::own
