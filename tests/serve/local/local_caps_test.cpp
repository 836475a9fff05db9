#include "serve/local/local_caps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::local {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

ClusterConfig with_masters(std::size_t count) {
  ClusterConfig config;
  for (std::size_t i = 0; i < count; ++i) {
    config.nodes.emplace_back().master = "m" + std::to_string(i);
  }
  return config;
}

ClusterConfig defaults(const machines::Computer& computer, std::size_t masters) {
  ClusterConfig config = with_masters(masters);
  set_default_caps(computer, config);
  return config;
}

TEST(LocalCaps, ShareBetweenTheMastersWhatABeginnersComputerBears) {
  const MasterCaps small = defaults({.cores = 2, .memory_bytes = 4 * kGiB}, 2).master.caps;
  EXPECT_EQ(small.max_instances, 4U);
  EXPECT_EQ(small.max_usd_h, 2.5);
  EXPECT_EQ(small.max_usd_day, 10);
  const MasterCaps alone = defaults({.cores = 2, .memory_bytes = 4 * kGiB}, 1).master.caps;
  EXPECT_EQ(alone.max_instances, 8U);
  EXPECT_EQ(alone.max_usd_h, 5);
  EXPECT_EQ(alone.max_usd_day, 20);
  EXPECT_EQ(defaults({.cores = 64, .memory_bytes = 256 * kGiB}, 2).master.caps.max_instances, 128U);
  EXPECT_EQ(defaults({.cores = 64, .memory_bytes = 8 * kGiB}, 2).master.caps.max_instances, 8U);
}

TEST(LocalCaps, LeaveEachMasterRoomForAGangOfFour) {
  EXPECT_EQ(defaults({.cores = 1, .memory_bytes = kGiB}, 8).master.caps.max_instances, 4U);
}

TEST(LocalCaps, SpendNoMoreInAllHoweverManyMastersThereAre) {
  for (std::size_t masters = 1; masters <= 8; ++masters) {
    const MasterCaps caps =
        defaults({.cores = 64, .memory_bytes = 256 * kGiB}, masters).master.caps;
    const auto count = static_cast<double>(masters);
    EXPECT_LE(caps.max_usd_h * count, 5) << masters;
    EXPECT_LE(caps.max_usd_day * count, 20) << masters;
    EXPECT_GT(caps.max_usd_h * count, 4.99) << masters;
    EXPECT_GT(caps.max_usd_day * count, 19.99) << masters;
  }
}

TEST(LocalCaps, TellWhichInstancesNoMasterGets) {
  const ClusterConfig config = defaults({.cores = 2, .memory_bytes = 4 * kGiB}, 2);
  EXPECT_EQ(caps_rest(caps_from("instances=4").value(), config), "");
  EXPECT_EQ(caps_rest(caps_from("usd_h=3").value(), config), "");
  EXPECT_EQ(caps_rest(caps_from("instances=5").value(), config),
            "instances=5 does not divide by 2 masters: each may have 2, all together 4; "
            "--masters 1 makes a cluster with one");
}

TEST(LocalCaps, TellWhatAMastersShareIsTooSmallFor) {
  const auto type = [](const char* name, double usd_h) {
    InstanceType made;
    made.name = name;
    made.on_demand = Price::from_usd_h(usd_h);
    return made;
  };
  const Catalog catalog({type("small", 0.09), type("large", 0.7), type("huge", 2)});
  ClusterConfig config = defaults({.cores = 2, .memory_bytes = 4 * kGiB}, 2);
  EXPECT_EQ(caps_shortfall(config, catalog), "");
  config = defaults({.cores = 2, .memory_bytes = 4 * kGiB}, 8);
  EXPECT_EQ(caps_shortfall(config, catalog),
            "$0.62 an hour for each master is too little for 2 of the 3 types, large ($0.70) and "
            "what costs more; --caps usd_h=X raises it");
  config.master.caps.max_usd_h = 0.05;
  EXPECT_EQ(caps_shortfall(config, catalog),
            "$0.05 an hour for each master rents nothing, the cheapest type is small ($0.09); "
            "--caps usd_h=X raises it");
  config.master.caps.max_usd_h = 0;
  config.master.caps.max_usd_day = 0.08;
  EXPECT_EQ(caps_shortfall(config, catalog),
            "$0.08 a day for each master is less than an hour of the cheapest type, small "
            "($0.09); --caps usd_day=X raises it");
  config.master.caps.max_usd_day = 0;
  EXPECT_EQ(caps_shortfall(config, catalog), "");
}

TEST(LocalCaps, AreChangedForTheWholeClusterByOneFlag) {
  ClusterConfig config = defaults({.cores = 2, .memory_bytes = 4 * kGiB}, 3);
  const auto change = [&](const std::string& text) {
    return change_caps(caps_from(text).value(), config).has_value();
  };
  EXPECT_TRUE(change("instances=10,usd_h=1"));
  EXPECT_EQ(config.master.caps.max_instances, 3U);
  EXPECT_EQ(config.master.caps.max_usd_h, 0.3333) << "never more than was asked for in all";
  EXPECT_EQ(config.master.caps.max_usd_day, 6.6666) << "what is not named stays";
  EXPECT_TRUE(change("none"));
  EXPECT_EQ(config.master.caps.max_instances, 0U);
  EXPECT_EQ(config.master.caps.max_usd_h, 0);
  EXPECT_EQ(config.master.caps.max_usd_day, 0);
  EXPECT_TRUE(config.live_master.uncapped);
  EXPECT_TRUE(change("usd_day=6"));
  EXPECT_FALSE(config.live_master.uncapped);
  EXPECT_EQ(config.master.caps.max_usd_day, 2);
}

TEST(LocalCaps, SayWhatIsWrongWithTheFlag) {
  for (const char* bad : {"", "instances", "instances=", "instances=0", "instances=1.5", "usd_h=-1",
                          "usd_h=1,", "usd=3", "none,usd_h=1", "usd_day=nan", "instances=1e9"}) {
    const auto caps = caps_from(bad);
    ASSERT_FALSE(caps) << bad;
    EXPECT_THAT(caps.error().message,
                HasSubstr("--caps has to be none or instances=N,usd_h=X,usd_day=Y"))
        << bad;
  }
  ClusterConfig config = with_masters(3);
  const auto few = change_caps(caps_from("instances=2").value(), config);
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().message,
            "--caps instances=2: each of the 3 masters has to have one at least");
}

TEST(LocalCaps, AreShownForAllMastersAndForEach) {
  const ClusterConfig two = defaults({.cores = 2, .memory_bytes = 4 * kGiB}, 2);
  EXPECT_EQ(caps_text(two),
            "8 instances, $5.00 an hour, $20.00 a day; of these each of 2 masters has 4 instances, "
            "$2.50 an hour, $10.00 a day\n"
            "      raise them with --caps instances=N,usd_h=X,usd_day=Y, or --caps none");
  EXPECT_EQ(caps_text(with_masters(2)), "none; set them with --caps instances=N,usd_h=X,usd_day=Y");
}

}  // namespace
}  // namespace muster::local
