#include "schedulers/sampling/known_groups.hpp"

#include "schedulers/params.hpp"
#include "schedulers/sampling/central_scheduler.hpp"

namespace muster::sampling {
namespace {

const std::string kFlag = "true or false";
const std::string kShare = "a number >= 0 and < 1";
const ParamInfo kDelay{"network_delay_ms", "0.5", "a number >= 0 and <= 60000",
                       "milliseconds that a message takes between any two parties"};
const ParamInfo kSkip{"skip_blocked", "false", kFlag,
                      "let what fits pass what does not fit in front of it"};
const ParamInfo kCutoff{"cutoff_s", "90.5811", "a number > 0 and <= 1e12",
                        "a job is long when its runtime hint is more seconds than this"};
const ParamInfo kRatio{"probe_ratio", "2", "a number > 0 and <= 100", "probes a task"};
const ParamInfo kReplacement{"replacement", "false", kFlag,
                             "draw each worker from all, not from those not yet drawn"};

ParamInfo with_default(ParamInfo info, const std::string& value) {
  info.default_value = value;
  return info;
}

ParamInfo min_probes(const std::string& value) {
  return {"min_probes", value, "a whole number >= 1 and <= 1000000", "probes a job at least"};
}

PolicyInfo sparrow_info() {
  return {"sparrow",
          "Sparrow (SOSP'13): batch sampling with late binding, over a fixed fleet; replay only",
          {kRatio,
           min_probes("1"),
           kReplacement,
           {"cancellation", "false", kFlag, "call probes back that are of no use any more"},
           kSkip,
           kDelay}};
}

PolicyInfo eagle_info() {
  return {"eagle",
          "Eagle (SoCC'16): long jobs placed centrally, short ones sampled around them, over a "
          "fixed fleet; replay only",
          {kCutoff,
           {"short_partition", "0.02", kShare,
            "share of the workers that take no long task (one at least, unless 0)"},
           kRatio,
           min_probes("20"),
           with_default(kReplacement, "true"),
           {"retry_rounds", "1", "a whole number >= 0 and <= 100",
            "samplings of rejected probes before the short partition"},
           {"sticky", "true", kFlag, "a probe serves its job until no task is left"},
           {"srpt", "true", kFlag, "short jobs with the least remaining time go first"},
           {"starvation_cap", "5", "a number >= 0 and <= 1e9",
            "a short task is overtaken by at most so many times its own estimate"},
           kSkip,
           kDelay}};
}

PolicyInfo pigeon_info() {
  return {"pigeon",
          "Pigeon (SoCC'19): tasks spread evenly over groups of workers with a master each, over a "
          "fixed fleet; replay only",
          {kCutoff,
           {"groups", "30", "a whole number >= 1 and <= 1000000", "groups of workers"},
           {"reserved", "0.02", kShare,
            "share of each group's workers for short tasks alone (one at least, unless 0)"},
           {"weight", "0", "a whole number >= 0 and <= 1000000000",
            "short tasks in a row before a waiting long one; 0: without end"},
           kSkip,
           kDelay}};
}

/// Everything that any group can be told.
struct Values {
  GroupParams params;
  double network_delay_ms = 0.5;

