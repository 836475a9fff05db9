#include "masters/view/cell_services.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "masters/view/cell_view.hpp"
#include "tests/masters/scripted_master.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/golden.hpp"

namespace muster {
namespace {

using test::IsGolden;
using test::JobBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CellServicesTest : public test::MasterTest {
 protected:
  void serve(std::uint64_t id, const std::string& name, const std::string& user,
             std::size_t replicas) {
    Job job = JobBuilder(id).tasks(replicas).gang(false).build();
    job.name = name;
    job.user = user;
    job.kind = ServiceSpec{{"http"}};
    ASSERT_EQ(master_->submit(job, now()), SubmitResult::accepted);
  }
  /// A service of two replicas, with three tasks to spare.
  static Job with_goal() {
    Job job = JobBuilder(1).tasks(5).gang(false).build();
    job.name = "web";
    ServiceSpec spec;
    spec.replicas = 2;
    spec.goal.metric = "hits_s";
    spec.goal.bound = 2000;
    spec.goal.at_least = true;
    spec.least = 2;
    spec.most = 4;
    job.kind = spec;
    return job;
  }
  void happen(EventBody body) { happened_.push_back({now(), std::move(body)}); }
  /// The master is one that has been told of all that happened.
  void know() {
    make_master({});
    EXPECT_EQ(master_->restore({}, happened_), "");
  }
  TaskView explained(std::size_t task) const {
    JobQuestion wanted;
    wanted.job = JobId{1};
    wanted.most = 100;
    wanted.explained = true;
    const CellView view{*master_, nullptr, {}, "m0", test::at_s(100)};
    return view.job(wanted).view.tasks.at(task);
  }
  ServicesView services(const ServicesQuestion& wanted = {}) const {
    return services_of(*master_, wanted);
  }
  static std::vector<std::string> names(const ServicesView& view) {
    std::vector<std::string> names;
    for (const ServiceView& each : view.services) names.push_back(each.user + "/" + each.name);
    return names;
  }

  std::vector<Event> happened_;
};

TEST_F(CellServicesTest, ListsServicesAndNoOtherJobs) {
  ASSERT_EQ(master_->submit(JobBuilder(1).build(), now()), SubmitResult::accepted);
  EXPECT_THAT(services().services, IsEmpty());
  serve(2, "web", "ann", 2);
  const ServicesView view = services();
  ASSERT_EQ(view.services.size(), 1U);
  EXPECT_EQ(view.services[0].job, JobId{2});
  EXPECT_EQ(view.services[0].master, master_->name());
  EXPECT_EQ(view.services[0].wanted, 2U);
  EXPECT_EQ(view.services[0].ready, 0U);
  ASSERT_EQ(view.services[0].replicas.size(), 2U);
  EXPECT_FALSE(view.services[0].replicas[0].ready);
  EXPECT_FALSE(view.services[0].replicas[0].instance.valid());
}

TEST_F(CellServicesTest, ThoseOfANameOrAUserAreAskedFor) {
  serve(1, "web", "ann", 1);
  serve(2, "web", "bob", 1);
  serve(3, "db", "ann", 1);
  EXPECT_THAT(names(services()), ElementsAre("ann/web", "bob/web", "ann/db"));
  EXPECT_THAT(names(services({"web", {}})), ElementsAre("ann/web", "bob/web"));
  EXPECT_THAT(names(services({{}, "ann"})), ElementsAre("ann/web", "ann/db"));
  EXPECT_THAT(names(services({"db", "bob"})), IsEmpty());
}

TEST_F(CellServicesTest, ShowsItsGoalAndTheMeasuredNumber) {
  ASSERT_EQ(master_->submit(with_goal(), now()), SubmitResult::accepted);
  const ServiceView view = services().services.at(0);
  EXPECT_EQ(view.metric, "hits_s");
  EXPECT_EQ(view.at_least, 2000);
  EXPECT_EQ(view.at_most, std::nullopt);
  EXPECT_EQ(view.measured, std::nullopt) << "no replica runs";
  EXPECT_EQ(view.least, 2U);
  EXPECT_EQ(view.most, 4U);
}

TEST_F(CellServicesTest, AReplicaThatLeavesShowsItsNumberUntilItHasLeft) {
  const TaskId first{1};
  const Grant grant{Resources::of(0, 2, 4)};
  ReplicaState is_ready;
  is_ready.ready = true;
  const Price price = catalog_[it3()].on_demand;
  happen(JobAccepted{with_goal()});
  happen(ReplicaWanted{first, true, {CauseCode::scaled, 0}});
  happen(LaunchRequested{InstanceId{0}, it3(), Market::on_demand, price, {}});
  happen(InstanceUp{InstanceId{0}});
  happen(InstanceReady{InstanceId{0}});
  happen(TaskAssigned{first, InstanceId{0}, {}, grant});
  happen(StartIssued{first, InstanceId{0}, 1, grant});
  happen(TaskStarted{first, 1, {}, {}});
  happen(ReplicaChanged{first, 1, is_ready});
  happen(Measured{{}, 0, {}, {TaskMetrics{first, {{"hits_s", 40}}}}});
  happen(ReplicaWanted{first, false, {CauseCode::scaled, 0}});
  know();
  EXPECT_EQ(services().services.at(0).measured, 40);
  EXPECT_EQ(explained(0).metrics.at(0).value, 40);
  happen(StopIssued{first, 1});
  happen(TaskCheckpointed{first, 1, {}, {}});
  know();
  EXPECT_EQ(services().services.at(0).measured, std::nullopt);
  EXPECT_THAT(explained(0).metrics, IsEmpty()) << "it says nothing any more";
  EXPECT_THAT(explained(0).why, IsGolden());
}

TEST_F(CellServicesTest, OneThatIsOverIsNotListed) {
  serve(1, "web", "ann", 1);
  master_->cancel(JobId{1}, now());
  EXPECT_THAT(services().services, IsEmpty());
}

TEST_F(CellServicesTest, ReplicasThatGoIntoNoMessageAreCounted) {
  serve(1, "web", "ann", 20'000);
  const ServicesView view = services();
  ASSERT_EQ(view.services.size(), 1U);
  EXPECT_GT(view.services[0].more_replicas, 0U);
  EXPECT_EQ(view.services[0].replicas.size() + view.services[0].more_replicas, 20'000U);
}

}  // namespace
}  // namespace muster
