#include "config/cluster_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "config/catalog_file.hpp"
#include "tests/support/cluster_file.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/places.hpp"

namespace muster {
namespace {

using namespace std::chrono_literals;
using test::ClusterFile;
using test::IsGolden;
using test::kTop;
using test::load;
using test::TempFile;
using test::with_no_caps;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Result = Expected<ClusterConfig, ConfigError>;
using Texts = std::vector<std::string>;
namespace fs = std::filesystem;

TEST(ClusterConfig, HasDefaultsForEverythingElse) {
  const TempFile file("local.toml", ClusterFile{}.text());
  const ClusterConfig config = load_cluster_config(file.path(), with_no_caps()).value();
  EXPECT_EQ(config.name, "local");
  EXPECT_EQ(config.seed, 1U);
  EXPECT_EQ(config.state, file.folder() / "state");
  EXPECT_EQ(config.pki, file.folder() / "pki");
  EXPECT_EQ(config.catalog, file.folder() / "types.csv");
  EXPECT_EQ(config.policy, "muster");
  EXPECT_TRUE(config.api_token.empty());
  EXPECT_FALSE(config.insecure_loopback);
  EXPECT_EQ(config.master.max_attempts, 1U);
  EXPECT_EQ(config.master.watch.remind_every, 2s);
  EXPECT_EQ(config.live_master.history_jobs, 100'000U);
  EXPECT_EQ(config.live_master.history_days, 30U);
  EXPECT_EQ(config.master.decision_deadline, 0s);
  EXPECT_EQ(config.master.planner_lag, 1'000'000U);
  EXPECT_EQ(config.master.planner_retry, 10s);
  EXPECT_EQ(config.master.planner_retry_longest, 5min);
  EXPECT_EQ(config.master.dry_runs.most, 16U);
  EXPECT_EQ(config.master.dry_runs.of_user, 4U);
  EXPECT_EQ(config.master.dry_runs.age, 5s);
  EXPECT_EQ(config.master.log_readers.most, 1'000U);
  EXPECT_EQ(config.master.log_readers.of_instance, 100U);
  EXPECT_EQ(config.master.log_readers.age, 10s);
  EXPECT_EQ(config.site.load_stale_after, 10s);
  EXPECT_EQ(config.cloud.delay_scale, 1);
  EXPECT_FALSE(config.cloud.max_instances.has_value());
  EXPECT_EQ(config.cloud.memory_reserve_gib, 0.5);
  EXPECT_FALSE(config.cloud.max_spot.has_value());
  EXPECT_TRUE(config.cloud.max_by_type.empty());
  EXPECT_EQ(config.worker.checkpoints, file.folder() / "state/checkpoints");
  EXPECT_EQ(config.worker.stop_grace, 30s);
  EXPECT_EQ(config.link.timeout, 10s);
  EXPECT_EQ(config.link.max_frame_bytes, 1U << 20);
  EXPECT_EQ(config.logs.keep_mib, 1024U);
  EXPECT_EQ(config.logs.keep_days, 14U);
  EXPECT_EQ(config.logs.handover_s, 10);
  EXPECT_TRUE(config.logs.folder.empty());
  EXPECT_TRUE(config.api.tokens.empty());
  EXPECT_TRUE(config.api.hosts.empty());
  EXPECT_EQ(config.api.audit_mib, 16U);
  EXPECT_EQ(config.api.max_user_priority, 0);
  EXPECT_EQ(config.master.starve_after, std::chrono::minutes{10});
  EXPECT_EQ(config.api.audit_files, 8U);
  EXPECT_EQ(config.api.waiting, 64U);
  EXPECT_EQ(config.api.waiting_of_token, 48U);
  EXPECT_EQ(config.api.waiting_for_jobs, 128U);
  EXPECT_EQ(config.api.waiting_for_jobs_of_token, 96U);
}

TEST(ClusterConfig, MakesPathsAbsoluteForProcessesInOtherFolders) {
  const TempFile file("local.toml", ClusterFile{}.text());
  const fs::path relative = fs::relative(file.path());
  ASSERT_TRUE(relative.is_relative());
  const ClusterConfig config = load_cluster_config(relative, with_no_caps()).value();
  for (const fs::path& path :
       {config.state, config.pki, config.catalog, config.worker.checkpoints}) {
    EXPECT_TRUE(path.is_absolute()) << path;
  }
  EXPECT_EQ(fs::weakly_canonical(config.state), fs::weakly_canonical(file.folder() / "state"));
}

TEST(ClusterConfig, KnowsItsNodesByNameAndRole) {
  const ClusterConfig config = load(ClusterFile{}).value();
  ASSERT_EQ(config.nodes.size(), 3U);
  EXPECT_THAT(config.sites(), ElementsAre(&config.nodes[0]));
  EXPECT_THAT(config.masters(), ElementsAre(&config.nodes[1]));
  EXPECT_EQ(&config.cloud_node(), &config.nodes[2]);
  EXPECT_EQ(config.find("n1"), &config.nodes[1]);
  EXPECT_EQ(config.find("n9"), nullptr);
  EXPECT_EQ(config.nodes[0].site, "tokyo");
  EXPECT_EQ(config.nodes[0].address, (Endpoint{"10.0.0.1", 7800}));
  EXPECT_EQ(config.nodes[1].master, "m0");
  EXPECT_EQ(config.nodes[1].workers, (Endpoint{"10.0.0.1", 7901}));
  EXPECT_FALSE(config.nodes[0].workers.has_value());
}

TEST(ClusterConfig, LetsOneNodePlayEveryRole) {
  const ClusterFile parts{.top = kTop + "api_token = \"token\"\n",
                          .nodes =
                              "[[node]]\nname = \"all\"\naddress = \"[::1]:7800\"\nsite = \"s\"\n"
                              "master = \"m\"\nworkers = \"[::1]:7900\"\ncloud = true\n"
                              "api = \"0.0.0.0:8800\"\n"};
  const ClusterConfig config = load(parts).value();
  EXPECT_EQ(&config.cloud_node(), config.find("all"));
  EXPECT_THAT(config.sites(), ElementsAre(config.find("all")));
  EXPECT_EQ(config.nodes[0].address.host, "::1");
  EXPECT_EQ(to_text(config.nodes[0].address), "[::1]:7800");
}

TEST(ClusterConfig, ReadsTheSectionsOfMasterSiteAndLoopback) {
  const ClusterConfig config = load({.sections = R"(
[master]
max_usd_day = 12.5
remind_every = "500ms"
worker_lost_after = 90
snapshot_every = 1000
history_jobs = 7
decision_deadline = "800ms"
planner_lag = 2000
planner_retry = 3
planner_retry_longest = 30
dry_runs = 2
dry_runs_of_user = 1
dry_run_age = 7
log_readers = 9
log_readers_of_instance = 8
log_reader_age = 6
caps = "none"
[site]
load_every = "2s"
load_stale_after = "1min"
hand_retry = 0.25
max_waiting = 5
tokens = 6
[cloud]
delay_scale = 0.01
max_instances = 9
memory_reserve_gib = 2
max_by_type = { "c7i.large" = 3, small = 0 }
max_spot = 0
max_on_demand = 4
notice = "1s"
interruptions_per_h = 2
halt_grace = 0
)"})
                                   .value();
  EXPECT_EQ(config.master.caps.max_usd_day, 12.5);
  EXPECT_EQ(config.master.watch.remind_every, 500ms);
  EXPECT_EQ(config.master.watch.worker_lost_after, 90s);
  EXPECT_EQ(config.master.watch.snapshot_every, 1000U);
  EXPECT_EQ(config.live_master.history_jobs, 7U);
  EXPECT_EQ(config.master.decision_deadline, 800ms);
  EXPECT_EQ(config.master.planner_lag, 2000U);
  EXPECT_EQ(config.master.planner_retry, 3s);
  EXPECT_EQ(config.master.planner_retry_longest, 30s);
  EXPECT_EQ(config.master.dry_runs.most, 2U);
  EXPECT_EQ(config.master.dry_runs.of_user, 1U);
  EXPECT_EQ(config.master.dry_runs.age, 7s);
  EXPECT_EQ(config.master.log_readers.most, 9U);
  EXPECT_EQ(config.master.log_readers.of_instance, 8U);
  EXPECT_EQ(config.master.log_readers.age, 6s);
  EXPECT_TRUE(config.live_master.uncapped);
  EXPECT_EQ(config.site.load_every, 2s);
  EXPECT_EQ(config.site.load_stale_after, 1min);
  EXPECT_EQ(config.site.hand_retry, 250ms);
  EXPECT_EQ(config.site.max_waiting, 5U);
  EXPECT_EQ(config.site.tokens, 6U);
  EXPECT_EQ(config.cloud.delay_scale, 0.01);
  EXPECT_EQ(config.cloud.max_instances, 9U);
  EXPECT_EQ(config.cloud.memory_reserve_gib, 2);
  EXPECT_THAT(config.cloud.max_by_type,
              ElementsAre(std::pair("c7i.large", 3U), std::pair("small", 0U)));
  EXPECT_EQ(config.cloud.max_spot, 0U);
  EXPECT_EQ(config.cloud.max_on_demand, 4U);
  EXPECT_EQ(config.cloud.notice, 1s);
  EXPECT_EQ(config.cloud.interruptions_per_h, 2);
  EXPECT_EQ(config.cloud.halt_grace, 0s);
}

TEST(ClusterConfig, ReadsHowMuchTasksMayReportOfThemselves) {
  const ClusterConfig standard = load({}).value();
  EXPECT_EQ(standard.worker.metric_names, 16U);
  EXPECT_EQ(standard.worker.metrics_interval, 2s);
  const ClusterConfig config =
      load({.sections = "[worker]\nmetric_names = 0\nmetrics_interval = \"10ms\"\n"}).value();
  EXPECT_EQ(config.worker.metric_names, 0U);
  EXPECT_EQ(config.worker.metrics_interval, 10ms);
}

TEST(ClusterConfig, ReadsTheSectionsOfWorkerAndLink) {
  const ClusterConfig config = load({.sections = R"(
[worker]
stop_grace = "5s"
checkpoints = "shared"
log_bytes = 65536
log_files = 0
tail_bytes = 100
acknowledged_keep = "1d"
task_uids = "200000-265535"
isolation = "uid"
max_processes = 77
hold_cpu = false
disk_check = "500ms"
disk_free_mib = 100
[storage]
reserve_mib = 8
[logs]
keep_mib = 5
keep_days = 2
handover_s = 1.5
folder = "kept"
[link]
heartbeat = "100ms"
timeout = "3s"
reconnect = "50ms"
request_timeout = "4s"
max_frame_bytes = 2097152
max_message_bytes = 4194304
[api]
tokens = "named"
hosts = ["api.example.org", "10.0.0.9"]
audit_mib = 2
max_user_priority = 50
audit_files = 3
)"})
                                   .value();
  EXPECT_EQ(config.worker.stop_grace, 5s);
  EXPECT_EQ(config.worker.checkpoints.filename(), "shared");
  EXPECT_EQ(config.worker.log_bytes, 65'536U);
  EXPECT_EQ(config.worker.log_files, 0U);
  EXPECT_EQ(config.worker.tail_bytes, 100U);
  EXPECT_EQ(config.worker.acknowledged_keep, 24h);
  EXPECT_EQ(config.worker.task_uids, "200000-265535");
  EXPECT_EQ(config.worker.isolation, IsolationChoice::uid);
  EXPECT_EQ(config.worker.max_processes, 77U);
  EXPECT_FALSE(config.worker.hold_cpu);
  EXPECT_EQ(config.worker.disk_check, 500ms);
  EXPECT_EQ(config.worker.disk_free_mib, 100U);
  EXPECT_EQ(config.storage.reserve_mib, 8U);
  EXPECT_EQ(config.logs.keep_mib, 5U);
  EXPECT_EQ(config.logs.keep_days, 2U);
  EXPECT_EQ(config.logs.handover_s, 1.5);
  EXPECT_EQ(config.logs.folder.filename(), "kept");
  EXPECT_TRUE(config.logs.folder.is_absolute());
  EXPECT_EQ(config.link.heartbeat, 100ms);
  EXPECT_EQ(config.link.timeout, 3s);
  EXPECT_EQ(config.api.tokens.filename(), "named");
  EXPECT_TRUE(config.api.tokens.is_absolute());
  EXPECT_EQ(config.api.hosts, (std::vector<std::string>{"api.example.org", "10.0.0.9"}));
  EXPECT_EQ(config.api.audit_mib, 2U);
  EXPECT_EQ(config.api.max_user_priority, 50);
  EXPECT_EQ(config.api.audit_files, 3U);
  EXPECT_EQ(config.link.reconnect, 50ms);
  EXPECT_EQ(config.link.request_timeout, 4s);
  EXPECT_EQ(config.link.max_frame_bytes, 2U << 20);
  EXPECT_EQ(config.link.max_message_bytes, 4U << 20);
}

TEST(ClusterConfig, ReadsWhenAndWhereBackupsAreMade) {
  const TempFile file("local.toml",
                      test::ClusterFile{.sections = "[backup]\nevery = \"6h\"\nkeep = 3\n"
                                                    "to = \"backups\"\n"}
                          .text());
  const ClusterConfig config = load_cluster_config(file.path(), with_no_caps()).value();
  EXPECT_EQ(config.backup.every, 6h);
  EXPECT_EQ(config.backup.keep, 3U);
  EXPECT_EQ(config.backup.to, file.folder() / "backups");
}

TEST(ClusterConfig, SendsNoMailAndReachesNoPrivateHostUnlessItSaysSo) {
  const TempFile plain("local.toml", test::ClusterFile{}.text());
  const NotifyConfig unsaid = load_cluster_config(plain.path(), with_no_caps()).value().notify;
  EXPECT_TRUE(unsaid.allow.empty());
  EXPECT_TRUE(unsaid.sendmail.empty());
  EXPECT_TRUE(unsaid.caps.empty());
  EXPECT_EQ(unsaid.key.filename(), "notify-key");
  EXPECT_EQ(unsaid.tries, 10U);
  EXPECT_EQ(unsaid.age, 24h);
  EXPECT_EQ(unsaid.timeout, 10s);
  EXPECT_EQ(unsaid.retry, 5s);
  EXPECT_EQ(unsaid.retry_longest, 10min);
  EXPECT_EQ(unsaid.senders, 8U);
  EXPECT_EQ(unsaid.most, 100'000U);
  const TempFile file("local.toml", test::ClusterFile{.sections = R"([notify]
allow = ["10.0.0.0/8", "hooks.internal"]
sendmail = "/usr/sbin/sendmail"
from = "muster@example.org"
caps = ["https://example.org/x", "ops@example.org"]
key = "hooks.key"
tries = 3
age = "1h"
timeout = "2s"
retry = "1s"
retry_longest = "1min"
senders = 4
most = 10
)"}
                                        .text());
  const ClusterConfig config = load_cluster_config(file.path(), with_no_caps()).value();
  EXPECT_EQ(config.notify.allow, (std::vector<std::string>{"10.0.0.0/8", "hooks.internal"}));
  EXPECT_EQ(config.notify.sendmail, "/usr/sbin/sendmail");
  EXPECT_EQ(config.notify.from, "muster@example.org");
  EXPECT_EQ(config.notify.caps.size(), 2U);
  EXPECT_EQ(config.notify.key, file.folder() / "hooks.key");
  EXPECT_EQ(config.notify.tries, 3U);
  EXPECT_EQ(config.notify.age, 1h);
  EXPECT_EQ(config.notify.timeout, 2s);
  EXPECT_EQ(config.notify.retry, 1s);
  EXPECT_EQ(config.notify.retry_longest, 1min);
  EXPECT_EQ(config.notify.senders, 4U);
  EXPECT_EQ(config.notify.most, 10U);
}

TEST(ClusterConfig, TakesAmountsOfBytesWithAUnit) {
  const ClusterConfig config = load(ClusterFile{}, {"logs.keep_mib=2G", "worker.log_bytes=1.5M",
                                                    "worker.disk_free_mib=512MiB"})
                                   .value();
  EXPECT_EQ(config.logs.keep_mib, 2048U);
  EXPECT_EQ(config.worker.log_bytes, 1'572'864U);
  EXPECT_EQ(config.worker.disk_free_mib, 512U);
  const auto refused = load(ClusterFile{}, {"logs.keep_mib=1500K"});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, IsGolden());
}

TEST(ClusterConfig, TakesNamesAndBothKindsOfAddresses) {
  const auto address_of = [](std::string_view text) {
    const Result result = load(ClusterFile{}, {"node.n0.address=" + std::string(text)});
    return result ? to_text(result.value().nodes[0].address) : result.error().message;
  };
  EXPECT_EQ(address_of("node-1.Example.org:1"), "node-1.example.org:1");
  EXPECT_EQ(address_of("10.255.0.1:65535"), "10.255.0.1:65535");
  EXPECT_EQ(address_of("[FE80:0:0::1]:80"), "[fe80::1]:80");
  EXPECT_EQ(address_of("3com:80"), "3com:80");
}

TEST(ClusterConfig, LetsTheSameNameStandForThingsOfDifferentKinds) {
  EXPECT_TRUE(load(ClusterFile{}, {"node.n0.site=n0", "node.n1.master=n0"}));
}

TEST(ClusterConfig, LetsApisOfDifferentMachinesListenOnAllAddresses) {
  const Result result = load(ClusterFile{}, {"node.n0.api=0.0.0.0:80", "node.n1.site=kyoto",
                                             "node.n1.api=0.0.0.0:80", "api_token=t"});
  EXPECT_TRUE(result) << result.error().message;
}

TEST(ClusterConfig, TakesOverridesOfKeysAndOfNodes) {
  const ClusterConfig config =
      load(ClusterFile{},
           {"policy=no-packing", "link.timeout=1min", "cloud.max_by_type={ \"a.b\" = 2 }",
            "insecure_loopback=false", "node.n1.address=10.0.0.9:1", "node.n0.cloud=true",
            "node.n2.cloud=false", "node.n2.site=kyoto", "master.max_instances=3"})
          .value();
  EXPECT_EQ(config.policy, "no-packing");
  EXPECT_EQ(config.link.timeout, 1min);
  EXPECT_THAT(config.cloud.max_by_type, ElementsAre(std::pair("a.b", 2U)));
  EXPECT_EQ(to_text(config.nodes[1].address), "10.0.0.9:1");
  EXPECT_EQ(config.cloud_node().name, "n0");
  EXPECT_EQ(config.sites().size(), 2U);
  EXPECT_EQ(config.master.caps.max_instances, 3U);
}

TEST(ClusterConfig, WritesATextThatMeansTheSame) {
  const ClusterFile parts{.top = kTop + "api_token = \"to\\\"ken\"\nseed = 5\n",
                          .sections =
                              "[master]\nmax_usd_h = 0.1\nremind_every = 1.5\n[cloud]\n"
                              "max_by_type = { \"c7i.large\" = 3 }\nmax_spot = 0\n"
                              "[link]\nreconnect = \"1500us\"\n"};
  ClusterConfig config = load(parts, {"node.n0.api=[::1]:8800", "policy=eva,period_s=10"}).value();
  config.file.clear();  // of no folder, to which paths could be relative
  const std::string text = cluster_config_text(config);
  const TempFile file("again.toml", text);
  const ClusterConfig again = load_cluster_config(file.path(), with_no_caps()).value();
  EXPECT_EQ(cluster_config_text(again), text);
  EXPECT_EQ(again.name, config.name);
  EXPECT_EQ(again.seed, 5U);
  EXPECT_EQ(again.state, config.state);
  EXPECT_EQ(again.api_token, config.api_token);
  EXPECT_EQ(again.policy, "eva,period_s=10");
  EXPECT_EQ(again.worker.checkpoints, config.worker.checkpoints);
  EXPECT_EQ(again.master.caps.max_usd_h, 0.1);
  EXPECT_EQ(again.master.watch.remind_every, 1500ms);
  EXPECT_EQ(again.cloud.max_by_type, config.cloud.max_by_type);
  EXPECT_EQ(again.cloud.max_spot, 0U);
  EXPECT_EQ(again.link.reconnect, 1500us);
  ASSERT_EQ(again.nodes.size(), 3U);
  EXPECT_EQ(again.nodes[0].api, (Endpoint{"::1", 8800}));
  EXPECT_EQ(again.nodes[1].workers, config.nodes[1].workers);
  EXPECT_EQ(again.cloud_node().name, "n2");
}

TEST(ClusterConfig, AsksForMachinesOfOnesOwnAgainSoonUnlessItSaysOtherwise) {
  ClusterFile parts{.sections = "[cloud]\nprovider = \"hosts\"\n"};
  const Texts port = {"node.n2.join=[::1]:7", "node.n2.api=[::1]:8", "node.n2.site=oslo",
                      "node.n2.latitude=60",  "node.n2.longitude=5", "api_token=token"};
  const ClusterConfig soon = load(parts, port).value();
  EXPECT_EQ(soon.master.launch_backoff, 5s);
  EXPECT_EQ(soon.master.launch_backoff_longest, 5s);
  EXPECT_EQ(cluster_config_text(soon).find("launch_backoff"), std::string::npos);
  parts.sections += "[master]\nlaunch_backoff = \"10m\"\n";
  const TempFile file("again.toml", cluster_config_text(load(parts, port).value()));
  const ClusterConfig again = load_cluster_config(file.path(), with_no_caps()).value();
  EXPECT_EQ(again.master.launch_backoff, 10min) << "the default of other providers";
}

TEST(ClusterConfig, WritesPathsInTheFolderOfItsFileAsTheyGoOnFromThere) {
  ClusterConfig config;
  config.file = "/srv/c/cluster.toml";
  config.state = "/srv/c/state";
  config.pki = "/srv/c2/pki";
  config.catalog = "/srv/c/types/a.csv";
  EXPECT_EQ(cluster_config_text(config),
            "state = 'state'\npki = '/srv/c2/pki'\ncatalog = 'types/a.csv'\n");
}

TEST(ClusterConfig, WritesOnlyWhatDiffersFromTheDefaults) {
  ClusterConfig config;
  config.name = "small";
  config.link.timeout = 5s;
  NodeConfig& node = config.nodes.emplace_back();
  node.name = "n0";
  node.address = {"127.0.0.1", 7800};
  node.cloud = true;
  EXPECT_EQ(cluster_config_text(config),
            "name = 'small'\n\n[[node]]\nname = 'n0'\naddress = '127.0.0.1:7800'\n"
            "cloud = true\n\n[link]\ntimeout = '5s'\n");
}

TEST(ClusterConfig, CanBeReadAgainWithPricesThatAreTurnedOff) {
  const TempFile file("local.toml", ClusterFile{}.text());
  const auto off = load_cluster_config(
      file.path(), with_no_caps({"cloud.provider=loopback", "cloud.prices=p.csv"}));
  ASSERT_TRUE(off) << off.error().message;
  const TempFile written("again.toml", cluster_config_text(off.value()));
  const auto again = load_cluster_config(written.path(), {});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->cloud.provider, "loopback");
}

TEST(ClusterConfig, ListsEveryKeyWithItsDefaultRangeAndMeaning) {
  const std::vector<KeyInfo> keys = cluster_config_keys();
  std::set<std::string> names;
  for (const KeyInfo& key : keys) {
    EXPECT_TRUE(names.insert(key.key).second) << key.key;
    EXPECT_FALSE(key.type.empty() || key.range.empty() || key.meaning.empty()) << key.key;
    EXPECT_THAT(key.meaning, Not(HasSubstr("\n")));
  }
  for (const char* name :
       {"name", "node.NAME.workers", "master.max_usd_day", "master.remind_every", "site.tokens",
        "cloud.max_by_type", "worker.task_uid", "link.heartbeat"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(ClusterConfig, MeansByEveryListedDefaultWhatItMeansWithoutIt) {
  Texts given;
  for (const KeyInfo& key : cluster_config_keys()) {
    const bool has_default = !key.default_value.empty() && key.default_value != "required";
    if (has_default && !key.key.starts_with("node.")) {
      given.push_back(key.key + "=" + key.default_value);
    }
  }
  EXPECT_GT(given.size(), 30U);
  const TempFile file("local.toml", ClusterFile{}.text());
  const ClusterConfig plain = load_cluster_config(file.path(), with_no_caps()).value();
  const ClusterConfig spelt = load_cluster_config(file.path(), with_no_caps(given)).value();
  EXPECT_EQ(cluster_config_text(plain), cluster_config_text(spelt));
}

TEST(ShippedClusters, CanBeLoaded) {
  const fs::path folder = test::source_dir() / "config" / "cluster";
  std::size_t files = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".toml") continue;
    ++files;
    const Result result = load_cluster_config(entry.path(), {});
    ASSERT_TRUE(result) << result.error().message;
    const auto catalog = load_catalog(result.value().catalog);
    ASSERT_TRUE(catalog) << catalog.error().message;
    for (const auto& [type, limit] : result.value().cloud.max_by_type) {
      EXPECT_TRUE(catalog.value().find(type)) << type << " " << limit;
    }
    EXPECT_FALSE(result.value().insecure_loopback);
  }
  EXPECT_GE(files, 1U);
}

}  // namespace
}  // namespace muster
