#include "workers/process/files/slow_steps.hpp"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <semaphore>

namespace muster::process {
namespace {

using Count = std::counting_semaphore<>;

TEST(SlowSteps, AreTakenAtOnceAndAgainAfterThePeriod) {
  const auto taken = std::make_shared<Count>(0);
  const SlowSteps steps([taken] { taken->release(); }, std::chrono::milliseconds{1});
  for (int i = 0; i < 3; ++i) taken->acquire();
}

TEST(SlowSteps, AreNotWaitedForByWhoEndsThem) {
  const auto begun = std::make_shared<Count>(0);
  const auto goes_on = std::make_shared<Count>(0);
  const auto over = std::make_shared<Count>(0);
  {
    const SlowSteps steps(
        [begun, goes_on, over] {
          begun->release();
          goes_on->acquire();
          over->release();
        },
        std::chrono::milliseconds{1});
    begun->acquire();
  }
  goes_on->release();
  over->acquire();
  EXPECT_FALSE(begun->try_acquire_for(std::chrono::milliseconds{20})) << "no further step";
}

}  // namespace
}  // namespace muster::process
