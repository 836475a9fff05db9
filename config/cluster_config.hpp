#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/classify_config.hpp"
#include "config/cloud_config.hpp"
#include "config/config_error.hpp"
#include "config/config_keys.hpp"
#include "config/endpoint.hpp"
#include "config/fleet.hpp"
#include "config/master_settings.hpp"
#include "config/site_settings.hpp"
#include "config/task_isolation.hpp"
#include "model/catalog.hpp"
#include "model/expected.hpp"
#include "model/geo.hpp"
#include "model/time.hpp"

namespace muster {

/// One process of the control plane and the roles that it plays.
struct NodeConfig {
  std::string name;
  Endpoint address;                   ///< where the other nodes reach it
  std::optional<std::string> site;    ///< name of the site scheduler that it runs
  GeoPoint position;                  ///< where on the earth the site is
  std::optional<std::string> master;  ///< name of the master that it runs
  std::optional<Endpoint> workers;    ///< where the master's workers reach it; with a master
  bool cloud = false;                 ///< it runs the cloud connector; exactly one node does
  std::optional<Endpoint> api;        ///< where it serves the HTTP API; with a site
  std::optional<Endpoint> join;       ///< where machines of one's own join; with the cloud
};

/// Settings of a live master besides those of every master.
struct LiveMasterConfig {
  std::uint64_t history_jobs = 100'000;  ///< finished jobs that are kept
  std::uint64_t history_days = 30;       ///< days that they are kept
  std::uint64_t endings_mib = 64;        ///< for the ends of jobs, which are kept for longer
  std::uint64_t endings_days = 365;      ///< days that these are kept
  bool uncapped = false;  ///< it may rent without limit; otherwise one of its caps has to be given
};

/// Below the state, unless LiveWorkerConfig::checkpoints says another one.
inline constexpr const char* kCheckpointsFolder = "checkpoints";

/// Settings that workers are given.
struct LiveWorkerConfig {
  Duration stop_grace{std::chrono::seconds{30}};  ///< from SIGTERM to SIGKILL
  std::filesystem::path checkpoints;   ///< shared by all instances; default: below the state
  std::filesystem::path attempts;      ///< of loopback instances; default: in the machine's folder
  std::uint64_t log_bytes = 8u << 20;  ///< of one file of a task's output
  std::uint32_t log_files = 2;         ///< rotated files that are kept besides
  std::uint32_t tail_bytes = 4096;     ///< of output that outlives the instance
  Duration acknowledged_keep{
      std::chrono::hours{1}};  ///< time that an attempt's folder outlives its end
  std::uint32_t task_uid = 0;  ///< tasks run as this user; 0: as the worker does
  /// Tasks of each user run as their own account, or as an id of this range that is theirs alone;
  /// empty: they do not. See parse_uid_range().
  std::string task_uids;
  IsolationChoice isolation = IsolationChoice::automatic;
  std::uint32_t max_processes = 4096;            ///< of an attempt; 0: any number
  bool hold_cpu = true;                          ///< to what is granted, where no cgroup does it
  Duration disk_check{std::chrono::seconds{2}};  ///< between two looks at the room on the disks
  /// Less free room is too little, 0: no watch; not given: 1 GiB or 5 percent of the file system,
  /// whichever is less.
  std::optional<std::uint32_t> disk_free_mib;
  std::uint32_t metric_names = 16;  ///< of what a task reports of itself; 0: it may report nothing
  Duration metrics_interval{std::chrono::seconds{2}};  ///< between two tellings of what is new
  std::uint32_t first_port = 20'000;  ///< of those that replicas of services are given
  std::uint32_t last_port = 32'000;
  /// Of the instance, for clients of services; empty: the one by which it reaches its master.
  std::string address;
  std::uint32_t exec_most = 32;  ///< commands beside tasks (muster exec) at once; 0: no such ones
  Duration exec_keep{std::chrono::seconds{60}};  ///< how long one runs without a word of its client
};

/// Bounds of the output of attempts that are over.
struct LogsConfig {
  std::uint64_t keep_mib = 1024;  ///< of a master's attempts, packed; past it the oldest go
  std::uint32_t keep_days = 14;
  double handover_s = 10;        ///< time that an instance is held for output that is not across
  std::filesystem::path folder;  ///< default: logs in the node's folder
};

/// Below the state, unless FilesConfig::folder says another one.
inline constexpr const char* kFilesFolder = "files";

/// The store of the files that jobs begin with and leave.
struct FilesConfig {
  std::filesystem::path folder;  ///< that nodes with an API and machines share
  std::uint32_t stage_max_mib = 16'384;
  std::uint32_t outputs_max_mib = 16'384;
  std::uint32_t user_max_mib = 262'144;
  std::uint32_t stage_keep_days = 14;  ///< since the last submission or start with it
  std::uint32_t outputs_keep_days = 90;
  Duration patience{std::chrono::minutes{30}};  ///< of an attempt, for each way
};

/// How nodes keep their stores.
struct StorageConfig {
  std::uint64_t reserve_mib = 64;  ///< of each store, for a disk that runs full; 0: no reserve
};

/// Backups that each node makes of its stores.
struct BackupConfig {
  Duration every{};        ///< between two backups; 0: no backups
  std::uint32_t keep = 7;  ///< complete ones of each node; past it the oldest goes
  /// Has to be there on every node's computer; each node's are in TO/CLUSTER/NODE.
  std::filesystem::path to{};

