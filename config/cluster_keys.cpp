// The tables of keys of a cluster file: those of the cluster, and those of each [[node]]. A key
// stands here with its range and its sentence, from which the reader, its messages and the
// documentation are made.

#include "config/cluster_keys.hpp"

#include <limits>

#include "config/cloud_keys.hpp"
#include "config/key_table.hpp"
#include "config/task_keys.hpp"

namespace muster::config {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using C = ClusterConfig;
using N = NodeConfig;
using WholeKey = WholeKeyOf<C>;
using NumberKey = NumberKeyOf<C>;
using TimeKey = TimeKeyOf<C>;
using PathKey = PathKeyOf<C>;
using Keys = std::vector<KeySpecOf<C>>;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

/// A bound against mistakes in typing rather than a limit of the program.
constexpr U32 kMany = 10'000'000;
/// 64 TiB.
constexpr U64 kManyMib = U64{1} << 26;
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
// TOML's whole numbers are signed.
constexpr U64 kMaxSeed = std::numeric_limits<std::int64_t>::max();

Keys top_keys() {
  return {
      {"name", "the cluster's name", NameKeyOf<C>{[](C& c) -> std::string& { return c.name; }},
       true},
      {"seed", "seed of the cluster's random numbers",
       WholeKey{[](C& c) -> U64& { return c.seed; }, 0, kMaxSeed}},
      {"state", "folder below which each node keeps its state, in one of its own name",
       PathKey{[](C& c) -> fs::path& { return c.state; }}, true},
      {"pki", "folder of the nodes' certificates and keys; needed unless insecure_loopback",
       PathKey{[](C& c) -> fs::path& { return c.pki; }}},
      {"insecure_loopback", "no TLS, and no address but loopback ones: for development",
       FlagKeyOf<C>{[](C& c) -> bool& { return c.insecure_loopback; }}},
      {"catalog", "CSV file of the instance types on offer",
       PathKey{[](C& c) -> fs::path& { return c.catalog; }}, true},
      {"policy", "the policy of every master: NAME[,key=value...]",
       TextKeyOf<C>{[](C& c) -> std::string& { return c.policy; }}},
      {"api_token", "file with the API's first token, an admin's; needed when a node has an api",
       PathKey{[](C& c) -> fs::path& { return c.api_token; }}}};
}

Keys live_master_keys() {
  return {
      {"master.history_jobs", "finished jobs that are kept",
       WholeKey{[](C& c) -> U64& { return c.live_master.history_jobs; }, 1, 100'000'000}},
      {"master.history_days",
       "days that finished jobs are kept; older ones go when the next job has finished",
       WholeKey{[](C& c) -> U64& { return c.live_master.history_days; }, 1, 3'650}},
      {"master.endings_mib",
       "MiB for the ends of jobs that did not complete, and of parts of jobs, which others may "
       "wait for when the history has dropped them; beyond, of the user with most the oldest go",
       WholeKey{[](C& c) -> U64& { return c.live_master.endings_mib; }, 1, 4'096}},
      {"master.endings_days",
       "days that these ends are kept; older ones go when the next job has finished",
       WholeKey{[](C& c) -> U64& { return c.live_master.endings_days; }, 1, 3'650}},
      {"master.decision_deadline",
       "a decision is allowed as many steps as the policy has taken in that time before; at "
       "most master.decision_budget; 0: any number",
       TimeKey{[](C& c) -> Duration& { return c.master.decision_deadline; }, 0ns, 1h}},
      {"master.planner_lag",
       "events that the planner beside a master may be behind; beyond, no more jobs are taken",
       WholeKey{[](C& c) -> U32& { return c.master.planner_lag; }, 1000, 100'000'000}},
      {"master.planner_retry",
       "from a decision in which the policy has failed to the next one; doubled each time that "
       "it fails again",
       TimeKey{[](C& c) -> Duration& { return c.master.planner_retry; }, 10ms, 1h}},
      {"master.planner_retry_longest",
       "longest pause after a failed decision; no less than planner_retry",
       TimeKey{[](C& c) -> Duration& { return c.master.planner_retry_longest; }, 10ms, 24h}},
      {"master.dry_runs",
       "dry runs (muster plan) that wait for a master's planner; more are told to come again",
       WholeKey{[](C& c) -> U32& { return c.master.dry_runs.most; }, 1, 10'000}},
      {"master.dry_runs_of_user", "dry runs of one user that wait, the one under way counted",
       WholeKey{[](C& c) -> U32& { return c.master.dry_runs.of_user; }, 1, 10'000}},
      {"master.dry_run_age",
       "a dry run that has waited longer is dropped: half of link.request_timeout is as long as "
       "the API waits",
       TimeKey{[](C& c) -> Duration& { return c.master.dry_runs.age; }, 10ms, 1h}},
      {"master.log_readers",
       "questions for the output of running tasks that wait for workers; more are told to come "
       "again",
       WholeKey{[](C& c) -> U32& { return c.master.log_readers.most; }, 1, 100'000}},
      {"master.log_readers_of_instance",
       "questions for output that wait for the worker of one instance",
       WholeKey{[](C& c) -> U32& { return c.master.log_readers.of_instance; }, 1, 100'000}},
      {"master.log_reader_age", "such a question that has waited longer is dropped",
       TimeKey{[](C& c) -> Duration& { return c.master.log_readers.age; }, 10ms, 1h}},
      {"master.caps",
       "\"none\": each master may rent without limit; otherwise max_instances, max_usd_h or "
       "max_usd_day has to be given, or a fleet beyond which nothing is rented",
       ChoiceKeyOf<C>{{"given", "none"},
                      [](const C& c) -> std::size_t { return c.live_master.uncapped ? 1 : 0; },
                      [](C& c, std::size_t i) { c.live_master.uncapped = i == 1; }}}};
}

// The two folders stand behind the first key, where the documentation wants them.
Keys worker_keys() {
  Keys keys = task_keys<C, &C::worker>("worker", "task_uid");
  const Keys replicas = replica_keys<C, &C::worker>("worker");
  keys.insert(keys.end(), replicas.begin(), replicas.end());
  const Keys commands = exec_keys<C, &C::worker>("worker");
  keys.insert(keys.end(), commands.begin(), commands.end());
  keys.insert(keys.begin() + 1,
              {"worker.checkpoints",
               "folder that all instances share; not given: checkpoints below the state",
               PathKey{[](C& c) -> fs::path& { return c.worker.checkpoints; }}});
  keys.insert(keys.begin() + 2,
              {"worker.attempts",
               "folder of the attempts of loopback instances, which need not outlive the computer: "
               "short tasks start faster in memory (/dev/shm); not given: below the state",
               PathKey{[](C& c) -> fs::path& { return c.worker.attempts; }}});
  return keys;
}

Keys logs_keys() {
  return {
      {"logs.keep_mib",
       "disk for the output of a master's attempts, packed; past it the oldest goes",
       WholeKey{[](C& c) -> U64& { return c.logs.keep_mib; }, 1, kMany}},
      {"logs.keep_days", "days after which output of an attempt is deleted",
       WholeKey{[](C& c) -> U32& { return c.logs.keep_days; }, 1, 3650}},
      {"logs.handover_s",
       "seconds that an instance is held, billed, for output that has not come to its master's "
       "node; 0: not at all",
       NumberKey{[](C& c) -> double& { return c.logs.handover_s; }, {0, 3600}}},
      {"logs.folder",
       "folder below which each master keeps such output, in one of its own name; not given: logs "
       "in its node's folder",
       PathKey{[](C& c) -> fs::path& { return c.logs.folder; }}}};
}

Keys files_keys() {
  return {
      {"files.folder",
       "store of the files that jobs begin with and leave, on a file system that the nodes with an "
       "API and the machines share; not given: files below the state",
       PathKey{[](C& c) -> fs::path& { return c.files.folder; }}},
      {"files.stage_max_mib", "largest folder that a job may begin with",
       WholeKey{[](C& c) -> U32& { return c.files.stage_max_mib; }, 1, kManyMib}},
      {"files.outputs_max_mib", "most that an attempt may leave as outputs",
       WholeKey{[](C& c) -> U32& { return c.files.outputs_max_mib; }, 1, kManyMib}},
      {"files.user_max_mib",
       "most that a user may have in the store; beyond it files are neither taken nor kept",
       WholeKey{[](C& c) -> U32& { return c.files.user_max_mib; }, 1, kManyMib}},
      {"files.stage_keep_days",
       "days after which files that jobs begin with go, since the last job or attempt that began "
       "with them; not while a job that is not over needs them",
       WholeKey{[](C& c) -> U32& { return c.files.stage_keep_days; }, 1, 3650}},
      {"files.patience",
       "longest that the files of an attempt may take to come, and its outputs to be kept",
       TimeKey{[](C& c) -> Duration& { return c.files.patience; }, 1s, 24h}},
      {"files.outputs_keep_days", "days after which outputs of an attempt go",
       WholeKey{[](C& c) -> U32& { return c.files.outputs_keep_days; }, 1, 3650}}};
}

Keys storage_keys() {
  return {{"storage.reserve_mib",
           "disk space that each store reserves for the time when the disk is full, no more than "
           "1/32 of the file system; 0: no reserve",
           WholeKey{[](C& c) -> U64& { return c.storage.reserve_mib; }, 0, kMany}}};
}

Keys backup_keys() {
  return {{"backup.every",
           "time between two backups that each node makes of its stores, at least 1min; 0: no "
           "backups are made",
           TimeKey{[](C& c) -> Duration& { return c.backup.every; }, 0ns, 720h}},
          {"backup.keep", "complete backups of each node that are kept; past it the oldest goes",
           WholeKey{[](C& c) -> U32& { return c.backup.keep; }, 1, 1000}},
          {"backup.to",
           "folder that is there on each node's computer, for its backups, in TO/CLUSTER/NODE; "
           "needed with backup.every",
           PathKey{[](C& c) -> fs::path& { return c.backup.to; }}}};
}

Keys link_keys() {
  return {{"link.heartbeat",
           "time between heartbeats of a connection; between nodes no less than a third of timeout",
           TimeKey{[](C& c) -> Duration& { return c.link.heartbeat; }, 10ms, 1min}},
          {"link.timeout", "silence that ends a connection; at least twice heartbeat",
           TimeKey{[](C& c) -> Duration& { return c.link.timeout; }, 20ms, 1h}},
          {"link.reconnect", "from the loss of a connection to the first try to have it again",
           TimeKey{[](C& c) -> Duration& { return c.link.reconnect; }, 1ms, 1min}},
          {"link.request_timeout", "how long another node may take to answer a question",
           TimeKey{[](C& c) -> Duration& { return c.link.request_timeout; }, 10ms, 1h}},
          {"link.max_frame_bytes", "largest frame between a master and a worker",
           WholeKey{[](C& c) -> U32& { return c.link.max_frame_bytes; }, kMiB, 64 * kMiB}},
          {"link.max_message_bytes", "largest message between nodes",
           WholeKey{[](C& c) -> U32& { return c.link.max_message_bytes; }, kMiB, 1024 * kMiB}}};
}

Keys api_keys() {
  return {
      {"api.tokens",
       "file of the named tokens (muster token), which the API writes; not given: "
       "named-tokens in the folder `state`",
       PathKey{[](C& c) -> fs::path& { return c.api.tokens; }}},
      {"api.hosts",
       "host names that the API may be asked by, besides loopback names, the address that it "
       "listens on, the machine's name and those of its certificate",
       ListKeyOf<C>{[](C& c) -> std::vector<std::string>& { return c.api.hosts; }}},
      {"api.audit_mib", "size of one file of the API's audit log",
       WholeKey{[](C& c) -> U32& { return c.api.audit_mib; }, 1, 1024}},
      {"api.audit_files", "files of the audit log that are kept; past them the oldest goes",
       WholeKey{[](C& c) -> U32& { return c.api.audit_files; }, 2, 1000}},
      {"api.waiting", "requests that wait for an answer of the cluster at once",
       WholeKey{[](C& c) -> U32& { return c.api.waiting; }, 1, 100'000}},
      {"api.waiting_of_token",
       "requests of one token that wait for an answer of the cluster at once",
       WholeKey{[](C& c) -> U32& { return c.api.waiting_of_token; }, 1, 100'000}},
      {"api.waiting_for_jobs", "requests that wait for a job to be over at once",
       WholeKey{[](C& c) -> U32& { return c.api.waiting_for_jobs; }, 1, 100'000}},
      {"api.waiting_for_jobs_of_token",
       "requests of one token that wait for a job to be over at once",
       WholeKey{[](C& c) -> U32& { return c.api.waiting_for_jobs_of_token; }, 1, 100'000}},
      {"api.max_user_priority",
       "the highest priority that a token of the role user may give a job; admins are not bound",
       NumberKey{[](C& c) -> double& { return c.api.max_user_priority; },
                 {.low = -1e6, .high = 1e6, .whole = true}}}};
}

Keys notify_keys() {
  return {
      {"notify.allow",
       "host names, addresses and blocks like \"10.1.0.0/16\" at which webhooks may be although "
       "they are private, or are spoken to without TLS",
       ListKeyOf<C>{[](C& c) -> std::vector<std::string>& { return c.notify.allow; }}},
      {"notify.sendmail",
       "the program that sends mail, as /usr/sbin/sendmail; not given: no mail is sent",
       PathKey{[](C& c) -> fs::path& { return c.notify.sendmail; }}},
      {"notify.from", "address that mail is from; not given: as the program chooses",
       TextKeyOf<C>{[](C& c) -> std::string& { return c.notify.from; }}},
      {"notify.caps",
       "webhooks and mail addresses that are told when 80% of the day's cap are spent",
       ListKeyOf<C>{[](C& c) -> std::vector<std::string>& { return c.notify.caps; }}},
      {"notify.key",
       "file of the key from which those of the users' webhooks are made; not given: notify-key in "
       "the folder `state`, made at the first start",
       PathKey{[](C& c) -> fs::path& { return c.notify.key; }}},
      {"notify.tries", "tries of a message since its node's start; then it is given up",
       WholeKey{[](C& c) -> U32& { return c.notify.tries; }, 1, 1000}},
      {"notify.age", "age past which a message is given up, over restarts of its node",
       TimeKey{[](C& c) -> Duration& { return c.notify.age; }, 1s, 720h}},
      {"notify.timeout", "time that one try may take",
       TimeKey{[](C& c) -> Duration& { return c.notify.timeout; }, 100ms, 5min}},
      {"notify.retry", "pause of a receiver that has failed; doubled each time that it fails again",
       TimeKey{[](C& c) -> Duration& { return c.notify.retry; }, 10ms, 1h}},
      {"notify.retry_longest", "longest such pause; no less than retry",
       TimeKey{[](C& c) -> Duration& { return c.notify.retry_longest; }, 10ms, 24h}},
      {"notify.senders",
       "messages under way at once; of one user half of them, at one receiver at most two",
       WholeKey{[](C& c) -> U32& { return c.notify.senders; }, 2, 64}},
      {"notify.most",
       "jobs of a site whose ends are to be told; of one user half of them; more are refused",
       WholeKey{[](C& c) -> U32& { return c.notify.most; }, 2, 1'000'000}}};
}

// In the order of the documentation, which is printed from this table.
Keys build_table() {
  Keys all;
  for (const Keys& part :
       {top_keys(), master_keys<C>(), instance_keys<C>(), planning_keys<C>(), live_master_keys(),
        site_keys<C>(), classify_keys<C>(), predict_keys<C>(), cloud_keys<C>(), worker_keys(),
        logs_keys(), files_keys(), storage_keys(), backup_keys(), link_keys(), api_keys(),
        notify_keys()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

std::vector<KeySpecOf<N>> node_keys() {
  using Name = NameKeyOf<N>;
  using Place = EndpointKeyOf<N>;
  return {{"name", "the node's name, in commands and of its folder and certificate",
           Name{[](N& n) -> std::string& { return n.name; }}, true},
          {"address", "where the other nodes reach it",
           Place{[](N& n) -> Endpoint& { return n.address; }}, true},
          {"site", "name of the site scheduler that it runs",
           Name{[](N& n) -> std::optional<std::string>& { return n.site; }}},
          {"latitude", "latitude of the site in degrees: jobs go to the nearest site",
           NumberKeyOf<N>{[](N& n) -> double& { return n.position.latitude_deg; }, {-90, 90}}},
          {"longitude", "longitude of the site in degrees, east positive",
           NumberKeyOf<N>{[](N& n) -> double& { return n.position.longitude_deg; }, {-180, 180}}},
          {"api", "where it serves the HTTP API; only with a site",
           Place{[](N& n) -> std::optional<Endpoint>& { return n.api; }}},
          {"master", "name of the master that it runs",
           Name{[](N& n) -> std::optional<std::string>& { return n.master; }}},
          {"workers", "where the master's workers reach it; needed with a master, and only then",
           Place{[](N& n) -> std::optional<Endpoint>& { return n.workers; }}},
          {"cloud", "it runs the cloud connector; exactly one node does",
           FlagKeyOf<N>{[](N& n) -> bool& { return n.cloud; }}},
          {"join", "where machines of your own join the cluster; only with cloud = true",
           Place{[](N& n) -> std::optional<Endpoint>& { return n.join; }}}};
}

}  // namespace

template <>
const std::vector<KeySpecOf<ClusterConfig>>& key_table<ClusterConfig>() {
  static const Keys kTable = build_table();
  return kTable;
}

template <>
const std::vector<KeySpecOf<NodeConfig>>& key_table<NodeConfig>() {
  static const std::vector<KeySpecOf<N>> kTable = node_keys();
  return kTable;
}

void put_defaults_beside(const std::string& provider, MasterSettings& master) {
  if (provider != "hosts") return;
  // To ask for a machine of one's own is free, and each may join or become free at any time.
  master.launch_backoff = std::chrono::seconds{5};
  master.launch_backoff_longest = master.launch_backoff;
}

}  // namespace muster::config
