#include "masters/view/cell_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actors/messages/byte_cut.hpp"
#include "masters/view/attempt_views.hpp"
#include "masters/view/beyond_cap.hpp"
#include "masters/view/cell_pieces.hpp"
#include "masters/view/metric_series.hpp"
#include "model/live_ids.hpp"

namespace muster {
namespace {

/// Jobs that a cost names, of those that are over and of the others.
constexpr std::size_t kMaxJobs = 10'000;
/// Cost of jobs that are not named one by one.
constexpr const char* kEarlier = "(earlier jobs)";
/// Cost of the users that are too many to be named.
constexpr const char* kOthers = "(other users)";
/// Tasks on an instance that are named.
constexpr std::size_t kMostOccupants = 10'000;

/// Parts that do not go into one message are summed up in a last part of that name.
void cut_parts(std::vector<CostPart>& parts, const char* rest_name) {
  std::vector<CostPart> all = parts;
  if (cut_to_message(parts) == 0) return;
  CostPart rest{rest_name, 0};
  for (std::size_t i = parts.size(); i < all.size(); ++i) rest.usd += all[i].usd;
  parts.push_back(std::move(rest));
}

/// Where in the job the task of an array index is.
FoundView found_in(const Job& job, std::uint32_t index, bool over) {
  FoundView view{true, over, {}};
  const auto task = std::find_if(job.tasks.begin(), job.tasks.end(),
                                 [&](const TaskSpec& spec) { return spec.array_index == index; });
  if (task != job.tasks.end()) view.position = position_of(task->id);
  return view;
}

AttemptPlace place_from(const TaskHistory& task, Attempt attempt, bool running) {
  AttemptPlace place;
  place.known = attempt <= task.attempts;
  place.running = running;
  place.attempt = attempt == 0 ? task.attempts : attempt;
  place.on = task.instance;
  place.end = task.end;
  return place;
}

}  // namespace

/// Whether the job is here, and where in it the task of an array index is.
CellAnswer<FoundView> CellView::find(const FindQuestion& wanted) const {
  if (const JobRow* row = master.state().find(wanted.job)) {
    return {found_in(row->job, wanted.index, false), {}};
  }
  if (history == nullptr || !history->contains(wanted.job)) return {};
  return {{}, [wanted, over = history] {
            const auto found = over->find(wanted.job);
            return found ? found_in(found->job, wanted.index, true) : FoundView{};
          }};
}

InstanceView CellView::instance(const InstanceRow& row) const {
  const ClusterState& state = master.state();
  const InstanceType& type = master.catalog()[row.type];
  InstanceView view;
  view.instance = row.id;
  view.type = type.name;
  view.market = row.market;
  view.phase = row.phase;
  view.released = row.released;
  view.usd_h = row.price.usd_h();
  view.requested = row.requested_at;
  view.up = master.facts().up_since(row.id);
  view.master = name;
  for (Slot slot : row.occupants) {
    if (view.tasks.size() == kMostOccupants) break;
    const TaskRow& task = state.task(slot);
    view.tasks.push_back({state.job(task.job).job.id, state.spec(task).array_index});
  }
  view.more_tasks = row.occupants.size() - view.tasks.size();
  view.used = row.used;
  view.capacity = type.capacity;
  view.labels = type.labels;
  view.own_checkpoints = row.own_checkpoints;
  const auto worker = workers.find(row.id);
  if (worker != workers.end()) {
    view.connected = worker->second.connected;
    view.limits = worker->second.limits;
    view.isolation = worker->second.isolation;
  }
  return view;
}

InstancesView CellView::instances(InstanceId after) const {
  std::vector<const InstanceRow*> rows;
  for (const InstanceRow& row : master.state().instances()) {
    if (!after.valid() || row.id > after) rows.push_back(&row);
  }
  std::sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) { return a->id < b->id; });
  InstancesView view;
  ByteCut cut;
  for (const InstanceRow* row : rows) {
    InstanceView one = instance(*row);
    view.more = !cut.takes(one);
    if (view.more) break;
    view.instances.push_back(std::move(one));
  }
  return view;
}

InstanceLife CellView::life(const InstanceQuestion& wanted) const {
  const InstanceHistory* known = master.facts().lives.find(wanted.instance);
  if (known == nullptr) return {};
  const InstanceRow* row = master.state().find(wanted.instance);
  InstanceLife life = cell::life_of(*known, row, master.catalog(), now);
  life.instance = wanted.instance;
  life.master = name;
  return life;
}

