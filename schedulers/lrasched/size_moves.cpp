#include "schedulers/lrasched/size_moves.hpp"

#include <algorithm>

namespace muster::lrasched {
namespace {

/// Of the replica, there or to come.
const Resources& size_of(const TaskRow& task) {
  return task.phase == TaskPhase::running ? task.held.amount : task.planned.amount;
}

/// A replica that runs where it is meant to be. The least stay is for tasks that lose by a move.
bool may_change(const ClusterView& view, const TaskRow& task) {
  if (!task.wanted || task.phase != TaskPhase::running || task.at != task.target) return false;
  const auto pinned = view.why_pinned(task);
  return !pinned || pinned->code == RefusalCode::min_stay;
}

}  // namespace

std::vector<SizeMove> size_moves(const ClusterView& view, const JobRow& job,
                                 const SizedService& service) {
  const Resources chosen = service.grant(service.chosen);
  const Resources tried = service.grant(service.trial.value_or(service.chosen));
  bool is_tried = !service.trial;
  std::vector<SizeMove> moves;
  for (const Slot slot : job.tasks) {
    const TaskRow& task = view.state.task(slot);
    if (!task.wanted || task.target == kNoSlot) continue;
    if (!is_tried && size_of(task) == tried) {
      is_tried = true;
    } else if (size_of(task) != chosen && may_change(view, task)) {
      moves.push_back({slot, service.chosen});
    }
  }
  if (!is_tried) {
    // One that has to change its size anyway, or the first.
    const auto may_try = [&](Slot slot) { return may_change(view, view.state.task(slot)); };
    if (!moves.empty()) {
      moves.front().size = *service.trial;
    } else if (const auto first = std::ranges::find_if(job.tasks, may_try);
               first != job.tasks.end()) {
      moves.push_back({*first, *service.trial});
    }
  }
  const std::uint32_t surge = std::max(1U, job.job.service()->surge);
  const std::uint32_t at_once = surge > job.leaving ? surge - job.leaving : 0;
  moves.resize(std::min<std::size_t>(moves.size(), std::min(spare_of(job), at_once)));
  return moves;
}

}  // namespace muster::lrasched
