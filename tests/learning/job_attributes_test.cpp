#include "learning/job_attributes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/builders.hpp"

namespace muster {
namespace {

using test::JobBuilder;

constexpr std::uint64_t kStoredShape = 160662130133115841U;

TEST(LogicalName, LeavesOutTheNumberOfTheRun) {
  EXPECT_EQ(logical_name("train-0017"), "train");
  EXPECT_EQ(logical_name("train_1"), "train");
  EXPECT_EQ(logical_name("train.1"), "train");
  EXPECT_EQ(logical_name("train#1"), "train");
  EXPECT_EQ(logical_name("train17"), "train");
  EXPECT_EQ(logical_name("train--1"), "train");
}

TEST(LogicalName, KeepsNumbersWithinAName) {
  EXPECT_EQ(logical_name("resnet50-train"), "resnet50-train");
  EXPECT_EQ(logical_name("resnet50-train-2"), "resnet50-train");
  EXPECT_EQ(logical_name("step-1-2"), "step-1") << "one number alone is of the run";
}

TEST(LogicalName, OfNumbersAloneIsEmpty) {
  EXPECT_EQ(logical_name("2024"), "");
  EXPECT_EQ(logical_name("-7"), "");
  EXPECT_EQ(logical_name(""), "");
}

TEST(Shape, IsOneForJobsOfAboutOneSize) {
  const auto shape = [](double cpu, double memory, std::size_t tasks) {
    return shape_of(JobBuilder(1).demand(Resources::of(0, cpu, memory)).tasks(tasks).build());
  };
  EXPECT_EQ(shape(4, 16, 2), shape(5, 15, 2));
  EXPECT_NE(shape(4, 16, 2), shape(8, 16, 2));
  EXPECT_NE(shape(4, 16, 2), shape(4, 32, 2));
  EXPECT_NE(shape(4, 16, 2), shape(4, 16, 4));
  EXPECT_NE(shape(4, 16, 1), shape(16, 4, 1)) << "one amount is not another";
  EXPECT_NE(shape(0.25, 16, 1), shape(0.5, 16, 1)) << "nor is it of parts of a core";
}

TEST(Shape, CountsTheTasksOfTheWholeJobAndTheFirstOfThem) {
  Job part = JobBuilder(1).tasks(2).build();
  const Job whole = JobBuilder(1).tasks(8).build();
  EXPECT_NE(shape_of(part), shape_of(whole));
  part.total_tasks = 8;
  EXPECT_EQ(shape_of(part), shape_of(whole));
  part.tasks.back().demands = Demands(Resources::of(8, 8, 8));
  EXPECT_EQ(shape_of(part), shape_of(whole));
}

TEST(Median, IsTheMiddleOneOrTheMeanOfTwo) {
  EXPECT_EQ(median_of({7}), 7);
  EXPECT_EQ(median_of({9, 1, 5}), 5);
  EXPECT_EQ(median_of({1, 9}), 5);
  EXPECT_EQ(median_of({8, 1, 4, 2}), 3);
  EXPECT_EQ(median_of({3, 3, 3, 100}), 3);
}

TEST(Shape, IsANumberThatStaysWithWhatWasLearnt) {
  // Stores hold it: with another number all that was learnt of such jobs would be forgotten.
  const Job job = JobBuilder(1).demand(Resources::of(1, 4, 16)).tasks(3).build();
  EXPECT_EQ(shape_of(job), kStoredShape);
}

}  // namespace
}  // namespace muster
