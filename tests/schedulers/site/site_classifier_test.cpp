#include "schedulers/site/site_classifier.hpp"

#include <gtest/gtest.h>

#include "tests/support/builders.hpp"

namespace muster::test {
namespace {

using std::chrono::seconds;

JobClassifierService service() {
  ClassifierParams params;
  params.by = ClassifierKind::svm;
  params.training.threshold = seconds{60};
  params.retrain_after = 4;
  return JobClassifierService(JobClassifier(params));
}

struct SiteClassifierTest : ::testing::Test {
  std::vector<std::function<void(SiteClassifier::Trained)>> trainings;  ///< that are under way
  SiteClassifier::Training last;
  int kept = 0;
  SiteClassifier classifier{service(),
                            {[this](SiteClassifier::Training train, auto adopt) {
                               last = std::move(train);
                               trainings.push_back(std::move(adopt));
                             },
                             [this](const std::string&) { ++kept; }}};
  std::uint64_t jobs = 0;

  /// Short and long jobs in turn.
  void hear_of(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      Job job = JobBuilder(++jobs).build();
      classifier.classify(job, {}, {});
      classifier.heard(job.id, 1, seconds{jobs % 2 == 0 ? 10 : 100});
      classifier.train_if_due();
    }
  }
};

TEST_F(SiteClassifierTest, TrainsOnceAtATime) {
  hear_of(2'000);
  ASSERT_EQ(trainings.size(), 1u);
  trainings.front()(last());
  EXPECT_EQ(kept, 1) << "what was learnt";
  hear_of(4);
  EXPECT_EQ(trainings.size(), 2u) << "the next one, once the first has ended";
}

TEST_F(SiteClassifierTest, KeepsTheClassifierInUseUntilThereIsAnother) {
  hear_of(2'000);
  Job before = JobBuilder(90'000).build();
  classifier.classify(before, {}, {});
  EXPECT_EQ(before.prediction.length, JobLength::long_run) << "as is taken of every job at first";
}

TEST(SiteClassifier, DoesNothingWithoutAService) {
  SiteClassifier none(std::nullopt, {});
  EXPECT_FALSE(none);
  Job job = JobBuilder(1).build();
  none.classify(job, {}, {});
  none.heard(job.id, 1, seconds{1});
  none.forget(job.id);
  none.train_if_due();
}

}  // namespace
}  // namespace muster::test
