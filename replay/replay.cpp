#include "replay/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "actors/cloud/actor_machines.hpp"
#include "actors/cloud/providers.hpp"
#include "actors/time/virtual_time.hpp"
#include "model/live_ids.hpp"
#include "replay/cap_losses.hpp"
#include "replay/history_count.hpp"
#include "replay/idle_limit.hpp"
#include "replay/interference.hpp"
#include "replay/invariants.hpp"
#include "replay/job_limits.hpp"
#include "replay/metrics/measure.hpp"
#include "replay/own_machines.hpp"
#include "replay/replayed_policy.hpp"
#include "replay/run_log.hpp"
#include "replay/run_world.hpp"
#include "replay/sampling/compositions.hpp"
#include "replay/sampling/group_member.hpp"
#include "replay/sampling_run.hpp"
#include "replay/service_meter.hpp"
#include "replay/true_pairs.hpp"
#include "replay/width_errors.hpp"
#include "replay/workload/stated_truth.hpp"
#include "replay/workload_driver.hpp"
#include "replay/workload_names.hpp"
#include "serve/group/group.hpp"
#include "storage/stores/memory_site_store.hpp"
#include "workers/light_worker.hpp"
#include "workers/model_executor.hpp"

// One replay: spawns the real actors in virtual time over a simulated world, lets them run until
// all jobs are over and everything is given back, and turns the log into figures. A run whose log
// breaks a law is an error and gives no figures.

namespace muster::replay {
namespace {

using metrics::RunResult;

using WorldHandle = caf::typed_actor<caf::reacts_to<Wakeup>>;

/// Lends the world a place in virtual time to be woken at.
WorldHandle::behavior_type world_waker() {
  return {[](const Wakeup& wakeup) { wakeup.run(); }};
}

/// The policy of one master, and its instances when they are given.
struct Cell {
  std::unique_ptr<Policy> policy;
  Fleet fleet;
};

/// Actors that decide in a run: masters behind sites, or a sampling group.
struct Decider {
  std::vector<Cell> cells;
  Intake intake;
  std::optional<JobClassifierService> classifier;
  std::unique_ptr<sampling::Composition> composition;  ///< of a sampling group
  Fleet fleet;                                         ///< of the group
  ProviderMaker cloud;
};

Failure<ReplayError> bad_policy(const Failure<PolicyError>& error) {
  return {ReplayError::bad_policy, error.message};
}

Expected<Decider, ReplayError> make_decider(const RunSetup& setup, const PairTruth& truth) {
  const ReplayConfig& config = *setup.config;
  const auto share_of = [&](std::uint32_t index, std::uint32_t masters) {
    return fleet_share(config.fleet.parts, *setup.catalog, index, masters);
  };
  const auto module = find_module(setup.policy.name);
  if (!module) return bad_policy(module.error());
  Decider decider;
  decider.intake = module.value()->intake;
  if (const std::string& composition = module.value()->composition; !composition.empty()) {
    auto params = module.value()->read(setup.policy);
    if (!params) return bad_policy(params.error());
    if (config.master.rent_beyond_fleet) {
      return Failure<ReplayError>{ReplayError::bad_input,
                                  setup.label + ": rents nothing (master.rent_beyond_fleet)"};
    }
    auto fleet = share_of(0, 1);
    if (!fleet) return Failure<ReplayError>{ReplayError::bad_input, fleet.error().message};
    decider.composition = sampling::make_composition(composition, params.value());
    MUSTER_CHECK(decider.composition, "the composition that a module names is there");
    decider.fleet = std::move(fleet).value();
    return decider;
  }
  for (std::uint32_t i = 0; i < config.group.masters; ++i) {
    auto policy = replayed_policy(setup.policy, *setup.catalog, config.group.masters, truth);
    if (!policy) return bad_policy(policy.error());
    auto fleet = share_of(i, config.group.masters);
    if (!fleet) return Failure<ReplayError>{ReplayError::bad_input, fleet.error().message};
    decider.cells.push_back({std::move(policy).value(), std::move(fleet).value()});
  }
  ClassifyConfig classify = config.classify;
  // Where the truth is stated no classifier may learn from it, but for those that are told to know
  // it.
  const bool classifies = decider.intake.classify_by || !classify.by.empty();
  if (classifies && states_truth(*setup.workload)) classify.predict.limits = false;
  auto classifier = make_classifier_service(classify, decider.intake);
  if (!classifier) return Failure<ReplayError>{ReplayError::bad_input, classifier.error().message};
  decider.classifier = std::move(classifier).value();
  return decider;
}

/// The composition root of a run: the one place that knows that the world is simulated.
class Simulation {
 public:
  Simulation(const RunSetup& setup, Decider decider, Interference& interference, RunLog& log)
      : setup_(setup),
        journal_(log),
        names_(*setup.workload),
        system_(prepare(actor_config_)),
        time_(VirtualTime::of(system_)),
        workers_(system_, time_.origin()),
        idle_(setup.config->world, *setup.catalog) {
    const ReplayConfig& config = *setup.config;
    // Before the first actor: its first message is ordered by it already.
    if (setup.shuffle) time_.shuffle(*setup.shuffle);
    waker_ = system_.spawn(world_waker);
    world_ = std::make_unique<RunWorld>(RunWorldSetup{
        &config, setup.catalog, setup.workload, &interference, &names_, setup.seed,
        [this] { return time_.now(); },
        [this](Instant when, std::function<void()> step) { wake_at(when, std::move(step)); }});
    // Sites number jobs as they come. Names of the workload make logs of several policies
    // comparable; all readers, the world included, see those.
    log.rename_by([this](Event& event) { names_.rename(event); });
    log.show_to([this](const Event& event) { notify_world(event); });
    cloud_ = system_.spawn<CloudConnector>(cloud_setup(decider.cloud));
    cloud_link_ = setup.link_cloud ? setup.link_cloud(system_, cloud_) : CloudForMasters{cloud_};
    compose(std::move(decider));
    WorkloadDriverSetup user;
    user.workload = setup.workload;
    user.sites = actors_.doors;
    user.seed = setup.seed;
    user.origin = time_.origin();
    user.answer_timeout = config.master.accept_timeout * 2;
    user.retry = config.site.hand_retry;
    user.job_delay_scale = config.world.job_delay_scale;
    user.checkpoints = config.world.checkpoints;
    user.progress = &progress_;
    user_ = system_.spawn<WorkloadDriver>(std::move(user));
  }

