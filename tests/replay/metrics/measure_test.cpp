#include "replay/metrics/measure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/metrics/labels.hpp"
#include "tests/replay/metrics/log_builder.hpp"
#include "tests/support/golden.hpp"

namespace muster::metrics {
namespace {

using muster::test::IsGolden;
using muster::test::JobBuilder;
using muster::test::LogBuilder;
using testing::DoubleEq;
using testing::ElementsAre;
using testing::Pair;

constexpr double kHour = 3600;

RunResult measured(const LogBuilder& log, const MeasureOptions& options = {}) {
  return measure(log.events(), log.catalog(), options);
}

JobBuilder gpu_job(std::uint64_t id) {
  return JobBuilder(id).demand(Resources::of(1, 4, 24));
}

/// Two jobs on one it1 ($12/h; 4 GPUs, 16 CPUs, 244 GiB). Job 1 runs alone from 1 h to 4 h, job 2
/// joins from 2 h to 4 h; the instance is up from 0 h to 5 h.
LogBuilder two_jobs() {
  LogBuilder log;
  log.at(0).accept(gpu_job(1)).round(1, "full").boot(1, "it1");
  log.at(kHour).start(1, 1).started(1).accept(gpu_job(2)).round(2, "partial");
  log.at(2 * kHour).start(2, 1).started(2);
  log.at(4 * kHour).finish(1).end(1, 0.8, 10).finish(2).end(2, 0.9, 5).round(3, "partial");
  log.at(4.5 * kHour).release(1).terminate(1);
  log.at(5 * kHour).gone(1);
  return log;
}

TEST(Measure, jct_runs_from_acceptance_to_the_end) {
  const RunResult run = measured(two_jobs());
  EXPECT_EQ(run.jobs_submitted, 2u);
  EXPECT_EQ(run.jobs_completed, 2u);
  EXPECT_THAT(run.jct_h, ElementsAre(3, 4));
  EXPECT_DOUBLE_EQ(*run.mean_jct_h, 3.5);
  EXPECT_DOUBLE_EQ(*run.p50_jct_h, 3);
  EXPECT_DOUBLE_EQ(*run.p99_jct_h, 4);
}

TEST(Measure, idle_is_the_part_of_the_jct_in_which_the_job_does_not_execute) {
  // Each job waits for one hour: job 1 from 0 to 1, job 2 from 1 to 2.
  EXPECT_DOUBLE_EQ(*measured(two_jobs()).mean_idle_h, 1);
}

TEST(Measure, a_gang_executes_from_the_start_of_its_last_task_to_the_first_stop) {
  LogBuilder log;
  log.at(0).accept(gpu_job(1).tasks(2)).boot(1, "it1").boot(2, "it1");
  log.start(1, 1).start(101, 1);
  log.at(1 * kHour).started(1);
  log.at(2 * kHour).started(101);       // executes from here
  log.at(5 * kHour).stop(101).stop(1);  // to here: 3 h
  log.at(6 * kHour).left(101).left(1).start(1, 2, 2).start(101, 2, 2);
  log.at(7 * kHour).started(101, 2).started(1, 2);       // and from here
  log.at(9 * kHour).finish(1, 2).finish(101, 2).end(1);  // to here: 2 h
  const RunResult run = measured(log);
  EXPECT_DOUBLE_EQ(*run.mean_jct_h, 9);
  EXPECT_DOUBLE_EQ(*run.mean_idle_h, 4);
  EXPECT_DOUBLE_EQ(*run.migrations_per_task, 1);
}

TEST(Measure, a_task_that_is_lost_with_its_instance_does_not_execute) {
  LogBuilder log;
  log.at(0).accept(gpu_job(1)).boot(1, "it1").start(1, 1).started(1);
  log.at(1 * kHour).gone(1);
  log.at(3 * kHour).boot(2, "it1").start(1, 2, 2).started(1, 2);
  log.at(4 * kHour).finish(1, 2).end(1);
  EXPECT_DOUBLE_EQ(*measured(log).mean_idle_h, 2);
}

TEST(Measure, throughput_is_weighted_by_tasks_and_leaves_out_jobs_without_samples) {
  LogBuilder log;
  log.at(0).accept(gpu_job(1).tasks(3)).accept(gpu_job(2)).accept(gpu_job(3));
  log.at(1).end(1, 0.8, 4).end(2, 0.4, 1).end(3, 0.1, 0);
  EXPECT_DOUBLE_EQ(*measured(log).mean_normalized_throughput, (3 * 0.8 + 0.4) / 4);
}

TEST(Measure, migrations_are_starts_less_one_averaged_over_jobs_that_started) {
  LogBuilder log;
  log.at(0).accept(gpu_job(1)).accept(gpu_job(2).tasks(2)).accept(gpu_job(3)).boot(1, "it1");
  log.start(1, 1, 1).start(1, 1, 2).start(1, 1, 3);      // 2 migrations
  log.start(2, 1, 1).start(201, 1, 1).start(201, 1, 2);  // 0 and 1: 0.5 a task
  EXPECT_DOUBLE_EQ(*measured(log).migrations_per_task, (2 + 0.5) / 2);
}

TEST(Measure, levels_of_a_short_run_are_means_over_the_time_with_an_instance) {
  // Serving from 0 h to 4.5 h: 0 tasks for 1 h, 1 for 1 h, 2 for 2 h, 0 for 0.5 h.
  const RunResult run = measured(two_jobs());
  EXPECT_DOUBLE_EQ(*run.tasks_per_instance, 5 / 4.5);
  EXPECT_DOUBLE_EQ(*run.allocation_gpu, 5 * 1 / (4.5 * 4));
  EXPECT_DOUBLE_EQ(*run.allocation_cpu, 5 * 4 / (4.5 * 16));
  EXPECT_DOUBLE_EQ(*run.allocation_memory, 5 * 24 / (4.5 * 244));
}

TEST(Measure, a_kind_that_no_instance_has_is_left_out_of_the_allocation) {
  LogBuilder log;
  log.at(0).accept(JobBuilder(1)).boot(1, "it3").start(1, 1);
  log.at(kHour).boot(2, "it1");  // from here to the end 4 GPUs, none of them held
  log.at(3 * kHour).finish(1).end(1);
  const RunResult run = measured(log);
  EXPECT_DOUBLE_EQ(*run.allocation_gpu, 0);
  EXPECT_DOUBLE_EQ(*run.allocation_cpu, (2.0 / 8 * 1 + 2.0 / 24 * 2) / 3);
}

TEST(Measure, a_stopping_task_counts_until_it_has_left) {
  LogBuilder log;
  log.at(0).accept(gpu_job(1)).boot(1, "it1").start(1, 1).started(1);
  log.at(1 * kHour).stop(1);
  log.at(3 * kHour).left(1);
  log.at(4 * kHour).terminate(1).gone(1);
  EXPECT_DOUBLE_EQ(*measured(log).tasks_per_instance, 3.0 / 4);
}

TEST(Measure, a_long_run_is_sampled_within_the_window_only) {
  MeasureOptions options;
  options.sample_from = test::at_s(1000);
  options.sample_to = test::at_s(2000);
  options.sample_every = from_seconds(300);
  LogBuilder log;  // samples at 1000, 1300, 1600, 1900
  log.at(0).accept(gpu_job(1)).accept(gpu_job(2)).boot(1, "it1").start(1, 1);
  log.at(1300).start(2, 1);  // counts at 1300
  log.at(1300.1).finish(1);  // so does what a round at 1300 brings about soon after
  log.at(1650).finish(2).terminate(1);
  log.at(2500).gone(1);
  // 1, 1, 1 tasks an instance; no instance at 1900.
  EXPECT_DOUBLE_EQ(*measured(log, options).tasks_per_instance, 1);
  options.sample_settle = Duration{};
  EXPECT_DOUBLE_EQ(*measured(log, options).tasks_per_instance, (1 + 2 + 1) / 3.0);
  options.sample_to = test::at_s(2500);  // the run does not go on beyond: mean over all time
  EXPECT_NEAR(*measured(log, options).tasks_per_instance, (1300 * 1 + 0.1 * 2 + 349.9) / 1650,
              1e-12);
}

TEST(Measure, makespan_throughput_and_utilisation_end_with_the_last_completion) {
  // From 0 h to 4 h; the instance serves all that time, its levels are those above.
  const RunResult run = measured(two_jobs());
  EXPECT_DOUBLE_EQ(*run.makespan_s, 4 * kHour);
  EXPECT_DOUBLE_EQ(*run.throughput_jobs_h, 0.5);
  const auto used = [&](Resource kind) { return run.utilization[static_cast<std::size_t>(kind)]; };
  EXPECT_DOUBLE_EQ(*used(Resource::gpu), 5 * 1 / (4 * 4.0));
  EXPECT_DOUBLE_EQ(*used(Resource::cpu), 5 * 4 / (4 * 16.0));
  EXPECT_DOUBLE_EQ(*used(Resource::memory), 5 * 24 / (4 * 244.0));
  EXPECT_EQ(used(Resource::storage), std::nullopt);  // it1 has none
}

TEST(Measure, jobs_have_classes_when_somebody_says_which_are_long) {
  LogBuilder log;
  log.at(0).accept(JobBuilder(1)).accept(JobBuilder(2)).accept(JobBuilder(3)).accept(JobBuilder(4));
  log.at(2).end(1).at(3).end(2).at(50).end(3);
  EXPECT_FALSE(measured(log).short_jobs);
  MeasureOptions options;
  options.is_long = [](JobId id) { return id.value > 2; };
  const RunResult run = measured(log, options);
  EXPECT_EQ(run.short_jobs->submitted, 2u);
  EXPECT_EQ(run.short_jobs->p50_jct_s, 2);
  EXPECT_EQ(run.short_jobs->p90_jct_s, 3);
  EXPECT_EQ(run.short_jobs->mean_jct_s, 2.5);
  EXPECT_EQ(run.long_jobs->submitted, 2u);
  EXPECT_EQ(run.long_jobs->completed, 1u);
  EXPECT_EQ(run.long_jobs->p99_jct_s, 50);
}

TEST(Measure, the_share_of_full_reconfigurations_counts_only_rounds_with_a_choice) {
  const RunResult run = measured(two_jobs());
  EXPECT_EQ(run.rounds, 3u);
  EXPECT_DOUBLE_EQ(*run.notes.share_of("full", "partial"), 1.0 / 3);

  LogBuilder plain;
  plain.at(0).round(1, "").round(2, "");
  EXPECT_EQ(measured(plain).rounds, 2u);
  EXPECT_EQ(measured(plain).notes.share_of("full", "partial"), std::nullopt);
}

TEST(Measure, cost_and_instances_over_time_follow_the_bill) {
  const RunResult run = measured(two_jobs());
  EXPECT_DOUBLE_EQ(run.total_cost_usd, 60);
  EXPECT_EQ(run.instances_launched, 1u);
  EXPECT_THAT(run.instance_uptime_h, ElementsAre(5));
  ASSERT_GT(run.cost_over_time.size(), 600u);
  ASSERT_LE(run.cost_over_time.size(), 1201u);
  EXPECT_THAT(run.cost_over_time.front(), Pair(0, 0));
  EXPECT_THAT(run.cost_over_time.back(), Pair(5, DoubleEq(60)));
  for (const auto& [hour, usd] : run.cost_over_time) ASSERT_NEAR(usd, 12 * hour, 1e-6);
  ASSERT_EQ(run.instances_by_type.size(), 1u);
  EXPECT_EQ(run.instances_by_type.at("it1").front().second, 1);
  EXPECT_EQ(run.instances_by_type.at("it1").back().second, 0);
  for (const auto& [hour, share] : run.allocation_over_time[0]) {
    const double expected = hour < 1 || hour >= 4 ? 0 : hour < 2 ? 0.25 : 0.5;
    ASSERT_DOUBLE_EQ(share, expected) << hour << " h";
  }
}

TEST(Measure, plots_have_some_hundred_points_however_long_the_run_is) {
  for (const double seconds : {0.001, 1.0, 59.0, 1e4, 1e6, 1e9}) {
    LogBuilder log;
    log.at(0).boot(1, "it1");
    for (int i = 1; i <= 10; ++i) log.at(seconds * i / 10).round(static_cast<std::uint64_t>(i), "");
    log.gone(1);
    const RunResult run = measured(log);
    EXPECT_LE(run.cost_over_time.size(), 1201u) << seconds;
    EXPECT_GE(run.cost_over_time.size(), seconds < 1 ? 2u : 600u) << seconds;
    EXPECT_DOUBLE_EQ(run.cost_over_time.back().second, run.total_cost_usd);
    EXPECT_TRUE(std::is_sorted(run.cost_over_time.begin(), run.cost_over_time.end()));
  }
}

TEST(Measure, jobs_that_did_not_complete_are_listed_with_their_reason) {
  const Refusal too_big{RefusalKind::never, RefusalCode::fits_no_type, Resource::gpu, 16, 4};
  LogBuilder log;
  log.at(0).accept(JobBuilder(1)).accept(JobBuilder(2)).accept(JobBuilder(3)).accept(JobBuilder(4));
  log.accept(JobBuilder(5)).accept(JobBuilder(6)).boot(1, "it3");
  log.at(1).refuse(1, too_big).give_up(1, JobOutcome::refused);
  log.assign(2, 1).start(2, 1).fail(2, "exit 1").give_up(2, JobOutcome::failed);
  log.assign(3, 1).assign(4, 1).start(4, 1).started(4);
  log.assign(6, 1).start(6, 1).finish(6).end(6);
  EXPECT_THAT(
      measured(log).not_completed,
      ElementsAre(Pair("1", describe(too_big)), Pair("2", "failed: exit 1"),
                  Pair("3", describe(Refusal{
                                RefusalKind::not_now, RefusalCode::awaiting_instance, {}, 0, 0})),
                  Pair("4", IsGolden()), Pair("5", describe(Refusal{}))));
}

TEST(Measure, figures_without_a_meaning_are_absent) {
  const RunResult run = measured(LogBuilder().at(1).round(1, ""));
  EXPECT_EQ(run.mean_jct_h, std::nullopt);
  EXPECT_EQ(run.mean_idle_h, std::nullopt);
  EXPECT_EQ(run.mean_normalized_throughput, std::nullopt);
  EXPECT_EQ(run.tasks_per_instance, std::nullopt);
  EXPECT_EQ(run.allocation_gpu, std::nullopt);
  EXPECT_EQ(run.migrations_per_task, std::nullopt);
  EXPECT_EQ(measured(LogBuilder()).events, 0u);
}

TEST(Measure, events_that_make_no_sense_do_no_harm) {
  LogBuilder log;
  log.at(5).up(7).gone(8).start(1, 7).started(1).finish(2).end(9).stop(3).terminate(4);
  const RunResult run = measured(log);
  EXPECT_EQ(run.jobs_submitted, 0u);
  EXPECT_EQ(run.total_cost_usd, 0);
}

TEST(NearestRank, is_the_smallest_value_that_enough_values_do_not_exceed) {
  const std::vector<double> five = {10, 20, 30, 40, 50};
  EXPECT_EQ(nearest_rank(five, 0), 10);
  EXPECT_EQ(nearest_rank(five, 20), 10);
  EXPECT_EQ(nearest_rank(five, 21), 20);
  EXPECT_EQ(nearest_rank(five, 50), 30);
  EXPECT_EQ(nearest_rank(five, 95), 50);
  EXPECT_EQ(nearest_rank(five, 100), 50);
  EXPECT_EQ(nearest_rank(std::vector<double>{7}, 50), 7);
}

}  // namespace
}  // namespace muster::metrics
