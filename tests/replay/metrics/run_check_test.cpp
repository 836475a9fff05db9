#include "replay/metrics/run_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/metrics/measure.hpp"
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
  return check_run(log.events(), log.catalog());
}

/// The text of a fault, which names these: "task 1", "instance 2".
auto names(const std::string& one, const std::string& other = "") {
  return AllOf(HasSubstr(one), HasSubstr(other), IsGolden());
}

/// Job 1 (2 CPUs, 4 GiB) is on instance 1 (it3: 8 CPUs, 32 GiB).
LogBuilder running() {
  LogBuilder log;
  log.at(0).accept(JobBuilder(1)).boot(1, "it3").assign(1, 1).start(1, 1).started(1);
  return log;
}

LogBuilder& over(LogBuilder& log) {
  return log.at(100).finish(1).end(1).terminate(1).gone(1);
}

TEST(CheckRun, a_proper_run_breaks_nothing) {
  LogBuilder log = running();
  EXPECT_THAT(broken(over(log)), IsEmpty());
}

TEST(CheckRun, a_move_between_instances_breaks_nothing) {
  LogBuilder log = running();
  log.at(10).boot(2, "it3").assign(1, 2).stop(1).left(1).terminate(1).gone(1);
  log.at(20).start(1, 2, 2).started(1, 2).finish(1, 2).end(1).terminate(2).gone(2);
  EXPECT_THAT(broken(log), IsEmpty());
}

TEST(CheckRun, an_instance_filled_over_its_capacity_is_found_in_every_dimension) {
  for (const Resources& demand : {Resources::of(0, 6.5, 1), Resources::of(0, 1, 28.5)}) {
    LogBuilder log = running();
    log.accept(JobBuilder(2).demand(demand)).start(2, 1).finish(2).end(2);
    EXPECT_THAT(broken(over(log)), ElementsAre(HasSubstr("instance 1 holds")));
  }
}

TEST(CheckRun, a_task_that_fills_the_room_exactly_breaks_nothing) {
  LogBuilder log = running();
  log.accept(JobBuilder(2).demand(Resources::of(0, 6, 28))).start(2, 1).finish(2).end(2);
  EXPECT_THAT(broken(over(log)), IsEmpty());
}

TEST(CheckRun, a_task_that_starts_with_less_than_it_demands_is_found) {
  LogBuilder log;
  log.at(0).accept(JobBuilder(1)).boot(1, "it3").assign(1, 1);
  const Grant little = Grant::of(Resources::of(0, 1.5, 4));
  log.add(StartIssued{TaskId{1}, InstanceId{1}, 1, little}).started(1);
  EXPECT_THAT(broken(over(log)),
              ElementsAre(HasSubstr("task 1 starts with 1.5 cpu of the 2 that it demands")));
}

TEST(CheckRun, a_task_holds_what_it_was_granted) {
  LogBuilder log = running();
  log.accept(JobBuilder(2).demand(Resources::of(0, 1, 1)));
  const Grant much = Grant::of(Resources::of(0, 7, 1));
  log.add(StartIssued{TaskId{2}, InstanceId{1}, 1, much}).finish(2).end(2);
  EXPECT_THAT(broken(over(log)), ElementsAre(HasSubstr("instance 1 holds 9 cpu of 8")));
}

TEST(CheckRun, a_leaving_task_holds_its_room_until_it_has_left) {
  LogBuilder log = running();
  log.stop(1).accept(JobBuilder(2).demand(Resources::of(0, 7, 1))).start(2, 1);
  log.finish(2).end(2);
  EXPECT_THAT(broken(over(log)), ElementsAre(HasSubstr("holds 9 cpu of 8")));
}

TEST(CheckRun, a_task_without_a_demand_for_the_family_is_found) {
  LogBuilder log;
  log.at(0).accept(JobBuilder(1).demands(Demands({{"gpu", Resources::of(1, 1, 1), 1}})));
  log.boot(1, "it3").start(1, 1);
  EXPECT_THAT(broken(over(log)), ElementsAre(names("task 1", "instance 1")));
}

TEST(CheckRun, a_task_on_two_instances_is_found) {
  LogBuilder log = running();
  log.boot(2, "it3").start(1, 2, 2).finish(1, 2).end(1);
  log.terminate(1).gone(1).terminate(2).gone(2);
  EXPECT_THAT(broken(log), ElementsAre(names("task 1", "instance 2")));
}

