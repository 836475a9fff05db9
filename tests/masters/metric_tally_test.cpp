#include "masters/metric_tally.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "actors/messages/byte_cut.hpp"
#include "masters/view/metric_series.hpp"
#include "tests/masters/scripted_master.hpp"

namespace muster {
namespace {

using test::JobBuilder;
using testing::ElementsAre;
using testing::IsEmpty;

/// User, name, tasks, and the least, mean and highest value.
using Series = std::tuple<std::string, std::string, std::uint64_t, double, double, double>;

/// A master with two jobs, each of its own user.
class ReportedMetrics : public test::MasterTest {
 protected:
  void begin_with(std::uint32_t most_values) {
    settings_.metrics.most_values = most_values;
    make_master({});
    Job other = JobBuilder(2).build();
    other.user = "bob";
    ASSERT_EQ(master_->submit(JobBuilder(1).build(), now()), SubmitResult::accepted);
    ASSERT_EQ(master_->submit(std::move(other), now()), SubmitResult::accepted);
  }
  bool note(std::uint64_t task, Metrics values) {
    return master_->note_measured({{}, 0, {}, {{TaskId{task}, std::move(values)}}}, now());
  }
  const Metrics& metrics_of(std::uint64_t task) const {
    return master_->state().find(TaskId{task})->metrics;
  }
};

TEST_F(ReportedMetrics, AreOfTheStateAndGoOnRecordWhenTheyAreNew) {
  begin_with(100);
  EXPECT_TRUE(note(1, {{"a", 1}}));
  EXPECT_FALSE(note(1, {{"a", 1}})) << "it is known";
  EXPECT_FALSE(note(99, {{"a", 1}})) << "there is no such task";
  EXPECT_TRUE(note(1, {{"b", 2}}));
  EXPECT_EQ(metrics_of(1), (Metrics{{"b", 2}})) << "of another attempt";
}

TEST_F(ReportedMetrics, OfAFloodAreKeptWithinTheBoundAndLeaveRoomForOthers) {
  begin_with(4);
  Metrics flood;
  for (char c = 'a'; c <= 'z'; ++c) flood.emplace_back(std::string(1, c), 1);
  EXPECT_TRUE(note(1, flood));
  EXPECT_EQ(metrics_of(1), (Metrics{{"a", 1}, {"b", 1}}));
  EXPECT_TRUE(note(2, {{"loss", 0.5}}));
  EXPECT_EQ(metrics_of(2).size(), 1u);
}

TEST_F(ReportedMetrics, OfManyTasksOfOneUserLeaveHalfOfTheRoomToOthers) {
  begin_with(100);
  Job many = JobBuilder(3).tasks(20).build();
  ASSERT_EQ(master_->submit(many, now()), SubmitResult::accepted);
  Metrics values;
  for (char c = 'a'; c < 'k'; ++c) values.emplace_back(std::string(1, c), 1);
  Measured heard;
  for (const TaskSpec& task : many.tasks) heard.metrics.push_back({task.id, values});
  EXPECT_TRUE(master_->note_measured(heard, now()));
  std::size_t held = 0;
  for (const auto& [task, count] : master_->facts().metrics.tasks()) held += count;
  EXPECT_EQ(held, 50u);
  EXPECT_TRUE(note(2, values));
  EXPECT_EQ(metrics_of(2).size(), 10u) << "of another user";
  EXPECT_FALSE(note(1, values)) << "of the first one";
  EXPECT_FALSE(master_->note_measured(heard, now())) << "as much of them is known already";
}

TEST_F(ReportedMetrics, OfATaskMayBecomeFewer) {
  begin_with(1);
  EXPECT_TRUE(note(1, {{"a", 1}}));
  EXPECT_TRUE(note(1, {}));
  EXPECT_TRUE(master_->facts().metrics.tasks().empty());
  EXPECT_TRUE(note(2, {{"b", 1}})) << "there is room again";
}

TEST_F(ReportedMetrics, OutliveTheMaster) {
  begin_with(100);
  note(1, {{"a", 1}});
  MasterSnapshot snapshot = master_->memory().snapshot();
  make_master({});
  EXPECT_EQ(master_->restore(std::move(snapshot), {}), "");
  EXPECT_EQ(metrics_of(1), (Metrics{{"a", 1}}));
  EXPECT_EQ(master_->facts().metrics.tasks().size(), 1u);
}

TEST_F(ReportedMetrics, AreShownToAPolicyThatWantsThem) {
  const auto shown = [&] {
    note(1, {{"a", 1}});
    return std::ranges::count_if(script_.seen, [](const Event& event) {
      const auto* measured = std::get_if<Measured>(&event.body);
      return measured != nullptr &&
             measured->metrics == std::vector<TaskMetrics>{{TaskId{1}, {{"a", 1}}}};
    });
  };
  begin_with(100);
  EXPECT_EQ(shown(), 0);
  script_.wants_metrics = true;
  begin_with(100);
  EXPECT_EQ(shown(), 1);
}

TEST_F(ReportedMetrics, ThatComeWhileADecisionIsMadeLeaveItSettled) {
  const auto is_calm_after = [&](const auto& meanwhile) {
    begin_with(100);
    script_.settled = true;
    auto wish = master_->begin_round({}, now());
    PlannedRound planned = master_->planner().decide(wish.value());
    meanwhile();
    master_->take_plan(std::move(planned), now());
    return master_->facts().calm.has_value();
  };
  EXPECT_TRUE(is_calm_after([] {}));
  EXPECT_TRUE(is_calm_after([&] { note(1, {{"a", 1}}); }));
  EXPECT_FALSE(is_calm_after([&] { master_->submit(JobBuilder(3).build(), now()); }));
  script_.wants_metrics = true;
  EXPECT_FALSE(is_calm_after([&] { note(1, {{"a", 1}}); }));
}

TEST_F(ReportedMetrics, AreInTheHistoryOfTheirJob) {
  one_running(1);
  note(1, {{"a", 1}});
  master_->task_finished({TaskId{1}, 1, {}}, now());
  const Commit commit = master_->commit();
  EXPECT_FALSE(master_->facts().metrics.tasks().contains(TaskId{1}));
  ASSERT_EQ(commit.over.size(), 1u);
  EXPECT_EQ(commit.over[0].tasks[0].metrics, (Metrics{{"a", 1}}));
}

TEST_F(ReportedMetrics, HaveFiguresByUserAndNameOfWhatRuns) {
  one_running(1);
  one_running(2);
  ASSERT_EQ(master_->submit(JobBuilder(3).build(), now()), SubmitResult::accepted);
  note(1, {{"a", 1}, {"b", 5}});
  note(2, {{"a", 4}});
  note(3, {{"a", 100}});
  const auto series = [&](std::size_t most) {
    std::vector<Series> all;
    for (const MetricView& one : metric_series(master_->state(), master_->facts().metrics, most)) {
      all.emplace_back(one.user, one.name, one.tasks, one.least, one.mean, one.most);
    }
    return all;
  };
  const Series a{"ann", "a", 2, 1, 2.5, 4};
  EXPECT_THAT(series(10), ElementsAre(a, Series{"ann", "b", 1, 5, 5, 5}));
  EXPECT_THAT(series(1), ElementsAre(a));
  EXPECT_THAT(series(0), IsEmpty());
}

TEST_F(ReportedMetrics, OfOneUserDoNotCrowdOutTheFiguresOfAnother) {
  begin_with(100);
  for (std::uint64_t job : {1, 2}) {
    round(together({job}));
    boot(job - 1);
    started(job, 1);
  }
  note(1, {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}});
  note(2, {{"z", 1}});
  std::vector<std::string> names;
  for (const MetricView& one : metric_series(master_->state(), master_->facts().metrics, 3)) {
    names.push_back(one.user + "." + one.name);
  }
  EXPECT_THAT(names, ElementsAre("ann.a", "ann.b", "bob.z"));
}

TEST_F(ReportedMetrics, HaveNoMoreFiguresThanGoIntoOneMessage) {
  begin_with(100);
  Job job = JobBuilder(3).build();
  job.user = std::string(kListBytes / 5 * 2, 'x');
  ASSERT_EQ(master_->submit(std::move(job), now()), SubmitResult::accepted);
  for (std::uint64_t id : {2, 3}) {
    round(together({id}));
    boot(id - 2);
    started(id, 1);
  }
  note(2, {{"z", 1}});
  note(3, {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}});
  std::vector<std::string> names;
  for (const MetricView& one : metric_series(master_->state(), master_->facts().metrics, 200)) {
    names.push_back(one.name);
  }
  EXPECT_THAT(names, ElementsAre("z", "a", "b"));
}

}  // namespace
}  // namespace muster
