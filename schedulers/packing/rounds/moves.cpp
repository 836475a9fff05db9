#include "schedulers/packing/rounds/moves.hpp"

#include <algorithm>

namespace muster {
namespace {

constexpr double kMbitPerGib = 8.0 * 1024 * 1024 * 1024 / 1e6;
/// No link is so slow that adding what else a move takes would leave the range of times.
constexpr Duration kLongestTransfer = std::chrono::hours{24 * 365 * 100};

}  // namespace

Duration time_to_send(double memory_gib, double bandwidth_mbit_s) {
  const double seconds = memory_gib * kMbitPerGib / bandwidth_mbit_s;
  return seconds < to_seconds(kLongestTransfer) ? from_seconds(seconds) : kLongestTransfer;
}

bool is_free_to_move(const ClusterView& view, const RoundInput& input,
                     const RoundInput::Instance& instance) {
  const ClusterState& state = view.state;
  const auto residents = input.residents(instance);
  const InstanceRow& row = state.instance(instance.slot);
  if (!instance.ready || instance.pinned || instance.held || instance.unsaved_usd > 0) return false;
  if (residents.empty() || residents.size() != row.planned.size()) return false;
  return std::none_of(residents.begin(), residents.end(), [&](std::uint32_t task) {
    const JobRow& job = state.job(state.task(input.tasks()[task].slot).job);
    return job.job.gang && job.tasks.size() > 1;
  });
}

bool pays(const Move& move, std::span<const MoveTo> to, const MoveRules& rules) {
  const Duration takes = move.spin_up + move.transfer;
  if (move.left <= takes) return false;
  double usd = move.from_usd_h * to_hours(takes);
  for (const MoveTo& one : to) {
    // Until the new instance is ready the task runs on where it is.
    const Duration rest = std::max(Duration{}, one.left - move.spin_up);
    usd += one.usd_h * to_hours(move.transfer + rest);
    if (rules.billed_from_request) usd += one.usd_h * to_hours(move.spin_up);
  }
  return usd < move.from_usd_h * to_hours(move.left) - rules.margin_usd;
}

}  // namespace muster
