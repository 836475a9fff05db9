#include "schedulers/boa/class_work.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "schedulers/boa/glue_plan.hpp"
#include "schedulers/packing/node_packing.hpp"
#include "schedulers/packing/rounds/moves.hpp"

namespace muster::boa {

std::vector<EpochWork> epochs_of(const ElasticEpochs& epochs, const std::vector<double>& speedup) {
  std::vector<EpochWork> all;
  double begun = 0;
  for (const ElasticEpoch& epoch : epochs.all()) {
    const double size_h =
        epoch.rate_per_s > 0 ? (epoch.until - begun) / epoch.rate_per_s / 3600 : 1;
    begun = epoch.until;
    all.push_back({size_h, epoch.speedup});
  }
  // Of a job that says nothing of its size an hour is as good as any: one epoch, one width.
  if (all.empty()) all.push_back({1, speedup});
  // A path over the epochs has the same widths to choose from in each.
  std::size_t most = 1;
  for (const EpochWork& epoch : all) most = std::max(most, epoch.speedup.size());
  for (EpochWork& epoch : all) {
    if (epoch.speedup.empty()) epoch.speedup.push_back(1);
    epoch.speedup.resize(most, epoch.speedup.back());
  }
  return all;
}

double gpu_h_of(const std::vector<EpochWork>& epochs) {
  double sum = 0;
  for (const EpochWork& epoch : epochs) sum += epoch.gpu_h;
  return sum;
}

bool states_speedups(const ElasticSpec& spec) {
  return !spec.speedup.empty() || std::ranges::any_of(spec.epochs.all(), [](const auto& epoch) {
    return !epoch.speedup.empty();
  });
}

Duration rescale_of(const Job& job) {
  Duration longest{};
  for (const TaskSpec& task : job.tasks) {
    longest = std::max(longest, move_time(task.delays));
  }
  return longest;
}

WorkerHost cheapest_host(const Shape& worker, const Catalog& catalog) {
  WorkerHost host;
  double least = std::numeric_limits<double>::infinity();
  for (const InstanceType& type : catalog.types()) {
    const FamilyDemand* demand = worker.on(type);
    const std::uint32_t room = demand == nullptr ? 0 : workers_in(type.capacity, demand->amount);
    if (room == 0 || type.on_demand.usd_h() / room >= least) continue;
    least = type.on_demand.usd_h() / room;
    host = {room, least, type.acquire, type.setup};
  }
  return host;
}

std::vector<GpuType> gpu_types_of(const Shape& worker, const Catalog& catalog) {
  std::vector<GpuType> types;
  for (const InstanceType& type : catalog.types()) {
    const FamilyDemand* demand = worker.on(type);
    const std::uint32_t room = demand == nullptr ? 0 : workers_in(type.capacity, demand->amount);
    if (room == 0) continue;
    const double usd_h = type.on_demand.usd_h() / room;
    const auto known = std::ranges::find(types, type.family, &GpuType::name);
    if (known == types.end()) {
      types.push_back({type.family, usd_h, demand->speed});
    } else {
      known->usd_h = std::min(known->usd_h, usd_h);
    }
  }
  return types;
}

std::map<std::string, double> by_class(const std::vector<std::string>& entries) {
  std::map<std::string, double> numbers;
  for (const std::string& entry : entries) {
    const std::size_t colon = entry.find(':');
    // As the parameters' check reads it, in every locale; a text that it would refuse counts for 0.
    if (colon == std::string::npos) continue;
    double& number = numbers[entry.substr(0, colon)];
    std::from_chars(entry.data() + colon + 1, entry.data() + entry.size(), number);
  }
  return numbers;
}

Expected<WidthPlan, WidthError> plan_by(PlanKind kind, const std::vector<ClassWork>& classes,
                                        double budget_gpus) {
  switch (kind) {
    case PlanKind::glue:
      return GluePlanner(classes).plan(budget_gpus);
    case PlanKind::share:
      return share_widths(classes, budget_gpus);
    case PlanKind::path:
      break;
  }
  return plan_widths(classes, budget_gpus);
}

bool takes_share(JobId job, double share) {
  // Multiples of the golden ratio lie as evenly between whole numbers as any.
  constexpr double kGolden = 0.6180339887498949;
  const double at = static_cast<double>(job.value) * kGolden;
  return at - std::floor(at) < share;
}

}  // namespace muster::boa