  ~Simulation() {
    end(user_);
    actors_.end();
    end(cloud_link_);
    end(cloud_);
    end(waker_);
    if (sampling_) sampling_->end();
    // Timers hold handles and callbacks into what is destroyed next.
    time_.drop_timers();
    machines_.clear();
    // Actors that hold each other's handles would keep the system waiting for ever.
    system_.await_actors_before_shutdown(false);
  }
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  void run() {
    const std::size_t all = setup_.workload->size();
    std::size_t told = 0;
    while (!ended(all) && time_.step(Instant::max())) {
      ++steps_;
      if (setup_.progress && progress_.over != told) setup_.progress(told = progress_.over, all);
    }
  }

  const CloudBill& bill() const { return bill_; }
  const RunProgress& progress() const { return progress_; }
  std::uint64_t steps() const { return steps_; }
  std::string idle_reason() const { return idle_.reason(); }
  double lost_work_s() const { return world_->lost_s(); }
  /// Failures of policies.
  const std::vector<std::string>& failures() const { return failures_; }
  /// Of all masters.
  std::vector<double> decision_ms() const {
    std::vector<double> all;
    for (const DecisionTimes& times : times_) {
      all.insert(all.end(), times.ms.begin(), times.ms.end());
    }
    return all;
  }

 private:
  template <class Handle>
  static void end(const Handle& actor) {
    caf::anon_send_exit(actor, caf::exit_reason::kill);
  }

