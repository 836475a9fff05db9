#include "schedulers/muster/class_times.hpp"

#include <algorithm>

#include "schedulers/muster/run_times.hpp"
#include "schedulers/packing/rounds/moves.hpp"

namespace muster::own {
namespace {

/// Shares of jobs add up to one but for rounding.
constexpr double kShareRounding = 1e-6;

}  // namespace

void ClassTimes::add(const TaskRow& task, double share, const ClassTable& classes) {
  OfClass& of = classes_[task.cls];
  of.jobs = std::min(of.jobs + share, kMemory);
  of.mean_s += (to_seconds(task.ran) - of.mean_s) * share / of.jobs;
  forgetting_.look(classes_.size(), [&] {
    std::erase_if(classes_, [&](const auto& one) { return classes.name(one.first) == nullptr; });
    return classes_.size();
  });
}

std::optional<Duration> ClassTimes::mean(ClassId cls) const {
  const auto found = classes_.find(cls);
  if (found == classes_.end() || found->second.jobs < kLeastJobs - kShareRounding)
    return std::nullopt;
  return from_seconds(found->second.mean_s);
}

Duration change_time(const InstanceType& type, const Delays& delays) {
  return type.acquire + type.setup + move_time(delays);
}

std::optional<KnownTime> KnownTimes::of(const Job& job, const TaskSpec& spec, ClassId cls) const {
  if (const auto said = said_run_time(job, spec, params.run_times)) return KnownTime{*said, false};
  if (params.learnt_runs <= 0 || params.run_times == RunTimes::unknown) return std::nullopt;
  const auto learnt = classes.mean(cls);
  return learnt ? std::optional(KnownTime{*learnt, true}) : std::nullopt;
}

bool KnownTimes::is_short(const KnownTime& time, Duration change) const {
  const double times = time.is_learnt ? params.learnt_runs : params.short_runs;
  return to_seconds(time.run) < times * to_seconds(change);
}

}  // namespace muster::own