/// Cost in all, and its parts besides tasks.
CostView CellView::spent() const {
  const Ledger& ledger = master.ledger();
  const Money total = ledger.accrued(master.state(), now);
  CostView view;
  view.total_usd = total.usd();
  view.unsettled_usd = (total - ledger.total()).usd();
  view.tasks_usd = ledger.tasks().usd();
  for (std::size_t i = 0; i < kOverheadKinds; ++i) {
    const auto kind = static_cast<OverheadKind>(i);
    view.idle.push_back({std::string(name_of(kind)), ledger.idleness(kind).usd()});
  }
  return view;
}

CellAnswer<CostView> CellView::cost(const CostQuestion& wanted) const {
  if (wanted.by == CostSplit::job) return cost_by_job();
  CostView view = spent();
  if (wanted.by == CostSplit::instance) return {std::move(view), {}};  // that is the cloud's to say
  std::map<std::string, Money> parts = master.ledger().by_user();
  if (history != nullptr) {
    for (const auto& [user, usd] : history->spent_by_user()) parts[user] += usd;
  }
  Money rest = master.ledger().tasks();
  for (const auto& [user, usd] : parts) rest -= usd;
  // The parts add up to the tasks' total, whatever of the past is no longer kept.
  if (!(rest == Money{})) parts[kEarlier] += rest;
  for (const auto& [user, usd] : parts) view.by.push_back({user, usd.usd()});
  cut_parts(view.by, kOthers);
  return {std::move(view), {}};
}

/// Names the newest jobs; their costs are taken down here, and put in words apart.
CellAnswer<CostView> CellView::cost_by_job() const {
  const ClusterState& state = master.state();
  std::vector<HistoryEntry> named;
  for (Slot slot = state.last_job(); slot != kNoSlot && named.size() < kMaxJobs;
       slot = state.job_before(slot)) {
    const JobRow& row = state.job(slot);
    named.push_back({row.job.id, {}, row.job.name, master.ledger().job(slot)});
  }
  if (history != nullptr) {
    history->newest_entries(kMaxJobs, [&](const HistoryEntry& entry) {
      named.push_back({entry.job, {}, entry.name, entry.cost});
    });
  }
  Money rest = master.ledger().tasks();
  for (const HistoryEntry& job : named) rest -= job.cost;
  const auto write = [whole = spent(), named = std::move(named), rest] {
    CostView view = whole;
    if (!(rest == Money{})) view.by.push_back({kEarlier, rest.usd()});
    for (const HistoryEntry& job : named) {
      view.by.push_back({fmt::format("{} {}", job.job.value, job.name), job.cost.usd()});
    }
    cut_parts(view.by, kEarlier);
    return view;
  };
  if (history == nullptr) return {write(), {}};
  return {{}, write};
}

CellFigures CellView::counted() const {
  const ClusterState& state = master.state();
  const WorkSums& work = state.work();
  const FleetSums& sums = state.sums();
  const auto jobs = [&](auto... standings) { return (work.count(standings) + ...); };
  CellFigures view;
  view.master = name;
  view.jobs_waiting = jobs(JobStanding::waiting, JobStanding::starting);
  view.jobs_running = jobs(JobStanding::running, JobStanding::stopping);
  view.jobs_held = jobs(JobStanding::held);
  view.active_jobs = state.jobs().size();
  view.over_jobs = history == nullptr ? 0 : history->size();
  view.pending = work.count(TaskPhase::pending);
  view.assigned = work.count(TaskPhase::assigned);
  view.held = work.count(TaskPhase::held);
  // Workers beyond the widths of elastic jobs are not waited for.
  view.capped = work.count(TaskPhase::capped) - work.beyond_width;
  view.running = work.count(TaskPhase::running);
  view.elastic_jobs = work.elastic_jobs;
  view.elastic_workers = work.widths;
  for (std::uint32_t i = 0; i < master.catalog().size(); ++i) {
    for (Market market : {Market::on_demand, Market::spot}) {
      const std::uint32_t count = sums.count(TypeId{i}, market);
      if (count > 0) view.instances.push_back({master.catalog()[TypeId{i}].name, market, count});
    }
  }
  const MasterCaps& caps = master.settings().caps;
  view.instance_count = state.instances().size();
  view.usd_h = Price::from_nano_usd_h(sums.up_nano_usd_h).usd_h();
  view.total_usd = master.ledger().accrued(state, now).usd();
  view.today_usd = master.spent_today(now).usd();
  view.rounds = master.facts().rounds;
  view.last_decision_ms = last_decision_ms;
  view.caps = {caps.max_instances, caps.max_usd_h, caps.max_usd_day};
  view.trouble = trouble;
  return view;
}

CellFigures CellView::figures() const {
  CellFigures view = counted();
  if (tally != nullptr) {
    view.counts = tally->counts();
    view.histograms = tally->histograms();
  }
  return view;
}

