#include "workers/process/limits/gpu_shares.hpp"

#include <gtest/gtest.h>

namespace muster::process {
namespace {

AttemptKey attempt(std::uint64_t task) {
  return {TaskId{task}, 1};
}

TEST(GpuSharesTest, WholeDevicesAreOfOneAttemptUntilItGivesThemBack) {
  GpuShares shares;
  EXPECT_EQ(shares.take(attempt(1), 2), "0,1");
  EXPECT_EQ(shares.take(attempt(2), 1), "2");
  shares.give_back(attempt(1));
  EXPECT_EQ(shares.take(attempt(3), 3), "0,1,3");
  EXPECT_EQ(shares.take(attempt(4), 1), "4");
}

TEST(GpuSharesTest, WhoGetsNoDeviceHoldsNone) {
  GpuShares shares;
  EXPECT_EQ(shares.take(attempt(1), 0), "");
  EXPECT_EQ(shares.take(attempt(2), 1), "0");
  shares.give_back(attempt(1));
  shares.give_back(attempt(9));
  EXPECT_EQ(shares.take(attempt(3), 1), "1");
}

TEST(GpuSharesTest, PartsShareADeviceAsFarAsTheyFit) {
  GpuShares shares;
  EXPECT_EQ(shares.take(attempt(1), 0.5), "0");
  EXPECT_EQ(shares.take(attempt(2), 0.5), "0");
  EXPECT_EQ(shares.take(attempt(3), 0.25), "1");
  shares.give_back(attempt(1));
  EXPECT_EQ(shares.take(attempt(4), 0.75), "1") << "of device 0 half is another's";
  EXPECT_EQ(shares.take(attempt(5), 0.5), "0");
}

TEST(GpuSharesTest, APartNeverSpansTwoDevices) {
  GpuShares shares;
  EXPECT_EQ(shares.take(attempt(1), 0.75), "0");
  EXPECT_EQ(shares.take(attempt(2), 0.5), "1");
  EXPECT_EQ(shares.take(attempt(3), 1.25), "2,3") << "a part lies behind the whole ones";
}

TEST(GpuSharesTest, ThirdsFillADeviceAlthoughTheyAreRounded) {
  GpuShares shares;
  const double third = 1.0 / 3 + 1e-12;
  for (std::uint64_t task = 1; task <= 3; ++task) {
    EXPECT_EQ(shares.take(attempt(task), third), "0");
  }
  EXPECT_EQ(shares.take(attempt(4), third), "1");
  for (std::uint64_t task = 1; task <= 3; ++task) shares.give_back(attempt(task));
  EXPECT_EQ(shares.take(attempt(5), 1), "0") << "nothing of the rounding stays behind";
}

TEST(GpuSharesTest, DevicesOfAnEarlierProcessAreKeptForTheirAttempt) {
  GpuShares shares;
  shares.keep(attempt(1), "0,2", 1.5);
  shares.keep(attempt(2), "", 0);
  EXPECT_EQ(shares.take(attempt(3), 1), "1");
  EXPECT_EQ(shares.take(attempt(4), 0.5), "2") << "the other half of the last one";
  shares.give_back(attempt(1));
  EXPECT_EQ(shares.take(attempt(5), 1), "0");
  EXPECT_EQ(shares.take(attempt(6), 0.5), "2");
}

}  // namespace
}  // namespace muster::process