TEST(CheckRun, attempts_have_to_rise_by_one) {
  LogBuilder log = running();
  log.fail(1, "exit 1").start(1, 1, 3).finish(1, 3).end(1).terminate(1).gone(1);
  EXPECT_THAT(broken(log), ElementsAre(HasSubstr("task 1 starts attempt 3 after attempt 1")));
}

TEST(CheckRun, a_message_of_an_old_attempt_is_found) {
  LogBuilder log = running();
  log.fail(1, "exit 1").start(1, 1, 2).finish(1, 1).finish(1, 2).end(1).terminate(1).gone(1);
  EXPECT_THAT(broken(log), ElementsAre(names("attempt 1", "task 1")));
}

TEST(CheckRun, a_task_that_starts_before_its_instance_is_ready_is_found) {
  LogBuilder log;
  log.at(0).accept(JobBuilder(1)).launch(1, "it3").up(1).start(1, 1).ready(1);
  EXPECT_THAT(broken(over(log)), ElementsAre(names("task 1", "instance 1")));
}

TEST(CheckRun, a_job_that_neither_ends_nor_has_a_reason_is_found) {
  LogBuilder log;
  log.at(0).accept(JobBuilder(1));
  EXPECT_THAT(broken(log), ElementsAre(names("job 1", "task 1")));
  log.refuse(1, {RefusalKind::never, RefusalCode::fits_no_type, Resource::gpu, 9, 4});
  EXPECT_THAT(broken(log), IsEmpty());
}

TEST(CheckRun, a_job_left_running_is_found) {
  LogBuilder log = running();
  log.terminate(1);
  EXPECT_THAT(broken(log), ElementsAre(names("instance 1", "task 1"), names("instance 1"),
                                       names("job 1", "task 1")));
}

TEST(CheckRun, a_job_that_ends_before_its_tasks_is_found) {
  LogBuilder log = running();
  log.end(1).finish(1).terminate(1).gone(1);
  EXPECT_THAT(broken(log), ElementsAre(names("job 1", "task 1")));

  LogBuilder undone;
  undone.at(0).accept(JobBuilder(1)).end(1).end(1);
  EXPECT_THAT(broken(undone),
              ElementsAre(names("job 1", "task 1"), names("job 1"), names("job 1", "task 1")));
}

TEST(CheckRun, what_comes_after_the_end_is_found) {
  LogBuilder log = running();
  over(log).start(1, 1, 2).finish(1).end(1).up(1).gone(1).launch(1, "it3");
  EXPECT_THAT(broken(log),
              ElementsAre(names("task 1"), names("attempt 1", "task 1"), names("job 1"),
                          names("instance 1"), names("instance 1"), names("instance 1")));
  LogBuilder again = running();
  over(again).accept(JobBuilder(1)).refuse(1, {});
  EXPECT_THAT(broken(again),
              ElementsAre(names("task 1"), names("job 1"), names("job 1", "task 1")));
}

TEST(CheckRun, an_instance_billed_twice_is_found) {
  LogBuilder log;
  log.at(0).launch(1, "it3").up(1).at(10).up(1).gone(1).at(20).up(1);
  EXPECT_THAT(broken(log), ElementsAre(HasSubstr("event 3 at 10 s: instance 1 is billed twice"),
                                       HasSubstr("event 5 at 20 s: instance 1 is billed twice")));
}

TEST(CheckRun, an_instance_that_is_never_gone_is_found) {
  LogBuilder log;
  log.at(0).launch(1, "it3").up(1);
  EXPECT_THAT(broken(log), ElementsAre(HasSubstr("instance 1 is never gone")));
}

TEST(CheckRun, time_that_runs_backwards_is_found) {
  LogBuilder log;
  log.at(10).launch(1, "it3").at(9).up(1).at(11).gone(1);
  EXPECT_THAT(broken(log), ElementsAre(names("9 s")));
}

TEST(CheckRun, things_that_were_never_there_are_found) {
  LogBuilder log;
  log.at(0).up(1).start(2, 3);
  EXPECT_THAT(broken(log), ElementsAre(HasSubstr("instance 1 was never launched"),
                                       HasSubstr("task 2 was never accepted"),
                                       HasSubstr("instance 3 was never launched")));
}