  /// The actors that take jobs in and decide.
  void compose(Decider decider) {
    if (decider.composition) {
      composition_ = std::move(decider.composition);
      SamplingSetup group;
      group.catalog = setup_.catalog;
      group.composition = composition_.get();
      group.journal = &journal_;
      group.fleet = std::move(decider.fleet);
      group.cloud = cloud_link_;
      group.origin = time_.origin();
      group.seed = setup_.seed;
      sampling_.emplace(system_, group);
      actors_ = sampling_->actors();
      return;
    }
    compose_cells(std::move(decider));
  }

  void compose_cells(Decider decider) {
    const ReplayConfig& config = *setup_.config;
    const auto count = static_cast<std::uint32_t>(decider.cells.size());
    std::vector<MasterSetup> masters(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      journals_.emplace_back(journal_, i);
      times_.emplace_back();
      MasterSetup& master = masters[i];
      master.parts.catalog = setup_.catalog;
      master.parts.policy = std::move(decider.cells[i].policy);
      master.journal = &journals_.back();
      master.batch_events = 1024;  // one round of a wide job brings millions
      master.settings = config.master;
      master.parts.fleet = std::move(decider.cells[i].fleet);
      master.cloud = cloud_link_;
      master.origin = time_.origin();
      // Masters must not draw the same numbers, and the same seed has to give the same run.
      master.parts.seed = setup_.seed + i;
      master.stopwatch = setup_.stopwatch;
      master.times = &times_.back();
      master.note = [this](const std::string& text) { failures_.push_back(text); };
      master.history = &histories_.emplace_back();  // not read: kept as a live master keeps it
    }
    IntakeSetup intake;
    if (!config.group.sites.empty()) intake.sites.clear();
    for (const auto& [name, position] : config.group.sites) {
      intake.sites.push_back({{}, name, position});
    }
    intake.settings = site_settings(config.site, decider.intake);
    intake.classifier = std::move(decider.classifier);
    intake.accept_timeout = config.master.accept_timeout;
    intake.origin = time_.origin();
    intake.seed = setup_.seed;
    for (std::size_t i = 0; i < intake.sites.size(); ++i) {
      intake.site_stores.push_back(&site_stores_.emplace_back(config.site.tokens));
    }
    actors_ = RunActors(spawn_group(system_, std::move(masters), intake));
  }

  static caf::actor_system_config& prepare(caf::actor_system_config& config) {
    add_sampling_messages(config);
    config.load<VirtualTime>();
    return config;
  }

  ConnectorSetup cloud_setup(const ProviderMaker& make) {
    const ReplayConfig& config = *setup_.config;
    LoopbackOptions machines = loopback_options(config.cloud);
    machines.quantum = config.world.quantum;
    machines.interruptions.seed = machines.delays.seed = setup_.seed;
    ConnectorSetup cloud = connector_setup(config.cloud);
    cloud.catalog = setup_.catalog;
    cloud.origin = time_.origin();
    cloud.quantum = config.world.quantum;
    cloud.store = &cloud_store_;
    cloud.provider = run_cloud_.make(make, std::move(machines));
    cloud.bill = &bill_;
    return cloud;
  }

  const FleetOwner& renter_of(InstanceId id) const {
    return actors_.owners[actors_.owners.size() == 1 ? 0 : master_of(id)];
  }

  WorkerActor launch_worker(InstanceId id, TypeId type) {
    const Resources& capacity = (*setup_.catalog)[type].capacity;
    WorkerSetup worker{id, type, capacity, renter_of(id), time_.origin(), {}};
    worker.make_executor = [this](InstanceId on, TypeId of, WorkerCalls& calls) {
      return std::make_unique<ModelExecutor>(on, of, calls, world_->model());
    };
    ++workers_launched_;
    if (composition_) return system_.spawn<GroupMember>(std::move(worker));
    return workers_.start(worker);
  }

  /// Where a stop loses all, a task that needs more than a day's money at a stretch would be
  /// started anew every day for ever.
  void watch_cap(const Event& event) {
    const ReplayConfig& config = *setup_.config;
    // With checkpoints a task goes on where it stopped, and is done after enough days.
    if (config.world.checkpoints || config.master.caps.max_usd_day <= 0) return;
    const auto job = cap_losses_.observe(event);
    if (!job) return;
    progress_.never[*job] = fmt::format(
        "never: day's spend cap: on {} days ${:.6g} did not pay for a whole run, and without "
        "checkpoints each began anew",
        CapLosses::kMostDays, config.master.caps.max_usd_day);
    caf::anon_send(user_, cancel_atom_v, *job);
  }