  ParamTarget target(const std::string& name) {
    ProbeRules& probes = params.probes;
    QueueRules& queue = params.queue;
    if (name == "probe_ratio") return ParamTarget::positive(&probes.probe_ratio, 100);
    if (name == "min_probes") return ParamTarget::whole(&probes.min_probes, 1, 1e6);
    if (name == "replacement") return {&probes.replacement};
    if (name == "cancellation") return {&probes.cancellation};
    if (name == "retry_rounds") return ParamTarget::whole(&probes.retry_rounds, 0, 100);
    if (name == "short_partition") return share(&probes.short_partition);
    if (name == "sticky") return {&queue.sticky};
    if (name == "srpt") return {&queue.shortest_first};
    if (name == "starvation_cap") return ParamTarget::between(&queue.starvation_cap, 0, 1e9);
    if (name == "skip_blocked") return {&queue.skip_blocked};
    if (name == "cutoff_s") return ParamTarget::positive(&params.cutoff_s, 1e12);
    if (name == "groups") return ParamTarget::whole(&params.pigeon.groups, 1, 1e6);
    if (name == "reserved") return share(&params.pigeon.reserved);
    if (name == "weight") return ParamTarget::whole(&params.pigeon.weight, 0, 1e9);
    return ParamTarget::between(&network_delay_ms, 0, 60000);
  }
  static ParamTarget share(double* number) {
    constexpr double kBelowOne = 1 - 1e-12;
    return ParamTarget::between(number, 0, kBelowOne);
  }
};

}  // namespace

const std::vector<PolicyInfo>& known_groups() {
  static const std::vector<PolicyInfo> kGroups = {sparrow_info(), eagle_info(), pigeon_info()};
  return kGroups;
}

std::optional<Expected<GroupParams, PolicyError>> read_group(const PolicySpec& spec) {
  const PolicyInfo* info = find_info(known_groups(), spec.name);
  if (info == nullptr) return std::nullopt;
  Values values;
  const auto target = [&values](const std::string& name) { return values.target(name); };
  PolicySpec defaults{info->name, {}};
  for (const ParamInfo& param : info->params) {
    defaults.params.emplace_back(param.name, param.default_value);
  }
  for (const PolicySpec& given : {defaults, spec}) {
    if (auto wrong = read_params(given, *info, target)) return *wrong;
  }
  GroupParams& params = values.params;
  if (spec.name == "eagle") {
    params.system = System::eagle;
    params.queue.reject_behind_long = true;
  } else if (spec.name == "pigeon") {
    params.system = System::pigeon;
  }
  params.pigeon.skip_blocked = params.queue.skip_blocked;
  params.network_delay = from_seconds(values.network_delay_ms / 1e3);
  return params;
}

bool is_reserved(const GroupParams& params, std::size_t workers, WorkerIndex worker) {
  if (params.system == System::eagle) {
    return worker < short_workers(params.probes.short_partition, workers);
  }
  if (params.system != System::pigeon) return false;
  const std::uint32_t index = pigeon_group_of(params.pigeon, workers, worker);
  return pigeon_group(params.pigeon, workers, index).is_reserved(worker);
}

std::string fault_of(const GroupParams& params, std::size_t workers) {
  const std::string have = "; the fleet has " + std::to_string(workers);
  if (workers == 0) return "needs a fixed fleet: set master.fleet, such as [\"4000*slot\"]";
  if (params.system == System::eagle && workers < 2) {
    return "needs two workers at least, one of them for short tasks" + have;
  }
  if (params.system == System::pigeon && params.pigeon.groups > workers) {
    return "has " + std::to_string(params.pigeon.groups) +
           " groups, which need a worker each (parameter groups)" + have;
  }
  return {};
}

std::vector<std::unique_ptr<Scheduler>> make_schedulers(const GroupParams& params,
                                                        std::uint64_t seed) {
  std::vector<std::unique_ptr<Scheduler>> schedulers;
  if (params.system == System::pigeon) {
    schedulers.push_back(std::make_unique<PigeonDistributor>(params.pigeon, seed));
    for (std::uint32_t i = 0; i < params.pigeon.groups; ++i) {
      schedulers.push_back(std::make_unique<PigeonMaster>(params.pigeon, i));
    }
    return schedulers;
  }
  schedulers.push_back(std::make_unique<ProbeScheduler>(params.probes, seed));
  if (params.system == System::eagle) {
    schedulers.push_back(std::make_unique<CentralScheduler>(
        CentralRules{params.probes.short_partition, params.network_delay}));
  }
  return schedulers;
}

}  // namespace muster::sampling
