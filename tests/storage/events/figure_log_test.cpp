// The file with a master's past, which its plots are made of.
#include "storage/events/figure_log.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/builders.hpp"
#include "tests/support/sample_views.hpp"
#include "tests/support/temp_file.hpp"

namespace muster {
namespace {

using test::sample_of_past;

std::size_t lines_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::size_t lines = 0;
  for (std::string line; std::getline(in, line);) ++lines;
  return lines;
}

TEST(FigureLog, reads_back_what_was_written) {
  const test::TempFile file("figures.csv", "");
  {
    FigureLog log(file.path(), 10);
    EXPECT_TRUE(log.read().empty());
    log.append(sample_of_past(60, 0.25));
    log.append(sample_of_past(120.5, 1.0 / 3));
  }
  const FigureLog again(file.path(), 10);
  ASSERT_EQ(again.read().size(), 2U);
  EXPECT_EQ(again.read()[0], sample_of_past(60, 0.25));
  EXPECT_EQ(again.read()[1], sample_of_past(120.5, 1.0 / 3));
}

TEST(FigureLog, leaves_out_lines_that_a_crash_has_cut_or_that_do_not_rise_in_time) {
  const test::TempFile file("figures.csv",
                            "at_s,usd_h,spent_usd,instances,tasks_running,tasks_pending,"
                            "jobs_waiting\n60,1,2,3,4,5,6\n30,1,2,3,4,5,6\n90,1,2\n"
                            "1e300,1,2,3,4,5,6\n120,1,2,3,4,5,6\n180,1,2,3");
  const FigureLog log(file.path(), 10);
  ASSERT_EQ(log.read().size(), 2U);
  EXPECT_EQ(log.read()[1].at, test::at_s(120));
}

TEST(FigureLog, reads_a_file_of_a_version_that_had_other_columns) {
  const test::TempFile file("figures.csv",
                            "at_s,later,usd_h,instances\n60,1,0.5,3\n120,1,0.75,4\n180,1,0.5\n");
  const FigureLog log(file.path(), 10);
  ASSERT_EQ(log.read().size(), 2U);
  EXPECT_EQ(log.read()[1].at, test::at_s(120));
  EXPECT_EQ(log.read()[1].usd_h, 0.75);
  EXPECT_EQ(log.read()[1].instances, 4U);
  EXPECT_EQ(log.read()[1].tasks_running, 0U);
}

TEST(FigureLog, goes_on_after_a_clock_that_was_ahead) {
  const test::TempFile file("figures.csv", "60,1,2,3,4,5,6\n9000,1,2,3,4,5,6\n120,1,2,3,4,5,6\n");
  const FigureLog log(file.path(), 10);
  ASSERT_EQ(log.read().size(), 2U);
  EXPECT_EQ(log.read()[1].at, test::at_s(120));
}

TEST(FigureLog, stays_small) {
  const test::TempFile file("figures.csv", "");
  for (int i = 1; i <= 100; ++i) {
    FigureLog log(file.path(), 10);
    for (int j = 0; j < 10; ++j) log.append(sample_of_past(i * 10 + j, i * 10 + j));
  }
  EXPECT_LE(lines_of(file.path()), 21U);
  const FigureLog again(file.path(), 10);
  ASSERT_EQ(again.read().size(), 10U);
  EXPECT_EQ(again.read().back().usd_h, 1'009);
}

TEST(FigureLog, keeps_the_file_small_while_it_runs) {
  const test::TempFile file("figures.csv", "");
  {
    FigureLog log(file.path(), 10);
    for (int i = 1; i <= 1'000; ++i) log.append(sample_of_past(i, i));
  }
  EXPECT_LE(lines_of(file.path()), 21U);
  EXPECT_FALSE(FigureLog(file.path(), 10).read().empty());
}

TEST(FigureLog, goes_without_a_file_where_none_can_be_made) {
  FigureLog log("/nowhere/at/all/figures.csv", 10);
  log.append(sample_of_past(60, 1));
  EXPECT_TRUE(log.read().empty());
}

}  // namespace
}  // namespace muster
