#include "tools/pareto/elastic_load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "schedulers/boa/class_work.hpp"

namespace muster::pareto {
namespace {

using boa::BoaParams;

/// The jobs of one class: how many, and the newest.
struct Seen {
  std::uint64_t jobs = 0;
  std::size_t newest = 0;  ///< its position in the workload
};

/// From the first submission to the last one.
double hours_of(const replay::JobSource& jobs) {
  if (jobs.size() == 0) return 0;
  const Duration over = jobs.submit(jobs.size() - 1) - jobs.submit(0);
  return std::ceil(to_seconds(std::max(over, boa::kLeastCounted)) / 3600);
}

Expected<LoadClass, NoFrontier> class_of(const Job& job, const Catalog& catalog,
                                         const BoaParams& params) {
  const auto& elastic = std::get<ElasticSpec>(job.kind);
  if (!boa::states_speedups(elastic)) {
    return Failure<NoFrontier>{
        NoFrontier::not_stated,
        fmt::format("no prediction: jobs of class \"{}\" do not state how fast they are at which "
                    "width (of training jobs: workload.training.states_speedups)",
                    job.workload_class)};
  }
  const boa::WorkerHost host = boa::cheapest_host(shape_of(job, job.tasks.front()), catalog);
  if (host.worker_usd_h <= 0) {
    return Failure<NoFrontier>{NoFrontier::no_price,
                               fmt::format("no prediction: no type of the catalog that costs "
                                           "something holds a worker of class \"{}\"",
                                           job.workload_class)};
  }
  LoadClass made;
  made.worker_usd_h = host.worker_usd_h;
  made.node_holds = host.node_holds;
  made.acquire_h = to_seconds(host.acquire) / 3600;
  made.setup_h = to_seconds(host.setup) / 3600;
  made.work.name = job.workload_class;
  made.work.epochs = boa::epochs_of(elastic.epochs, elastic.speedup);
  if (params.rescales) made.work.rescale_h = to_seconds(boa::rescale_of(job)) / 3600;
  return made;
}

/// The cheapest first, as `boa` rents that.
std::vector<boa::GpuType> types_of(const Job& job, const Catalog& catalog) {
  auto types = boa::gpu_types_of(shape_of(job, job.tasks.front()), catalog);
  std::ranges::stable_sort(types, {}, &boa::GpuType::usd_h);
  return types;
}

}  // namespace

double LoadClass::load_gpus() const {
  return work.jobs_per_h * boa::gpu_h_of(work.epochs);
}

std::vector<boa::ClassWork> ElasticLoad::work() const {
  std::vector<boa::ClassWork> all;
  for (const LoadClass& each : classes) all.push_back(each.work);
  return all;
}

double ElasticLoad::load_gpus() const {
  double sum = 0;
  for (const LoadClass& each : classes) sum += each.load_gpus();
  return sum;
}

double ElasticLoad::jobs_per_h() const {
  double sum = 0;
  for (const LoadClass& each : classes) sum += each.work.jobs_per_h;
  return sum;
}

Expected<ElasticLoad, NoFrontier> elastic_load(const replay::JobSource& jobs,
                                               const Catalog& catalog, const BoaParams& params) {
  ElasticLoad load;
  load.hours = hours_of(jobs);
  std::map<std::string, Seen> seen;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Job job = jobs.job(i).job;
    if (!std::holds_alternative<ElasticSpec>(job.kind)) {
      ++load.others;
      continue;
    }
    Seen& of_class = seen[job.workload_class];
    ++of_class.jobs;
    of_class.newest = i;
  }
  if (seen.empty()) {
    return Failure<NoFrontier>{NoFrontier::no_elastic_jobs,
                               "no prediction: the workload has no elastic jobs"};
  }
  const auto stated = boa::by_class(params.arrivals.stated);
  const auto weights = boa::by_class(params.weights);
  for (const auto& [name, of_class] : seen) {
    const Job newest = jobs.job(of_class.newest).job;
    auto made = class_of(newest, catalog, params);
    if (!made) return made.error();
    auto types = types_of(newest, catalog);
    if (load.classes.empty()) {
      load.types = std::move(types);
    } else if (types != load.types) {
      load.types.clear();
    }
    made->jobs = of_class.jobs;
    made->work.jobs_per_h = static_cast<double>(of_class.jobs) / load.hours;
    const auto rate = stated.find(name);
    if (!stated.empty()) made->work.jobs_per_h = rate == stated.end() ? 0 : rate->second;
    if (const auto weight = weights.find(name); weight != weights.end()) {
      made->work.weight = weight->second;
    }
    load.classes.push_back(std::move(made).value());
  }
  if (load.jobs_per_h() <= 0) {
    return Failure<NoFrontier>{NoFrontier::no_rates,
                               fmt::format("no prediction: by rates_h no jobs come of the "
                                           "workload's classes, the first of which is \"{}\"",
                                           seen.begin()->first)};
  }
  return load;
}

std::vector<std::string> misnamed_classes(const replay::JobSource& jobs, const BoaParams& params) {
  const auto stated = boa::by_class(params.arrivals.stated);
  const auto weights = boa::by_class(params.weights);
  if (stated.empty() && weights.empty()) return {};
  std::set<std::string> classes;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Job job = jobs.job(i).job;
    if (std::holds_alternative<ElasticSpec>(job.kind)) classes.insert(job.workload_class);
  }
  std::vector<std::string> said;
  const auto check = [&](const char* param, const auto& named) {
    for (const auto& [name, number] : named) {
      if (classes.contains(name)) continue;
      said.push_back(
          fmt::format("{} names \"{}\", a class of which no job comes; those that come "
                      "are {}",
                      param, name, fmt::join(classes, ", ")));
    }
  };
  check("rates_h", stated);
  check("weights", weights);
  for (const std::string& name : classes) {
    if (stated.empty() || stated.contains(name)) continue;
    said.push_back(
        fmt::format("rates_h says nothing of class \"{}\": its jobs are not planned for, "
                    "and what they take is beyond the budget",
                    name));
  }
  return said;
}

}  // namespace muster::pareto
