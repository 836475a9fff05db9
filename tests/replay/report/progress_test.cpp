#include "replay/report/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <thread>

namespace muster::report {
namespace {

using testing::HasSubstr;

struct Screen {
  std::ostringstream out;
  Duration elapsed{};

  Progress::Setup setup(std::size_t runs) {
    return {&out, runs, [this] { return elapsed; }};
  }
  /// What was drawn since the last call.
  std::string drawn() {
    std::string text = out.str();
    out.str("");
    return text;
  }
};

TEST(Progress, shows_the_mean_share_of_all_runs) {
  Screen screen;
  Progress progress(screen.setup(2));
  screen.elapsed = from_seconds(65);
  progress.update(0, 50, 100);
  EXPECT_EQ(screen.drawn(),
            "\r\x1b[K[#######.......................]  25%  0 of 2 runs over  1:05, 3:15 to go");
  screen.elapsed = from_seconds(70);
  progress.update(0, 100, 100);
  EXPECT_THAT(screen.drawn(), HasSubstr(" 50%  1 of 2 runs over"));
}

TEST(Progress, draws_at_most_ten_times_a_second) {
  Screen screen;
  Progress progress(screen.setup(1));
  progress.update(0, 1, 100);
  EXPECT_NE(screen.drawn(), "");
  screen.elapsed = std::chrono::milliseconds{99};
  progress.update(0, 50, 100);
  EXPECT_EQ(screen.drawn(), "");
  screen.elapsed = std::chrono::milliseconds{100};
  progress.update(0, 51, 100);
  EXPECT_THAT(screen.drawn(), HasSubstr(" 51%"));
}

TEST(Progress, clears_its_line_once_and_draws_nothing_afterwards) {
  Screen screen;
  {
    Progress progress(screen.setup(1));
    progress.update(0, 1, 2);
    screen.drawn();
    progress.clear();
    EXPECT_EQ(screen.drawn(), "\r\x1b[K");
    screen.elapsed = from_seconds(9);
    progress.update(0, 2, 2);
  }
  EXPECT_EQ(screen.drawn(), "");
}

TEST(Progress, without_a_stream_it_is_silent) {
  Progress progress({nullptr, 1, {}});
  progress.update(0, 1, 2);
  progress.clear();
}

TEST(Progress, threads_may_report_at_the_same_time) {
  Screen screen;
  Progress progress(screen.setup(2));
  const auto report = [&](std::size_t run) {
    for (std::size_t i = 0; i <= 1000; ++i) progress.update(run, i, 1000);
  };
  std::thread other(report, 1);
  report(0);
  other.join();
  screen.drawn();
  screen.elapsed = from_seconds(1);
  progress.update(0, 1000, 1000);
  EXPECT_THAT(screen.drawn(), HasSubstr("100%  2 of 2 runs over"));
}

}  // namespace
}  // namespace muster::report
