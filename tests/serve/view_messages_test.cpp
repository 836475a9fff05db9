// Views and questions arrive as they were sent, with every member.
#include <gtest/gtest.h>

#include "tests/support/described.hpp"
#include "tests/support/sample_views.hpp"
#include "tests/support/virtual_system.hpp"

namespace muster {
namespace {

template <class T>
class ViewMessages : public ::testing::Test {
 protected:
  std::vector<char> bytes_of(const T& value) {
    std::vector<char> bytes;
    caf::binary_serializer out{system_.actors(), bytes};
    EXPECT_FALSE(out(value));
    return bytes;
  }
  T read(const std::vector<char>& bytes) {
    caf::binary_deserializer in{system_.actors(), bytes};
    T again;
    EXPECT_FALSE(in(again));
    return again;
  }

  test::VirtualSystem system_;
};

using Views = ::testing::Types<
    JobsQuestion, JobQuestion, FindQuestion, RequestQuestion, CostQuestion, RentedQuestion,
    DecisionsQuestion, InstanceQuestion, AttemptView, VisitView, InstanceLife, ChangeView,
    ElasticView, SubmissionView, JobView, ReasonView, FailureView, TaskView, JobsView, JobDetails,
    FoundView, RequestView, OccupantView, InstanceView, InstancesView, CostPart, CostView,
    FigureView, DecisionView, DecisionsView, OfferCount, CapsView, CountView, MetricView,
    BucketView, HistogramView, HistorySample, HistoryView, CellFigures, SiteFigures,
    PlanView::Launch, PlanView::Place, PlanView::Refusal, PlanView, RentedInstance, RentedView,
    CloudFigures, ServicesQuestion, PortView, ReplicaView, ServiceView, ServicesView, UsagePlace,
    UsageQuestion, TaskUsageView, UsageView, Usage, AttemptUsage, UsageRequest, UsageAnswer>;
TYPED_TEST_SUITE(ViewMessages, Views);

/// The second sending has the bytes of the first one, and these are not those of a default: a
/// member that got lost would have its default there.
TYPED_TEST(ViewMessages, EveryMemberArrives) {
  const std::vector<char> plain = this->bytes_of(TypeParam{});
  const std::vector<char> full = this->bytes_of(test::sample<TypeParam>());
  EXPECT_NE(full, plain);
  EXPECT_EQ(this->bytes_of(this->read(full)), full);
  EXPECT_EQ(this->bytes_of(this->read(plain)), plain);
}

TYPED_TEST(ViewMessages, NoMemberIsLeftOutOfTheDescription) {
  EXPECT_EQ(test::named_of<TypeParam>(), test::members_of<TypeParam>());
}

using SomeView = ViewMessages<JobsView>;

TEST_F(SomeView, ThatIsReadIsTheOneThatWasWritten) {
  const JobsView jobs = read(bytes_of({{test::sample_job(), {}}, true, {}, {JobId{3}}}));
  ASSERT_EQ(jobs.jobs.size(), 2U);
  const JobView& job = jobs.jobs[0];
  EXPECT_EQ(job.name, test::kOddText);
  EXPECT_EQ(job.usd, 0.1 + 0.2);
  EXPECT_EQ(job.exit_code, -3);
  EXPECT_EQ(job.submitted, test::sample_job().submitted);
  EXPECT_EQ(job.submission->array, "0-100:10");
  EXPECT_EQ(jobs.jobs[1].submitted, std::nullopt);
  EXPECT_TRUE(jobs.cut);
  EXPECT_EQ(jobs.rest, std::vector<JobId>{JobId{3}});
}

using SomeRequest = ViewMessages<RequestView>;

TEST_F(SomeRequest, ThatIsReadHasTheEndsOfItsTasks) {
  RequestView request;
  request.job.program.env = {{"A", "b"}};
  request.tasks = {{2, 12, TaskEnd::Kind::failed}, {3, 5, TaskEnd::Kind::finished}};
  const RequestView again = read(bytes_of(request));
  EXPECT_EQ(again.job.program.env, request.job.program.env);
  ASSERT_EQ(again.tasks.size(), 2U);
  EXPECT_EQ(again.tasks[0].position, 2U);
  EXPECT_EQ(again.tasks[0].index, 12U);
  EXPECT_EQ(again.tasks[0].kind, TaskEnd::Kind::failed);
  EXPECT_EQ(again.tasks[1].kind, TaskEnd::Kind::finished);
}

}  // namespace
}  // namespace muster
