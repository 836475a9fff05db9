#include "tools/replay/replay.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "actors/cloud/actor_machines.hpp"
#include "actors/cloud/loopback.hpp"
#include "actors/virtual_time.hpp"
#include "storage/event_log.hpp"
#include "tools/group.hpp"
#include "tools/replay/interference.hpp"
#include "tools/replay/laws.hpp"
#include "tools/replay/metrics.hpp"
#include "tools/replay/sampling_run.hpp"
#include "tools/replay/user_actor.hpp"
#include "tools/replay/world.hpp"
#include "workers/model_executor.hpp"
#include "workers/worker_actor.hpp"

namespace muster::replay {
namespace {

using WorldHandle = caf::typed_actor<caf::reacts_to<Wakeup>>;

/// Lends the world a place in virtual time to be woken at.
WorldHandle::behavior_type world_waker() {
  return {[](const Wakeup& wakeup) { wakeup.run(); }};
}

/// What decides in a run: the policy of a master, or a sampling group.
struct Decider {
  std::unique_ptr<Policy> policy;
  std::optional<sampling::GroupParams> group;
};

Expected<Decider, PolicyError> make_decider(const PolicySpec& spec, const Catalog& catalog) {
  if (auto group = sampling::read_group(spec)) {
    if (!*group) return group->error();
    return Decider{nullptr, group->value()};
  }
  auto policy = make_policy(spec, catalog);
  if (!policy) return policy.error();
  return Decider{std::move(policy).value(), std::nullopt};
}

/// The composition root of a run: the one place that knows that the world is simulated.
class Simulation {
 public:
  Simulation(const RunSetup& setup, Decider decider, Fleet fleet, Interference& interference)
      : setup_(setup), system_(prepare(actor_config_)), time_(VirtualTime::of(system_)) {
    const ReplayConfig& config = *setup.config;
    if (setup.shuffle) time_.shuffle(*setup.shuffle);
    waker_ = system_.spawn(world_waker);
    world_ = std::make_unique<World>(
        WorldSetup{setup.catalog, &interference, config.world.quantum, config.world.settle,
                   [this](Instant when) { wake_world_at(when); }},
        *setup.workload);
    world_->set_clock([this] { return time_.now(); });
    cloud_ = system_.spawn<LoopbackCloud>(loopback_setup());
    cloud_link_ = setup.link_cloud ? setup.link_cloud(system_, cloud_) : cloud_;
    compose(std::move(decider), std::move(fleet));
    user_ = system_.spawn<User>(UserSetup{setup.workload, group_.site, time_.epoch(),
                                          config.master.accept_timeout * 2,
                                          config.world.job_delay_scale, &board_});
  }

  ~Simulation() {
    for (const caf::actor& a :
         {caf::actor_cast<caf::actor>(user_), caf::actor_cast<caf::actor>(group_.site),
          caf::actor_cast<caf::actor>(group_.master), caf::actor_cast<caf::actor>(cloud_link_),
          caf::actor_cast<caf::actor>(cloud_), caf::actor_cast<caf::actor>(waker_)}) {
      caf::anon_send_exit(a, caf::exit_reason::kill);
    }
    if (sampling_) sampling_->end();
    time_.drop_timers();
    machines_.clear();
    system_.await_actors_before_shutdown(false);
  }
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  void run() {
    const std::size_t all = setup_.workload->jobs.size();
    std::size_t told = 0;
    while (!ended(all) && time_.step(Instant::max())) {
      if (setup_.progress && board_.over != told) setup_.progress(told = board_.over, all);
    }
  }

  std::vector<Event> take_events() { return journal_.take(); }
  const CloudBill& bill() const { return bill_; }
  const Board& board() const { return board_; }
  const DecisionTimes& times() const { return times_; }

 private:
  /// The actors that take jobs in and decide.
  void compose(Decider decider, Fleet fleet) {
    if (decider.group) {
      SamplingSetup group;
      group.catalog = setup_.catalog;
      group.params = *decider.group;
      group.journal = &journal_;
      group.fleet = std::move(fleet);
      group.cloud = cloud_link_;
      group.epoch = time_.epoch();
      group.seed = setup_.seed;
      sampling_.emplace(system_, group);
      group_ = sampling_->group();
      return;
    }
    GroupSetup group;
    group.catalog = setup_.catalog;
    group.policy = std::move(decider.policy);
    group.journal = &journal_;
    group.master = setup_.config->master;
    group.fleet = std::move(fleet);
    group.cloud = cloud_link_;
    group.epoch = time_.epoch();
    group.seed = setup_.seed;
    group.stopwatch = setup_.stopwatch;
    group.times = &times_;
    group_ = spawn_group(system_, std::move(group), site_book_);
  }

  static caf::actor_system_config& prepare(caf::actor_system_config& config) {
    add_messages(config);
    config.load<VirtualTime>();
    return config;
  }

  LoopbackSetup loopback_setup() {
    LoopbackSetup loopback;
    loopback.catalog = setup_.catalog;
    loopback.epoch = time_.epoch();
    loopback.quantum = setup_.config->world.quantum;
    loopback.limits.instances = setup_.config->cloud.max_instances;
    loopback.book = &cloud_book_;
    loopback.machines = &machines_;
    loopback.bill = &bill_;
    return loopback;
  }

