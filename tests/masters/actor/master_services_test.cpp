#include "tests/masters/actor/master_actor_fixture.hpp"

namespace muster {
namespace {

using test::JobBuilder;
using test::MasterActorTest;

TEST_F(MasterActorTest, AReplicaThatRestsIsStartedInItsTimeByAMasterThatWasStartedAgain) {
  Job service = JobBuilder(1).gang(false).build();
  service.kind = ServiceSpec{};
  service.name = "web";
  const TaskId replica = service.tasks[0].id;
  TaskFailed failed{replica, 1, "it fell"};
  failed.retry_at = test::at_s(200);
  const InstanceId on{0};
  const Grant grant = Grant::of(Resources::of(0, 2, 4));
  start([&](MasterSetup& setup) {
    const TypeId type = *catalog_.find("it1");
    setup.tail = {{test::at_s(1), JobAccepted{service}},
                  {test::at_s(2), LaunchRequested{on, type, Market::on_demand, {}, {}}},
                  {test::at_s(3), TaskAssigned{replica, on, {}, grant}},
                  {test::at_s(4), InstanceUp{on, test::at_s(4)}},
                  {test::at_s(5), InstanceReady{on}},
                  {test::at_s(6), StartIssued{replica, on, 1, grant}},
                  {test::at_s(7), TaskStarted{replica, 1, {}, {}}},
                  {test::at_s(8), failed}};
  });
  // Its stamps go on from the last one, seconds ahead of its clock.
  system_.run_until_s(190);
  EXPECT_TRUE(all<TaskReleased>().empty());
  system_.run_until_s(205);
  EXPECT_EQ(all<TaskReleased>().size(), 1U);
}

}  // namespace
}  // namespace muster
