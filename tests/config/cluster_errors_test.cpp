#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "config/cluster_keys.hpp"
#include "config/renamed_keys.hpp"
#include "tests/support/cluster_file.hpp"
#include "tests/support/golden.hpp"

namespace muster {
namespace {

using test::changed;
using test::ClusterFile;
using test::errors_of;
using test::errors_of_nodes;
using test::exact_errors_of;
using test::IsGolden;
using test::IsGoldenAt;
using test::kCloud;
using test::kMaster;
using test::kSite;
using test::kTop;
using test::load;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using Texts = std::vector<std::string>;

TEST(ClusterErrors, SaysWhichKeysAreMissingAndWhatTheyHaveToBe) {
  EXPECT_THAT(errors_of({.top = ""}),
              ElementsAre(IsGoldenAt("local.toml: name"), IsGoldenAt("local.toml: state"),
                          IsGoldenAt("local.toml: catalog"), IsGoldenAt("local.toml: pki")));
}

TEST(ClusterErrors, SaysWhereANodeLacksAName) {
  EXPECT_THAT(errors_of_nodes({kSite, kMaster, changed(kCloud, "name = \"n2\"\n", "")}),
              ElementsAre(IsGoldenAt("local.toml:14:1: node[3].name")));
}

TEST(ClusterErrors, WantsNamesThatAreFitForFilesAndCommands) {
  const std::string long_name(33, 'a');
  for (const std::string& name : Texts{"Tokyo", "a b", "../x", "", long_name, "a_b", "."}) {
    const std::string quoted = "\"" + name + "\"";
    EXPECT_THAT(
        errors_of_nodes({kSite, kMaster, changed(kCloud, "\"n2\"", quoted)}),
        ElementsAre(AllOf(HasSubstr("it is"), IsGoldenAt("local.toml:15:8: node[3].name"))));
    EXPECT_THAT(errors_of_nodes({changed(kSite, "\"tokyo\"", quoted), kMaster, kCloud}),
                ElementsAre(IsGoldenAt("local.toml:8:8: node.n0.site")));
  }
  const std::string longest = "\"" + std::string(32, 'a') + "\"";
  EXPECT_TRUE(load({.top = changed(kTop, "\"local\"", longest)}));
}

TEST(ClusterErrors, KnowsWhatAMisspeltKeyWasMeantToBe) {
  EXPECT_THAT(errors_of({.top = kTop + "polcy = \"eva\"\n"}),
              ElementsAre(IsGoldenAt("local.toml:5:1: polcy")));
  EXPECT_THAT(errors_of_nodes({kSite, changed(kMaster, "workers", "worker"), kCloud}),
              ElementsAre(IsGoldenAt("local.toml:9:1: node.n1.workers"),
                          IsGoldenAt("local.toml:13:1: node.n1.worker")));
  EXPECT_THAT(errors_of({.sections = "[link]\ntime_out = 3\n"}),
              ElementsAre(HasSubstr("local.toml:19:1: link.time_out: unknown key of [link] "
                                    "'time_out'; did you mean 'timeout'?")));
  EXPECT_THAT(errors_of({.sections = "[[nodes]]\nname = \"n3\"\n"}), ElementsAre(IsGolden()));
  EXPECT_THAT(errors_of({.sections = "[link]\nstop_grace = 3\n"}),
              ElementsAre(HasSubstr("(there is worker.stop_grace)")));
}

TEST(ClusterErrors, WantsNodesWrittenAsAListOfTables) {
  for (const char* nodes : {"node = 3\n", "node = [1, 2]\n", "[node]\nname = \"n0\"\n"}) {
    EXPECT_THAT(errors_of({.nodes = nodes}).front(),
                AllOf(testing::StartsWith("local.toml:5:"), IsGolden()));
  }
}

TEST(ClusterErrors, RefusesWhatIsNoPlaceToListenAt) {
  for (const char* bad : {"10.0.0.1",       "10.0.0.1:",     ":7800",      "10.0.0.1:0",
                          "10.0.0.1:65536", "10.0.0.1:x",    "",           "10.0.0.300:7800",
                          "::1:7800",       "[::1]",         "[::g]:7800", "[10.0.0.1]:7800",
                          "a b:7800",       "-a:7800",       "a..b:7800",  "a.:7800",
                          "7800",           "http://a:7800", "a:+7",       "a:7800/x"}) {
    EXPECT_THAT(
        errors_of_nodes({changed(kSite, "10.0.0.1:7800", bad), kMaster, kCloud}),
        ElementsAre(AllOf(HasSubstr("[::1]:7800"), EndsWith("it is '" + std::string(bad) + "'"),
                          IsGoldenAt("local.toml:7:11: node.n0.address"))))
        << bad;
  }
}

TEST(ClusterErrors, WantsExactlyOneCloud) {
  EXPECT_THAT(errors_of_nodes({kSite + "cloud = true\n", kMaster, kCloud}),
              ElementsAre(IsGoldenAt("local.toml:18:9: node.n2.cloud")));
  EXPECT_THAT(errors_of_nodes({kSite, kMaster}), ElementsAre(IsGoldenAt("local.toml: node")));
}

TEST(ClusterErrors, WantsASiteAndAMaster) {
  EXPECT_THAT(errors_of_nodes({kSite, kCloud}), ElementsAre(IsGoldenAt("local.toml: node")));
  EXPECT_THAT(errors_of_nodes({kMaster, kCloud}), ElementsAre(IsGoldenAt("local.toml: node")));
  EXPECT_EQ(errors_of_nodes({}).size(), 3U);
}

TEST(ClusterErrors, WantsARoleForEveryNode) {
  EXPECT_THAT(errors_of_nodes(
                  {kSite, kMaster, kCloud, "[[node]]\nname = \"n3\"\naddress = \"10.0.0.2:1\"\n"}),
              ElementsAre(IsGoldenAt("local.toml:18:1: node.n3")));
}

TEST(ClusterErrors, RefusesANameThatIsTaken) {
  EXPECT_THAT(errors_of_nodes({kSite, kMaster, changed(kCloud, "n2", "n0")}),
              ElementsAre(IsGoldenAt("local.toml:15:8: node.n0.name")));
  EXPECT_THAT(errors_of_nodes({kSite, kMaster, kCloud + "site = \"tokyo\"\n"}),
              ElementsAre(IsGoldenAt("local.toml:18:8: node.n2.site")));
  EXPECT_THAT(errors_of_nodes({kSite, kMaster, kCloud + "master = \"m0\"\nworkers = \"a:1\"\n"}),
              ElementsAre(IsGoldenAt("local.toml:18:10: node.n2.master")));
}

TEST(ClusterErrors, RefusesAnAddressThatIsTaken) {
  EXPECT_THAT(errors_of_nodes({kSite, kMaster, changed(kCloud, "7802", "7800")}),
              ElementsAre(IsGoldenAt("local.toml:16:11: node.n2.address")));
  EXPECT_THAT(errors_of_nodes({kSite, changed(kMaster, "7901", "7801"), kCloud}),
              ElementsAre(IsGoldenAt("local.toml:13:11: node.n1.workers")));
  EXPECT_THAT(errors_of(ClusterFile{}, {"node.n0.api=0.0.0.0:7800", "api_token=t"}),
              ElementsAre(IsGoldenAt("node.n0.api")));
}

TEST(ClusterErrors, WantsAddressesThatLeadToOneMachine) {
  EXPECT_THAT(errors_of_nodes({changed(kSite, "10.0.0.1", "0.0.0.0"),
                               changed(kMaster, "10.0.0.1:7901", "[::]:7901"), kCloud}),
              ElementsAre(IsGoldenAt("local.toml:7:11: node.n0.address"),
                          IsGoldenAt("local.toml:13:11: node.n1.workers")));
}

TEST(ClusterErrors, WantsAnApiBesideASiteAndWithAToken) {
  EXPECT_THAT(
      errors_of_nodes({kSite, kMaster, kCloud + "api = \"10.0.0.1:80\"\n"}),
      ElementsAre(IsGoldenAt("local.toml:18:7: node.n2.api"), IsGoldenAt("local.toml: api_token")));
}

TEST(ClusterErrors, WantsAPlaceForWorkersBesideAMasterOnly) {
  EXPECT_THAT(
      errors_of_nodes({kSite, changed(kMaster, "workers = \"10.0.0.1:7901\"\n", ""), kCloud}),
      ElementsAre(IsGoldenAt("local.toml:9:1: node.n1.workers")));
  EXPECT_THAT(errors_of_nodes({kSite + "workers = \"10.0.0.1:80\"\n", kMaster, kCloud}),
              ElementsAre(IsGoldenAt("local.toml:9:11: node.n0.workers")));
}

TEST(ClusterErrors, WantsLoopbackAddressesWithoutTls) {
  ClusterFile parts{.top = changed(kTop, "pki = \"pki\"", "insecure_loopback = true")};
  EXPECT_EQ(errors_of(parts).size(), 4U);
  parts.nodes = kSite + changed(kMaster, "10.0.0.1:7801", "127.0.0.1:7801") +
                changed(kCloud, "10.0.0.1", "localhost");
  EXPECT_THAT(errors_of(parts), ElementsAre(IsGoldenAt("local.toml:7:11: node.n0.address"),
                                            IsGoldenAt("local.toml:13:11: node.n1.workers")));
  parts.nodes = changed(kSite, "10.0.0.1", "[::1]") +
                changed(changed(kMaster, "10.0.0.1", "127.0.0.1"), "10.0.0.1", "127.9.9.9") +
                changed(kCloud, "10.0.0.1", "localhost");
  EXPECT_THAT(errors_of(parts), ElementsAre("no error"));
  parts.nodes = changed(parts.nodes, "[::1]", "127.0.0.1.example.org");
  EXPECT_EQ(errors_of(parts).size(), 1U);
  EXPECT_THAT(errors_of({.top = parts.top}, {"node.n0.api=0.0.0.0:80", "api_token=t"}),
              ElementsAre(IsGoldenAt("node.n0.address"), IsGoldenAt("node.n1.address"),
                          IsGoldenAt("node.n1.workers"), IsGoldenAt("node.n2.address"),
                          IsGoldenAt("node.n0.api")));
}

TEST(ClusterErrors, NamesWhatOfIsolationIsNoneOrDoesNotGoTogether) {
  const auto error_of = [](const std::string& lines) {
    return errors_of({.sections = "[worker]\n" + lines + "\n"}).front();
  };
  EXPECT_THAT(error_of("task_uids = \"0-9\""), IsGoldenAt("local.toml:19:13: worker.task_uids"));
  EXPECT_THAT(error_of("task_uid = 5\ntask_uids = \"7-9\""), IsGoldenAt("worker.task_uids"));
  EXPECT_THAT(error_of("isolation = \"uid\""), IsGoldenAt("worker.isolation"));
  EXPECT_THAT(error_of("isolation = \"none\"\ntask_uid = 5"), IsGoldenAt("worker.isolation"));
  EXPECT_THAT(error_of("isolation = \"namespaces\"\ntask_uids = \"7-9\""),
              IsGoldenAt("worker.isolation"));
  EXPECT_THAT(error_of("isolation = \"walls\""), HasSubstr("worker.isolation: has to be"));
}

TEST(ClusterErrors, SaysWhatAValueOutsideOfItsRangeHasToBe) {
  const auto error_of = [](const std::string& section, const std::string& line) {
    return errors_of({.sections = "[" + section + "]\n" + line + "\n"}).front();
  };
  EXPECT_THAT(error_of("master", "snapshot_every = 0"),
              IsGoldenAt("local.toml:19:18: master.snapshot_every"));
  EXPECT_THAT(error_of("master", "max_usd_day = -1"), IsGoldenAt("master.max_usd_day"));
  EXPECT_THAT(error_of("site", "max_waiting = 0"), HasSubstr("site.max_waiting: has to be"));
  EXPECT_THAT(error_of("cloud", "delay_scale = inf"), HasSubstr("local.toml:19:15"));
  EXPECT_THAT(error_of("cloud", "max_spot = -1"), HasSubstr("from 0 to 10000000; it is -1"));
  EXPECT_THAT(error_of("worker", "tail_bytes = 65537"), HasSubstr("from 0 to 65536"));
  EXPECT_THAT(error_of("worker", "task_uid = 4294967295"), HasSubstr("from 0 to 4294967294"));
  EXPECT_THAT(error_of("worker", "max_processes = -1"), HasSubstr("from 0 to 4194304"));
  EXPECT_THAT(error_of("worker", "disk_check = \"1ms\""), HasSubstr("from 10ms to 10min"));
  EXPECT_THAT(error_of("worker", "disk_free_mib = -1"), HasSubstr("from 0 to 1073741824"));
  EXPECT_THAT(error_of("worker", "metric_names = 65"), HasSubstr("from 0 to 64"));
  EXPECT_THAT(error_of("storage", "reserve_mib = -1"), HasSubstr("from 0 to 10000000"));
  EXPECT_THAT(error_of("logs", "keep_mib = 0"), HasSubstr("from 1 to 10000000"));
  EXPECT_THAT(error_of("logs", "keep_days = 3651"), HasSubstr("from 1 to 3650"));
  EXPECT_THAT(error_of("logs", "handover_s = -1"), HasSubstr("from 0 to 3600"));
  EXPECT_THAT(error_of("link", "heartbeat = \"2min\""), HasSubstr("from 10ms to 1min"));
  EXPECT_THAT(error_of("api", "audit_mib = 0"), HasSubstr("from 1 to 1024"));
  EXPECT_THAT(error_of("api", "max_user_priority = 2000000"), HasSubstr("1000000"));
  EXPECT_THAT(error_of("api", "audit_files = 1"), HasSubstr("from 2 to 1000"));
  EXPECT_THAT(error_of("api", "hosts = []"), HasSubstr("api.hosts: has to be"));
  EXPECT_THAT(error_of("link", "max_frame_bytes = 1024"), HasSubstr("from 1048576 to 67108864"));
  EXPECT_THAT(errors_of({.top = kTop + "policy = \"\"\n"}),
              ElementsAre(IsGoldenAt("local.toml:5:10: policy")));
  EXPECT_THAT(errors_of({.top = kTop + "insecure_loopback = 1\n"}),
              ElementsAre(IsGoldenAt("insecure_loopback")));
  EXPECT_THAT(errors_of({.top = "link = 3\n" + kTop}),
              ElementsAre(IsGoldenAt("local.toml:1:8: link")));
}

TEST(ClusterErrors, AKeyOfAnEarlierVersionIsAnErrorThatSaysItsPresentName) {
  EXPECT_THAT(errors_of({.sections = "[loopback]\nmax_spot = 1\nnotice = \"1s\"\n"}),
              ElementsAre("local.toml:19:1: loopback.max_spot: is called cloud.max_spot now",
                          "local.toml:20:1: loopback.notice: is called cloud.notice now"));
  EXPECT_THAT(errors_of({}, {"loopback.delay_scale=2"}),
              ElementsAre(HasSubstr("loopback.delay_scale: is called cloud.delay_scale now")));
  for (const auto& [before, now] : std::map<std::string, std::string>{
           {"master.queue_room", "master.queue_capacity"},
           {"master.refusal_rest", "master.launch_backoff"},
           {"master.refusal_longest", "master.launch_backoff_longest"},
           {"site.room", "site.capacity"},
           {"sort.threshold", "classify.threshold"},
           {"worker.settled_keep", "worker.acknowledged_keep"}}) {
    EXPECT_THAT(errors_of({}, {before + "=2"}),
                ElementsAre(HasSubstr(before + ": is called " + now + " now")));
  }
  EXPECT_THAT(errors_of({.sections = "[loopback]\nmax_sport = 1\n"}),
              ElementsAre(HasSubstr("loopback.max_sport: ")));
}

TEST(ClusterErrors, AProviderSaysWhatItNeeds) {
  EXPECT_THAT(errors_of({.sections = "[cloud]\nprovider = \"trace\"\n"}),
              ElementsAre(IsGoldenAt("cloud.prices")));
  EXPECT_THAT(errors_of({.sections = "[cloud]\nprovider = \"loopback\"\nprices_speed = 0.5\n"}),
              ElementsAre(IsGoldenAt("cloud.prices_speed")));
  EXPECT_THAT(errors_of({.sections = "[cloud]\nprovider = \"ec3\"\n"}),
              ElementsAre(HasSubstr("cloud.provider: has to be")));
}

TEST(ClusterErrors, PricesThatNoProviderReadsAreAnError) {
  EXPECT_THAT(errors_of({.sections = "[cloud]\nprices = \"p.csv\"\nprices_speed = 2\n"}),
              ElementsAre(AllOf(HasSubstr("local.toml:19:10: cloud.prices: is read by"),
                                HasSubstr("say cloud.provider = \"trace\" beside it"))));
  EXPECT_THAT(errors_of({}, {"cloud.prices_from=1h"}),
              ElementsAre(HasSubstr("--set cloud.prices_from=1h: cloud.prices_from: is read by")));
  EXPECT_THAT(errors_of({.sections = "[cloud]\nprovider = \"loopback\"\nprices = \"p.csv\"\n"}),
              ElementsAre("no error"))
      << "a provider that is named is meant";
}

TEST(ClusterErrors, ThePresentNameOfEveryOldKeyIsAKey) {
  for (const char* key :
       {"delay_scale", "halt_grace", "interruptions_per_h", "max_by_type", "max_instances",
        "max_on_demand", "max_spot", "memory_reserve_gib", "notice"}) {
    const std::string now(config::new_name_of(std::string("loopback.") + key));
    EXPECT_NE(config::find_key<ClusterConfig>(now), nullptr) << key;
  }
  EXPECT_EQ(config::new_name_of("cloud.notice"), "");
}

TEST(ClusterErrors, WantsTheTypesOfALimitInQuotes) {
  for (const char* bad :
       {"max_by_type = { c7i.large = 3 }", "max_by_type = 3", "max_by_type = { \"a\" = -1 }",
        "max_by_type = { \"\" = 1 }", "max_by_type = { \"a\" = 1.5 }"}) {
    EXPECT_THAT(errors_of({.sections = std::string("[cloud]\n") + bad + "\n"}),
                ElementsAre(IsGoldenAt("local.toml:19:15: cloud.max_by_type")))
        << bad;
  }
}

TEST(ClusterErrors, WantsSilencesToBeLongerThanWhatBreaksThem) {
  EXPECT_THAT(errors_of({.sections = "[link]\nheartbeat = \"6s\"\ntimeout = \"11s\"\n"}),
              ElementsAre(IsGoldenAt("local.toml:20:11: link.timeout")));
  EXPECT_THAT(errors_of({.sections = "[site]\nload_stale_after = 1\n"}),
              ElementsAre(IsGoldenAt("local.toml:19:20: site.load_stale_after")));
  EXPECT_THAT(errors_of({.sections = "[master]\nworker_lost_after = \"9s\"\n"}),
              ElementsAre(IsGoldenAt("master.worker_lost_after")));
}

TEST(ClusterErrors, WantsACapOnWhatAMasterMayRentOrTheWordThatThereIsNone) {
  for (const std::string& without : Texts{"", "[master]\nmax_attempts = 3\n",
                                          "[master]\nmax_instances = 0\ncaps = \"given\"\n"}) {
    EXPECT_THAT(exact_errors_of({.sections = without}),
                ElementsAre(IsGoldenAt("local.toml: master")))
        << without;
  }
  for (const std::string& enough :
       Texts{"max_instances = 3", "max_usd_h = 0.5", "max_usd_day = 2", "caps = \"none\"",
             "fleet = [\"2*small\"]", "caps = \"none\"\nmax_usd_day = 2"}) {
    EXPECT_THAT(exact_errors_of({.sections = "[master]\n" + enough + "\n"}),
                ElementsAre("no error"))
        << enough;
  }
  EXPECT_THAT(
      exact_errors_of({.sections = "[master]\nfleet = [\"2*small\"]\nrent_beyond_fleet = true\n"}),
      ElementsAre(IsGoldenAt("local.toml: master")));
  EXPECT_THAT(exact_errors_of({.sections = "[master]\ncaps = \"all\"\n"}),
              testing::Contains(HasSubstr("local.toml:19:8: master.caps: has to be")));
}

TEST(ClusterErrors, KeepsTheCheckpointsApartFromTheNodes) {
  EXPECT_THAT(errors_of_nodes({kSite, kMaster, changed(kCloud, "n2", "checkpoints")}),
              ElementsAre(IsGoldenAt("local.toml:15:8: node.checkpoints.name")));
  EXPECT_THAT(errors_of(ClusterFile{}, {"worker.checkpoints=state/n0"}).size(), 1U);
}

TEST(ClusterErrors, WantsBackupsInAFolderThatIsNotLostWithTheState) {
  const std::string often = "[backup]\nevery = \"6h\"\nto = ";
  EXPECT_THAT(errors_of({.sections = often + "\"backups\"\n"}), ElementsAre("no error"));
  EXPECT_THAT(errors_of({.sections = often + "\"state/n0\"\n"}),
              ElementsAre(IsGoldenAt("local.toml:20:6: backup.to")));
  // In a folder of the cluster's name.
  EXPECT_THAT(
      errors_of({.top = changed(kTop, "\"local\"", "\"state\""), .sections = often + "\".\"\n"}),
      ElementsAre(IsGoldenAt("local.toml:20:6: backup.to")));
}

TEST(ClusterErrors, WantsAFolderForBackupsAndAMinuteBetweenThem) {
  EXPECT_THAT(errors_of({.sections = "[backup]\nevery = \"59s\"\n"}),
              testing::UnorderedElementsAre(HasSubstr("backup.to: is missing"),
                                            HasSubstr("local.toml:19:9: backup.every")));
  EXPECT_THAT(errors_of({}, {"backup.every=59s", "backup.to=b"}), ElementsAre(IsGolden()));
  EXPECT_THAT(errors_of({}, {"backup.every=1h"}), ElementsAre(IsGolden()));
  EXPECT_THAT(errors_of({}, {"backup.every=0", "backup.keep=0"}), ElementsAre(IsGolden()));
}

TEST(ClusterErrors, WantsAddressesToWhichMessagesCanBeSent) {
  EXPECT_THAT(errors_of({}, {"notify.allow=https://a.org"}), ElementsAre(IsGolden()));
  EXPECT_THAT(errors_of({}, {"notify.caps=ops"}), ElementsAre(IsGolden()));
  EXPECT_THAT(errors_of({}, {"notify.caps=ops@example.org"}), ElementsAre(IsGolden()));
  EXPECT_THAT(errors_of({}, {"notify.from=-f@x"}), ElementsAre(IsGolden()));
  EXPECT_THAT(errors_of({}, {"notify.retry=1h"}), ElementsAre(IsGolden()));
  EXPECT_THAT(errors_of({}, {"notify.caps=ops@example.org", "notify.sendmail=/usr/sbin/sendmail"}),
              ElementsAre("no error"));
}

TEST(ClusterErrors, TellsEverythingThatIsWrongAtOnceInTheOrderOfTheFile) {
  const ClusterFile parts{
      .top = kTop + "sed = 1\n",
      .nodes = changed(kSite, ":7800", "") + kMaster + changed(kCloud, "true", "3"),
      .sections = "[link]\ntimeout = \"soon\"\n"};
  EXPECT_THAT(
      errors_of(parts),
      ElementsAre(IsGoldenAt("local.toml:5:1: sed"), IsGoldenAt("local.toml:8:11: node.n0.address"),
                  HasSubstr("local.toml:15:1: node.n2: runs nothing"),
                  IsGoldenAt("local.toml:18:9: node.n2.cloud"),
                  IsGoldenAt("local.toml:20:11: link.timeout"), IsGoldenAt("local.toml: node")));
}

TEST(ClusterErrors, WantsAnApiWhereMachinesOfOnesOwnJoin) {
  const ClusterFile parts{.nodes = kSite + kMaster + kCloud + "join = \"10.0.0.1:7443\"\n",
                          .sections = "[cloud]\nprovider = \"hosts\"\n"};
  EXPECT_THAT(errors_of(parts), ElementsAre(IsGoldenAt("local.toml:14:1: node.n2.api")));
}

/// Errors of a cluster whose node n0 has site, cloud and API, with these lines and sections.
Texts errors_of_cloud_beside_site(const std::string& lines, const std::string& sections) {
  return errors_of({.top = kTop + "api_token = \"token\"\n",
                    .nodes = kSite + "cloud = true\napi = \"127.0.0.1:8090\"\n" + lines + kMaster,
                    .sections = sections});
}

TEST(ClusterErrors, WantsAJoinPortAndTypesOfItsOwnForMachinesBesideAnotherProvider) {
  const std::string join = "join = \"10.0.0.1:7443\"\n";
  const std::string own = "[cloud]\nown_families = [\"box\"]\n";
  EXPECT_THAT(errors_of_cloud_beside_site(join, own), ElementsAre("no error"));
  EXPECT_THAT(errors_of_cloud_beside_site("", own),
              ElementsAre(AllOf(HasSubstr("node.n0.join"), HasSubstr("cloud.own_families"))));
  EXPECT_THAT(errors_of_cloud_beside_site(join, ""),
              ElementsAre(AllOf(HasSubstr("node.n0.join"), HasSubstr("or cloud.own_families"))));
  EXPECT_THAT(errors_of_cloud_beside_site(join, own + "provider = \"hosts\"\n"),
              ElementsAre(AllOf(HasSubstr("cloud.own_families"), HasSubstr("all types"))));
}

TEST(ClusterErrors, HasTheLeaseOfMachinesReadBesideTheDefaultProvider) {
  const std::string join = "join = \"10.0.0.1:7443\"\n";
  const std::string lease = "[cloud]\nhost_lease = \"1min\"\n";
  EXPECT_THAT(errors_of_cloud_beside_site(join, lease + "own_families = [\"box\"]\n"),
              ElementsAre("no error"));
  EXPECT_THAT(errors_of_cloud_beside_site("", lease), ElementsAre(HasSubstr("cloud.host_lease")));
}

TEST(ClusterErrors, TellsWhatKindOfErrorItWas) {
  EXPECT_EQ(load_cluster_config("/nowhere/local.toml", {}).error().code, ConfigError::unreadable);
  EXPECT_THAT(load_cluster_config("/nowhere/local.toml", {}).error().message,
              IsGoldenAt("/nowhere/local.toml"));
  EXPECT_EQ(load({.top = "name = \n"}).error().code, ConfigError::malformed);
  EXPECT_THAT(load({.top = "name = \n"}).error().message, HasSubstr("local.toml:1:"));
  EXPECT_EQ(load({.top = "seed = -1\n"}).error().code, ConfigError::invalid);
  EXPECT_EQ(load(ClusterFile{}, {"seed=-1"}).error().code, ConfigError::bad_override);
}

TEST(ClusterErrors, ShowsAWrongOverrideAsItWasGiven) {
  const auto error_of = [](const std::string& text) {
    return errors_of(ClusterFile{}, {text}).front();
  };
  EXPECT_THAT(error_of("node.n1.address=here"),
              IsGoldenAt("--set node.n1.address=here: node.n1.address"));
  EXPECT_THAT(error_of("node.m1.address=a:1"),
              IsGoldenAt("--set node.m1.address=a:1: node.m1.address"));
  EXPECT_THAT(error_of("node.n1=a:1"), IsGoldenAt("--set node.n1=a:1: node.n1"));
  EXPECT_THAT(error_of("node.n1.adress=a:1"), IsGoldenAt("node.n1.adress"));
  EXPECT_THAT(error_of("node.n1.address"), IsGoldenAt("--set node.n1.address"));
  EXPECT_THAT(error_of("link.timeot=3"), HasSubstr("did you mean 'timeout'?"));
  EXPECT_THAT(error_of("node=3"), HasSubstr("--set node=3: node: "));
}

}  // namespace
}  // namespace muster
