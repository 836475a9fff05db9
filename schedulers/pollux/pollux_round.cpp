#include "schedulers/pollux/pollux_round.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "model/whole_job.hpp"
#include "schedulers/pollux/genetic_search.hpp"
#include "schedulers/pollux/local_search.hpp"
#include "schedulers/pollux/lone_jobs.hpp"

namespace muster::pollux {
namespace {

constexpr Cause kGoodput{CauseCode::goodput, 0};

}  // namespace

bool PolluxRound::breeds() const {
  return params_.search == SearchKind::genetic && !input_.elastic().empty();
}

RoundProblem PolluxRound::pose(std::uint64_t seed, Budget& budget) {
  LoneJobs(view_, input_).place(result_.plan);
  surplus_.assign(input_.nodes().size(), 0);
  if (view_.rents() && input_.kind()) size_cluster(wanted_nodes(seed, budget));
  return ProblemMaker(view_, input_, memory_, params_.speedups).make(nodes_for_search());
}

RoundResult PolluxRound::run(std::uint64_t seed, Budget& budget) {
  const RoundProblem problem = pose(seed, budget);
  const Layout layout = search(problem, seed, budget);
  write(problem, layout);
  give_back(problem, layout);
  note(problem, layout, seed);
  return std::move(result_);
}

std::uint32_t PolluxRound::wanted_nodes(std::uint64_t seed, Budget& budget) {
  if (!params_.autoscale) {
    return static_cast<std::uint32_t>(params_.budget_gpus) / input_.kind()->node_holds;
  }
  if (input_.elastic().empty()) return memory_.scale().nodes;
  size_ = ClusterSizer(view_, input_, memory_, params_).choose(seed, budget);
  return size_->nodes;
}

/// Rents what the cluster lacks, and marks what it has too much of: where there is least first,
/// then what was rented last.
void PolluxRound::size_cluster(std::uint32_t wanted) {
  const std::vector<RoundNode>& nodes = input_.nodes();
  const ClusterKind& kind = *input_.kind();
  const std::uint32_t least = (input_.least_workers() + kind.node_holds - 1) / kind.node_holds;
  target_ = std::max({wanted, least, 1U}) * kind.node_holds;
  std::uint32_t has = 0;
  std::vector<std::size_t> rented;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].of_cluster) continue;
    has += input_.workers_of(nodes[i]);
    if (!view_.is_owned(*nodes[i].row)) rented.push_back(i);
  }
  for (; kind.offer != nullptr && has + kind.node_holds <= target_; has += kind.node_holds) {
    const OfferingKey& key = kind.offer->key;
    result_.plan.launches.push_back({key.type, key.market, kGoodput, key.zone});
  }
  std::stable_sort(rented.begin(), rented.end(), [&](std::size_t a, std::size_t b) {
    const std::size_t one = nodes[a].row->planned.size();
    const std::size_t other = nodes[b].row->planned.size();
    return one != other ? one < other : a > b;
  });
  for (const std::size_t i : rented) {
    const std::uint32_t workers = input_.workers_of(nodes[i]);
    if (has < target_ + workers) continue;
    has -= workers;
    surplus_[i] = 1;
  }
}

std::vector<const RoundNode*> PolluxRound::nodes_for_search() const {
  std::vector<const RoundNode*> nodes;
  for (std::size_t i = 0; i < surplus_.size(); ++i) {
    const RoundNode& node = input_.nodes()[i];
    const bool there = node.row->phase == InstancePhase::ready && surplus_[i] == 0;
    if (there && node.of_cluster) nodes.push_back(&node);
  }
  return nodes;
}

Layout PolluxRound::search(const RoundProblem& problem, std::uint64_t seed, Budget& budget) {
  if (problem.jobs.empty() || problem.nodes.empty()) return problem.search.current();
  Rng rng(seed);
  if (params_.search == SearchKind::local) {
    return LocalSearch(problem.search).run(params_.effort.moves, rng, budget);
  }
  GeneticSearch genetic(problem.search, params_.effort);
  GeneticResult found = genetic.run(known_layouts(problem), rng, budget);
  remember(problem, found.undominated);
  return std::move(found.best);
}

/// Final layouts of an earlier round, as far as its jobs and nodes are still there.
std::vector<Layout> PolluxRound::known_layouts(const RoundProblem& problem) const {
  std::map<InstanceId, std::size_t> nodes;
  for (std::size_t n = 0; n < problem.nodes.size(); ++n) nodes[problem.nodes[n]->row->id] = n;
  std::vector<Layout> layouts;
  for (const NamedLayout& named : memory_.population()) {
    Layout& layout = layouts.emplace_back(problem.jobs.size(), Row(problem.nodes.size(), 0));
    for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
      const auto row = named.find(problem.jobs[j]->job.id);
      if (row == named.end()) continue;
      for (const auto& [id, workers] : row->second) {
        const auto node = nodes.find(id);
        if (node != nodes.end()) layout[j][node->second] = workers;
      }
    }
  }
  return layouts;
}

