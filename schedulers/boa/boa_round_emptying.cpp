#include <algorithm>
#include <limits>
#include <utility>

#include "schedulers/boa/boa_round.hpp"

// Jobs whose width stays keep their places, so that narrow ones are left behind one by one on nodes
// that nobody else fills. Where jobs come often their room is taken again soon; where the budget is
// little more than the load it is not, and what stands empty is missing for the work.

namespace muster::boa {
namespace {

/// GPU-hours that emptying a node saves, at the least, over those that its jobs' starts take. A
/// start delays the job as well, and the room might have been taken by another one.
constexpr double kWorthMoving = 10;
/// Nodes that a round tries to empty, at the most; it empties one.
constexpr std::size_t kMostTried = 4;

}  // namespace

/// Those with the fewest workers first, as far as all of these might have room on other nodes that
/// are in use. Room is counted in workers like those of each node.
std::vector<std::size_t> BoaRound::nodes_to_empty() const {
  struct Candidate {
    std::size_t workers = 0;
    std::size_t node = 0;
    std::size_t room = 0;
  };
  std::vector<Candidate> candidates;
  std::size_t room_of_all = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const PackingNode& node = nodes_[i];
    if (!node.ready || !node.wanted) continue;
    const InstanceRow& row = *view_.state.find(std::get<InstanceId>(node.at));
    if (row.planned.empty() || view_.is_owned(row)) continue;
    const TaskRow& first = view_.state.task(row.planned.front());
    const std::size_t room = workers_in(node.free, first.planned.amount);
    room_of_all += room;
    if (room > 0) candidates.push_back({row.planned.size(), i, room});
  }
  std::erase_if(candidates, [room_of_all](const Candidate& each) {
    return room_of_all - each.room < each.workers;
  });
  std::ranges::stable_sort(candidates, {}, &Candidate::workers);
  std::vector<std::size_t> nodes;
  for (const Candidate& each : candidates) {
    if (nodes.size() < kMostTried) nodes.push_back(each.node);
  }
  return nodes;
}

/// Moves the workers of one node onto others. It is given back when they have left, and what has
/// moved is looked at again when it runs.
void BoaRound::empty_a_node() {
  // Where somebody waits for room, or for nodes that come, there is a better use for what is free.
  if (!view_.rents() || !plan_.refusals.empty() || !plan_.launches.empty()) return;
  for (const std::size_t node : nodes_to_empty()) {
    if (try_to_empty(node)) return;
  }
}

/// False, and nothing is changed, where some job of the node has to stay, where there is not enough
/// room elsewhere, or where it does not pay.
bool BoaRound::try_to_empty(std::size_t node) {
  const InstanceRow& row = *view_.state.find(std::get<InstanceId>(nodes_[node].at));
  std::vector<const JobRow*> jobs;
  double starts_gpu_h = 0;
  double stay_h = std::numeric_limits<double>::infinity();
  for (const Slot slot : row.planned) {
    const TaskRow& task = view_.state.task(slot);
    const JobRow& job = view_.state.job(task.job);
    if (std::ranges::find(jobs, &job) != jobs.end()) continue;
    const bool runs_as_planned = job.width > 0 && job.running == job.width && can_change(job) &&
                                 memory_.goal_of(job, family_now(job)).width == job.width;
    if (!runs_as_planned || view_.why_pinned(task)) return false;
    jobs.push_back(&job);
    starts_gpu_h += to_seconds(memory_.rescale_of(job)) / 3600 * job.width;
    stay_h = std::min(stay_h, memory_.hours_at_width(job));
  }
  const InstanceType& type = view_.catalog[row.type];
  const Resources& amount = view_.state.task(row.planned.front()).planned.amount;
  const std::uint32_t holds = workers_in(type.capacity, amount);
  if (stay_h * holds < kWorthMoving * starts_gpu_h) return false;
  std::vector<PackingNode> before = nodes_;
  std::vector<std::vector<NodeShare>> places;
  for (const JobRow* job : jobs) {
    free_places_of(*job);
    // Only what others keep in use anyway, of the family that the job is on.
    for (PackingNode& other : nodes_) {
      other.suits = other.wanted && wants(job->job.markets, other.market) &&
                    view_.catalog[other.type].family == type.family;
    }
    nodes_[node].suits = false;
    const WorkerDemand worker{view_.state.task(job->tasks.front()).planned.amount, holds};
    auto shares = pack_workers(nodes_, job->width, worker, true);
    if (!shares) {
      nodes_ = std::move(before);
      return false;
    }
    take(nodes_, *shares, worker.amount);
    places.push_back(*std::move(shares));
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) start({jobs[i], jobs[i]->width}, places[i]);
  return true;
}

}  // namespace muster::boa
