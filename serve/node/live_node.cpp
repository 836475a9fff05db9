#include "serve/node/live_node.hpp"

#include <algorithm>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <caf/io/all.hpp>
#include <caf/openssl/all.hpp>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "actors/link/relay.hpp"
#include "actors/link/worker_link_listener.hpp"
#include "actors/time/clock_wall.hpp"
#include "config/catalog_file.hpp"
#include "serve/api/server.hpp"
#include "serve/node/actor_backend.hpp"
#include "serve/node/backup_keeper.hpp"
#include "serve/node/file_keeper.hpp"
#include "serve/node/join_port.hpp"
#include "serve/node/node_api.hpp"
#include "serve/node/node_log.hpp"
#include "serve/node/node_pki.hpp"
#include "serve/node/node_roles.hpp"
#include "serve/node/peer_dialer.hpp"

namespace muster {
namespace {

class SystemConfig : public caf::actor_system_config {
 public:
  SystemConfig(const ClusterConfig& cluster, const std::string& node) {
    add_messages(*this);
    load<caf::io::middleman>();
    if (!cluster.insecure_loopback) load<caf::openssl::manager>();
    set("scheduler.policy", caf::atom("sharing"));
    set("scheduler.max-threads", 4);
    // At each beat CAF drops connections that have said nothing yet, however young: on a busy
    // machine beats that come too often keep nodes from ever meeting.
    const Duration beat = std::max(cluster.link.heartbeat, cluster.link.timeout / 3);
    set("middleman.heartbeat-interval", caf::timespan{beat});
    set("middleman.connection-timeout", caf::timespan{cluster.link.timeout});
    if (cluster.insecure_loopback) return;
    const TlsFiles files = node_tls(cluster, node);
    openssl_certificate = files.certificate.string();
    openssl_key = files.key.string();
    openssl_cafile = files.trusted.string();
  }
};

asio::ip::tcp::endpoint loopback(std::uint16_t port) {
  return {asio::ip::address_v4::loopback(), port};
}

}  // namespace

class LiveNode::Parts {
 public:
  explicit Parts(NodeSetup setup)
      : setup_(std::move(setup)),
        self_(*setup_.config.find(setup_.node)),
        state_(setup_.config.state / setup_.node),
        log_(make_log(setup_.node, state_ / "node.log", setup_.log_to_terminal)),
        system_config_(setup_.config, setup_.node),
        system_(system_config_),
        origin_(wall_origin(system_)) {}

  ~Parts() {
    log_->info("ends");
    // From the outside in: requests and workers, the relay, the actors, and at last the stores.
    // Each of these uses those behind it.
    if (cloud_) cloud_->join.reset();
    keepers_.files.reset();
    api_.reset();
    listener_.reset();
    if (relay_) asio::post(io_, [this] { relay_->stop(); });
    work_.reset();
    if (io_thread_.joinable()) io_thread_.join();
    relay_.reset();
    if (backend_) backend_->end_asking();
    for (const caf::actor& actor : actors_) caf::anon_send_exit(actor, caf::exit_reason::kill);
    actors_.clear();
    peers_.clear();
    end(cloud_);
    end(site_);
    end(master_);
    system_.await_all_actors_done();
    // Roles asked it for trouble until now.
    keepers_.backups.reset();
    // Those that asked for it used it until now.
    backend_.reset();
    // Journals and stores write what is left; no actor is there any more to be notified.
    cloud_.reset();
    site_.reset();
    master_.reset();
  }

