#include "tools/bound/hosting_bounds.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "schedulers/packing/bound/divided_bound.hpp"
#include "storage/events/event_log.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/temp_file.hpp"
#include "tools/bound/state_bound.hpp"

namespace muster::bound {
namespace {

using ::testing::HasSubstr;

/// it1 (4 GPUs, 16 cores, 244 GiB) costs $12, it2 (1, 4, 61) $3, it3 (0, 8, 32) $0.8, it4 (0, 4,
/// 16) $0.4.
class Log {
 public:
  void at(double seconds, EventBody body) {
    events_.push_back({Instant{from_seconds(seconds)}, std::move(body)});
  }
  void launch(double seconds, std::uint64_t id, const std::string& type) {
    const TypeId of = muster::test::type_named(catalog_, type);
    at(seconds, LaunchRequested{InstanceId{id}, of, Market::on_demand, catalog_[of].on_demand, {}});
    at(seconds, InstanceUp{InstanceId{id}});
    at(seconds, InstanceReady{InstanceId{id}});
  }
  void run(double seconds, std::uint64_t job, double cpu, std::uint64_t on) {
    const Job made = muster::test::JobBuilder(job).demand(Resources::of(0, cpu, 4)).build();
    at(seconds, JobAccepted{made});
    at(seconds, StartIssued{made.tasks[0].id, InstanceId{on}, 1});
  }
  static TaskId task(std::uint64_t job) {
    return muster::test::JobBuilder(job).build().tasks[0].id;
  }
  void finish(double seconds, std::uint64_t job) {
    const Job made = muster::test::JobBuilder(job).build();
    at(seconds, TaskFinished{made.tasks[0].id, 1});
    at(seconds, JobFinished{JobId{job}});
  }
  const std::vector<Event>& events() const { return events_; }
  const Catalog& catalog() const { return catalog_; }

