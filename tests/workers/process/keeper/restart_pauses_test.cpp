#include "workers/process/keeper/restart_pauses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace muster::process {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;

std::vector<Duration> pauses_of(RestartPauses& pauses, int count) {
  std::vector<Duration> all;
  for (int i = 0; i < count; ++i) all.push_back(pauses.next());
  return all;
}

TEST(RestartPauses, TheFirstRestartIsAtOnceAndPausesDoubleUpToABound) {
  RestartPauses pauses{KeeperPace{}};
  EXPECT_THAT(pauses_of(pauses, 8),
              ElementsAre(seconds{0}, seconds{10}, seconds{20}, seconds{40}, seconds{80},
                          seconds{160}, seconds{300}, seconds{300}));
}

TEST(RestartPauses, ForgottenEndsBeginAnew) {
  RestartPauses pauses{KeeperPace{}};
  pauses_of(pauses, 5);
  pauses.forget();
  EXPECT_THAT(pauses_of(pauses, 3), ElementsAre(seconds{0}, seconds{10}, seconds{20}));
}

}  // namespace
}  // namespace muster::process