  WorkerActor launch_worker(InstanceId id, TypeId type, const MasterActor& master) {
    WorkerSetup worker{id, type, (*setup_.catalog)[type].capacity, master, time_.epoch(), {}};
    worker.make_executor = [this](InstanceId on, TypeId of, ExecutorHost host) {
      return std::make_unique<ModelExecutor>(on, of, std::move(host), *world_);
    };
    ++workers_launched_;
    return system_.spawn<Worker>(std::move(worker));
  }

  void wake_world_at(Instant when) {
    const auto at = time_.epoch().start + (when - Instant{});
    time_.clock().schedule_message(
        at, caf::actor_cast<caf::strong_actor_ptr>(waker_),
        caf::make_mailbox_element(nullptr, caf::make_message_id(), {},
                                  Wakeup{[this] { world_->wake(time_.now()); }}));
  }

  /// All is over and given back. When for too long nothing has run and nothing has been over, the
  /// user gives up what still waits; when even then instances stay, the run ends all the same.
  bool ended(std::size_t all) {
    if (board_.over == all && bill_.rented == 0) return true;
    const bool fleet_stays = given_back_.size() < workers_launched_;
    if (board_.over == all && fleet_stays && !setup_.config->master.fleet.empty()) {
      give_fleet_back();
    }
    const bool moves = board_.submitted < all || board_.over != over_before_ || world_->busy();
    if (moves) idle_since_ = time_.now();
    over_before_ = board_.over;
    if (time_.now() - idle_since_ <= setup_.config->world.max_idle) return false;
    if (board_.over == all) return true;
    caf::anon_send(user_, cancel_atom_v);
    return false;
  }

  /// The users of a fixed fleet do not want it any more.
  void give_fleet_back() {
    for (InstanceId id : machines_.running()) {
      if (given_back_.insert(id).second) {
        caf::anon_send(group_.master, drain_atom_v, id);
      }
    }
  }

  const RunSetup& setup_;
  caf::actor_system_config actor_config_;
  caf::actor_system system_;
  VirtualTime& time_;
  MemoryJournal journal_;
  ForgetfulSiteBook site_book_;
  ForgetfulCloudBook cloud_book_;
  CloudBill bill_;
  DecisionTimes times_;
  Board board_;
  Instant idle_since_;
  std::size_t over_before_ = 0;
  std::set<InstanceId> given_back_;
  std::size_t workers_launched_ = 0;
  WorldHandle waker_;
  std::unique_ptr<World> world_;
  ActorMachines machines_{[this](InstanceId id, TypeId type, const MasterActor& master) {
    return launch_worker(id, type, master);
  }};
  CloudActor cloud_, cloud_link_;
  std::optional<SamplingRun> sampling_;
  Group group_;
  UserHandle user_;
};

void fill_decision_times(std::vector<double> ms, RunResult& result) {
  if (ms.empty()) return;
  std::sort(ms.begin(), ms.end());
  result.decision_ms_mean =
      std::accumulate(ms.begin(), ms.end(), 0.0) / static_cast<double>(ms.size());
  result.decision_ms_p99 = nearest_rank(ms, 99);
}

}  // namespace

std::string policy_fault(const PolicySpec& spec, const Catalog& catalog) {
  const auto decider = make_decider(spec, catalog);
  return decider ? std::string{} : decider.error().message;
}

Expected<Run, ReplayError> run_replay(const RunSetup& setup) {
  auto decider = make_decider(setup.policy, *setup.catalog);
  if (!decider) return Failure<ReplayError>{ReplayError::bad_policy, decider.error().message};
  auto interference = make_interference(setup.config->world.interference);
  if (!interference) {
    return Failure<ReplayError>{ReplayError::bad_input, interference.error().message};
  }
  auto fleet = fleet_share(setup.config->master.fleet, *setup.catalog);
  if (!fleet) return Failure<ReplayError>{ReplayError::bad_input, fleet.error().message};
  if (decider->group) {
    const std::string fault =
        sampling_fault(*decider->group, fleet.value(), *setup.catalog, *setup.workload);
    if (!fault.empty()) {
      return Failure<ReplayError>{ReplayError::bad_input, setup.label + ": " + fault};
    }
  }
  const Duration begin = setup.stopwatch();
  Simulation simulation(setup, std::move(decider).value(), std::move(fleet).value(),
                        *interference.value());
  simulation.run();

  Run run;
  run.events = simulation.take_events();
  const Audit audit = audit_run(run.events, *setup.catalog, simulation.bill());
  if (!audit.broken.empty()) {
    std::string message = setup.label + ": a law of every run is broken:";
    for (const std::string& law : audit.broken) message += "\n  " + law;
    return Failure<ReplayError>{ReplayError::broken_law, message};
  }
  run.result = measure(run.events, *setup.catalog, {});
  RunResult& result = run.result;
  result.policy = setup.label;
  result.seed = setup.seed;
  result.jobs_submitted = simulation.board().submitted;
  for (const auto& [id, reason] : simulation.board().not_accepted) {
    result.not_completed.emplace_back(std::to_string(id.value), "not accepted: " + reason);
  }
  result.total_cost_usd = audit.total.usd();
  result.cost_by_purpose = audit.cost_by_purpose;
  fill_decision_times(simulation.times().ms, result);
  result.wall_s = to_seconds(setup.stopwatch() - begin);
  return run;
}

}  // namespace muster::replay
