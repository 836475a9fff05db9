#include "schedulers/eva/migration.hpp"

#include <algorithm>

// M of equation 1. Both forms charge a gang once, however many of its tasks move, since one of them
// stops all. O(tasks) a layout.

namespace muster::eva {
namespace {

constexpr double kArtifactLaunch_s = 300;

double hours_without_progress(const TaskSpec& spec, const TaskRow& row) {
  Duration away = spec.delays.fetch + spec.delays.build;
  if (row.phase == TaskPhase::running) away += spec.delays.stop + spec.delays.upload;
  return to_hours(away);
}

/// Answers what is lost of what the moved tasks have run, $.
/// The loss of a gang stands with each of its tasks and counts once.
double mark_moved_jobs(const Layout& layout, const RoundInput& input, std::vector<char>& moved) {
  double lost_usd = 0;
  moved.assign(input.jobs().size(), 0);
  for (std::uint32_t i = 0; i < input.tasks().size(); ++i) {
    if (!layout.moves(input, i)) continue;
    const RoundInput::Task& task = input.tasks()[i];
    if (!input.jobs()[task.job].gang || !moved[task.job]) lost_usd += task.unsaved_usd;
    moved[task.job] = 1;
  }
  return lost_usd;
}

}  // namespace

double MigrationCost::of(const Layout& layout, const RoundInput& input, const ClusterView& view,
                         const ReservationPrices& prices) {
  double sum = mark_moved_jobs(layout, input, moved_);
  moved_.assign(input.jobs().size(), 0);
  for (std::uint32_t i = 0; i < input.tasks().size(); ++i) {
    if (!layout.moves(input, i)) continue;
    const TaskRow& row = view.state.task(input.tasks()[i].slot);
    const JobRow& job = view.state.job(row.job);
    if (!job.job.gang || job.tasks.size() == 1) {
      const TaskSpec& spec = view.state.spec(row);
      const double hours = hours_without_progress(spec, row) + to_hours(spec.delays.init);
      sum += hours * prices.of(row.shape).usd_h;
    } else if (!moved_[input.tasks()[i].job]) {
      moved_[input.tasks()[i].job] = 1;
      // Tasks of a gang are moved side by side and go on together: the longest of each part
      // decides.
      double away = 0;
      double init = 0;
      for (Slot slot : job.tasks) {
        const TaskRow& task = view.state.task(slot);
        away = std::max(away, hours_without_progress(view.state.spec(task), task));
        init = std::max(init, to_hours(view.state.spec(task).delays.init));
      }
      sum += (away + init) * input.jobs()[input.tasks()[i].job].worth_usd_h;
    }
  }
  // Paid for, and of no use to anybody meanwhile.
  for (const Layout::Host& host : layout.hosts) {
    if (host.present != kUnassigned) continue;
    const InstanceType& type = view.catalog[host.type];
    sum += host.price_usd_h * to_hours(type.acquire + type.setup);
  }
  return sum;
}

double ArtifactMigrationCost::alone_usd_h(const JobRow& job, const ClusterState& state,
                                          ArtifactLayouts& layouts, const WorthModel& model,
                                          TaskKinds& kinds) {
  if (job.tasks.size() == 1) return model.prices.of(state.task(job.tasks[0]).shape).usd_h;
  const auto known = alone_usd_h_.find(job.job.id);
  if (known != alone_usd_h_.end()) return known->second;
  std::vector<TaskKind> tasks;
  for (Slot slot : job.tasks) {
    const std::uint32_t kind = kinds.of(state.task(slot), state, model.prices);
    tasks.push_back(kinds.all()[kind]);
  }
  // Asked for once a job: the answer depends on prices alone, which forget_prices() follows.
  const double cost = layouts.cost_alone_usd_h(tasks, model);
  alone_usd_h_.emplace(job.job.id, cost);
  return cost;
}

double ArtifactMigrationCost::of(const Layout& layout, const RoundInput& input,
                                 const ClusterState& state, ArtifactLayouts& layouts,
                                 const WorthModel& model, TaskKinds& kinds) {
  double sum = mark_moved_jobs(layout, input, moved_);
  for (std::uint32_t i = 0; i < moved_.size(); ++i) {
    if (!moved_[i]) continue;
    const JobRow& job = state.job(input.jobs()[i].slot);
    double load_s = 0;
    double init_s = 0;
    for (Slot slot : job.tasks) {
      const TaskRow& task = state.task(slot);
      load_s = std::max(load_s, to_seconds(task.seen_load + task.seen_upload));
      init_s = std::max(init_s, to_seconds(state.spec(task).delays.init));
    }
    sum += alone_usd_h(job, state, layouts, model, kinds) / 3600 * (load_s + init_s);
  }
  for (const Layout::Host& host : layout.hosts) {
    if (host.present == kUnassigned) sum += host.price_usd_h / 3600 * kArtifactLaunch_s;
  }
  return sum;
}

}  // namespace muster::eva
