#include "schedulers/site/job_classifier_service.hpp"

#include <gtest/gtest.h>

#include "tests/support/builders.hpp"

namespace muster {
namespace {

using std::chrono::seconds;

JobClassifierService classifier_by(ClassifierKind by) {
  ClassifierParams params;
  params.by = by;
  params.training.threshold = seconds{60};
  params.sors.min_samples = 2;
  params.sors.eps = 1;
  params.sors.p_threshold = 0.5;
  return JobClassifierService(JobClassifier(params));
}

Job job(std::uint64_t id, int hint_s, std::size_t tasks = 1) {
  Job made = test::JobBuilder(id).tasks(tasks).build();
  made.runtime_hint = seconds{hint_s};
  made.user = "ann";
  return made;
}

TEST(JobClassifierService, WritesIntoTheJobWhatIsExpectedOfIt) {
  JobClassifierService classifier = classifier_by(ClassifierKind::oracle);
  Job brief = job(1, 60);
  Job lasting = job(2, 61);
  classifier.classify(brief, {});
  classifier.classify(lasting, {});
  EXPECT_EQ(brief.prediction.length, JobLength::short_run);
  EXPECT_TRUE(brief.prediction.spot_safe);
  EXPECT_EQ(lasting.prediction.length, JobLength::long_run);
  EXPECT_FALSE(lasting.prediction.spot_safe);
  EXPECT_EQ(classifier.shorts(), 1u);
  EXPECT_EQ(classifier.classified(), 2u);
}

TEST(JobClassifierService, LearnsOfAJobWithTheLastOfItsTasks) {
  JobClassifierService classifier = classifier_by(ClassifierKind::hint);
  Job first = job(1, 10, 3);
  classifier.classify(first, {});
  classifier.heard(JobId{1}, 2, seconds{20});
  EXPECT_TRUE(classifier.classifier().history().empty());
  classifier.heard(JobId{1}, 1, seconds{40});
  ASSERT_EQ(classifier.classifier().history().size(), 1u);
  EXPECT_EQ(classifier.classifier().history()[0].runtime, seconds{20}) << "the mean of its tasks";
  classifier.heard(JobId{1}, 3, seconds{60});
  EXPECT_EQ(classifier.classifier().history().size(), 1u) << "known already";
}

TEST(JobClassifierService, LetsShortJobsUseSpotInstancesOnceTheyAreKnown) {
  JobClassifierService classifier = classifier_by(ClassifierKind::hint);
  for (std::uint64_t id = 1; id <= 6; ++id) {
    Job known = job(id, 10);
    classifier.classify(known, {});
    const bool known_well = id > 2;  // the second one of whom something is known
    EXPECT_EQ(known.prediction.spot_safe, known_well && id > 3) << id;
    classifier.heard(known.id, 1, seconds{10});
  }
}

TEST(JobClassifierService, LearnsNothingOfWhatWasGivenUpOrIsStrange) {
  JobClassifierService classifier = classifier_by(ClassifierKind::hint);
  Job terminal_outcome = job(1, 10);
  classifier.classify(terminal_outcome, {});
  classifier.forget(JobId{1});
  classifier.heard(JobId{1}, 1, seconds{10});
  classifier.heard(JobId{7}, 1, seconds{10});
  EXPECT_TRUE(classifier.classifier().history().empty());
}

TEST(JobClassifierService, RemembersABoundedNumberOfJobs) {
  JobClassifierService classifier = classifier_by(ClassifierKind::hint);
  for (std::uint64_t id = 1; id <= JobClassifierService::kMaxOpen + 1; ++id) {
    Job one = job(id, 10);
    classifier.classify(one, {});
  }
  classifier.heard(JobId{1}, 1, seconds{10});
  EXPECT_TRUE(classifier.classifier().history().empty());
  classifier.heard(JobId{2}, 1, seconds{10});
  EXPECT_EQ(classifier.classifier().history().size(), 1u);
}

TEST(JobClassifierService, LearnsOfALongJobHoweverManyShortOnesComeAndEndMeanwhile) {
  JobClassifierService classifier = classifier_by(ClassifierKind::hint);
  Job lasting = job(1, 10'000);
  classifier.classify(lasting, {});
  for (std::uint64_t id = 2; id <= JobClassifierService::kMaxOpen + 2; ++id) {
    Job brief = job(id, 10);
    classifier.classify(brief, {});
    if (id % 2 == 0) {
      classifier.forget(brief.id);
    } else {
      classifier.heard(brief.id, 1, seconds{10});
    }
  }
  classifier.heard(JobId{1}, 1, seconds{9'999});
  ASSERT_FALSE(classifier.classifier().history().empty());
  EXPECT_EQ(classifier.classifier().history().back().runtime, seconds{9'999});
}

}  // namespace
}  // namespace muster