  void notify_world(const Event& event) {
    watch_cap(event);
    const auto* accepted = std::get_if<JobAccepted>(&event.body);
    if (accepted != nullptr) idle_.accept(accepted->job);
    world_->see(event);
  }

  void wake_at(Instant when, std::function<void()> step) {
    const auto at = time_.origin().start + (when - Instant{});
    time_.clock().schedule_message(
        at, caf::actor_cast<caf::strong_actor_ptr>(waker_),
        caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, Wakeup{std::move(step)}));
  }

  /// All is over and given back. When for too long no task has run and no job has ended, the jobs
  /// that still wait are given up; when even then instances stay, the run ends nevertheless.
  bool ended(std::size_t all) {
    if (progress_.over == all && bill_.rented == 0) return true;
    // A fixed fleet is never released by its masters: nothing would end the billing of it.
    const bool fleet_stays = given_back_.size() < workers_launched_;
    if (progress_.over == all && fleet_stays && !setup_.config->fleet.parts.empty()) {
      give_fleet_back();
    }
    if (moves(all)) idle_since_ = time_.now();
    const Duration idle = time_.now() - idle_since_;
    if (progress_.over == all) return idle > idle_.giving_back();
    if (idle <= idle_.limit()) return false;
    caf::anon_send(user_, cancel_atom_v);
    return false;
  }

  /// Something has moved since the last step, or will without anything else. Between two steps may
  /// lie years, in which what moved at the last one went on.
  bool moves(std::size_t all) {
    const bool goes_on = progress_.submitted < all || progress_.services > 0 || world_->busy();
    const bool ended_some = std::exchange(over_before_, progress_.over) != progress_.over;
    // The state at the last step counts too: time may have leapt over what went on then.
    return std::exchange(went_on_, goes_on) || goes_on || ended_some;
  }

  /// The users of a fixed fleet do not want it any more.
  void give_fleet_back() {
    for (InstanceId id : machines_.running()) {
      // Once each: a drain takes time, and this is asked at every step.
      if (given_back_.insert(id).second) {
        caf::anon_send(renter_of(id), drain_atom_v, id);
      }
    }
  }

  const RunSetup& setup_;
  RunLog& journal_;
  WorkloadNames names_;
  caf::actor_system_config actor_config_;
  caf::actor_system system_;
  VirtualTime& time_;
  LightWorkers workers_;
  std::deque<MemorySiteStore> site_stores_;  ///< one a site
  NullCloudStore cloud_store_;
  CloudBill bill_;
  std::deque<CellJournal> journals_;  ///< one a master
  std::deque<DecisionTimes> times_;
  std::vector<std::string> failures_;
  std::deque<HistoryCount> histories_;
  RunProgress progress_;
  Instant idle_since_;
  IdleLimit idle_;
  std::size_t over_before_ = 0;
  bool went_on_ = true;  ///< something moved at the last step
  std::uint64_t steps_ = 0;
  std::set<InstanceId> given_back_;
  std::size_t workers_launched_ = 0;
  WorldHandle waker_;
  std::unique_ptr<RunWorld> world_;
  CapLosses cap_losses_;
  ActorMachines machines_{[this](InstanceId id, const std::string& type) {
    return launch_worker(id, *setup_.catalog->find(type));
  }};
  RunCloud run_cloud_{setup_.config->cloud, *setup_.catalog, machines_};
  CloudActor cloud_;
  CloudForMasters cloud_link_;                          ///< the cloud as masters reach it
  std::unique_ptr<sampling::Composition> composition_;  ///< of a sampling group
  std::optional<SamplingRun> sampling_;
  RunActors actors_;
  WorkloadDriverHandle user_;
};

void fill_decision_times(std::vector<double> ms, RunResult& result) {
  if (ms.empty()) return;
  std::sort(ms.begin(), ms.end());
  result.decision_ms_mean =
      std::accumulate(ms.begin(), ms.end(), 0.0) / static_cast<double>(ms.size());
  result.decision_ms_p99 = metrics::nearest_rank(ms, 99);
}

}  // namespace