  friend bool operator==(const BackupConfig&, const BackupConfig&) = default;
};

/// How the HTTP API is opened, and what it writes down.
struct ApiConfig {
  std::filesystem::path tokens;  ///< file of the named tokens; default: in the folder of the state
  std::vector<std::string> hosts;  ///< names that it is asked by, besides those it knows itself
  std::uint32_t audit_mib = 16;    ///< of one file of the audit log
  std::uint32_t audit_files = 8;   ///< of the audit log; past them the oldest goes
  std::uint32_t waiting = 64;      ///< requests that wait for the cluster at once
  std::uint32_t waiting_of_token = 48;           ///< of these, those of one token
  std::uint32_t waiting_for_jobs = 128;          ///< requests that wait for a job to be over
  std::uint32_t waiting_for_jobs_of_token = 96;  ///< of these, those of one token
  /// The highest priority that tokens of the role user may give a job: a whole number. Those of
  /// admins are not bound.
  double max_user_priority = 0;
};

/// Below the state, unless NotifyConfig::key says another one.
inline constexpr const char* kNotifyKeyFile = "notify-key";

/// How users are told of the ends of their jobs, and admins of the day's cap.
struct NotifyConfig {
  std::vector<std::string> allow;  ///< hosts, addresses and blocks that hooks may be at besides
  std::filesystem::path sendmail;  ///< the program that sends mail; empty: no mail is sent
  std::string from;                ///< address that mail is from; empty: the program's choice
  std::vector<std::string> caps;   ///< addresses that are told when the day's cap is nearly spent
  std::filesystem::path
      key;                   ///< file of the key that hooks are signed by; default: below the state
  std::uint32_t tries = 10;  ///< of a message, since the start of its node
  Duration age{std::chrono::hours{24}};        ///< past it a message is given up
  Duration timeout{std::chrono::seconds{10}};  ///< of one try
  Duration retry{std::chrono::seconds{5}};     ///< after the first failure of a receiver
  Duration retry_longest{std::chrono::minutes{10}};
  std::uint32_t senders = 8;     ///< messages under way at once
  std::uint32_t most = 100'000;  ///< jobs of a site whose ends are to be told; of a user half
};

/// How nodes hold together.
struct LinkConfig {
  Duration heartbeat{std::chrono::seconds{1}};  ///< between signs of life, both kinds of link
  Duration timeout{std::chrono::seconds{10}};   ///< silence that ends a connection
  Duration reconnect{std::chrono::milliseconds{300}};  ///< from a loss to the first new try
  Duration request_timeout{std::chrono::seconds{10}};  ///< a question to another node
  std::uint32_t max_frame_bytes = 1u << 20;            ///< of one frame of the worker link
  std::uint32_t max_message_bytes = 16u << 20;         ///< of one message between nodes
};

/// Everything the nodes of a cluster need to know; all of them read the same file.
struct ClusterConfig {
  std::filesystem::path file;  ///< that it was read from
  std::string name;            ///< of the cluster
  std::uint64_t seed = 1;
  std::filesystem::path state;     ///< each node keeps its state in a folder of its name below
  std::filesystem::path pki;       ///< holds nodes/NODE.pem, nodes/NODE.key and ca/
  bool insecure_loopback = false;  ///< no TLS, and no address but loopback ones: for development
  std::filesystem::path catalog;
  std::string policy = "muster";    ///< NAME[,key=value...]
  std::filesystem::path api_token;  ///< file with the token that the API wants
  std::vector<NodeConfig> nodes;
  MasterSettings master;
  FleetConfig fleet;
  LiveMasterConfig live_master;
  SiteSettings site;
  ClassifyConfig classify;
  CloudConfig cloud;
  LiveWorkerConfig worker;
  LogsConfig logs;
  FilesConfig files;
  StorageConfig storage;
  BackupConfig backup;
  LinkConfig link;
  ApiConfig api;
  NotifyConfig notify;

  /// The nodes that run a site or a master, in the order of the file. Ids have the numbers of the
  /// roster (model/roster.hpp), not this order.
  std::vector<const NodeConfig*> sites() const;
  std::vector<const NodeConfig*> masters() const;
  const NodeConfig* find(const std::string& node) const;
  const NodeConfig& cloud_node() const;
};

/// Reads and checks a cluster file. All errors at once, as load_replay_config() has them. Relative
/// paths are meant from the file's folder; all come out absolute. An override of a node's key is
/// "node.NAME.key=value". Checked is also what belongs together: exactly one cloud, at least one
/// site and master, names and addresses used once, an API beside a site, no address but loopback
/// ones without TLS.
Expected<ClusterConfig, ConfigError> load_cluster_config(const std::filesystem::path& file,
                                                         const std::vector<std::string>& overrides);

/// Every key that load_cluster_config() understands, in the order of the documentation; NAME in a
/// key is that of a node.
std::vector<KeyInfo> cluster_config_keys();

/// A cluster file with these nodes and, where they differ from the defaults, the other settings.
std::string cluster_config_text(const ClusterConfig& config);

}  // namespace muster