  std::optional<Failure<NodeError>> start() {
    auto catalog = load_catalog(setup_.config.catalog);
    if (!catalog) {
      return Failure<NodeError>{NodeError::bad_catalog, "catalog: " + catalog.error().message};
    }
    // Masters reckon with the delays that the cloud will have.
    catalog_ = with_delays_of(setup_.config.cloud, catalog.value());
    for (const NodeConfig& node : setup_.config.nodes) {
      if (node.name != self_.name) peers_[node.name] = std::make_shared<PeerRoles>(system_);
    }
    if (auto trouble = start_roles()) return trouble;
    watch_cloud();
    if (auto trouble = publish_handshake()) return trouble;
    for (const NodeConfig& node : setup_.config.nodes) dial(node);
    if (auto trouble = listen_to_workers()) return trouble;
    if (auto trouble = serve_api()) return trouble;
    if (auto trouble = let_join()) return trouble;
    log_->info("ready");
    return std::nullopt;
  }

  std::optional<RosterOffer> offer() const {
    const std::lock_guard lock(offer_.mutex);
    return offer_.first;
  }

 private:
  struct Offered {
    std::mutex mutex;
    std::optional<RosterOffer> first;
  };

  template <class Role>
  void end(const std::unique_ptr<Role>& role) {
    if (!role) return;
    caf::anon_send_exit(role->actor, caf::exit_reason::kill);
    role->actor = nullptr;
  }

  /// The roles of another node as this one speaks to them.
  const PeerRoles& peer(const std::string& node) const { return *peers_.at(node); }
  MasterActor master_of(const NodeConfig& node) {
    return node.name == self_.name ? master_->actor : peer(node.name).master.handle();
  }
  SiteActor site_of(const NodeConfig& node) {
    return node.name == self_.name ? site_->actor : peer(node.name).site.handle();
  }
  CloudActor cloud_of(const NodeConfig& node) {
    return node.name == self_.name ? cloud_->actor : peer(node.name).cloud.handle();
  }

  /// Before the roles, which ask whether they are made.
  void begin_backups(const NodeStores& stores) {
    const ClusterConfig& config = setup_.config;
    if (config.backup.every == Duration{}) return;
    BackupPlan plan{config.backup.to,
                    std::filesystem::path(config.name) / self_.name,
                    config.backup.every,
                    config.backup.keep,
                    {},
                    state_ / "backup-owner"};
    for (const auto* store : {&stores.cloud, &stores.master, &stores.site}) {
      if (*store) plan.stores.push_back((*store)->directory());
    }
    BackupKeeper::Host host;
    host.clock = [] {
      return std::chrono::sys_seconds{
          std::chrono::floor<std::chrono::seconds>(wall_now().time_since_epoch())};
    };
    host.note = [log = log_](const std::string& text) { log->info(text); };
    host.warn = [log = log_](const std::string& text) { log->warn(text); };
    keepers_.backups = std::make_unique<BackupKeeper>(std::move(plan), std::move(host));
  }

  std::optional<Failure<NodeError>> start_roles() {
    const ClusterConfig& config = setup_.config;
    auto stores = open_stores(setup_, catalog_, state_);
    if (!stores) return stores.error();
    roster_ = stores->roster;
    numbered_ = stores->numbered;
    begin_backups(stores.value());
    const RoleContext context{
        system_,
        setup_,
        catalog_,
        origin_,
        state_,
        roster_,
        [log = log_](const std::string& text) { log->info(text); },
        [this] { return keepers_.backups ? keepers_.backups->trouble() : std::string{}; },
        [log = log_](const std::string& text) { log->warn(text); }};
    // Cloud, master, site: each role is given the handles of the roles before it.
    if (self_.cloud) {
      auto role = start_cloud(context, std::move(stores->cloud));
      if (!role) return role.error();
      cloud_ = std::move(role).value();
    }
    if (self_.master) {
      auto role = start_master(context, std::move(stores->master), cloud_of(config.cloud_node()));
      if (!role) return role.error();
      master_ = std::move(role).value();
    }
    if (self_.site) {
      std::vector<MasterPlace> masters;
      for (const NodeConfig* node : config.masters()) {
        masters.push_back({master_of(*node), *node->master, roster_.masters.at(*node->master)});
      }
      std::vector<SitePlace> sites;
      for (const NodeConfig* node : config.sites()) {
        const bool own = node->name == self_.name;
        sites.push_back({own ? SiteForSites{} : SiteForSites{site_of(*node)}, *node->site,
                         node->position, roster_.sites.at(*node->site)});
      }
      auto role =
          start_site(context, std::move(stores->site), std::move(masters), std::move(sites));
      if (!role) return role.error();
      site_ = std::move(role).value();
    }
    return std::nullopt;
  }

