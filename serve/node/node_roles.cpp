#include "serve/node/node_roles.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "actors/cloud/providers.hpp"
#include "actors/time/clock_wall.hpp"
#include "model/rounded_text.hpp"
#include "schedulers/registry.hpp"
#include "serve/node/node_cloud.hpp"
#include "serve/solver/cbc_solver.hpp"
#include "storage/records/record_codec.hpp"
#include "storage/stores/recovery.hpp"

namespace muster {
namespace {

/// Any time whatever: only differences are looked at.
Duration steady_now() {
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch());
}

/// How many of the cluster's masters have a lower number: the order in the file means nothing.
std::uint32_t rank_of(const RoleContext& context, std::uint32_t number) {
  std::uint32_t rank = 0;
  for (const NodeConfig* node : context.setup.config.masters()) {
    if (context.roster.masters.at(*node->master) < number) ++rank;
  }
  return rank;
}

/// Where what the master's tasks wrote is kept when they are over.
Expected<std::unique_ptr<LogStore>, StoreError> open_logs(const RoleContext& context,
                                                          const std::string& master) {
  const LogsConfig& config = context.setup.config.logs;
  LogStoreOptions options;
  options.max_bytes = config.keep_mib << 20;
  options.max_age = std::chrono::hours{24} * config.keep_days;
  options.clock = [&system = context.system, origin = context.origin] {
    return origin.instant(system.clock().now()).time_since_epoch();
  };
  options.note = context.note;
  return LogStore::open(config.folder.empty() ? context.state / "logs" : config.folder / master,
                        std::move(options));
}

StoreHistoryOptions history_options(const RoleContext& context) {
  const LiveMasterConfig& config = context.setup.config.live_master;
  StoreHistoryOptions options;
  options.max_jobs = config.history_jobs;
  options.max_age = std::chrono::hours{24} * config.history_days;
  options.endings = {config.endings_mib << 20, std::chrono::hours{24} * config.endings_days};
  options.stopwatch = steady_now;
  options.note = context.note;
  return options;
}

Failure<NodeError> store_failure(const Failure<StoreError>& error) {
  return {NodeError::store, error.message};
}

/// Before the site's actor, which sends by it. One node of the cluster tells of its cap.
void start_post(const RoleContext& context, SiteRole& role) {
  const ClusterConfig& config = context.setup.config;
  role.post = std::make_unique<notify::NodePost>(
      config,
      [&system = context.system, origin = context.origin] {
        return origin.instant(system.clock().now());
      },
      context.warn);
  const auto first = std::find_if(config.nodes.begin(), config.nodes.end(),
                                  [](const NodeConfig& node) { return node.api.has_value(); });
  if (first == config.nodes.end() || first->name != context.setup.node) return;
  role.caps = std::make_unique<notify::CapWatch>(
      config.notify.caps, context.state / "cap-told",
      [post = role.post.get()](Letter letter, std::function<void()> settled) {
        post->send(std::move(letter), std::move(settled));
      });
}

}  // namespace

Expected<std::unique_ptr<MasterRole>, NodeError> start_master(const RoleContext& context,
                                                              std::unique_ptr<Store> store,
                                                              const CloudForMasters& cloud) {
  const ClusterConfig& config = context.setup.config;
  const std::string name = config.find(context.setup.node)->master.value();
  auto spec = parse_policy(config.policy);
  if (!spec) return Failure<NodeError>{NodeError::bad_policy, spec.error().message};
  const auto masters = static_cast<std::uint32_t>(config.masters().size());
  auto policy =
      make_policy(spec.value(), context.catalog, masters, policy_services(SolverStop::seconds));
  if (!policy) return Failure<NodeError>{NodeError::bad_policy, policy.error().message};

  auto role = std::make_unique<MasterRole>();
  role->store = std::move(store);
  const Duration began = steady_now();
  auto recovered = recover_master(*role->store, context.catalog);
  if (!recovered) return store_failure(recovered.error());
  role->journal = std::make_unique<StoreJournal>(*role->store, context.catalog, recovered.value());
  auto history =
      StoreHistory::open(*role->store, *role->journal, context.catalog, history_options(context));
  if (!history) return store_failure(history.error());
  role->history = std::move(history).value();
  const auto asks = role->store->get(Family::meta, kAsksNumbers);
  if (!asks) return store_failure(asks.error());
  auto logs = open_logs(context, name);
  if (!logs) return store_failure(logs.error());
  role->logs = std::move(logs).value();
  context.note(fmt::format("master {}: {} after {} in the snapshot, read in {:.0f} ms", name,
                           count_text(recovered.value().tail.size(), "event"),
                           recovered.value().snapshot_at, to_seconds(steady_now() - began) * 1e3));

  MasterSetup master;
  master.parts.catalog = &context.catalog;
  master.parts.policy = std::move(policy).value();
  master.journal = role->journal.get();
  master.settings = config.master;
  const std::uint32_t number = context.roster.masters.at(name);
  auto fleet = fleet_share(config.fleet.parts, context.catalog, rank_of(context, number), masters);
  if (!fleet) return Failure<NodeError>{NodeError::bad_catalog, fleet.error().message};
  master.parts.fleet = std::move(fleet).value();
  master.cloud = cloud;
  master.origin = context.origin;
  master.parts.seed = config.seed;
  master.stopwatch = steady_now;
  master.times = &role->times;
  master.parts.name = name;
  master.note = context.note;
  master.node_trouble = context.trouble;
  master.asks_numbers = asks.value().has_value();
  master.history = role->history.get();
  master.logs.sink = role->logs.get();
  master.logs.bounds.hold = from_seconds(config.logs.handover_s);
  // The worker keeps full files and the one that it writes to.
  master.logs.bounds.stream_bytes = config.worker.log_bytes * (config.worker.log_files + 2);
  master.snapshot = std::move(recovered.value().snapshot);
  master.tail = std::move(recovered.value().tail);
  master.save_snapshot = [journal = role->journal.get()](MasterSnapshot snapshot,
                                                         std::uint64_t behind) {
    journal->save_snapshot(std::move(snapshot), behind);
  };
  role->figures =
      std::make_unique<FigureLog>(context.state / ("figures-" + name + ".csv"), CellHistory::kKept);
  master.past = role->figures->read();
  master.keep_sample = [figures = role->figures.get()](const HistorySample& sample) {
    figures->append(sample);
  };
  master.planner = PlannerPlace::own_thread;
  role->actor = spawn_master(context.system, std::move(master), {number, masters});
  return role;
}

