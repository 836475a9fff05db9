#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>

#include "config/cloud/delays.hpp"
#include "tests/replay/random_cluster.hpp"
#include "tests/support/temp_file.hpp"

// Every allowed setting of the world's and the cloud's times keeps the invariants of a run: ledger,
// log and bill agree to the last unit.

namespace muster::replay {
namespace {

using namespace std::chrono_literals;
using test::random_cluster;
using test::SmallReplay;

/// A cluster whose types are for sale on the spot market too and take as long as the seed says,
/// whole quanta or not, to come up, to be set up and to end; zero as well.
SmallReplay with_times(std::uint64_t seed) {
  Rng rng(seed + 1000);
  const auto delay = [&rng] {
    constexpr std::array<Duration, 5> kDelays = {0s, 1s, 700ms, 10s, 61s};
    return kDelays.at(rng.below(kDelays.size()));
  };
  SmallReplay replay = random_cluster(seed);
  std::vector<InstanceType> types = replay.catalog().types();
  for (InstanceType& type : types) {
    type.spot = Price::from_usd_h(type.on_demand.usd_h() / 3);
    type.acquire = delay();
    type.setup = delay();
    type.terminate = delay();
  }
  replay.use(Catalog(std::move(types)));
  for (WorkloadJob& job : replay.workload().jobs) {
    job.job.runtime_hint = from_seconds(job.truth.iterations);
  }
  replay.config().classify.by = "oracle";
  replay.config().classify.threshold = 2h;
  replay.config().classify.min_samples = 1;
  replay.config().classify.p_threshold = 0;
  return replay;
}

/// What is wrong with the run; empty when nothing is.
std::string fault_of(const Expected<Run, ReplayError>& run) {
  return run ? std::string{} : run.error().message;
}

TEST(TimeSettings, DecisionsThatTakeTheirTimeKeepTheLawsAndRepeat) {
  std::uint64_t next_seed = 100;
  std::size_t behind = 0;
  for (const Duration time : {Duration{1ms}, Duration{7s}, Duration{2min}, Duration{20min}}) {
    for (const char* policy : {"no-packing", "eva", "hcoop"}) {
      const std::uint64_t seed = ++next_seed;
      SmallReplay replay = with_times(seed);
      replay.config().master.decision_time = time;
      replay.config().master.slice_parts = 4;
      const auto run = replay.run(policy, seed);
      ASSERT_EQ(fault_of(run), "") << to_seconds(time) << " s, " << policy << ", seed " << seed;
      const auto again = replay.run(policy, seed);
      ASSERT_EQ(run->events.size(), again->events.size());
      for (std::size_t i = 0; i < run->events.size(); ++i) {
        ASSERT_TRUE(run->events[i].body == again->events[i].body);
        const auto* round = std::get_if<RoundDecided>(&run->events[i].body);
        if (round == nullptr) continue;
        EXPECT_EQ(round->took, time);
        behind += round->behind > 0;
      }
    }
  }
  EXPECT_GT(behind, 10U) << "much happens meanwhile";
}

TEST(TimeSettings, EveryQuantumKeepsTheLaws) {
  std::uint64_t next_seed = 0;
  for (const Duration quantum : {Duration{1}, Duration{1ms}, Duration{1500ms}, Duration{2s},
                                 Duration{7s}, Duration{5min}, Duration{1h}}) {
    for (const char* policy : {"no-packing", "eva", "hcoop"}) {
      const std::uint64_t seed = ++next_seed;
      SmallReplay replay = with_times(seed);
      replay.config().world.quantum = quantum;
      EXPECT_EQ(fault_of(replay.run(policy, seed)), "")
          << "quantum " << quantum.count() << " ns, " << policy << ", seed " << seed;
    }
  }
}

TEST(TimeSettings, EveryNoticeKeepsTheLaws) {
  std::uint64_t interruptions = 0;
  std::uint64_t next_seed = 0;
  for (const Duration notice :
       {Duration{0}, Duration{1}, Duration{1ms}, Duration{2ms}, Duration{1500ms}, Duration{2min}}) {
    for (const Duration quantum : {Duration{1us}, Duration{1s}, Duration{7s}}) {
      const std::uint64_t seed = ++next_seed;
      SmallReplay replay = with_times(seed);
      replay.config().world.quantum = quantum;
      replay.config().cloud.notice = notice;
      replay.config().cloud.interruptions_per_h = 3;
      const auto run = replay.run("hcoop", seed);
      EXPECT_EQ(fault_of(run), "") << "notice " << notice.count() << " ns, quantum "
                                   << quantum.count() << " ns, seed " << seed;
      if (run) interruptions += run->result.interruptions;
    }
  }
  EXPECT_GT(interruptions, 20U) << "the notices have to come about";
}

TEST(TimeSettings, EveryDistributionOfDelaysKeepsTheLawsAndRepeats) {
  for (const DelayKind distribution :
       {DelayKind::uniform, DelayKind::normal, DelayKind::lognormal}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      SmallReplay replay = with_times(seed);
      replay.config().cloud.own.of<DelaySettings>() = {distribution, 0.8};
      const auto run = replay.run("eva", seed);
      EXPECT_EQ(fault_of(run), "") << name_of(distribution) << ", seed " << seed;
      const auto again = replay.run("eva", seed);
      if (!run || !again) continue;
      EXPECT_EQ(run->result.total_cost_usd, again->result.total_cost_usd);
    }
  }
}

TEST(TimeSettings, RevocationsOfASeriesKeepTheLaws) {
  std::uint64_t interruptions = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SmallReplay replay = with_times(seed);
    std::string rows = "time_s,type,market,zone,price_usd_h,available,revoke\n";
    for (const InstanceType& type : replay.catalog().types()) {
      for (const int at_s : {1200, 2400}) {
        const bool revoke = at_s == 1200;
        rows += std::to_string(at_s) + "," + type.name + ",spot,," +
                fmt::format("{}", type.spot->usd_h()) + (revoke ? ",0,1\n" : ",1,0\n");
      }
    }
    const muster::test::TempFile file("prices.csv", rows);
    replay.config().cloud.provider = "trace";
    replay.config().cloud.own.of<TraceCloudSettings>() = {file.path(), 1h};
    const auto run = replay.run("hcoop", seed);
    EXPECT_EQ(fault_of(run), "") << "seed " << seed;
    if (run) interruptions += run->result.interruptions;
  }
  EXPECT_GT(interruptions, 5U) << "the revocations have to come about";
}