void PolluxRound::remember(const RoundProblem& problem, const std::vector<Layout>& layouts) {
  for (const Layout& layout : layouts) {
    NamedLayout& named = result_.population.emplace_back();
    for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
      auto& row = named[problem.jobs[j]->job.id];
      for (std::size_t n = 0; n < problem.nodes.size(); ++n) {
        if (layout[j][n] > 0) row[problem.nodes[n]->row->id] = layout[j][n];
      }
    }
  }
}

/// In the order of the queue, which the search's need not be.
void PolluxRound::write(const RoundProblem& problem, const Layout& layout) {
  std::map<const JobRow*, std::size_t> position;
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) position[problem.jobs[j]] = j;
  for (const JobRow* job : input_.elastic()) {
    const std::size_t j = position.at(job);
    const Row& row = layout[j];
    if (size_of(row).workers == 0) {
      if (job->running > 0) stop_job(result_.plan, view_.state, {*job, kGoodput});
      const Refusal why{RefusalKind::not_now,
                        RefusalCode::awaiting_capacity,
                        {},
                        static_cast<double>(problem.search.jobs[j].least),
                        0};
      for (const Slot slot : job->tasks) {
        const TaskRow& task = view_.state.task(slot);
        if (task.phase == TaskPhase::pending) result_.plan.refusals.push_back({task.id, why});
      }
    } else if (job->pending > 0 || row != problem.search.jobs[j].current) {
      place(*job, row, problem);
    }
  }
}

/// Workers that are at a node of the job already stay there.
void PolluxRound::place(const JobRow& job, const Row& row, const RoundProblem& problem) {
  const ClusterState& state = view_.state;
  const std::uint32_t width = size_of(row).workers;
  if (width != job.width) result_.plan.resizes.push_back({job.job.id, width, kGoodput});
  Row left = row;  // workers that the nodes are still to get
  std::vector<TaskId> homeless;
  for (std::uint32_t i = 0; i < width; ++i) {
    const TaskRow& task = state.task(job.tasks[i]);
    const auto node =
        std::find_if(problem.nodes.begin(), problem.nodes.end(),
                     [&](const RoundNode* each) { return each->row->slot == task.target; });
    const auto n = static_cast<std::size_t>(node - problem.nodes.begin());
    if (task.target != kNoSlot && n < left.size() && left[n] > 0) {
      --left[n];
    } else {
      homeless.push_back(task.id);
    }
  }
  std::size_t n = 0;
  for (const TaskId task : homeless) {
    while (left[n] == 0) ++n;
    --left[n];
    result_.plan.places.push_back({task, problem.nodes[n]->row->id, kGoodput});
  }
}

/// Gives back empty nodes that the cluster does not need; without jobs, all.
void PolluxRound::give_back(const RoundProblem& problem, const Layout& layout) {
  if (!view_.rents()) return;
  std::map<Slot, bool> used;
  for (std::size_t n = 0; n < problem.nodes.size(); ++n) {
    for (const Row& row : layout) used[problem.nodes[n]->row->slot] |= row[n] > 0;
  }
  for (std::size_t i = 0; i < surplus_.size(); ++i) {
    const RoundNode& node = input_.nodes()[i];
    const InstanceRow& row = *node.row;
    if (view_.is_owned(row) || (node.of_cluster && surplus_[i] == 0)) continue;
    const bool leaves = std::ranges::all_of(
        row.planned, [&](Slot slot) { return input_.is_searched(view_.state.task(slot).job); });
    if (!leaves || used[row.slot]) continue;
    result_.plan.releases.push_back({row.id, {CauseCode::empty, -row.price.usd_h()}});
  }
}

void PolluxRound::note(const RoundProblem& problem, const Layout& layout, std::uint64_t seed) {
  if (problem.jobs.empty()) return;  // a round of which there is nothing to say
  RoundNote& note = result_.plan.note;
  note.choice = breeds() ? "genetic" : "local";
  double workers = 0;
  for (const Row& row : layout) workers += size_of(row).workers;
  note.figures = {{"seed", static_cast<double>(seed)},
                  {"fitness", problem.search.fitness(layout)},
                  {"utility", problem.search.utility(layout)},
                  {"workers", workers},
                  {"room", static_cast<double>(target_)}};
  if (!size_) return;
  note.figures.emplace_back(kNodesFigure, size_->nodes);
  note.figures.emplace_back(kEfficiencyFigure, size_->efficiency);
  note.figures.emplace_back(kSearchedFigure, size_->searched ? 1 : 0);
}

}  // namespace muster::pollux
