// What a master counts for monitoring, and the past that it keeps for plots.
#include "masters/view/cell_tally.hpp"

#include <gtest/gtest.h>

#include "model/live_ids.hpp"
#include "tests/masters/scripted_master.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/sample_views.hpp"

namespace muster {
namespace {

using test::at_s;

std::uint64_t count_of(const CellTally& tally, CountKind kind, const std::string& of = {}) {
  for (const CountView& one : tally.counts()) {
    if (one.kind == kind && one.of == of) return one.count;
  }
  return 0;
}

bool has(const CellTally& tally, CountKind kind, const std::string& of = {}) {
  for (const CountView& one : tally.counts()) {
    if (one.kind == kind && one.of == of) return true;
  }
  return false;
}

Event event_of(EventBody body) {
  Event event;
  event.at = at_s(100);
  event.body = std::move(body);
  return event;
}

TEST(CellTally, counts_ends_launches_refusals_and_interruptions) {
  CellTally tally;
  const Catalog catalog;
  const ClusterState state(catalog);
  LaunchRefused refused;
  refused.refusal.code = RefusalCode::cloud_capacity;
  InstanceGone reclaimed;
  reclaimed.reason = CloudReason::reclaimed;
  TaskFailed failed;
  failed.kind = FailureKind::out_of_memory;
  LaunchRequested launch;
  launch.market = Market::spot;
  tally.watch({event_of(JobFinished{JobId{1}, JobOutcome::cancelled, 1, 0}), event_of(refused),
               event_of(refused), event_of(reclaimed), event_of(InstanceGone{}), event_of(failed),
               event_of(launch), event_of(TaskFinished{})},
              state);
  EXPECT_EQ(count_of(tally, CountKind::job_over, "cancelled"), 1U);
  EXPECT_EQ(
      count_of(tally, CountKind::launch_refused, std::string(name_of(RefusalCode::cloud_capacity))),
      2U);
  EXPECT_EQ(count_of(tally, CountKind::interruption), 1U) << "the other was ended by its renter";
  EXPECT_EQ(
      count_of(tally, CountKind::attempt_end, std::string(name_of(FailureKind::out_of_memory))),
      1U);
  EXPECT_EQ(count_of(tally, CountKind::attempt_end, "finished"), 1U);
  EXPECT_EQ(count_of(tally, CountKind::launch, "spot"), 1U);
}

TEST(CellTally, counts_an_interruption_once_whether_a_notice_came_first_or_not) {
  CellTally tally;
  const Catalog catalog;
  const ClusterState state(catalog);
  const Cause taken_back{CauseCode::interrupted, 0};
  InstanceGone gone;
  gone.instance = InstanceId{1};
  gone.reason = CloudReason::reclaimed;
  InstanceGone unheard = gone;
  unheard.instance = InstanceId{2};
  tally.watch({event_of(ReleaseDecided{InstanceId{1}, taken_back})}, state);
  EXPECT_EQ(count_of(tally, CountKind::interruption), 1U);
  tally.watch({event_of(gone), event_of(ReleaseDecided{InstanceId{3}, {}}), event_of(unheard)},
              state);
  EXPECT_EQ(count_of(tally, CountKind::interruption), 2U);
}

TEST(CellTally, counts_attempts_that_went_with_their_instance) {
  CellTally tally;
  const Catalog catalog;
  const ClusterState state(catalog);
  const auto task = [](std::uint32_t position) { return task_id_of(JobId{1}, position); };
  const InstanceId on{7};
  tally.watch({event_of(StartIssued{task(0), on, 1}), event_of(TaskStarted{task(0), 1}),
               event_of(StartIssued{task(1), on, 1}), event_of(StartIssued{task(2), on, 1}),
               event_of(TaskStarted{task(2), 1}), event_of(TaskFinished{task(2), 1}),
               event_of(StartIssued{task(3), InstanceId{8}, 1}), event_of(TaskStarted{task(3), 1}),
               event_of(InstanceGone{on})},
              state);
  EXPECT_EQ(count_of(tally, CountKind::attempt_end, "instance gone"), 1U)
      << "one had not started, one had finished, one is elsewhere";
  tally.watch({event_of(InstanceGone{InstanceId{8}}), event_of(InstanceGone{InstanceId{8}})},
              state);
  EXPECT_EQ(count_of(tally, CountKind::attempt_end, "instance gone"), 2U);
}

TEST(CellTally, measures_the_first_start_of_a_task_though_an_attempt_before_it_never_started) {
  CellTally tally;
  const Catalog catalog = test::table3_catalog();
  ClusterState state(catalog);
  Event accepted = event_of(JobAccepted{test::JobBuilder(1).build()});
  accepted.at = at_s(10);
  state.apply(accepted);
  const TaskId late = test::JobBuilder(1).build().tasks.front().id;
  const auto starts = [&] {
    std::uint64_t all = 0;
    const HistogramView view = tally.histograms().back();
    for (const BucketView& bucket : view.buckets) all += bucket.count;
    return all + view.beyond;
  };
  TaskFailed lost;
  lost.task = late;
  lost.attempt = 1;
  lost.kind = FailureKind::lost;
  tally.watch({event_of(StartIssued{late, InstanceId{7}, 1}), event_of(lost)}, state);
  EXPECT_EQ(starts(), 0U);
  tally.watch({event_of(StartIssued{late, InstanceId{7}, 2}), event_of(InstanceGone{InstanceId{7}}),
               event_of(StartIssued{late, InstanceId{8}, 3}), event_of(TaskStarted{late, 3})},
              state);
  EXPECT_EQ(starts(), 1U);
  lost.attempt = 3;
  tally.watch({event_of(lost), event_of(StartIssued{late, InstanceId{8}, 4}),
               event_of(TaskStarted{late, 4})},
              state);
  EXPECT_EQ(starts(), 1U) << "it had started before";
}

TEST(CellTally, has_the_usual_series_before_anything_has_happened) {
  const CellTally tally;
  EXPECT_TRUE(has(tally, CountKind::job_over, "failed"));
  EXPECT_TRUE(has(tally, CountKind::launch, "on-demand"));
  EXPECT_TRUE(has(tally, CountKind::move));
}

TEST(CellTally, puts_decision_times_into_buckets) {
  CellTally tally;
  tally.decided(0.0001);  // a bound belongs to its bucket
  tally.decided(0.3);
  tally.decided(1e4);
  const HistogramView view = tally.histograms().front();
  EXPECT_EQ(view.name, "decision");
  EXPECT_EQ(view.buckets.front().count, 1U);
  EXPECT_EQ(view.beyond, 1U);
  EXPECT_DOUBLE_EQ(view.sum, 10'000.3001);
}

TEST(CellHistory, keeps_the_last_day_a_sample_a_minute) {
  CellHistory past;
  EXPECT_TRUE(past.is_due(at_s(0)));
  for (int minute = 0; minute < 2'000; ++minute) {
    const HistorySample sample = test::sample_of_past(60.0 * minute, minute);
    ASSERT_TRUE(past.is_due(sample.at));
    past.add(sample);
  }
  EXPECT_FALSE(past.is_due(at_s(60 * 1'999 + 59)));
  const HistoryView all = past.since(at_s(0));
  ASSERT_EQ(all.samples.size(), CellHistory::kKept);
  EXPECT_EQ(all.samples.front().usd_h, 560);
  EXPECT_EQ(past.since(at_s(60 * 1'998)).samples.size(), 2U);
}

TEST(CellHistory, goes_on_after_what_was_kept_before) {
  CellHistory past;
  past.restore(
      {test::sample_of_past(60, 1), test::sample_of_past(30, 9), test::sample_of_past(120, 2)});
  EXPECT_EQ(past.since(at_s(0)).samples.size(), 2U) << "what does not rise in time is dropped";
  EXPECT_FALSE(past.is_due(at_s(150)));
  EXPECT_TRUE(past.is_due(at_s(180)));
}

}  // namespace
}  // namespace muster