TEST(TimeSettings, TheSeriesBeginsWhereTheConfigSays) {
  SmallReplay replay = with_times(1);
  std::string rows = "time_s,type,market,zone,price_usd_h,available\n";
  for (const InstanceType& type : replay.catalog().types()) {
    for (const int day : {0, 1}) {
      rows += fmt::format("{},{},on-demand,,{},1\n", day * 86400, type.name,
                          type.on_demand.usd_h() * (day == 0 ? 1 : 10));
    }
  }
  const muster::test::TempFile file("prices.csv", rows);
  replay.config().cloud.provider = "trace";
  std::vector<double> costs;
  for (const Duration from : {0h, 24h}) {
    replay.config().cloud.own.of<TraceCloudSettings>() = {.prices = file.path(), .from = from};
    const auto run = replay.run("no-packing", 1);
    ASSERT_TRUE(run) << run.error().message;
    costs.push_back(run->result.total_cost_usd);
  }
  EXPECT_NEAR(costs[1], 10 * costs[0], 1e-6 * costs[1]);
}

TEST(TimeSettings, EverySettlingKeepsTheLaws) {
  for (const Duration settle : {Duration{0}, Duration{1ms}, Duration{1s}, Duration{1h}}) {
    for (const Duration round_settle : {Duration{0}, Duration{3ms}, Duration{1s}}) {
      for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        SmallReplay replay = with_times(seed);
        replay.config().world.settle = settle;
        replay.config().master.round_settle = round_settle;
        EXPECT_EQ(fault_of(replay.run("eva", seed)), "")
            << "world " << settle.count() << " ns, rounds " << round_settle.count() << " ns, seed "
            << seed;
      }
    }
  }
}

}  // namespace
}  // namespace muster::replay