 private:
  Catalog catalog_ = muster::test::table3_catalog();
  std::vector<Event> events_;
};

/// Two tasks of 4 cores, each alone on an it3 of 8 for an hour; then one of them.
Log wasteful() {
  Log log;
  log.launch(0, 1, "it3");
  log.launch(0, 2, "it3");
  log.run(0, 1, 4, 1);
  log.run(0, 2, 4, 2);
  log.finish(3600, 2);
  log.at(3600, InstanceGone{InstanceId{2}});
  log.finish(7200, 1);
  log.at(7200, InstanceGone{InstanceId{1}});
  return log;
}

TEST(HostedTasks, are_those_that_hold_resources_now) {
  const Log log = wasteful();
  HostedTasks hosted(log.catalog());
  std::vector<std::string> seen;
  for (const Event& event : log.events()) {
    hosted.see(event);
    const std::string now = fmt::format("{}x{:.1f}", hosted.tasks(), hosted.rented_usd_h());
    if (seen.empty() || seen.back() != now) seen.push_back(now);
  }
  EXPECT_THAT(seen, ::testing::ElementsAre("0x0.0", "0x0.8", "0x1.6", "1x1.6", "2x1.6", "1x1.6",
                                           "1x0.8", "0x0.8", "0x0.0"));
}

TEST(HostedTasks, take_no_harm_from_events_that_make_no_sense) {
  const Catalog catalog = muster::test::table3_catalog();
  HostedTasks mad(catalog);
  for (const EventBody& body : std::vector<EventBody>{
           StartIssued{TaskId{7}, InstanceId{9}, 1}, InstanceGone{InstanceId{9}},
           InstanceUp{InstanceId{9}}, TaskFinished{TaskId{7}, 1}, JobFinished{JobId{3}},
           LaunchRequested{InstanceId{1}, TypeId{99}, Market::on_demand, {}, {}}}) {
    mad.see({Instant{}, body});
  }
  EXPECT_EQ(mad.tasks(), 0u);
  EXPECT_EQ(mad.rented_usd_h(), 0);
}

TEST(HostedTasks, hold_what_they_hold_when_their_job_is_told_of_twice) {
  Log log;
  log.launch(0, 1, "it3");
  log.run(0, 1, 4, 1);
  log.at(1, JobAccepted{muster::test::JobBuilder(1).demand(Resources::of(0, 4, 4)).build()});
  HostedTasks hosted(log.catalog());
  for (const Event& event : log.events()) hosted.see(event);
  EXPECT_EQ(hosted.tasks(), 1u);
  hosted.see({Instant{}, TaskFinished{log.task(1), 1}});
  EXPECT_EQ(hosted.tasks(), 0u);
}

TEST(HostingBounds, of_very_many_kinds_at_once_is_that_of_divided_instances) {
  Log log;
  // Alone on an it3 each, so that whole instances would cost far more.
  for (std::uint64_t job = 1; job <= 300; ++job) {
    log.launch(0, job, "it3");
    log.run(0, job, 5 + 0.001 * static_cast<double>(job), job);
  }
  HostedTasks hosted(log.catalog());
  for (const Event& event : log.events()) hosted.see(event);
  ASSERT_EQ(hosted.kinds().size(), 300u);
  const double bound = HostingBounds(log.catalog()).of(hosted);
  EXPECT_NEAR(bound, divided_bound(hosting_now(log.catalog(), hosted).problem).usd, 1e-9);
  EXPECT_GT(bound, 0);
}

TEST(RentedGap, is_what_is_rented_above_what_is_needed_over_time) {
  const Log log = wasteful();
  RentedGap gap(log.catalog());
  for (const Event& event : log.events()) gap.see(event);
  // Each task needs an it4, $0.4, so that an hour costs 1.6 instead of 0.8, the next 0.8 for 0.4.
  ASSERT_TRUE(gap.above());
  EXPECT_NEAR(*gap.above(), 1, 0.01);
  EXPECT_FALSE(RentedGap(log.catalog()).above());
}

TEST(RentedGap, of_a_long_run_is_that_of_moments_further_apart) {
  Log log;
  log.launch(0, 1, "it3");
  log.run(0, 1, 4, 1);
  log.run(5e6, 2, 4, 1);
  log.finish(1e7, 1);
  RentedGap gap(log.catalog());
  for (const Event& event : log.events()) gap.see(event);
  EXPECT_NEAR(*gap.above(), 1.6 / 1.2 - 1, 0.01);
}

std::string text_of(const Log& log) {
  std::ostringstream text;
  EventLogWriter writer(&text, {"test", 1, log.catalog()});
  for (const Event& event : log.events()) writer.write(event);
  EXPECT_TRUE(writer.finish());
  return text.str();
}

TEST(StateBound, says_what_the_tasks_of_a_moment_cost_at_least) {
  const muster::test::TempFile file("events.jsonl", text_of(wasteful()));
  const auto bound = state_bound(file.path(), from_seconds(1800), 1000);
  ASSERT_TRUE(bound) << bound.error().message;
  EXPECT_EQ(bound->tasks, 2u);
  EXPECT_NEAR(bound->rented_usd_h, 1.6, 1e-9);
  EXPECT_NEAR(bound->divided.bound_usd, 0.8, 1e-6);
  EXPECT_NEAR(bound->whole->bound_usd_h, 0.8, 1e-9);
  EXPECT_THAT(state_table(bound.value()), HasSubstr("2 tasks with resources"));
  EXPECT_THAT(state_json(bound.value()), HasSubstr("\"whole_exact\": true"));
}

TEST(StateBound, of_nobody_is_nothing) {
  const muster::test::TempFile file("events.jsonl", text_of(wasteful()));
  const auto bound = state_bound(file.path(), std::nullopt, 1000);
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->tasks, 0u);
  EXPECT_EQ(bound->divided.bound_usd, 0);
  EXPECT_EQ(bound->whole->bound_usd_h, 0);
}

TEST(StateBound, names_the_file_that_is_none) {
  EXPECT_THAT(state_bound("/nowhere/x.jsonl", {}, 1).error().message,
              HasSubstr("/nowhere/x.jsonl"));
  const muster::test::TempFile file("x.jsonl", "{}\n");
  EXPECT_THAT(state_bound(file.path(), {}, 1).error().message, HasSubstr("x.jsonl:1"));
  EXPECT_THAT(state_bound(file.folder(), from_seconds(1), 1).error().message, HasSubstr("--at"));
}

}  // namespace
}  // namespace muster::bound
