#include "schedulers/boa/class_speeds.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace muster::boa {
namespace {

constexpr std::uint32_t kNodeHolds = 4;

Instant at(int seconds) {
  return Instant{std::chrono::seconds{seconds}};
}

/// Jobs whose workers say nothing but how far they have come.
ElasticSpec counting() {
  ElasticSpec spec;
  spec.max_width = 8;
  return spec;
}

ElasticSpec training() {
  ElasticSpec spec;
  spec.max_width = 8;
  spec.batch = BatchLimits{.initial = 128, .largest = 4096, .local_min = 32, .local_max = 1024};
  std::vector<ElasticEpoch> epochs(2);
  epochs[0].until = 100;
  epochs[1].until = 200;
  spec.epochs = ElasticEpochs(epochs);
  return spec;
}

TrainingSample sample_of(std::uint32_t replicas) {
  return {.nodes = 1,
          .replicas = replicas,
          .local_batch = 128,
          .step_s = 0.1,
          .sync_s = replicas > 1 ? 0.02 : 0.0,
          .grad_sqr = 1,
          .grad_var = 50};
}

/// What jobs say of their progress, one after the other.
class Teller {
 public:
  explicit Teller(ClassSpeeds& speeds) : speeds_(speeds) {}

  void says(double done, JobSeen now) {
    now.done = done;
    seen_ = speeds_.observe({TaskId{1}, done, {}}, seen_, now);
  }

 private:
  ClassSpeeds& speeds_;
  JobSeen seen_;
};

TEST(ClassSpeeds, CountsProgressFromTheFirstOfARunOn) {
  ClassSpeeds speeds(counting());
  Teller job(speeds);
  job.says(0, {.at = at(50), .attempt = 1, .width = 2});
  job.says(10, {.at = at(100), .attempt = 1, .width = 2});
  EXPECT_EQ(speeds.width_cap(), 1U) << "of the first 50 s some were its start";
  job.says(70, {.at = at(130), .attempt = 1, .width = 2});
  EXPECT_EQ(speeds.width_cap(), 4U);
  speeds.observe_end(100);
  const ElasticEpochs epochs = speeds.epochs({}, kNodeHolds);
  EXPECT_DOUBLE_EQ(epochs.all()[0].rate_per_s, 1);
  EXPECT_DOUBLE_EQ(epochs.all()[0].until, 100);
}

TEST(ClassSpeeds, LeavesOutTheTimeInWhichAJobWasStartedAnew) {
  ClassSpeeds speeds(counting());
  Teller job(speeds);
  job.says(10, {.at = at(10), .attempt = 1, .width = 1});
  job.says(20, {.at = at(20), .attempt = 1, .width = 1});
  job.says(30, {.at = at(1000), .attempt = 2, .width = 1});
  job.says(40, {.at = at(2000), .attempt = 2, .width = 4});
  EXPECT_EQ(speeds.epochs({}, kNodeHolds).all()[0].speedup.size(), 0U);
}

TEST(ClassSpeeds, DoesNotKnowHowLongJobsAreBeforeOneHasEnded) {
  ClassSpeeds speeds(counting());
  Teller job(speeds);
  for (const int s : {10, 20, 30}) job.says(s, {.at = at(s), .attempt = 1, .width = 1});
  EXPECT_EQ(speeds.epochs({}, kNodeHolds).all()[0].rate_per_s, 0);
  speeds.observe_end(30);
  speeds.observe_end(50);
  EXPECT_EQ(speeds.epochs({}, kNodeHolds).all()[0].until, 40);
  EXPECT_GT(speeds.epochs({}, kNodeHolds).all()[0].rate_per_s, 0);
}

TEST(ClassSpeeds, LearnsOfTrainingJobsFromTheirSteps) {
  ClassSpeeds speeds(training());
  JobSeen seen;
  seen = speeds.observe({TaskId{1}, 10, sample_of(1)}, seen, {.attempt = 1, .width = 1});
  EXPECT_EQ(speeds.width_cap(), 2U);
  seen = speeds.observe({TaskId{1}, 20, sample_of(2)}, seen, {.attempt = 2, .width = 2});
  EXPECT_EQ(speeds.width_cap(), 4U);
  const ElasticEpochs epochs = speeds.epochs(training().epochs, kNodeHolds);
  ASSERT_EQ(epochs.all().size(), 2U);
  EXPECT_EQ(epochs.all()[1].until, 200);
  EXPECT_GT(epochs.all()[1].speedup.at(1), 1);
}

TEST(ClassSpeeds, AreTheSameAfterSavingAndLoading) {
  ClassSpeeds counted(counting());
  Teller job(counted);
  for (const int s : {10, 20, 30}) job.says(s, {.at = at(s), .attempt = 1, .width = 3});
  counted.observe_end(77);
  ClassSpeeds trained(training());
  trained.observe({TaskId{1}, 10, sample_of(4)}, {}, {});
  for (const ClassSpeeds* speeds : {&counted, &trained}) {
    const auto read = ClassSpeeds::load(speeds->save());
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->save(), speeds->save());
    EXPECT_EQ(read->epochs({}, kNodeHolds), speeds->epochs({}, kNodeHolds));
  }
  auto damaged = trained.save();
  damaged[1] = "nothing";
  EXPECT_FALSE(ClassSpeeds::load(damaged).has_value());
}

}  // namespace
}  // namespace muster::boa