Expected<std::unique_ptr<SiteRole>, NodeError> start_site(const RoleContext& context,
                                                          std::unique_ptr<Store> store,
                                                          std::vector<MasterPlace> masters,
                                                          std::vector<SitePlace> sites) {
  const ClusterConfig& config = context.setup.config;
  auto role = std::make_unique<SiteRole>();
  role->store = std::move(store);
  RocksSiteStoreOptions store_options;
  store_options.max_tokens = config.site.tokens;
  store_options.max_queued_jobs = config.site.max_waiting;
  auto records = RocksSiteStore::open(*role->store, store_options);
  if (!records) return store_failure(records.error());
  role->records = std::move(records).value();

  SiteDependencies site;
  site.masters = std::move(masters);
  site.accept_timeout = config.master.accept_timeout;
  site.origin = context.origin;
  site.store = role->records.get();
  site.sites = std::move(sites);
  site.number = context.roster.sites.at(config.find(context.setup.node)->site.value());
  for (const auto& [name, number] : context.roster.sites) {
    site.site_numbers = std::max(site.site_numbers, number + 1);
  }
  const auto intake = intake_of(config.policy);
  if (!intake) return Failure<NodeError>{NodeError::bad_policy, intake.error().message};
  site.seed = config.seed;
  site.train_apart = true;
  site.note = context.note;
  start_post(context, *role);
  site.node_trouble = [trouble = context.trouble, post = role->post.get()] {
    std::string text = trouble ? trouble() : std::string{};
    const std::string of_post = post->trouble();
    if (!text.empty() && !of_post.empty()) text += "; ";
    return text + of_post;
  };
  site.send_letter = [post = role->post.get()](Letter letter, std::function<void()> settled) {
    post->send(std::move(letter), std::move(settled));
  };
  site.max_letters = config.notify.most;
  auto classifier =
      make_classifier_service(config.classify, intake.value(), role->records->classifier());
  if (!classifier) return Failure<NodeError>{NodeError::bad_policy, classifier.error().message};
  site.classifier = std::move(classifier).value();
  // The API waits half of that time for the site.
  site.cancel_wait = config.link.request_timeout / 4;
  SiteSettings settings = site_settings(config.site, intake.value());
  settings.says_when = true;
  role->actor = context.system.spawn<SiteScheduler>(settings, std::move(site));
  return role;
}

Expected<std::unique_ptr<CloudRole>, NodeError> start_cloud(const RoleContext& context,
                                                            std::unique_ptr<Store> store) {
  const ClusterConfig& config = context.setup.config;
  auto role = std::make_unique<CloudRole>();
  role->store = std::move(store);
  auto records = RocksCloudStore::open(*role->store);
  if (!records) return store_failure(records.error());
  role->records = std::move(records).value();
  if (auto failed = open_provider(context, *role)) return *std::move(failed);

  ConnectorSetup cloud = connector_setup(config.cloud);
  cloud.catalog = &context.catalog;
  cloud.origin = context.origin;
  cloud.store = role->records.get();
  cloud.provider = role->provider.get();
  cloud.bill = &role->bill;
  cloud.note = context.note;
  role->actor = context.system.spawn<CloudConnector>(std::move(cloud));
  return role;
}

}  // namespace muster