std::string policy_fault(const PolicySpec& spec, const Catalog& catalog) {
  const auto module = find_module(spec.name);
  if (module && !module.value()->composition.empty()) {
    const auto params = module.value()->read(spec);
    return params ? std::string{} : params.error().message;
  }
  const auto policy = replayed_policy(spec, catalog, 1, harmless_pair);
  return policy ? std::string{} : policy.error().message;
}

Expected<Run, ReplayError> run_replay(const RunSetup& setup) {
  auto made = make_interference(setup.config->world.interference);
  if (!made) return Failure<ReplayError>{ReplayError::bad_input, made.error().message};
  const std::shared_ptr<Interference> interference = std::move(made).value();
  auto decider = make_decider(setup, true_pairs(*setup.workload, interference));
  if (!decider) return decider.error();
  if (decider->composition) {
    const std::string fault =
        sampling_fault(*decider->composition, decider->fleet, *setup.catalog, *setup.workload);
    if (!fault.empty()) {
      return Failure<ReplayError>{ReplayError::bad_input, setup.label + ": " + fault};
    }
  }
  auto cloud = load_provider(setup.config->cloud, *setup.catalog);
  if (!cloud) return Failure<ReplayError>{ReplayError::bad_input, cloud.error().message};
  if (std::string fault = count_fault(setup.config->cloud, *setup.catalog); !fault.empty()) {
    return Failure<ReplayError>{ReplayError::bad_input, std::move(fault)};
  }
  decider->cloud = std::move(cloud).value();
  // Wall time covers the run and its checks; reading the workload and the policy's setup are
  // excluded.
  const Duration begin = setup.stopwatch();
  Auditor auditor(*setup.catalog);
  ServiceMeter services(*setup.workload, replica_noise(setup.config->world, setup.seed));
  metrics::Measure figures(*setup.catalog, job_limits(*setup.workload, *setup.config));
  Run run;
  RunLog log;
  auto width_errors = width_errors_of(setup.policy, setup.config->group.masters, *setup.catalog);
  if (setup.on_event) log.show_to(setup.on_event);
  log.show_to([&](const Event& event) {
    auditor.see(event);
    figures.see(event);
    services.see(event);
    if (width_errors) width_errors->see(event);
    if (setup.keep_events) run.events.push_back(event);
  });
  Simulation simulation(setup, std::move(decider).value(), *interference, log);
  simulation.run();
  run.steps = simulation.steps();
  log.close();

  if (!simulation.failures().empty()) {
    return Failure<ReplayError>{ReplayError::bad_policy,
                                setup.label + ": " + simulation.failures().front()};
  }
  const Audit audit = auditor.finish(simulation.bill());
  if (!audit.broken.empty()) {
    std::string message = setup.label + ": an invariant of every run is violated:";
    for (const std::string& law : audit.broken) message += "\n  " + law;
    return Failure<ReplayError>{ReplayError::violated_invariant, message};
  }
  run.result = figures.finish();
  RunResult& result = run.result;
  if (width_errors) width_errors->finish(result);
  result.policy = setup.label;
  result.seed = setup.seed;
  result.left_out = setup.workload->left_out().by_text();
  // Those that no site has accepted are not in the log.
  result.jobs_submitted = simulation.progress().submitted - services.services();
  result.services = services.finish();
  if (result.services) result.services->cost_usd = audit.services.usd();
  simulation.progress().tell(simulation.idle_reason(), result.not_completed);
  // Of the ledger, exact; the sum of the levels of the log is equal, as the audit has checked.
  result.total_cost_usd = audit.total.usd();
  result.cost_by_purpose = audit.cost_by_purpose;
  result.lost_work_h = simulation.lost_work_s() / 3600;
  fill_decision_times(simulation.decision_ms(), result);
  result.wall_s = to_seconds(setup.stopwatch() - begin);
  return run;
}

}  // namespace muster::replay
