#include <gtest/gtest.h>

#include <map>
#include <set>

#include "masters/master.hpp"
#include "schedulers/registry.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/plain_settings.hpp"

// Gangs and small jobs where caps, the cloud or a fixed fleet have no room for all: neither starves
// the other.

namespace muster {
namespace {

using test::at_s;
using test::JobBuilder;

/// A master under a policy, before a cloud with a limit of instances and workers whose tasks take
/// as long as their job was said to.
class Cell {
 public:
  Cell(const std::string& policy, MasterCaps caps, std::size_t cloud_limit,
       GangRules gangs = rules(), std::uint32_t fleet = 0)
      : cloud_limit_(cloud_limit) {
    MasterSettings settings = test::plain_settings();
    MasterDependencies parts;
    parts.catalog = &catalog_;
    if (fleet > 0) {
      parts.fleet = {{test::type_named(catalog_, "it3"), Market::on_demand, fleet}};
    }
    parts.policy = make_policy({policy, {}}, catalog_).value();
    settings.caps = caps;
    settings.launch_backoff = std::chrono::minutes{10};
    settings.gangs = gangs;
    master_.emplace(settings, std::move(parts));
    master_->keep_fleet(now_);
    act();
  }
  /// A master with so many instances that are given.
  static Cell with_fleet(const std::string& policy, std::uint32_t fleet) {
    return {policy, {}, 0, rules(), fleet};
  }
  static GangRules rules() {
    return {std::chrono::hours{1}, std::chrono::minutes{30}, std::chrono::hours{12}};
  }

  /// A job each of whose tasks needs an instance of its own, unless it is smaller.
  void submit(std::uint64_t id, std::size_t tasks, double seconds,
              const Resources& demand = Resources::of(0, 8, 30)) {
    master_->submit(JobBuilder(id).tasks(tasks).gang(tasks > 1).demand(demand).build(), now_);
    seconds_[JobId{id}] = seconds;
    act();
  }
  void run_until(double seconds) {
    while (now_ < at_s(seconds)) {
      now_ += std::chrono::seconds{10};
      end_what_is_due();
      if (now_.time_since_epoch() % std::chrono::minutes{5} == Duration::zero()) {
        master_->round({}, now_);
      }
      act();
    }
  }
  bool is_over(std::uint64_t id) const { return over_.contains(JobId{id}); }
  std::size_t over() const { return over_.size(); }
  std::size_t most_instances() const { return most_; }
  std::size_t turns() const { return turns_; }
  /// The longest time in which no single task started, from the first of them on.
  double longest_pause_s() const { return longest_pause_s_; }
  const Master& master() const { return *master_; }
  /// A master that has nothing but the events of this one's.
  std::unique_ptr<Master> from_events() const {
    MasterSettings settings = test::plain_settings();
    MasterDependencies parts;
    parts.catalog = &catalog_;
    parts.policy = make_policy({"no-packing", {}}, catalog_).value();
    settings.caps = master_->settings().caps;
    settings.launch_backoff = std::chrono::minutes{10};
    settings.gangs = rules();
    auto again = std::make_unique<Master>(settings, std::move(parts));
    again->restore(std::nullopt, events_);
    return again;
  }

 private:
  void end_what_is_due() {
    while (!due_.empty() && due_.begin()->first <= now_) {
      const auto [task, attempt] = due_.begin()->second;
      due_.erase(due_.begin());
      master_->task_finished({task, attempt, {}}, now_);
    }
  }
  /// Does what the master wants until it wants nothing more.
  void act() {
    while (true) {
      const Commit commit = master_->commit();
      events_.insert(events_.end(), commit.events.begin(), commit.events.end());
      for (const Event& event : commit.events) {
        turns_ += std::holds_alternative<GangTurn>(event.body);
      }
      if (commit.effects.empty()) return;
      for (const Effect& effect : commit.effects) {
        std::visit([this](const auto& e) { perform(e); }, effect);
      }
    }
  }
  void perform(const LaunchInstance& e) {
    if (cloud_limit_ > 0 && rented_.size() >= cloud_limit_) {
      return master_->instance_refused(e.instance, now_);
    }
    rented_.insert(e.instance);
    most_ = std::max(most_, rented_.size());
    master_->instance_up(e.instance, {}, now_);
    master_->instance_ready(e.instance, now_);
  }
  void perform(const EndInstance& e) {
    rented_.erase(e.instance);
    master_->instance_gone(e.instance, {}, now_);
  }
  void perform(const StartTask& e) {
    master_->task_started({e.task, e.attempt, {}, {}}, now_);
    const TaskRow& row = *master_->state().find(e.task);
    const JobRow& job = master_->state().job(row.job);
    if (!job.job.gang) {
      const double pause_s = single_started_ ? to_seconds(now_ - *single_started_) : 0;
      longest_pause_s_ = std::max(longest_pause_s_, pause_s);
      single_started_ = now_;
    }
    const double seconds = seconds_.at(job.job.id);
    due_.emplace(now_ + from_seconds(seconds), std::pair(e.task, e.attempt));
  }
  void perform(const StopTask& e) {
    std::erase_if(due_, [&](const auto& entry) { return entry.second.first == e.task; });
    master_->task_checkpointed({e.task, e.attempt, {}, {}}, now_);
  }
  void perform(const AcknowledgeAttempt&) {}
  void perform(const TellJobOver& e) { over_.insert(e.job); }