CellFigures CellView::figures_with_series() const {
  CellFigures view = figures();
  view.metrics =
      metric_series(master.state(), master.facts().metrics, master.settings().metrics.most_series);
  return view;
}

HistorySample CellView::sample() const {
  const CellFigures figures = counted();
  HistorySample sample;
  // A member that samples have more stops the compiler here: it would be 0 in every plot.
  auto& [at, usd_h, spent_usd, instances, tasks_running, tasks_pending, jobs_waiting] = sample;
  at = now;
  usd_h = figures.usd_h;
  spent_usd = figures.total_usd;
  instances = figures.instance_count;
  tasks_running = figures.running;
  tasks_pending = figures.waiting_tasks();
  jobs_waiting = figures.jobs_waiting;
  return sample;
}

DecisionsView CellView::decided(const DecisionsQuestion& wanted) const {
  return decisions == nullptr ? DecisionsView{} : decisions->view(wanted, name);
}

PlanView CellView::plan(Job job) const {
  const JobId id = job.id;
  return view_of(master.dry_run(std::move(job), now), id, name);
}

PlanView view_of(const DryRun& run, JobId id, const std::string& master) {
  const Catalog& catalog = run.state->catalog();
  PlanView view;
  view.master = master;
  for (const InstanceRow& row : run.state->instances()) view.usd_h_now += row.price.usd_h();
  double launched_usd_h = 0;
  for (std::size_t i = 0; i < run.plan.launches.size(); ++i) {
    if (!run.checked.launched(i)) continue;
    const Launch& launch = run.plan.launches[i];
    const double price =
        run.state->offerings().find(launch.type, launch.market, launch.zone)->price.usd_h();
    launched_usd_h += price;
    view.launches.push_back({catalog[launch.type].name, launch.market, price});
  }
  view.usd_h = view.usd_h_now + launched_usd_h;
  cell::CapSentences under_caps(run.caps, catalog);
  const auto refuse = [&](TaskId task, const Refusal& why) {
    const Job& job = run.state->find(id)->job;
    const TaskSpec& spec = run.state->spec(*run.state->find(task));
    const bool beyond = under_caps.is_beyond(job, spec, why);
    view.refusals.push_back(
        {spec.array_index, beyond ? RefusalKind::never : why.kind, under_caps.of(job, spec, why)});
  };
  const auto index_of = [&](TaskId task) {
    return run.state->spec(*run.state->find(task)).array_index;
  };
  for (std::size_t i = 0; i < run.plan.places.size(); ++i) {
    const Place& place = run.plan.places[i];
    if (job_of(place.task) != id) {
      view.moves +=
          !run.checked.places[i] && run.state->find(place.task)->phase == TaskPhase::running;
      continue;
    }
    if (run.checked.places[i]) {
      refuse(place.task, *run.checked.places[i]);
      continue;
    }
    std::string to;
    if (const auto* there = std::get_if<InstanceId>(&place.to)) {
      to = fmt::format("instance {} ({})", there->value,
                       catalog[run.state->find(*there)->type].name);
    } else {
      const Launch& launch = run.plan.launches[std::get<LaunchIndex>(place.to).value];
      to = fmt::format("a new {}", catalog[launch.type].name);
    }
    view.places.push_back({index_of(place.task), std::move(to)});
  }
  view.moves += run.restarts;
  for (const Refuse& part : run.plan.refusals) {
    if (job_of(part.task) == id) refuse(part.task, part.refusal);
  }
  view.left_out = cut_to_message(view.launches, kListBytes / 2) +
                  cut_to_message(view.places, kListBytes / 2) +
                  cut_to_message(view.refusals, kListBytes / 2);
  return view;
}

AttemptPlace CellView::place_of(TaskId task, Attempt attempt) const {
  const TaskRow* row = master.state().find(task);
  if (row == nullptr) return {};
  const TaskHistory* seen = master.facts().task_history(task);
  return place_from(seen == nullptr ? TaskHistory{} : *seen, attempt,
                    row->phase != TaskPhase::finished && row->phase != TaskPhase::failed);
}

AttemptPlace place_of(TaskId task, Attempt attempt, const History& history) {
  const auto over = history.find(job_of(task));
  if (!over) return {};
  const std::vector<TaskSpec>& specs = over->job.tasks;
  const auto found = std::find_if(specs.begin(), specs.end(),
                                  [&](const TaskSpec& spec) { return spec.id == task; });
  if (found == specs.end()) return {};
  return place_from(over->tasks[static_cast<std::size_t>(found - specs.begin())], attempt, false);
}

}  // namespace muster
