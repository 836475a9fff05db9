#include "serve/local/local_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <set>
#include <string>

#include "config/catalog_file.hpp"
#include "config/fleet.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::local {
namespace {

using muster::test::IsGolden;
using muster::test::IsGoldenAt;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class LocalSettings : public testing::Test {
 protected:
  LocalSettings() {
    config_.file = "c/cluster.toml";
    config_.catalog = types_.path();
    config_.policy = "no-packing";
    for (int i = 0; i < 2; ++i) {
      NodeConfig node;
      node.name = "n" + std::to_string(i);
      node.master = "m" + std::to_string(i);
      config_.nodes.push_back(node);
    }
    config_.cloud.max_instances = 20;
  }

  std::string fault_of_fleet(const std::string& part) {
    config_.fleet.parts = {parse_fleet_part(part).value()};
    return settings_fault(config_, request_);
  }

  test::TempFile types_{"types.csv",
                        "name,family,gpu,cpu,memory_gib,usd_per_hour,spot_usd_per_hour\n"
                        "small,a,0,2,4,0.5,0.1\n"
                        "plain,a,0,4,8,1,\n"};
  ClusterConfig config_;
  LocalRequest request_;
};

TEST_F(LocalSettings, of_a_fleet_that_cloud_and_caps_allow_are_fine) {
  EXPECT_EQ(fault_of_fleet("20*small"), "");
  config_.master.caps.max_instances = 3;
  config_.master.caps.max_usd_h = 1.5;
  EXPECT_EQ(fault_of_fleet("6*small"), "") << "the masters share it";
  config_.cloud.max_instances = 0;
  config_.master.caps.max_instances = 0;
  config_.master.caps.max_usd_h = 0;
  EXPECT_EQ(fault_of_fleet("1000*small"), "") << "there are no limits";
}

TEST_F(LocalSettings, of_a_fleet_are_held_against_every_limit_of_the_cloud) {
  EXPECT_THAT(fault_of_fleet("21*small"), AllOf(HasSubstr("(cloud.max_instances)"),
                                                IsGoldenAt("c/cluster.toml: master.fleet")));
  config_.cloud.max_by_type = {{"small", 4}};
  EXPECT_THAT(fault_of_fleet("5*small"),
              AllOf(HasSubstr("(cloud.max_by_type)"), IsGoldenAt("c/cluster.toml: master.fleet")));
  EXPECT_EQ(fault_of_fleet("5*plain"), "");
  config_.cloud.max_by_type.clear();
  config_.cloud.max_spot = 2;
  config_.cloud.max_on_demand = 3;
  EXPECT_THAT(fault_of_fleet("3*small:spot"), HasSubstr("at most 2 (cloud.max_spot)"));
  EXPECT_THAT(fault_of_fleet("4*small"), HasSubstr("at most 3 (cloud.max_on_demand)"));
}

TEST_F(LocalSettings, of_a_fleet_are_held_against_the_caps_of_the_master_with_most_of_it) {
  config_.master.caps.max_instances = 3;
  EXPECT_THAT(fault_of_fleet("7*small"), AllOf(HasSubstr("4 instances"), HasSubstr("2 masters"),
                                               HasSubstr("cap is 3"), IsGolden()));
  config_.master.caps.max_instances = 0;
  config_.master.caps.max_usd_h = 1.5;
  EXPECT_THAT(fault_of_fleet("4*plain"), AllOf(HasSubstr("$2.00"), HasSubstr("$1.50"), IsGolden()));
}

TEST_F(LocalSettings, of_a_fleet_beyond_which_more_is_rented_are_held_against_the_cloud_alone) {
  config_.master.rent_beyond_fleet = true;
  config_.master.caps.max_instances = 3;
  EXPECT_EQ(fault_of_fleet("20*small"), "");
  EXPECT_THAT(fault_of_fleet("21*small"), AllOf(HasSubstr("at most 20"), IsGolden()));
}

TEST_F(LocalSettings, name_the_flag_that_they_are_from_or_the_file) {
  EXPECT_THAT(fault_of_fleet("1*plain:spot"),
              AllOf(HasSubstr("plain"), IsGoldenAt("c/cluster.toml")));
  request_.overrides = {"seed=3", "master.fleet=1*plain:spot"};
  EXPECT_THAT(fault_of_fleet("1*plain:spot"), HasSubstr("--set master.fleet=1*plain:spot: "));
  config_.policy = "nope";
  EXPECT_THAT(fault_of_fleet("1*plain"), HasSubstr("c/cluster.toml: "));
  request_.policy = "nope";
  EXPECT_THAT(fault_of_fleet("1*plain"), HasSubstr("--policy nope: "));
  config_.catalog = "absent.csv";
  EXPECT_THAT(fault_of_fleet("1*plain"),
              AllOf(HasSubstr("c/cluster.toml: catalog: "), HasSubstr("absent.csv")));
}

TEST(LocalRounds, that_jobs_wait_for_are_said_and_long_ones_with_how_to_have_them_sooner) {
  const test::TempFile file("t.csv", "name,family,gpu,cpu,memory_gib,usd_per_hour\na,a,0,2,4,1\n");
  const auto catalog = load_catalog(file.path());
  ASSERT_TRUE(catalog) << catalog.error().message;
  ClusterConfig config;
  const auto said = [&](const char* policy) {
    config.policy = policy;
    return batch_rounds(config, catalog.value());
  };
  EXPECT_THAT(said("stratus"),
              AllOf(HasSubstr("1min"), HasSubstr("--policy stratus,period_s=10"), IsGolden()));
  EXPECT_NE(said("hotspot"), "");
  EXPECT_THAT(said("stratus,period_s=60"),
              AllOf(HasSubstr("1min"), Not(HasSubstr("--policy")), IsGolden()));
  EXPECT_THAT(said("stratus,period_s=10"),
              AllOf(HasSubstr("10s"), Not(HasSubstr("--policy")), IsGolden()));
  EXPECT_EQ(said("stratus,eager"), "");
  EXPECT_EQ(said(kLocalPolicy), "");
}

/// Of flags for prices on a cluster that is there.
TEST_F(LocalSettings, of_new_backups_need_a_folder_that_is_there) {
  config_.backup.to = types_.folder() / "backups";
  EXPECT_EQ(backup_fault(config_, request_), "") << "no backups are made";
  config_.backup.every = std::chrono::hours{6};
  EXPECT_THAT(backup_fault(config_, request_), IsGoldenAt("c/cluster.toml: backup.to"));
  std::filesystem::create_directory(config_.backup.to);
  EXPECT_EQ(backup_fault(config_, request_), "");
  config_.backup.to = types_.path();
  request_.overrides = {"backup.to=types.csv"};
  EXPECT_THAT(backup_fault(config_, request_), IsGoldenAt("--set backup.to=types.csv: backup.to"));
}

class LocalPrices : public LocalSettings {
 protected:
  /// What was said to have changed; empty: nothing. What is wrong where a flag is.
  std::string apply(const std::string& prices, std::optional<double> speed = {}) {
    request_.prices = prices;
    request_.price_speed = speed;
    now_ += std::chrono::seconds{10};
    const auto changes = apply_flags(request_, now_, config_);
    if (!changes) return changes.error().message;
    return changes->empty() ? "" : changes->at(0).flag + " | " + changes->at(0).holds;
  }
  const TraceCloudSettings& moving() const { return config_.cloud.own.of<TraceCloudSettings>(); }
  std::string fault_of_rows(const std::string& rows) {
    const test::TempFile file("p.csv", "time_s,type,market,zone,price_usd_h,available\n" + rows);
    apply(file.path());
    return settings_fault(config_, request_);
  }