  Catalog catalog_ = test::table3_catalog();
  std::size_t cloud_limit_;
  std::optional<Master> master_;
  std::map<JobId, double> seconds_;
  std::multimap<Instant, std::pair<TaskId, Attempt>> due_;
  std::set<JobId> over_;
  std::vector<Event> events_;
  Instant now_{};
  std::set<InstanceId> rented_;
  std::size_t most_ = 0;
  std::size_t turns_ = 0;
  std::optional<Instant> single_started_;
  double longest_pause_s_ = 0;
};

class Gangs : public ::testing::TestWithParam<std::string> {};

TEST_P(Gangs, AGangThatDoesNotFitUnderACapDoesNotBlockOthers) {
  Cell cell(GetParam(), {.max_instances = 10}, 0);
  cell.submit(1, 50, 1000);
  for (std::uint64_t id = 2; id <= 4; ++id) cell.submit(id, 1, 1000);
  cell.run_until(3 * 3600);
  for (std::uint64_t id = 2; id <= 4; ++id) EXPECT_TRUE(cell.is_over(id)) << id;
  EXPECT_FALSE(cell.is_over(1));
  EXPECT_EQ(cell.turns(), 0u) << "it can never fit";
}

TEST_P(Gangs, NobodyCountsOnWhatIsNotRentedForAGangThatDoesNotFit) {
  // Beside a task of the gang each of the small ones would have room for nothing, and two instances
  // of that size cost more than is allowed; one of the smaller type does for both.
  for (const MasterCaps& caps :
       {MasterCaps{.max_instances = 10, .max_usd_h = 1}, MasterCaps{.max_usd_h = 1}}) {
    Cell cell(GetParam(), caps, 0);
    cell.submit(1, 50, 1000, Resources::of(0, 5, 10));
    cell.submit(2, 2, 1000, Resources::of(0, 2, 4));
    cell.run_until(3 * 3600);
    EXPECT_TRUE(cell.is_over(2));
    EXPECT_FALSE(cell.is_over(1));
  }
}

TEST_P(Gangs, AGangThatTheCloudCannotServeDoesNotBlockOthers) {
  Cell cell(GetParam(), {}, 2);
  cell.submit(1, 3, 1000);
  cell.submit(2, 1, 1000);
  cell.run_until(3 * 3600);
  EXPECT_TRUE(cell.is_over(2));
  EXPECT_FALSE(cell.is_over(1));
}

TEST_P(Gangs, SmallJobsUnderACapDoNotKeepAGangWaitingForEver) {
  Cell cell(GetParam(), {.max_instances = 4}, 0);
  std::uint64_t next = 10'000;  // no id of a gang's task
  for (double s = 0; s < 24 * 3600; s += 300) {
    cell.submit(next++, 1, 1500);  // five at a time want room for four
    if (s == 3000) cell.submit(1, 3, 1000);
    cell.run_until(s + 300);
  }
  EXPECT_TRUE(cell.is_over(1));
  EXPECT_GE(cell.turns(), 1u);
  EXPECT_GT(cell.over(), 150u) << "of 288; four at a time are 230 in a day";
  EXPECT_LE(cell.most_instances(), 4u);
}

TEST_P(Gangs, SmallJobsInAFullCloudDoNotKeepAGangWaitingForEver) {
  Cell cell(GetParam(), {}, 3);
  std::uint64_t next = 10'000;  // no id of a gang's task
  for (double s = 0; s < 24 * 3600; s += 300) {
    cell.submit(next++, 1, 1500);
    if (s == 3000) cell.submit(1, 3, 1000);
    cell.run_until(s + 300);
  }
  EXPECT_TRUE(cell.is_over(1));
  EXPECT_GT(cell.over(), 60u);
}

TEST_P(Gangs, TwoGangsOfWhichTheCloudCanServeOneDoNotCollideForEver) {
  Cell cell(GetParam(), {}, 2);
  cell.submit(1, 3, 1000);
  cell.submit(2, 2, 1000);
  cell.run_until(24 * 3600);
  EXPECT_TRUE(cell.is_over(2));
}

TEST_P(Gangs, AGangThatIsLargerThanTheFleetIsOverAtOnceAndDoesNotBlockOthers) {
  Cell cell = Cell::with_fleet(GetParam(), 2);
  cell.submit(1, 3, 1000);
  cell.run_until(1);
  EXPECT_TRUE(cell.is_over(1));
  for (std::uint64_t id = 2; id <= 4; ++id) cell.submit(id, 1, 1000);
  cell.run_until(6 * 3600);
  for (std::uint64_t id = 2; id <= 4; ++id) EXPECT_TRUE(cell.is_over(id)) << id;
  EXPECT_EQ(cell.turns(), 0u) << "it can never fit";
}

TEST_P(Gangs, SmallJobsOnAFullFleetDoNotKeepAGangWaitingForEver) {
  Cell cell = Cell::with_fleet(GetParam(), 4);
  std::uint64_t next = 10'000;  // no id of a gang's task
  for (double s = 0; s < 24 * 3600; s += 300) {
    cell.submit(next++, 1, 1500);  // five at a time want room for four
    if (s == 3000) cell.submit(1, 3, 1000);
    cell.run_until(s + 300);
  }
  EXPECT_TRUE(cell.is_over(1));
  EXPECT_GT(cell.over(), 150u) << "of 288; four at a time are 230 in a day";
}

TEST_P(Gangs, ManyGangsThatWaitLeaveTimeToSmallJobs) {
  Cell cell(GetParam(), {.max_instances = 4}, 0);
  std::uint64_t next = 10'000;  // no id of a gang's task
  for (double s = 0; s < 24 * 3600; s += 300) {
    cell.submit(next++, 1, 10'000);
    for (std::uint64_t gang = 1; s == 3000 && gang <= 8; ++gang) cell.submit(gang, 4, 100);
    cell.run_until(s + 300);
  }
  for (std::uint64_t gang = 1; gang <= 3; ++gang) EXPECT_TRUE(cell.is_over(gang)) << gang;
  EXPECT_LT(cell.longest_pause_s(), 5 * 3600) << "a single takes 2.8 h, and so may a turn";
}

TEST_P(Gangs, AGangOfMoreThanTheCapHasNoTurnThoughPartOfItsInstancesAreThere) {
  Cell cell(GetParam(), {.max_instances = 4}, 0);
  std::uint64_t next = 10'000;  // no id of a gang's task
  for (double s = 0; s < 12 * 3600; s += 300) {
    cell.submit(next++, 1, 1500);
    if (s == 3000) cell.submit(1, 5, 1000);
    cell.run_until(s + 300);
  }
  EXPECT_EQ(cell.turns(), 0u);
}

TEST_P(Gangs, AGangTakesAnEmptyFleetThatNobodyElseWants) {
  Cell cell = Cell::with_fleet(GetParam(), 3);
  cell.submit(2, 1, 20'000);
  cell.run_until(600);
  cell.submit(1, 3, 1000);
  cell.run_until(20'000);
  EXPECT_FALSE(cell.is_over(1));
  cell.run_until(22'000);
  EXPECT_TRUE(cell.is_over(1)) << "however long it had rested";
}

INSTANTIATE_TEST_SUITE_P(Policies, Gangs,
                         ::testing::Values("no-packing", "eva", "hcoop", "synergy", "owl"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(GangTurns, GrowWithTheirWaitsUntilOneIsLongEnough) {
  // The others' tasks take 3 h: turns of 30 min and 1 h are too short for room to gather.
  Cell cell("no-packing", {.max_instances = 2}, 0);
  std::uint64_t next = 10'000;  // no id of a gang's task
  for (double s = 0; s < 60 * 3600; s += 1800) {
    cell.submit(next++, 1, 3 * 3600);
    if (s == 3600) cell.submit(1, 2, 1000);
    cell.run_until(s + 1800);
  }
  EXPECT_TRUE(cell.is_over(1));
  EXPECT_GE(cell.turns(), 2u);
}

TEST(GangTurns, WithoutPatienceThereAreNone) {
  GangRules rules = Cell::rules();
  rules.patience = {};
  Cell cell("no-packing", {.max_instances = 2}, 0, rules);
  cell.submit(1, 1, 100'000);
  cell.submit(2, 2, 1000);
  cell.submit(3, 1, 100'000);
  cell.run_until(20 * 3600);
  EXPECT_EQ(cell.turns(), 0u);
  EXPECT_FALSE(cell.is_over(2));
}

TEST(GangTurns, AMasterThatIsStartedAgainKnowsWhoseTurnItIs) {
  Cell cell("no-packing", {.max_instances = 2}, 0);
  std::uint64_t next = 10'000;  // no id of a gang's task
  double s = 0;
  for (; s < 12 * 3600 && cell.turns() == 0; s += 300) {
    cell.submit(next++, 1, 900);
    if (s == 600) cell.submit(1, 2, 1000);
    cell.run_until(s + 300);
  }
  ASSERT_EQ(cell.turns(), 1u);
  const MasterSnapshot snapshot = cell.master().snapshot();
  ASSERT_TRUE(snapshot.gangs.turn.has_value());
  EXPECT_EQ(snapshot.gangs.turn->job, JobId{1});
  EXPECT_EQ(snapshot.gangs.waits.at(JobId{1}).turns, 1u);
  const MasterSnapshot again = cell.from_events()->snapshot();
  EXPECT_EQ(again.gangs.waits, snapshot.gangs.waits);
  ASSERT_TRUE(again.gangs.turn.has_value());
  EXPECT_EQ(again.gangs.turn->until, snapshot.gangs.turn->until);
}

}  // namespace
}  // namespace muster
