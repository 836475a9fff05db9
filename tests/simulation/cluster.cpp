#include "tests/simulation/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "model/live_ids.hpp"
#include "schedulers/registry.hpp"
#include "workers/worker_actor.hpp"

namespace muster::ring {
namespace {

WorkRules work_rules(const Scenario& scenario) {
  WorkRules rules;
  rules.seed = scenario.seed;
  rules.fails = scenario.attempts_fail;
  rules.longest = scenario.longest_work;
  rules.wild = scenario.hard.wild_samples;
  return rules;
}

}  // namespace

Cluster::Cluster(const Scenario& scenario, Complain complain)
    : scenario_(scenario),
      rng_(scenario.seed ^ 0xC1057E2),
      timeline_(system_.actors()),
      network_(timeline_, scenario.seed ^ 0x3172E),
      machines_(
          network_, scenario.catalog, work_rules(scenario),
          [this](Machine& machine) { return start_worker(machine); }, std::move(complain)),
      sites_(scenario.sites),
      masters_(scenario.masters) {
  std::uint64_t seed = scenario.seed * 100;
  auto offset = scenario.offsets.begin();
  for (auto& site : sites_) {
    site.node = network_.add_node();
    site.offset = *offset++;
    site.disk = std::make_unique<SiteDisk>(timeline_, ++seed);
    site.disk->max_tokens = scenario.bounds.tokens;
    site.disk->max_ended = scenario.bounds.ended;
  }
  for (auto& master : masters_) {
    master.node = network_.add_node();
    master.offset = *offset++;
    master.disk = std::make_unique<MasterDisk>(timeline_, ++seed);
    master.disk->max_history = scenario.bounds.history;
  }
  if (scenario.own_machines > 0) {
    own_.emplace(machines_, scenario.catalog, scenario.own_machines);
    machines_.bound(*scenario.catalog.find("own"), scenario.own_machines);
  }
  cloud_.node = network_.add_node();
  cloud_.offset = *offset;
  cloud_.disk = std::make_unique<CloudDisk>(timeline_, ++seed);
  users_ = network_.add_node();
  network_.bring_up(users_, timeline_.stage());
  network_.on_meeting([this](NodeIndex a, NodeIndex b) { meet(a, b); });
}

Cluster::~Cluster() {
  for (std::uint32_t i = 0; i < sites_.size(); ++i) kill(NodeKind::site, i);
  for (std::uint32_t i = 0; i < masters_.size(); ++i) kill(NodeKind::master, i);
  kill(NodeKind::cloud, 0);
  machines_.end_all();
  system_.time().drop_timers();
}

/// A master hears when the cloud can be reached again, as in the live root (LiveNode::watch_cloud);
/// users when a site can.
void Cluster::meet(NodeIndex a, NodeIndex b) {
  for (std::uint32_t i = 0; i < sites_.size(); ++i) {
    const bool met = (a == users_ && b == sites_[i].node) || (b == users_ && a == sites_[i].node);
    if (met && reached_) reached_(i);
  }
  if (a != cloud_.node && b != cloud_.node) return;
  const NodeIndex other = a == cloud_.node ? b : a;
  for (const auto& master : masters_) {
    if (master.node == other) network_.greet(other);
  }
}

void Cluster::start(NodeKind kind, std::uint32_t index) {
  if (runs(kind, index)) return;
  if (kind == NodeKind::site) start_site(index);
  if (kind == NodeKind::master) start_master(index);
  if (kind == NodeKind::cloud) start_cloud();
}

bool Cluster::runs(NodeKind kind, std::uint32_t index) const {
  return network_.runs(node_of(kind, index));
}

NodeIndex Cluster::node_of(NodeKind kind, std::uint32_t index) const {
  if (kind == NodeKind::site) return sites_[index].node;
  return kind == NodeKind::master ? masters_[index].node : cloud_.node;
}

Disk& Cluster::disk_of(NodeKind kind, std::uint32_t index) {
  if (kind == NodeKind::site) return sites_[index].disk->disk;
  return kind == NodeKind::master ? masters_[index].disk->disk : cloud_.disk->disk;
}

Duration& Cluster::offset_of(NodeKind kind, std::uint32_t index) {
  if (kind == NodeKind::site) return sites_[index].offset;
  return kind == NodeKind::master ? masters_[index].offset : cloud_.offset;
}

void Cluster::step_clock(NodeKind kind, std::uint32_t index, Duration by) {
  latest_of(kind, index) = latest_clock(kind, index);
  offset_of(kind, index) += by;
}

Instant& Cluster::latest_of(NodeKind kind, std::uint32_t index) {
  if (kind == NodeKind::site) return sites_[index].latest;
  return kind == NodeKind::master ? masters_[index].latest : cloud_.latest;
}

Instant Cluster::latest_clock(NodeKind kind, std::uint32_t index) const {
  auto& self = const_cast<Cluster&>(*this);
  return std::max(self.latest_of(kind, index), now() + self.offset_of(kind, index));
}

ClockOrigin Cluster::origin_of(Duration offset) const {
  return {const_cast<muster::test::VirtualSystem&>(system_).time().origin().start - offset};
}

template <class Node, class Stores>
void Cluster::end(Node& node, Stores& old_stores) {
  node.store->writer().die();
  network_.take_down(node.node);
  // It comes to its end before anything else is dealt with.
  caf::anon_send_exit(node.actor, caf::exit_reason::kill);
  system_.time().prioritize(node.actor);
  node.actor = nullptr;
  system_.time().run_once();
  old_stores.push_back(std::move(node.store));
}

void Cluster::kill(NodeKind kind, std::uint32_t index) {
  if (!runs(kind, index)) return;
  if (kind == NodeKind::site) end(sites_[index], old_site_stores_);
  if (kind == NodeKind::master) end(masters_[index], old_master_stores_);
  if (kind == NodeKind::cloud) end(cloud_, old_cloud_stores_);
}

namespace {

/// By turns: rounds that are decided at once and rounds during which much happens, in the master
/// and beside it, carried out whole and in small slices; tasks that move stop at once or run on.
void set_planning(MasterSetup& master, std::uint64_t turn) {
  if (turn % 2 == 1) master.planner = PlannerPlace::beside;
  if (turn % 4 >= 2) master.settings.decision_time = std::chrono::seconds{5 * (turn % 7)};
  if (turn % 3 != 0) master.settings.slice_parts = static_cast<std::uint32_t>(1 + turn % 5);
  master.settings.move_when_ready = turn % 5 >= 3;
}

}  // namespace

void Cluster::start_master(std::uint32_t i) {
  auto& role = masters_[i];
  role.store = std::make_unique<MasterStore>(*role.disk);
  MasterSetup master;
  master.parts.catalog = &scenario_.catalog;
  master.parts.policy = make_policy(scenario_.policy, scenario_.catalog).value();
  master.journal = role.store.get();
  master.settings = scenario_.master;
  master.cloud = network_.peer<CloudForMasters>(role.node, cloud_.node);
  master.origin = origin_of(role.offset);
  master.parts.seed = scenario_.seed;
  master.stopwatch = [] { return Duration{}; };
  master.times = &times_;
  master.parts.name = fmt::format("m{}", i);
  set_planning(master, scenario_.seed + i);
  master.history = role.store.get();
  master.snapshot = role.disk->snapshot;
  master.tail = role.disk->tail;
  master.settings.watch.remind_every = std::chrono::seconds{10};
  master.settings.watch.ask_pause = std::chrono::minutes{2};
  master.settings.watch.worker_lost_after = std::chrono::minutes{5};
  if (scenario_.snapshot_every > 0) {
    master.settings.watch.snapshot_every = scenario_.snapshot_every;
    master.save_snapshot = [store = role.store.get()](MasterSnapshot snapshot,
                                                      std::uint64_t behind) {
      store->save_snapshot(std::move(snapshot), behind);
    };
  }
  role.actor = spawn_master(system_.actors(), std::move(master), {i, scenario_.masters});
  const auto handle = caf::actor_cast<caf::strong_actor_ptr>(role.actor);
  role.store->writer().belong_to(handle);
  network_.bring_up(role.node, handle);
}

void Cluster::start_site(std::uint32_t i) {
  auto& role = sites_[i];
  role.store = std::make_unique<MemorySiteStore>(*role.disk);
  SiteDependencies site;
  for (std::uint32_t k = 0; k < masters_.size(); ++k) {
    site.masters.push_back(
        {network_.peer<MasterForSites>(role.node, masters_[k].node), fmt::format("m{}", k), k});
  }
  site.sites.clear();
  for (std::uint32_t k = 0; k < sites_.size(); ++k) {
    SiteForSites actor;
    if (k != i) actor = network_.peer<SiteForSites>(role.node, sites_[k].node);
    const double longitude = 120.0 * k;
    site.sites.push_back({actor, fmt::format("s{}", k), GeoPoint{30, longitude}, k});
  }
  site.accept_timeout = scenario_.master.accept_timeout;
  site.origin = origin_of(role.offset);
  site.store = role.store.get();
  site.number = i;
  const Intake intake = find_module(scenario_.policy.name).value()->intake;
  SiteSettings settings = site_settings(scenario_.site, intake);
  site.seed = scenario_.seed;
  settings.hand_retry = std::chrono::seconds{2};
  site.cancel_wait = std::chrono::seconds{5};
  const Bounds& bounds = scenario_.bounds;
  site.hand_batch = bounds.hand_batch;
  settings.max_waiting = bounds.waiting;
  settings.tokens = bounds.tokens;
  site.max_cancels = bounds.cancels;
  site.max_ended = bounds.ended;
  site.classifier = make_classifier_service(scenario_.classify, intake).value();
  role.actor = system_.actors().spawn<SiteScheduler>(settings, std::move(site));
  const auto handle = caf::actor_cast<caf::strong_actor_ptr>(role.actor);
  role.store->writer().belong_to(handle);
  network_.bring_up(role.node, handle);
}

void Cluster::start_cloud() {
  bill_ = {};
  // As CloudConnector::recall says: it goes on from the newest record.
  Instant newest{};
  for (const auto& [id, record] : cloud_.disk->records) {
    newest = std::max({newest, record.ordered_at, record.up_at.value_or(record.ordered_at),
                       record.gone_at.value_or(record.ordered_at)});
  }
  cloud_ahead_[now()] = std::max(cloud_.offset, newest - now());
  cloud_.store = std::make_unique<MemoryCloudStore>(*cloud_.disk);
  LoopbackOptions loopback;
  loopback.catalog = &scenario_.catalog;
  loopback.limits.instances = scenario_.cloud_instances;
  if (scenario_.cloud_spot > 0) loopback.limits.by_market[Market::spot] = scenario_.cloud_spot;
  loopback.interruptions.notice = scenario_.notice;
  loopback.interruptions.per_h = scenario_.interruptions_per_h;
  loopback.interruptions.seed = scenario_.seed;
  loopback.machines = &machines_;
  providers_.push_back(make_provider(std::move(loopback)));
  ConnectorSetup cloud;
  cloud.catalog = &scenario_.catalog;
  cloud.origin = origin_of(cloud_.offset);
  cloud.store = cloud_.store.get();
  cloud.provider = providers_.back().get();
  cloud.bill = &bill_;
  cloud_.actor = system_.actors().spawn<CloudConnector>(std::move(cloud));
  const auto handle = caf::actor_cast<caf::strong_actor_ptr>(cloud_.actor);
  cloud_.store->writer().belong_to(handle);
  network_.bring_up(cloud_.node, handle);
}

/// Machines of one's own outlive the connector, which finds them in use as they are.
std::unique_ptr<CloudProvider> Cluster::make_provider(LoopbackOptions options) {
  if (scenario_.own_machines == 0) return std::make_unique<LoopbackProvider>(std::move(options));
  auto own = own_cloud(options, own_->catalogs.own, own_->machines, false);
  options.catalog = &own_->catalogs.rented;
  options.machines = &own_->rented;
  return beside_each_other(std::move(own), std::make_unique<LoopbackProvider>(std::move(options)),
                           own_->catalogs.own);
}

Instant Cluster::cloud_clock(Instant truth) const {
  const auto next = cloud_ahead_.upper_bound(truth);
  return truth + (next == cloud_ahead_.begin() ? next : std::prev(next))->second;
}

/// The worker of a machine knows its master by the number of its instance, as live ones do.
WorkerActor Cluster::start_worker(Machine& machine) {
  const std::uint32_t master = master_of(machine.instance);
  if (machine.node == 0) machine.node = network_.add_worker(masters_[master].node);
  const Duration skew = from_seconds(rng_.uniform(-3600, 3600));
  WorkerSetup worker{machine.instance,
                     machine.type,
                     machine.capacity,
                     network_.peer<MasterForWorkers>(machine.node, masters_[master].node),
                     origin_of(scenario_.offsets[0] + skew),
                     {}};
  worker.make_executor = [this, &machine](InstanceId, TypeId, ExecutorHost host) {
    return std::make_unique<MachineExecutor>(machines_, machine, std::move(host));
  };
  return system_.actors().spawn<Worker>(std::move(worker));
}

bool Cluster::step() {
  VirtualTime& time = system_.time();
  if (time.jobs.empty()) return time.trigger_timeout();
  // Ready actors run in any order: what they say to each other keeps its own.
  if (time.jobs.size() > 1) std::swap(time.jobs.front(), time.jobs[rng_.below(time.jobs.size())]);
  time.run_once();
  ++messages_;
  return true;
}

}  // namespace muster::ring
