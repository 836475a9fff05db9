#include "replay/metrics/service_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replay/metrics/log_builder.hpp"
#include "tests/support/golden.hpp"

namespace muster::metrics {
namespace {

using muster::test::IsGolden;
using muster::test::JobBuilder;
using muster::test::LogBuilder;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> broken(const LogBuilder& log) {
  ServiceCheck check;
  for (const Event& event : log.events()) check.see(event);
  return check.broken();
}

/// Job 1 is a service of one replica, which runs.
LogBuilder serving() {
  Job service = JobBuilder(1).gang(false).build();
  service.kind = ServiceSpec{};
  LogBuilder log;
  log.at(0).add(JobAccepted{service}).boot(1, "it3").assign(1, 1).start(1, 1).started(1);
  return log;
}

LogBuilder& terminate(LogBuilder& log) {
  return log.add(JobTerminating{JobId{1}, JobOutcome::cancelled});
}

TEST(ServiceCheck, finds_nothing_in_a_service_that_its_user_ends) {
  LogBuilder log = serving();
  log.at(10);
  terminate(log).stop(1).left(1).give_up(1, JobOutcome::cancelled).terminate(1).gone(1);
  EXPECT_THAT(broken(log), IsEmpty());
}

TEST(ServiceCheck, lets_a_batch_job_finish) {
  LogBuilder log;
  log.at(0).accept(JobBuilder(1)).boot(1, "it3").start(1, 1).started(1).finish(1).end(1);
  EXPECT_THAT(broken(log), IsEmpty());
}

/// Job 1 is a service of two replicas, which are ready.
LogBuilder two_ready(std::uint32_t max_unavailable = 0) {
  Job service = JobBuilder(1).tasks(3).gang(false).build();
  ServiceSpec spec;
  spec.replicas = 2;
  spec.max_unavailable = max_unavailable;
  service.kind = spec;
  LogBuilder log;
  log.at(0).add(JobAccepted{service}).boot(1, "it3");
  for (const std::size_t i : {0U, 1U}) {
    const TaskId task = service.tasks[i].id;
    log.assign(task.value, 1).start(task.value, 1).started(task.value);
    log.add(ReplicaChanged{task, 1, {.ready = true}});
  }
  return log;
}

TEST(ServiceCheck, finds_a_stop_beyond_the_disruption_budget) {
  LogBuilder log = two_ready();
  log.at(10).stop(1);
  EXPECT_THAT(broken(log), ElementsAre(AllOf(HasSubstr("replica 1 of service 1"), IsGolden())));
  LogBuilder allowed = two_ready(1);
  allowed.at(10).stop(1);
  EXPECT_THAT(broken(allowed), IsEmpty());
  LogBuilder unready = two_ready();
  unready.add(ReplicaChanged{TaskId{1}, 1, {}}).at(10).stop(1);
  EXPECT_THAT(broken(unready), IsEmpty());
}

TEST(ServiceCheck, lets_ends_stop_replicas_that_are_not_the_master_s_own_acts) {
  LogBuilder log = two_ready();
  log.add(ReplicaWanted{TaskId{1}, false, {CauseCode::interrupted, 0}}).at(10).stop(1);
  EXPECT_THAT(broken(log), IsEmpty());
  LogBuilder ended = two_ready();
  ended.at(10);
  terminate(ended).stop(1).stop(101);
  EXPECT_THAT(broken(ended), IsEmpty());
}

TEST(ServiceCheck, counts_the_replicas_of_all_revisions_for_the_newest_one) {
  LogBuilder log = two_ready();
  Job next = JobBuilder(20).gang(false).build();
  next.name = "job-1";
  ServiceSpec spec;
  spec.replaces = JobId{1};
  next.kind = spec;
  const TaskId task = next.tasks[0].id;
  log.add(JobAccepted{next}).assign(task.value, 1).start(task.value, 1).started(task.value);
  log.add(ReplicaChanged{task, 1, {.ready = true}}).at(10).stop(1).left(1).stop(101);
  EXPECT_THAT(broken(log), IsEmpty()) << "the newest one is to have one replica";
  LogBuilder given_up = log;
  given_up.add(ServiceScaled{JobId{20}, 0}).stop(task.value);
  EXPECT_THAT(broken(given_up), testing::SizeIs(1)) << "the one before is to have two";
}

TEST(ServiceCheck, goes_on_from_a_state) {
  LogBuilder log = two_ready();
  ClusterState state(test::table3_catalog());
  for (const Event& event : log.events()) state.apply(event);
  ServiceCheck check;
  check.recall(state);
  check.see({test::at_s(10), StopIssued{TaskId{1}, 1}});
  EXPECT_THAT(check.broken(), testing::SizeIs(1));
}

TEST(ServiceCheck, finds_a_replica_that_finishes) {
  LogBuilder log = serving();
  log.at(10).finish(1);
  EXPECT_THAT(broken(log), ElementsAre(AllOf(HasSubstr("replica 1"), IsGolden())));
}

TEST(ServiceCheck, lets_the_work_of_a_replica_end_when_its_service_is_ended) {
  LogBuilder log = serving();
  log.at(10);
  terminate(log).finish(1).give_up(1, JobOutcome::cancelled);
  EXPECT_THAT(broken(log), IsEmpty());
}

TEST(ServiceCheck, finds_a_service_that_is_completed) {
  LogBuilder log = serving();
  log.at(10);
  terminate(log).stop(1).left(1).end(1);
  EXPECT_THAT(broken(log), ElementsAre(AllOf(HasSubstr("service 1"), IsGolden())));
}

/// The replica has left its instance, two rounds were decided since, and time has passed.
LogBuilder stopped() {
  LogBuilder log = serving();
  log.at(10).stop(1).left(1).at(20).round(1, "").at(30).round(2, "").at(900);
  return log;
}

TEST(ServiceCheck, lets_rounds_that_only_answer_an_event_say_nothing) {
  LogBuilder log = serving();
  log.at(10).stop(1).left(1).at(20).round(1, "").at(21).round(2, "").at(22).round(3, "").at(40);
  terminate(log);
  EXPECT_THAT(broken(log), IsEmpty());
}

TEST(ServiceCheck, lets_a_replica_wait_for_the_turn_of_a_gang) {
  LogBuilder log = stopped();
  log.add(GangTurn{JobId{7}, test::at_s(1000)}).at(1400);
  terminate(log);
  EXPECT_THAT(broken(log), IsEmpty());
}

TEST(ServiceCheck, lets_a_replica_wait_that_its_user_holds) {
  LogBuilder log = stopped();
  log.add(JobHeld{JobId{1}}).at(5000);
  terminate(log);
  EXPECT_THAT(broken(log), IsEmpty());
}

TEST(ServiceCheck, finds_a_replica_without_a_reason_after_it_was_held) {
  LogBuilder log = stopped();
  log.add(JobHeld{JobId{1}}).at(5000).add(JobReleased{JobId{1}});
  log.at(5300).round(3, "").at(5600).round(4, "").at(6000);
  terminate(log);
  EXPECT_THAT(broken(log), ElementsAre(HasSubstr("replica 1 of service 1")));
}

TEST(ServiceCheck, finds_a_replica_that_is_neither_placed_nor_waits) {
  LogBuilder log = stopped();
  terminate(log);
  EXPECT_THAT(broken(log), ElementsAre(AllOf(HasSubstr("replica 1 of service 1"), IsGolden())));
}

TEST(ServiceCheck, lets_a_replica_wait_for_a_reason) {
  LogBuilder log = stopped();
  log.refuse(1, Refusal{RefusalKind::not_now, RefusalCode::awaiting_round, {}, 0, 0});
  terminate(log);
  EXPECT_THAT(broken(log), IsEmpty());
}

TEST(ServiceCheck, lets_a_replica_be_on_its_way_to_a_place) {
  LogBuilder log = stopped();
  log.launch(2, "it3").assign(1, 2);
  terminate(log);
  EXPECT_THAT(broken(log), IsEmpty());
}

TEST(ServiceCheck, lets_the_replicas_of_a_lost_instance_wait) {
  LogBuilder log = serving();
  log.at(10).gone(1).at(20).round(1, "").at(30).round(2, "");
  terminate(log);
  EXPECT_THAT(broken(log), IsEmpty());
}

}  // namespace
}  // namespace muster::metrics