  /// News from the time without a link to the cloud has not come here.
  void watch_cloud() {
    const auto cloud = peers_.find(setup_.config.cloud_node().name);
    if (!master_ || cloud == peers_.end()) return;
    cloud->second->cloud_back = [address = caf::actor_cast<caf::weak_actor_ptr>(master_->actor)] {
      if (auto master = caf::actor_cast<MasterForNode>(address.lock())) {
        caf::anon_send(master, greet_atom_v);
      }
    };
  }

  NodeRoles own_roles() const {
    NodeRoles roles{self_.name, roster_, {}, {}, {}, numbered_};
    if (site_) roles.site = site_->actor;
    if (master_) roles.master = master_->actor;
    if (cloud_) roles.cloud = cloud_->actor;
    return roles;
  }

  MeetingNews news() {
    return {[log = log_](const std::string& text) { log->info(text); },
            [this](const RosterOffer& offer) { on_roster_offer(offer); }};
  }

  /// The first one counts.
  void on_roster_offer(const RosterOffer& offer) {
    {
      const std::lock_guard lock(offer_.mutex);
      if (offer_.first) return;
      offer_.first = offer;
    }
    log_->info("ends, to begin again with the numbers of {}: {}", offer.node, offer.difference);
    // Without the lock: has_to_end may ask for offer(), which takes it.
    if (setup_.has_to_end) setup_.has_to_end();
  }

  /// CAF listens on a port of the loopback interface; other nodes reach the relay.
  std::optional<Failure<NodeError>> publish_handshake() {
    const NodeActor handshake = system_.spawn<NodeHandshake>(own_roles(), peers_, news());
    actors_.push_back(caf::actor_cast<caf::actor>(handshake));
    const bool plain = setup_.config.insecure_loopback;
    const auto port = plain ? system_.middleman().publish(handshake, 0, "127.0.0.1")
                            : caf::openssl::publish(handshake, 0, "127.0.0.1");
    if (!port) return Failure<NodeError>{NodeError::listen, system_.render(port.error())};

    RelayOptions options;
    asio::error_code bad;
    options.listen = {asio::ip::make_address(self_.address.host, bad), self_.address.port};
    if (bad) {
      return Failure<NodeError>{NodeError::listen,
                                "the node's address has to be a number: " + self_.address.host};
    }
    options.own_port = loopback(*port);
    options.plain = plain;
    options.max_payload_bytes = setup_.config.link.max_message_bytes;
    for (const NodeConfig& node : setup_.config.nodes) options.allowed.push_back(node.name);
    if (!plain) options.tls = node_tls(setup_.config, self_.name);
    auto relay = Relay::start(io_, options, [log = log_](const RelayReport& report) {
      log->info("relay: {} {} {} {}", to_string(report.event), report.address, report.name,
                report.detail);
    });
    if (!relay) return Failure<NodeError>{NodeError::listen, relay.error().message};
    relay_ = std::move(relay).value();
    io_thread_ = std::thread([this] { io_.run(); });
    return std::nullopt;
  }

  /// Masters need the cloud, sites the masters and each other, and an API everybody.
  static bool needs(const NodeConfig& a, const NodeConfig& b) {
    if (a.api) return b.master || b.cloud || b.site;
    return (a.site && (b.master || b.site)) || (a.master && b.cloud);
  }

  /// Of two nodes the one whose name comes first dials: CAF takes a second connection between the
  /// same two for a mistake.
  bool dials(const NodeConfig& node) const {
    return self_.name < node.name && (needs(self_, node) || needs(node, self_));
  }

