#include "replay/metrics/gpu_metrics.hpp"

#include <optional>
#include <string>
#include <utility>

// The part of the table of metrics that is of GPUs. Its groups are absent where no instance of a
// run has any.

namespace muster::metrics {
namespace {

using Run = const RunResult&;
using Value = std::optional<double>;

}  // namespace

void add_unused_gpus(std::vector<Metric>& table) {
  const auto add = [&table](std::string key, std::string how, double UnusedGpuHours::*member) {
    table.push_back({.key = "gpu_h_unused." + std::move(key),
                     .unit = "GPU-h",
                     .how = std::move(how),
                     .of = [member](Run r) -> Value {
                       return r.gpu_h_unused ? Value((*r.gpu_h_unused).*member) : Value{};
                     },
                     .has_group = [](Run r) { return r.gpu_h_unused.has_value(); }});
  };
  add("starting", "rented, of instances that are not ready; null without an instance that has GPUs",
      &UnusedGpuHours::starting);
  add("remainders", "rented and not held, of instances that tasks are on",
      &UnusedGpuHours::remainders);
  add("empty", "rented, of instances that are ready and that no task is on",
      &UnusedGpuHours::empty);
  add("leaving",
      "not held, from the decision to give an instance back to its end; not part of what is rented",
      &UnusedGpuHours::leaving);
}

void add_gpus(std::vector<Metric>& table) {
  using Gpus = std::optional<GpuHours>;
  const auto add = [&](std::string key, std::string how, Gpus RunResult::*of,
                       double GpuHours::*part) {
    table.push_back({.key = std::move(key),
                     .unit = of == &RunResult::gpu_h ? "GPU-h" : "GPUs",
                     .how = std::move(how),
                     .of = [of, part](Run r) { return r.*of ? Value((*(r.*of)).*part) : Value{}; },
                     .has_group = [of](Run r) { return (r.*of).has_value(); }});
  };
  add("gpu_h.used", "GPUs that tasks hold x time", &RunResult::gpu_h, &GpuHours::used);
  add("gpu_h.rented", "GPUs of instances x time from the order to the decision to give them back",
      &RunResult::gpu_h, &GpuHours::rented);
  add("gpu_h.billed", "GPUs of instances x time that the cloud billed", &RunResult::gpu_h,
      &GpuHours::billed);
  const auto mean = &RunResult::gpus_while_arriving;
  add("gpus_while_arriving.used", "those used, mean from the first acceptance to the last one",
      mean, &GpuHours::used);
  add("gpus_while_arriving.rented", "those rented, likewise", mean, &GpuHours::rented);
  table.push_back({.key = "efficiency",
                   .unit = "of 1",
                   .better = Better::higher,
                   .how = "speedups over one worker that elastic jobs state of what they hold x "
                          "time / `gpu_h.rented`; null unless all jobs state them",
                   .of = [](Run r) { return r.efficiency; }});
  table.push_back({.key = "width_error",
                   .unit = "of 1",
                   .better = Better::lower,
                   .how = "distance of the widths that `boa` plans by learnt speedups from those "
                          "by stated ones, mean by load and over time; null unless it learns",
                   .of = [](Run r) { return r.width_error; }});
}

}  // namespace muster::metrics
