#include <algorithm>
#include <limits>
#include <utility>

#include "model/feasible.hpp"
#include "model/stay.hpp"
#include "schedulers/boa/boa_round.hpp"

// Jobs whose width stays keep their places, so that narrow ones are left behind one by one on nodes
// that no other job fills. Where jobs come often their room is taken again soon; where the budget
// is little more than the load it is not, and what stands empty is missing for the work.

namespace muster::boa {
namespace {

/// GPU-hours that emptying a node saves, at the least, over those that its jobs lose by it; and how
/// long a job has run, over what its start took, before it moves again. A start delays the job as
/// well, and the room might have been taken by another one.
constexpr double kWorthMoving = 10;
/// Nodes that a round tries to empty, at the most; it empties one.
constexpr std::size_t kMostTried = 4;
/// Moves off a node are one with giving it back: each is made with the others or not at all.
constexpr std::uint32_t kOneGroup = 1;

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
    if (row.planned.empty()) continue;
    const TaskRow& first = view_.state.task(row.planned.front());
    const std::size_t room = workers_in(node.free, first.planned.amount);
    room_of_all += room;
    // The master's own instances are not given back.
    if (room > 0 && !view_.is_owned(row)) candidates.push_back({row.planned.size(), i, room});
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

/// Moves the workers of one node onto others and gives it back.
void BoaRound::empty_a_node() {
  // A round that does something else has used room that is free here. Where it refuses or rents,
  // there is a better use for the rest as well.
  const bool is_calm = plan_.refusals.empty() && plan_.launches.empty() && plan_.places.empty() &&
                       plan_.resizes.empty();
  if (!view_.rents() || !is_calm) return;
  for (const std::size_t node : nodes_to_empty()) {
    if (try_to_empty(node)) return;
  }
}

/// Cost of moving the job, in GPU-hours; nothing where it has to stay: it is on its way, wider or
/// narrower than it is to be, pinned, or has hardly run since its last start.
std::optional<double> BoaRound::cost_of_moving(const JobRow& job, const TaskRow& task) const {
  if (job.width == 0 || job.running != job.width || !can_change(job)) return std::nullopt;
  if (memory_.goal_of(job, family_now(job)).width != job.width || !is_on_its_family(job)) {
    return std::nullopt;
  }
  if (view_.why_pinned(task)) return std::nullopt;
  const Duration start = memory_.rescale_of(job);
  Duration lost = start;
  for (std::uint32_t i = 0; i < job.width; ++i) {
    const TaskRow& worker = view_.state.task(job.tasks[i]);
    const double ran_s = to_seconds(view_.now - worker.started_at);
    if (ran_s < kWorthMoving * to_seconds(start)) return std::nullopt;
    lost = std::max(lost, start + unsaved(view_.state, worker, view_.now));
  }
  return to_seconds(lost) / 3600 * job.width;
}

/// The jobs of the node, each once, if all of them may move and that pays; else an empty list.
std::vector<const JobRow*> BoaRound::jobs_worth_moving(const InstanceRow& row) const {
  std::vector<const JobRow*> jobs;
  double lost_gpu_h = 0;
  double stay_h = std::numeric_limits<double>::infinity();
  for (const Slot slot : row.planned) {
    const TaskRow& task = view_.state.task(slot);
    const JobRow& job = view_.state.job(task.job);
    if (std::ranges::find(jobs, &job) != jobs.end()) continue;
    const auto cost = cost_of_moving(job, task);
    if (!cost) return {};
    jobs.push_back(&job);
    lost_gpu_h += *cost;
    stay_h = std::min(stay_h, memory_.hours_at_width(job));
  }
  const Resources& amount = view_.state.task(row.planned.front()).planned.amount;
  const std::uint32_t holds = workers_in(view_.catalog[row.type].capacity, amount);
  const bool pays = stay_h > 0 && stay_h * holds >= kWorthMoving * lost_gpu_h;
  return pays ? jobs : std::vector<const JobRow*>{};
}

/// False, and nothing is changed, where its jobs stay or there is not enough room for them.
bool BoaRound::try_to_empty(std::size_t node) {
  const InstanceRow& row = *view_.state.find(std::get<InstanceId>(nodes_[node].at));
  const InstanceType& type = view_.catalog[row.type];
  const std::vector<const JobRow*> jobs = jobs_worth_moving(row);
  if (jobs.empty()) return false;
  std::vector<PackingNode> before = nodes_;
  std::vector<std::vector<NodeShare>> places;
  for (const JobRow* job : jobs) {
    free_places_of(*job);
    const PlaceAsks asks{view_.state.task(job->tasks.front()).shape, view_.state.markets(*job)};
    // Only what is kept anyway, of the family that the job is on.
    for (PackingNode& other : nodes_) {
      const auto* id = std::get_if<InstanceId>(&other.at);
      const bool is_kept =
          other.wanted || (id != nullptr && view_.is_owned(*view_.state.find(*id)));
      other.suits = is_kept && mask_.allows(asks, {other.type, other.market}) &&
                    view_.catalog[other.type].family == type.family;
    }
    nodes_[node].suits = false;
    const Resources& amount = view_.state.task(job->tasks.front()).planned.amount;
    const WorkerDemand worker{amount, workers_in(type.capacity, amount)};
    auto shares = pack_workers(nodes_, job->width, worker, true);
    if (!shares) {
      nodes_ = std::move(before);
      return false;
    }
    take(nodes_, *shares, worker.amount);
    places.push_back(*std::move(shares));
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) start({jobs[i], jobs[i]->width}, places[i]);
  const Cause cause{CauseCode::partial_reconfiguration, row.price.usd_h()};
  for (Place& place : plan_.places) {
    place.cause = cause;
    place.group = kOneGroup;
  }
  plan_.releases.push_back({row.id, cause, kOneGroup});
  return true;
}

}  // namespace muster::boa
