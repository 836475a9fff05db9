#include "replay/workload/bursty_arrivals.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "replay/workload/training.hpp"
#include "tests/replay/workload/workload_compare.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temp_file.hpp"
#include "tests/support/training_tables.hpp"

namespace muster::replay {
namespace {

using muster::test::IsGolden;
using muster::test::message_of;
using testing::AllOf;
using testing::HasSubstr;

struct GapFigures {
  double mean = 0;
  double squared_cv = 0;
};

GapFigures figures_of(const std::vector<double>& times) {
  double sum = 0, squares = 0, before = 0;
  for (const double time : times) {
    sum += time - before;
    squares += (time - before) * (time - before);
    before = time;
  }
  const auto count = static_cast<double>(times.size());
  const double mean = sum / count;
  return {mean, squares / count / mean / mean - 1};
}

TEST(TwoRates, HaveTheMeanRateAndTheSquaredCvThatWereAskedFor) {
  for (const double squared_cv : {1.0, 2.65, 5.0, 10.0, 20.0}) {
    const auto rates = two_rates(squared_cv, 40);
    ASSERT_TRUE(rates.has_value());
    Rng rng(7);
    const GapFigures found = figures_of(draw_arrivals(*rates, 2'000'000, rng));
    EXPECT_NEAR(found.mean, 1, 0.02) << squared_cv;
    EXPECT_NEAR(found.squared_cv / squared_cv, 1, 0.03) << squared_cv;
  }
}

TEST(TwoRates, AreOneForAPoissonProcessAndFurtherApartForShorterAndDenserBursts) {
  EXPECT_EQ(two_rates(1, 40)->ratio, 1);
  double before = 1;
  for (const double squared_cv : {2.65, 5.0, 10.0, 20.0}) {
    const double ratio = two_rates(squared_cv, 40)->ratio;
    EXPECT_GT(ratio, before) << "the high rate rises and its share of the time falls";
    before = ratio;
  }
  EXPECT_GT(two_rates(5, 10)->ratio, two_rates(5, 100)->ratio) << "short cycles even out more";
}

TEST(TwoRates, NeedACycleInWhichGapsCanDifferSoMuch) {
  EXPECT_FALSE(two_rates(20, 9.5).has_value());
  EXPECT_TRUE(two_rates(20, 9.6).has_value());
}

std::string trace_of(std::size_t jobs) {
  std::string text = "name,time,application\n";
  for (std::size_t i = 0; i < jobs; ++i) {
    text += "job-" + std::to_string(i) + "," + std::to_string(60 * (i + 1)) +
            (i % 3 == 0 ? ",bert\n" : ",ncf\n");
  }
  return text;
}

WorkloadConfig bursty(const muster::test::TempFile& file, double burstiness) {
  WorkloadConfig config = test::reading("training", file.path());
  auto& settings = config.own.of<TrainingSettings>();
  settings.profiles = muster::test::small_training_data();
  settings.burstiness = burstiness;
  return config;
}

TEST(TrainingJobs, ComeInBurstsAsManyAndInTheOrderOfTheTrace) {
  const muster::test::TempFile file("trace.csv", trace_of(600));
  const auto plain = read_compact_workload(bursty(file, 0), 1).value();
  const auto drawn = read_compact_workload(bursty(file, 5), 1).value();
  const auto again = read_compact_workload(bursty(file, 5), 1).value();
  const auto other = read_compact_workload(bursty(file, 5), 2).value();
  EXPECT_THAT(drawn.description, HasSubstr("C^2 5 by seed 1"));
  ASSERT_EQ(drawn.size(), 600U);
  EXPECT_EQ(plain.job(599).submit, drawn.job(599).submit) << "over the time of the trace";
  std::size_t moved = 0, differ = 0;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    EXPECT_EQ(drawn.job(i).job.name, plain.job(i).job.name);
    EXPECT_EQ(drawn.job(i).job.workload_class, plain.job(i).job.workload_class);
    EXPECT_EQ(drawn.job(i).submit, again.job(i).submit) << "the same seed, the same times";
    moved += drawn.job(i).submit != plain.job(i).submit ? 1 : 0;
    differ += drawn.job(i).submit != other.job(i).submit ? 1 : 0;
  }
  EXPECT_GT(moved, 590U);
  EXPECT_GT(differ, 590U);
}

TEST(TrainingJobs, SayWhichCycleABurstinessNeeds) {
  const muster::test::TempFile file("trace.csv", trace_of(10));
  WorkloadConfig config = bursty(file, 20);
  config.own.of<TrainingSettings>().burst_cycle = std::chrono::minutes{9};
  EXPECT_THAT(message_of(read_workload(config, 1), WorkloadError::invalid),
              AllOf(HasSubstr("workload.training.burst_cycle"), HasSubstr("570 s"), IsGolden()));
}

}  // namespace
}  // namespace muster::replay