  Instant now_;
};

TEST_F(LocalPrices, begin_when_they_are_asked_for_and_go_on_when_they_are_asked_for_again) {
  EXPECT_THAT(apply("a.csv", 60),
              AllOf(StartsWith("--prices a.csv --price-speed 60 | "), IsGolden()));
  EXPECT_EQ(config_.cloud.provider, "trace");
  EXPECT_EQ(moving().prices, "a.csv");
  EXPECT_EQ(moving().speed, 60);
  EXPECT_EQ(moving().start, std::chrono::seconds{10});
  EXPECT_EQ(apply("a.csv", 60), "");
  EXPECT_EQ(apply(""), "") << "what is not given stays";
  EXPECT_EQ(moving().start, std::chrono::seconds{10});
  EXPECT_EQ(apply("a.csv"), "--prices a.csv | prices a.csv at speed 60");
  EXPECT_EQ(moving().speed, 1);
  EXPECT_EQ(moving().start, std::chrono::seconds{40}) << "at another speed they begin anew";
  EXPECT_EQ(apply("b.csv"), "--prices b.csv | prices a.csv at speed 1");
  EXPECT_EQ(moving().start, std::chrono::seconds{50});
}

TEST_F(LocalPrices, have_a_speed_in_its_range_and_only_with_a_file) {
  std::set<std::string> faults;
  for (const double speed : {0.5, 100'001.0, -1.0, double{NAN}, double{INFINITY}}) {
    const std::string fault = apply("a.csv", speed);
    EXPECT_THAT(fault, StartsWith("--price-speed "));
    faults.insert(fault);
  }
  EXPECT_THAT(faults, ElementsAre(IsGolden()));
  EXPECT_THAT(apply("", 60), HasSubstr("--price-speed needs --prices"));
  EXPECT_EQ(config_.cloud.provider, "loopback");
}

TEST_F(LocalPrices, are_read_before_anything_starts) {
  EXPECT_EQ(fault_of_rows("0,small,spot,a,0.1,1\n60,small,spot,a,0.2,1\n"), "");
  EXPECT_THAT(fault_of_rows("0,big,spot,a,0.1,1\n"),
              AllOf(StartsWith("--prices: "), IsGoldenAt("p.csv:2: type")));
  EXPECT_THAT(fault_of_rows("0,small,spot,a,0.1,1\n0,small,spot,,0.1,1\n"),
              IsGoldenAt("p.csv:3: zone"));
  apply("absent.csv");
  EXPECT_THAT(settings_fault(config_, request_),
              AllOf(HasSubstr("--prices: "), HasSubstr("absent.csv")));
  request_.prices.clear();
  EXPECT_THAT(settings_fault(config_, request_), HasSubstr("c/cluster.toml: "));
}

}  // namespace
}  // namespace muster::local