TEST(CheckRun, a_flood_of_violations_is_cut_short) {
  LogBuilder log;
  for (std::uint64_t i = 0; i < 200; ++i) log.up(i);
  EXPECT_EQ(broken(log).size(), 51u);
  EXPECT_EQ(broken(log).back(), "and 150 more");
}

/// Elastic job 1 has tasks 1, 101 and 102, of which the first runs on instance 1.
LogBuilder elastic_running() {
  LogBuilder log;
  log.at(0).accept(JobBuilder(1).elastic(1, 3)).boot(1, "it3").assign(1, 1).start(1, 1).started(1);
  return log;
}

TEST(CheckRun, an_elastic_job_is_completed_by_as_many_tasks_as_it_runs_as) {
  LogBuilder narrow = elastic_running();
  EXPECT_THAT(broken(over(narrow)), IsEmpty());
  LogBuilder wide = elastic_running();
  wide.at(10).add(JobResized{JobId{1}, 2, {}}).stop(1).left(1).assign(1, 1).assign(101, 1);
  wide.start(1, 1, 2).start(101, 1).started(1, 2).started(101);
  wide.at(100).finish(1, 2).finish(101).end(1).terminate(1).gone(1);
  EXPECT_THAT(broken(wide), IsEmpty());
  LogBuilder half = elastic_running();
  half.at(10).add(JobResized{JobId{1}, 2, {}});
  EXPECT_THAT(broken(over(half)), ElementsAre(names("job 1", "task 101")));
}

TEST(CheckRun, an_elastic_job_needs_no_reason_for_workers_that_it_is_not_to_have) {
  LogBuilder log;
  log.at(0).accept(JobBuilder(1).elastic(1, 3)).refuse(1, {});
  EXPECT_THAT(broken(log), IsEmpty());
  log.add(JobResized{JobId{1}, 2, {}});
  EXPECT_THAT(broken(log), ElementsAre(names("job 1", "(task 101)")));
}

TEST(CheckRun, a_width_that_a_job_cannot_have_is_found) {
  LogBuilder log = elastic_running();
  log.at(10).add(JobResized{JobId{1}, 4, {}}).add(JobResized{JobId{2}, 1, {}});
  log.add(JobResized{JobId{1}, 1, {}});
  EXPECT_THAT(broken(over(log)), ElementsAre(HasSubstr("job 1 is to have 4 workers"),
                                             HasSubstr("job 2 was never accepted")));
}

TEST(TotalBill, adds_price_times_uptime_exactly) {
  LogBuilder log;
  log.at(0).launch(1, "it1").launch(2, "it4").launch(3, "it4");
  log.at(10.000000001).up(1).up(2);
  log.at(20).gone(1).gone(3);
  log.at(30).round(1, "");
  const Money expected = Money::of(Price::from_usd_h(12), Duration{9'999'999'999}) +
                         Money::of(Price::from_usd_h(0.4), Duration{19'999'999'999});
  EXPECT_EQ(total_bill(log.events(), log.catalog()), expected);
  EXPECT_EQ(total_bill({}, log.catalog()), Money{});
}

TEST(TotalBill, counts_each_price_for_its_time_and_agrees_with_what_measure_finds) {
  LogBuilder log;
  log.at(0).launch(1, "it4").launch(2, "it4");
  log.at(10).up(1).up(2);
  // Heard late; and of a market that nobody is on.
  log.at(25).add(OfferingChanged{
      {1, test::at_s(20), {"it4", Market::on_demand, "", Price::from_usd_h(0.8), true, 0}}});
  log.at(26).add(
      OfferingChanged{{2, test::at_s(26), {"it4", Market::spot, "", Price::from_usd_h(9)}}});
  log.at(40).gone(1);
  log.at(50).round(1, "");
  const Money expected = Money::of(Price::from_usd_h(0.4), std::chrono::seconds{20}) +
                         Money::of(Price::from_usd_h(0.8), std::chrono::seconds{50});
  EXPECT_EQ(total_bill(log.events(), log.catalog()), expected);
  EXPECT_EQ(measure(log.events(), log.catalog()).total_cost_usd, expected.usd());
}

TEST(TotalBill, agrees_with_what_measure_finds) {
  LogBuilder log = running();
  over(log);
  EXPECT_EQ(total_bill(log.events(), log.catalog()).usd(),
            measure(log.events(), log.catalog()).total_cost_usd);
}

}  // namespace
}  // namespace muster::metrics