  void dial(const NodeConfig& node) {
    if (!dials(node)) return;
    PeerDialerSetup dialer;
    dialer.node = node.name;
    dialer.address = node.address;
    dialer.link = setup_.config.link;
    dialer.own = own_roles();
    dialer.roles = peers_[node.name];
    dialer.news = news();
    dialer.connector = setup_.config.insecure_loopback
                           ? caf::actor_cast<caf::actor>(system_.middleman().actor_handle())
                           : caf::actor_cast<caf::actor>(system_.openssl_manager().actor_handle());
    actors_.push_back(caf::actor_cast<caf::actor>(system_.spawn<PeerDialer>(std::move(dialer))));
  }

  std::optional<Failure<NodeError>> listen_to_workers() {
    if (!master_) return std::nullopt;
    WorkerListenerSetup listener;
    listener.address = self_.workers->host;
    listener.port = self_.workers->port;
    if (!setup_.config.insecure_loopback)
      listener.tls = worker_listener_tls(setup_.config, self_.name);
    listener.options = worker_link_options(setup_.config);
    listener.master = master_->actor;
    listener.news = [log = log_](const LinkNews& news) {
      log->info("worker link: instance {} {}",
                news.instance.valid() ? std::to_string(news.instance.value) : "?", news.text);
    };
    auto started = WorkerListener::start(system_, std::move(listener));
    if (!started) return Failure<NodeError>{NodeError::listen, started.error().message};
    listener_ = std::move(started).value();
    return std::nullopt;
  }

  std::optional<Failure<NodeError>> serve_api() {
    if (!self_.api) return std::nullopt;
    ClusterHandles handles;
    handles.own_site = site_->actor;
    for (const NodeConfig* node : setup_.config.sites()) handles.sites.push_back(site_of(*node));
    for (const NodeConfig* node : setup_.config.masters()) {
      handles.masters.push_back(master_of(*node));
      handles.numbers.push_back(roster_.masters.at(*node->master));
    }
    handles.cloud = cloud_of(setup_.config.cloud_node());
    handles.connected = [this](const std::string& node) {
      if (node == self_.name) return true;
      const auto found = peers_.find(node);
      return found != peers_.end() && found->second->connected();
    };
    handles.catalog = &catalog_;
    handles.day_costs = state_ / "day-costs";
    handles.post = site_->post.get();
    handles.caps = site_->caps.get();
    // The whole fleet, as one share of one: the API refuses only jobs that no master could ever
    // run. Instances beyond a fleet may be of any type.
    auto fleet = fleet_share(setup_.config.fleet.parts, catalog_, 0, 1);
    if (!fleet) return Failure<NodeError>{NodeError::bad_catalog, fleet.error().message};
    // The first master has the largest share of each part.
    const auto masters = static_cast<std::uint32_t>(handles.masters.size());
    auto largest = fleet_share(setup_.config.fleet.parts, catalog_, 0, masters);
    if (!largest) return Failure<NodeError>{NodeError::bad_catalog, largest.error().message};
    if (!setup_.config.master.rent_beyond_fleet) {
      handles.fleet = std::move(fleet).value();
      handles.largest_share = std::move(largest).value();
    }
    backend_ = std::make_unique<ActorBackend>(system_, setup_.config, std::move(handles), origin_);
    backend_->keep_asking();
    auto options = api_options(
        {setup_.config, self_, state_, [log = log_](const std::string& text) { log->warn(text); },
         // The wall's clock as it is now: ends of tokens are said by it, also after a sleep.
         [] {
           return std::chrono::floor<std::chrono::seconds>(wall_now().time_since_epoch()).count();
         }});
    if (!options) return options.error();
    if (cloud_) cloud_->audit = options->audit;
    if (cloud_ && cloud_->hosts) {
      auto admin = host_admin(join_parts());
      if (!admin) return admin.error();
      options->joined = std::move(admin).value();
    }
    auto server = api::Server::start(*backend_, std::move(options).value());
    if (!server) return Failure<NodeError>{NodeError::listen, server.error().message};
    api_ = std::move(server).value();
    keep_files();
    log_->info("serves the API at {}", api_->url());
    return std::nullopt;
  }

