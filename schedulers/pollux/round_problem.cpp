#include "schedulers/pollux/round_problem.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "model/feasible.hpp"
#include "schedulers/packing/node_packing.hpp"
#include "schedulers/packing/rounds/moves.hpp"

// Workers of jobs that ask for different amounts share nodes by units: a node has as many as every
// count of workers that fill one divides, so that with equal workers a unit is a worker.

namespace muster::pollux {
namespace {

/// Units of a node at most; where counts have no common multiple below it they are rounded.
constexpr std::uint32_t kMostUnits = 5040;
/// Share of a node that is lost in sums of fractions.
constexpr double kSlack = 1e-9;
/// Largest factor of a change, so that no change is made that brings nothing.
constexpr double kMostKept = 1 - 1e-6;

double rescale_s(const Job& job) {
  Duration longest{};
  for (const TaskSpec& task : job.tasks) {
    longest = std::max(longest, move_time(task.delays));
  }
  return to_seconds(longest);
}

}  // namespace

RoundProblem ProblemMaker::make(std::vector<const RoundNode*> nodes) const {
  RoundProblem round;
  round.nodes = std::move(nodes);
  round.jobs = input_.elastic();
  std::map<const JobRow*, double> attained;
  for (const JobRow* job : round.jobs) attained[job] = attained_s(*job);
  std::stable_sort(round.jobs.begin(), round.jobs.end(),
                   [&](const JobRow* a, const JobRow* b) { return attained[a] < attained[b]; });
  const std::uint32_t unit = units_of_node(round);
  for (const RoundNode* node : round.nodes) {
    const Resources& capacity = view_.catalog[node->row->type].capacity;
    const double left = 1 - node->taken.dominant_share(capacity);
    round.search.room.push_back(
        static_cast<std::uint32_t>(std::max(0.0, std::floor(unit * left + kSlack * unit))));
  }
  if (input_.kind()) round.search.node_workers = input_.kind()->node_holds;
  for (const JobRow* row : round.jobs) round.search.jobs.push_back(job(*row, round, unit));
  return round;
}

std::uint32_t ProblemMaker::workers_in_node(const JobRow& job, const RoundNode& node) const {
  const ShapeId shape = view_.state.task(job.tasks.front()).shape;
  const TypeId type = node.row->type;
  const PlacementMask& mask = input_.mask();
  if (!mask.allows({shape, view_.state.markets(job)}, kind_of(*node.row))) return 0;
  return workers_in(view_.catalog[type].capacity, *mask.amount(shape, type));
}

std::uint32_t ProblemMaker::units_of_node(const RoundProblem& round) const {
  std::uint32_t unit = 1;
  for (const JobRow* job : round.jobs) {
    for (const RoundNode* node : round.nodes) {
      const std::uint32_t holds = std::min(workers_in_node(*job, *node), kMostUnits);
      if (holds > 0) unit = std::min(std::lcm(unit, holds), kMostUnits);
    }
  }
  return unit;
}

SearchJob ProblemMaker::job(const JobRow& row, const RoundProblem& round,
                            std::uint32_t unit) const {
  SearchJob job;
  const auto& spec = std::get<ElasticSpec>(row.job.kind);
  SpeedQuestion asked{1, 0, 1};
  std::uint32_t together = 0;
  for (const RoundNode* node : round.nodes) {
    const std::uint32_t holds = workers_in_node(row, *node);
    job.units.push_back(holds == 0 ? 0 : (unit + holds - 1) / holds);
    asked.of_node = std::max(asked.of_node, holds);
    together += holds;
  }
  const auto sharers = static_cast<std::uint32_t>(round.jobs.size());
  asked.fair = std::max((together + sharers - 1) / sharers, 1U);
  asked.most = std::min(spec.max_width, std::max(together, 1U));
  job.least = std::max(spec.min_width, 1U);
  job.kept_by_change = kept_by_change(row);
  job.stays = input_.must_stay(row);
  job.current.assign(round.nodes.size(), 0);
  if (row.pending == 0) {
    for (std::uint32_t i = 0; i < row.width; ++i) {
      const Slot target = view_.state.task(row.tasks[i]).target;
      for (std::size_t n = 0; n < round.nodes.size(); ++n) {
        if (round.nodes[n]->row->slot == target) ++job.current[n];
      }
    }
    // Some are on nodes that are to go: as it is it cannot stay.
    if (size_of(job.current).workers < row.width) job.current.assign(round.nodes.size(), 0);
  }
  asked.most = std::max(asked.most, size_of(job.current).workers);
  set_speeds(job, row, asked);
  return job;
}

void ProblemMaker::set_speeds(SearchJob& job, const JobRow& row, SpeedQuestion asked) const {
  const auto& spec = std::get<ElasticSpec>(row.job.kind);
  const KnownJob* known = memory_.find(row.job.id);
  const double done = known == nullptr ? 0 : known->seen.done;
  ElasticEpoch epoch{0, 0, spec.speedup, {}};
  if (!spec.epochs.empty()) epoch = spec.epochs.all()[spec.epochs.at(done)];
  SpeedTable table;
  if (speeds_ == SpeedSource::oracle && !epoch.speedup.empty()) {
    table = stated_speeds(epoch, asked);
  } else {
    const std::uint32_t cap = known == nullptr ? 1 : known->speeds.width_cap();
    const std::uint32_t has = size_of(job.current).workers;
    asked.most = std::min(asked.most, std::max({cap, job.least, has}));
    table = known == nullptr ? linear_speeds(asked) : known->speeds.table(asked);
  }
  job.most = asked.most;
  job.one_node = std::move(table.one_node);
  job.several = std::move(table.several);
}

/// Share that a restart now leaves of the speed that a job has on average until as much time has
/// passed again (Pollux 4.2.1).
double ProblemMaker::kept_by_change(const JobRow& row) const {
  const double rescale = rescale_s(row.job);
  const double age = to_seconds(view_.now - row.accepted_at);
  const Attempt starts = view_.state.task(row.tasks.front()).attempt;
  const double restarts = starts > 1 ? starts - 1.0 : 0;
  if (!(age + rescale > 0)) return kMostKept;
  return std::clamp((age - rescale * restarts) / (age + rescale), 0.0, kMostKept);
}

double ProblemMaker::attained_s(const JobRow& job) const {
  Duration sum{};
  for (const Slot slot : job.tasks) {
    const TaskRow& task = view_.state.task(slot);
    sum += task.ran;
    if (task.phase == TaskPhase::running) sum += view_.now - task.started_at;
  }
  return to_seconds(sum);
}

}  // namespace muster::pollux
