#include "tools/bound/hosted_tasks.hpp"

#include <algorithm>
#include <utility>

#include "replay/metrics/occupancy.hpp"
#include "replay/workload/demands_text.hpp"

namespace muster::bound {

HostedTasks::HostedTasks(const Catalog& catalog) : catalog_(catalog), usd_h_(catalog.size(), 0.0) {
  for (std::uint32_t i = 0; i < catalog.size(); ++i) {
    const InstanceType& type = catalog[TypeId{i}];
    learn(TypeId{i}, Market::on_demand, "", type.on_demand);
    if (type.spot) learn(TypeId{i}, Market::spot, "", *type.spot);
  }
}

HostedTasks::HostedTasks(const Catalog& catalog, const ClusterState& state) : HostedTasks(catalog) {
  for (const OfferingRow& row : state.offerings().rows()) {
    learn(row.key.type, row.key.market, row.key.zone, row.price);
  }
  for (const JobRow& job : state.jobs()) accept(job.job);
  for (const InstanceRow& row : state.instances()) {
    learn(row.type, row.market, row.zone, row.price);
    Instance& instance = rented_instances_[row.id];
    instance.price.key = row.offering();
    instance.price.now = row.price;
    if (row.up) bill(row.id);
    for (const Slot slot : row.occupants) start(state.task(slot).id, row.id);
  }
}

bool HostedTasks::take_changed() {
  return std::exchange(changed_, false);
}

void HostedTasks::see(const Event& event) {
  if (const auto* accepted = std::get_if<JobAccepted>(&event.body)) {
    accept(accepted->job);
  } else if (const auto* launch = std::get_if<LaunchRequested>(&event.body)) {
    if (launch->type.value >= catalog_.size()) return;
    learn(launch->type, launch->market, launch->zone, launch->price);
    rented_instances_.try_emplace(launch->instance,
                                  Instance{metrics::RentedPrice(*launch, event.cell), {}, false});
  } else if (const auto* refused = std::get_if<LaunchRefused>(&event.body)) {
    end(refused->instance);
  } else if (const auto* up = std::get_if<InstanceUp>(&event.body)) {
    bill(up->instance);
  } else if (const auto* gone = std::get_if<InstanceGone>(&event.body)) {
    end(gone->instance);
  } else if (const auto* begun = std::get_if<StartIssued>(&event.body)) {
    start(begun->task, begun->instance);
  } else if (const auto left = metrics::task_that_left(event)) {
    leave(*left);
  } else if (std::holds_alternative<OfferingChanged>(event.body)) {
    reprice(event);
  } else if (const auto* over = std::get_if<JobFinished>(&event.body)) {
    const auto job = jobs_.find(over->job);
    if (job == jobs_.end()) return;
    for (const TaskId task : job->second) {
      leave(task);
      known_.erase(task);
    }
    jobs_.erase(job);
  }
}

std::uint32_t HostedTasks::kind_of(const Shape& shape) {
  const auto number = static_cast<std::uint32_t>(kinds_.size());
  // A text of demands has no line of its own.
  const auto [kind, is_new] = kind_ids_.try_emplace(
      replay::demands_text(shape.demands.entries()) + "\n" + shape.constraint.text(), number);
  if (is_new) {
    kinds_.push_back(shape);
    counts_.push_back(0);
  }
  return kind->second;
}

void HostedTasks::accept(const Job& job) {
  // A job that is known keeps its tasks: some of them may hold resources.
  const auto [known_job, is_new] = jobs_.try_emplace(job.id);
  if (!is_new) return;
  std::vector<TaskId>& tasks = known_job->second;
  std::uint32_t kind = 0;
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    const bool as_before = i > 0 && job.tasks[i].demands == job.tasks[i - 1].demands;
    if (!as_before) kind = kind_of(shape_of(job, job.tasks[i]));
    // A number that another job has too stays that job's.
    if (!known_.try_emplace(job.tasks[i].id, Task{kind, {}, false}).second) continue;
    tasks.push_back(job.tasks[i].id);
  }
}

void HostedTasks::start(TaskId id, InstanceId on) {
  // An attempt whose worker was lost may be followed by the next without an end of its own.
  leave(id);
  const auto task = known_.find(id);
  const auto instance = rented_instances_.find(on);
  if (task == known_.end() || instance == rented_instances_.end()) return;
  task->second.on = on;
  task->second.holds = true;
  instance->second.tasks.insert(id);
  ++counts_[task->second.kind];
  ++tasks_;
  changed_ = true;
}

void HostedTasks::leave(TaskId id) {
  const auto task = known_.find(id);
  if (task == known_.end() || !task->second.holds) return;
  task->second.holds = false;
  const auto instance = rented_instances_.find(task->second.on);
  if (instance != rented_instances_.end()) instance->second.tasks.erase(id);
  --counts_[task->second.kind];
  --tasks_;
  changed_ = true;
}

void HostedTasks::bill(InstanceId id) {
  const auto instance = rented_instances_.find(id);
  if (instance == rented_instances_.end() || instance->second.billed) return;
  instance->second.billed = true;
  rented_ += instance->second.price.now.nano_usd_h();
  ++billed_;
  changed_ = true;
}

void HostedTasks::end(InstanceId id) {
  const auto instance = rented_instances_.find(id);
  if (instance == rented_instances_.end()) return;
  const std::set<TaskId> tasks = instance->second.tasks;
  for (const TaskId task : tasks) leave(task);
  if (instance->second.billed) {
    rented_ -= instance->second.price.now.nano_usd_h();
    --billed_;
  }
  rented_instances_.erase(instance);
  changed_ = true;
}

void HostedTasks::reprice(const Event& event) {
  const OfferingChange& change = std::get<OfferingChanged>(event.body).change;
  const auto type = catalog_.find(change.offering.type);
  if (!type) return;
  learn(*type, change.offering.market, change.offering.zone, change.offering.price);
  for (auto& [id, instance] : rented_instances_) {
    if (!instance.price.is_changed_by(event, catalog_)) continue;
    const Price before = instance.price.now;
    instance.price.change(change);
    if (!instance.billed) continue;
    rented_ += instance.price.now.nano_usd_h() - before.nano_usd_h();
  }
}

void HostedTasks::learn(TypeId type, Market market, const std::string& zone, Price price) {
  prices_[{type.value, market, zone}] = price.usd_h();
  double least = price.usd_h();
  const auto first = prices_.lower_bound({type.value, Market{}, std::string{}});
  for (auto at = first; at != prices_.end() && std::get<0>(at->first) == type.value; ++at) {
    least = std::min(least, at->second);
  }
  changed_ |= usd_h_[type.value] != least;
  usd_h_[type.value] = least;
}

}  // namespace muster::bound