  /// Of each API: a sweep beside another one's finds less to do.
  void keep_files() {
    FileKeeper::Host host;
    host.clock = [] {
      return std::chrono::sys_seconds{
          std::chrono::floor<std::chrono::seconds>(wall_now().time_since_epoch())};
    };
    host.note = [log = log_](const std::string& text) { log->info(text); };
    host.warn = [log = log_](const std::string& text) { log->warn(text); };
    keepers_.files = std::make_unique<FileKeeper>(setup_.config.files, *backend_, std::move(host));
  }

  JoinPortParts join_parts() const { return {setup_.config, self_, cloud_->hosts, cloud_->audit}; }

  /// Last: machines are taken into use by actors that are there.
  std::optional<Failure<NodeError>> let_join() {
    if (!cloud_ || !cloud_->hosts) return std::nullopt;
    auto join = open_join_port(join_parts());
    if (!join) return join.error();
    cloud_->join = std::move(join).value();
    auto marks =
        mark_checkpoints(setup_.config, [log = log_](const std::string& text) { log->warn(text); });
    if (!marks) return marks.error();
    cloud_->marks = std::move(marks).value();
    log_->info("machines join at {} port {}", self_.join->host, cloud_->join->port());
    return std::nullopt;
  }

  NodeSetup setup_;
  const NodeConfig& self_;
  std::filesystem::path state_;
  std::shared_ptr<spdlog::logger> log_;
  Catalog catalog_;
  ClusterRoster roster_;
  bool numbered_ = false;
  mutable Offered offer_;
  SystemConfig system_config_;
  caf::actor_system system_;
  ClockOrigin origin_;
  asio::io_context io_;
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  std::thread io_thread_;
  Peers peers_;
  std::unique_ptr<CloudRole> cloud_;
  std::unique_ptr<MasterRole> master_;
  std::unique_ptr<SiteRole> site_;
  std::vector<caf::actor> actors_;  ///< handshake and dialers
  std::unique_ptr<Relay> relay_;
  std::unique_ptr<WorkerListener> listener_;
  std::unique_ptr<ActorBackend> backend_;
  std::unique_ptr<api::Server> api_;
  struct Keepers {
    std::unique_ptr<FileKeeper> files;
    std::unique_ptr<BackupKeeper> backups;
  } keepers_;
};

LiveNode::LiveNode(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
LiveNode::~LiveNode() = default;

std::optional<RosterOffer> LiveNode::offer() const {
  return parts_->offer();
}

std::optional<Failure<NodeError>> LiveNode::take(const NodeSetup& setup, const RosterOffer& offer) {
  const auto catalog = load_catalog(setup.config.catalog);
  if (!catalog) return Failure<NodeError>{NodeError::bad_catalog, catalog.error().message};
  return take_roster(setup, catalog.value(), offer.roster, setup.config.state / setup.node);
}

Expected<std::unique_ptr<LiveNode>, NodeError> LiveNode::start(NodeSetup setup) {
  if (setup.config.find(setup.node) == nullptr) {
    std::string known;
    for (const NodeConfig& node : setup.config.nodes) known += " " + node.name;
    return Failure<NodeError>{NodeError::unknown_node,
                              "there is no node \"" + setup.node + "\"; the file has:" + known};
  }
  if (auto trouble = check_node_tls(setup.config, setup.node)) return *trouble;
  std::error_code failed;
  std::filesystem::create_directories(setup.config.state / setup.node, failed);
  if (failed) {
    return Failure<NodeError>{NodeError::store,
                              (setup.config.state / setup.node).string() + ": " + failed.message()};
  }
  auto parts = std::make_unique<Parts>(std::move(setup));
  if (auto trouble = parts->start()) return *trouble;
  return std::unique_ptr<LiveNode>(new LiveNode(std::move(parts)));
}

}  // namespace muster
