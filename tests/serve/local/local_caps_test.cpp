#include "serve/local/local_caps.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"

namespace muster::local {
namespace {

using muster::test::IsGolden;
using muster::test::message_of;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

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
  EXPECT_THAT(caps_rest(caps_from("instances=5").value(), config),
              AllOf(HasSubstr("instances=5"), HasSubstr("2 masters"),
                    HasSubstr("2, all together 4"), HasSubstr("--masters 1"), IsGolden()));
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
  EXPECT_THAT(caps_shortfall(config, catalog),
              AllOf(HasSubstr("$0.62"), HasSubstr("2 of the 3 types"), HasSubstr("large ($0.70)"),
                    HasSubstr("--caps usd_h=X"), IsGolden()));
  config.master.caps.max_usd_h = 0.05;
  EXPECT_THAT(caps_shortfall(config, catalog), AllOf(HasSubstr("$0.05"), HasSubstr("small ($0.09)"),
                                                     HasSubstr("--caps usd_h=X"), IsGolden()));
  config.master.caps.max_usd_h = 0;
  config.master.caps.max_usd_day = 0.08;
  EXPECT_THAT(caps_shortfall(config, catalog), AllOf(HasSubstr("$0.08"), HasSubstr("small ($0.09)"),
                                                     HasSubstr("--caps usd_day=X"), IsGolden()));
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
  std::string errors;
  for (const char* bad : {"", "instances", "instances=", "instances=0", "instances=1.5", "usd_h=-1",
                          "usd_h=1,", "usd=3", "none,usd_h=1", "usd_day=nan", "instances=1e9"}) {
    const auto caps = caps_from(bad);
    ASSERT_FALSE(caps) << bad;
    EXPECT_EQ(caps.error().code, CapsError::malformed) << bad;
    EXPECT_THAT(caps.error().message, StartsWith("--caps ")) << bad;
    errors += fmt::format("{} (of '{}')\n", caps.error().message, bad);
  }
  EXPECT_THAT(errors, IsGolden());
  ClusterConfig config = with_masters(3);
  const auto few = change_caps(caps_from("instances=2").value(), config);
  EXPECT_THAT(message_of(few, CapsError::too_few),
              AllOf(HasSubstr("--caps instances=2"), HasSubstr("3 masters"), IsGolden()));
}

TEST(LocalCaps, AreShownForAllMastersAndForEach) {
  const ClusterConfig two = defaults({.cores = 2, .memory_bytes = 4 * kGiB}, 2);
  EXPECT_THAT(caps_text(two),
              AllOf(HasSubstr("8 instances, $5.00"), HasSubstr("$20.00"),
                    HasSubstr("4 instances, $2.50"), HasSubstr("$10.00"), IsGolden()));
  EXPECT_THAT(caps_text(with_masters(2)), AllOf(StartsWith("none; "), IsGolden()));
}

}  // namespace
}  // namespace muster::local
