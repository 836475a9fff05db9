#include "replay/world.hpp"

#include <gtest/gtest.h>

#include <map>

#include "tests/support/builders.hpp"

namespace muster::replay {
namespace {

using test::at_s;
using test::JobBuilder;

/// Everybody runs at 1 / (number of tasks on the instance).
class Halving : public Interference {
 public:
  std::uint32_t index_of(const std::string&) override { return 0; }
  std::vector<double> throughput(std::span<const std::uint32_t> together) const override {
    return std::vector<double>(together.size(), 1.0 / static_cast<double>(together.size()));
  }
};

/// Starts on instances of another family take a minute.
class ColdTruth : public ElasticTruth {
 public:
  explicit ColdTruth(const ElasticEpochs& epochs) : stated_(epochs) {}

  std::span<const double> ends() const override { return stated_.ends(); }
  std::unique_ptr<ElasticPace> begin() const override { return stated_.begin(); }
  Duration cold_start() const override { return std::chrono::minutes{1}; }

 private:
  StatedTruth stated_;
};

class WorldTest : public ::testing::Test, private LoadListener {
 protected:
  /// A job of `seconds` of work alone.
  void add_job(std::uint64_t id, double seconds, std::size_t tasks = 1, bool gang = true,
               double init_s = 0) {
    Delays delays;
    delays.init = from_seconds(init_s);
    WorkloadJob entry;
    entry.job = JobBuilder(id)
                    .demands(Demands(
                        {{"cpu", Resources::of(0, 1, 1), 1}, {"gpu", Resources::of(0, 1, 1), 2}}))
                    .delays(delays)
                    .gang(gang)
                    .tasks(tasks)
                    .build();
    entry.truth = {seconds, 1, "w"};
    workload_.jobs.push_back(std::move(entry));
  }
  void start_world(Duration quantum = std::chrono::seconds{1},
                   Duration settle = std::chrono::milliseconds{2}) {
    WorldSetup setup;
    setup.catalog = &catalog_;
    setup.interference = &interference_;
    setup.quantum = quantum;
    setup.settle = settle;
    setup.checkpoints = checkpoints_;
    setup.distributed_slowdown = distributed_slowdown_;
    setup.wake_at = [this](Instant when) { wakes_.insert(when); };
    world_.emplace(std::move(setup));
    for (std::size_t i = 0; i < workload_.jobs.size(); ++i) world_->add(i, workload_.jobs[i]);
    world_->set_clock([this] { return now_; });
  }
  void load(std::uint64_t task, std::uint64_t on, std::string_view type = "it3") {
    load_one_of(1, task, on, type);
  }
  void load_one_of(std::uint32_t together, std::uint64_t task, std::uint64_t on,
                   std::string_view type = "it3") {
    world_->load({TaskId{task},
                  InstanceId{on},
                  test::type_named(catalog_, type),
                  together,
                  {this, TaskId{task}, 1}});
  }
  void on_done(TaskId task, Attempt) override {
    done_[task.value] = to_seconds(floor_to(now_, std::chrono::seconds{1}));
  }
  void on_change(TaskId task, Attempt) override {
    changed_[task.value].push_back(to_seconds(now_));
  }
  /// A job of up to four workers: 100 units at 1 a second and worker, then 100 at which more than
  /// one worker are of no use; two on one instance do as three on several.
  void add_elastic(std::uint64_t id, double init_s = 0) {
    add_job(id, 0, 4, true, init_s);
    WorkloadJob& entry = workload_.jobs.back();
    const ElasticEpochs epochs({{100, 1, {1, 2, 3, 4}, {1.5, 2}}, {200, 1, {1}, {}}});
    entry.job.kind = ElasticSpec{1, 4, {}, epochs};
    entry.truth.elastic = std::make_shared<StatedTruth>(epochs);
  }
  void run_until(double seconds) {
    while (!wakes_.empty() && *wakes_.begin() <= at_s(seconds)) {
      now_ = *wakes_.begin();
      wakes_.erase(wakes_.begin());
      world_->wake(now_);
    }
    now_ = at_s(seconds);
  }

  Catalog catalog_ = test::table3_catalog();
  Halving interference_;
  Workload workload_;
  bool checkpoints_ = true;
  double distributed_slowdown_ = 0;
  std::set<Instant> wakes_;
  std::optional<World> world_;
  Instant now_;
  std::map<std::uint64_t, double> done_;
  std::map<std::uint64_t, std::vector<double>> changed_;
};

TEST_F(WorldTest, AJobAloneIsDoneAfterItsWork) {
  add_job(1, 100);
  start_world();
  load(1, 0);
  run_until(99.9);
  EXPECT_TRUE(done_.empty());
  run_until(200);
  EXPECT_EQ(done_.at(1), 100);
}

TEST_F(WorldTest, WorkThatWasNotSavedIsLostWithItsInstance) {
  add_job(1, 100);
  start_world();
  load(1, 0);
  run_until(30);
  world_->unload(TaskId{1});
  load(1, 1);
  run_until(50);
  world_->lose(TaskId{1});
  EXPECT_DOUBLE_EQ(world_->lost_s(), 20);
  load(1, 2);
  run_until(119);
  EXPECT_TRUE(done_.empty());
  run_until(121);
  EXPECT_EQ(done_.at(1), 120) << "30 of 100 s had been saved";
}

TEST_F(WorldTest, WithoutCheckpointsEveryStopLosesAll) {
  add_job(1, 100);
  checkpoints_ = false;
  start_world();
  load(1, 0);
  run_until(30);
  world_->unload(TaskId{1});
  EXPECT_DOUBLE_EQ(world_->lost_s(), 30);
  load(1, 1);
  run_until(200);
  EXPECT_EQ(done_.at(1), 130);
}

TEST_F(WorldTest, WorkEndsWithTheStepOfTimeInWhichItIsDone) {
  add_job(1, 99.3);
  start_world();
  load(1, 0);
  run_until(200);
  EXPECT_EQ(done_.at(1), 100);
}

TEST_F(WorldTest, WorkEndsToTheMicrosecondWhereTimeIsCountedSoFinely) {
  add_job(1, 326131.000733);
  add_job(2, 0.1);
  start_world(std::chrono::microseconds{1}, {});
  now_ = at_s(0.0015);
  load(1, 0);
  load(2, 1);
  std::vector<Instant> ends;
  while (!wakes_.empty()) {
    now_ = *wakes_.begin();
    wakes_.erase(wakes_.begin());
    const std::size_t before = done_.size();
    world_->wake(now_);
    if (done_.size() > before) ends.push_back(now_);
  }
  EXPECT_EQ(ends, (std::vector<Instant>{at_s(0.1015), at_s(326131.002233)}));
}

TEST_F(WorldTest, TasksOfAJobThatIsNoGangTakeTheTimeOfEach) {
  add_job(1, 20, 3, false);
  workload_.jobs[0].truth.task_iterations = {10, 20, 30};
  start_world();
  load(1, 0);
  load(101, 1);
  load(102, 2);
  run_until(100);
  EXPECT_EQ(done_, (std::map<std::uint64_t, double>{{1, 10}, {101, 20}, {102, 30}}));
}

TEST_F(WorldTest, AJobWithoutWorkTakesOneStep) {
  add_job(1, 0);
  start_world();
  run_until(5);
  load(1, 0);
  run_until(200);
  EXPECT_EQ(done_.at(1), 6);
}

TEST_F(WorldTest, ProgressBeginsAfterInitialisation) {
  add_job(1, 100, 1, true, 30);
  start_world();
  load(1, 0);
  run_until(200);
  EXPECT_EQ(done_.at(1), 130);
}

TEST_F(WorldTest, NeighboursSlowEachOtherWhileTheyAreTogether) {
  add_job(1, 100);
  add_job(2, 30);
  start_world();
  load(1, 0);
  run_until(40);
  load(2, 0);  // both at half pace: 2 is done at 100, 1 has done 70 by then
  EXPECT_DOUBLE_EQ(world_->throughput(TaskId{1}), 0.5);
  run_until(300);
  EXPECT_EQ(done_.at(2), 100);
  EXPECT_EQ(done_.at(1), 130);
}

TEST_F(WorldTest, WhatWasDoneIsKeptWhenATaskIsUnloaded) {
  add_job(1, 100);
  start_world();
  load(1, 0);
  run_until(60);
  world_->unload(TaskId{1});
  run_until(500);
  EXPECT_TRUE(done_.empty());
  load(1, 1);
  run_until(1000);
  EXPECT_EQ(done_.at(1), 540);
}

TEST_F(WorldTest, AGangProgressesWhenAllAreLoadedAtThePaceOfTheSlowest) {
  add_job(1, 100, 2);
  add_job(2, 1000);
  start_world();
  load(2, 1);
  load(1, 0);
  run_until(50);
  load(101, 1);  // shares instance 1 with job 2
  EXPECT_DOUBLE_EQ(world_->throughput(TaskId{1}), 0.5);
  run_until(3000);
  EXPECT_EQ(done_.at(1), 250);
  EXPECT_EQ(done_.at(101), 250);
}

TEST_F(WorldTest, AnElasticJobStartsColdOnAnotherFamily) {
  add_elastic(1, 10);
  const ElasticEpochs epochs = std::get<ElasticSpec>(workload_.jobs[0].job.kind).epochs;
  workload_.jobs[0].truth.elastic = std::make_shared<ColdTruth>(epochs);
  start_world();
  load_one_of(1, 1, 0);
  run_until(60);  // 50 of 200 are done
  world_->unload(TaskId{1});
  load_one_of(1, 1, 1);
  run_until(100);  // 30 more after a start as any other
  world_->unload(TaskId{1});
  load_one_of(1, 1, 2, "it1");
  run_until(219);  // twice as fast, but not before 160
  EXPECT_TRUE(done_.empty());
  run_until(221);
  EXPECT_EQ(done_.at(1), 220);
}

TEST_F(WorldTest, GangsOnSeveralInstancesSlowEachOtherWhereTheyMeet) {
  distributed_slowdown_ = 0.2;
  add_job(1, 100, 2);
  add_job(2, 1000, 2);
  add_job(3, 1000, 2);
  start_world();
  load(1, 0);
  load(101, 1);
  load(2, 2);
  load(201, 3);
  run_until(50);  // alone on its instances: half of it is done
  load(3, 0);     // at half pace beside a task, whose gang is not distributed yet
  load(301, 2);   // from here on it is, and meets both others
  run_until(100);
  EXPECT_TRUE(done_.empty());
  run_until(174);
  EXPECT_TRUE(done_.empty()) << "50 of work at half pace less a fifth take 125 s";
  run_until(176);
  EXPECT_EQ(done_.at(1), 175);
}

TEST_F(WorldTest, AGangOnOneInstanceDisturbsNone) {
  distributed_slowdown_ = 0.2;
  add_job(1, 100, 2);
  add_job(2, 1000, 2);
  start_world();
  load(1, 0);
  load(101, 1);
  load(2, 1);
  load(201, 1);  // three tasks there: a third of the pace, as without
  run_until(299);
  EXPECT_TRUE(done_.empty());
  run_until(301);
  EXPECT_EQ(done_.at(1), 300);
}

TEST_F(WorldTest, AGangStandsStillWhenOneOfItIsUnloaded) {
  add_job(1, 100, 2);
  start_world();
  load(1, 0);
  load(101, 1);
  run_until(40);
  world_->unload(TaskId{101});
  run_until(100);
  load(101, 2);
  run_until(1000);
  EXPECT_EQ(done_.at(1), 160);
}

TEST_F(WorldTest, TasksThatAreNoGangAreDoneOneByOne) {
  add_job(1, 100, 2, false);
  start_world();
  load(1, 0);
  run_until(10);
  load(101, 1);
  run_until(1000);
  EXPECT_EQ(done_.at(1), 100);
  EXPECT_EQ(done_.at(101), 110);
}

TEST_F(WorldTest, AFasterFamilyDoesTheWorkSooner) {
  add_job(1, 100);
  start_world();
  load(1, 0, "it1");
  run_until(1000);
  EXPECT_EQ(done_.at(1), 50);
}

TEST_F(WorldTest, WhatAStepBeganCountsFromItsBeginning) {
  add_job(1, 100);
  start_world();
  run_until(10.7);
  load(1, 0);
  run_until(1000);
  EXPECT_EQ(done_.at(1), 110);
}

/// Interference would halve what stands beside each other.
class ElasticWorld : public WorldTest {
 protected:
  void begin(double init_s = 0) {
    add_elastic(1, init_s);
    start_world(Duration{}, Duration{});
  }
};

TEST_F(ElasticWorld, AJobGoesAtTheSpeedupOfItsWidthAndTellsOfItsEpochs) {
  begin();
  load_one_of(4, 1, 0);
  for (const std::uint64_t task : {101, 102, 103}) load_one_of(4, task, task);
  run_until(200);
  EXPECT_EQ(changed_[1], std::vector<double>{25});
  EXPECT_TRUE(changed_[101].empty()) << "the first worker speaks for the job";
  EXPECT_EQ(done_.size(), 4u);
  EXPECT_EQ(done_[1], 125);
}

TEST_F(ElasticWorld, AWidthThatIsNotWholeMakesNoProgress) {
  begin();
  load_one_of(2, 1, 0);
  run_until(50);
  EXPECT_EQ(world_->progress(TaskId{1}), std::nullopt);
  load_one_of(2, 101, 1);
  run_until(60);
  EXPECT_NEAR(world_->progress(TaskId{1})->done, 15, 1e-9) << "two on two instances";
}

TEST_F(ElasticWorld, ProgressIsKeptOverAChangeOfWidthAndTheStartHasItsPrice) {
  begin(5);
  load_one_of(1, 1, 0);
  run_until(45);  // 40 units
  world_->unload(TaskId{1});
  load_one_of(3, 1, 0);
  load_one_of(3, 101, 1);
  load_one_of(3, 102, 2);
  run_until(55);  // 5 s of the start, then 5 s at 2 a second
  EXPECT_NEAR(world_->progress(TaskId{1})->done, 50, 1e-9);
  run_until(300);
  EXPECT_EQ(changed_[1], std::vector<double>{80});
  EXPECT_EQ(done_[1], 180);
}

/// A job that is faster by one whenever it is asked, which it is every 10 s.
class Quickening final : public ElasticTruth {
 public:
  std::span<const double> ends() const override { return ends_; }
  std::unique_ptr<ElasticPace> begin() const override { return std::make_unique<Pace>(); }

 private:
  class Pace final : public ElasticPace {
   public:
    void place(std::span<const std::uint32_t>, std::uint32_t) override {}
    double rate_per_s(std::size_t) override { return ++rate_; }
    Duration rechoose_every() const override { return std::chrono::seconds{10}; }

   private:
    double rate_ = 0;
  };

  std::vector<double> ends_{100, 200};
};

TEST_F(ElasticWorld, AJobThatChoosesAnewGoesOnAtAnotherPaceWithinAnEpoch) {
  for (const double settle_s : {0.0, 0.002}) {
    workload_.jobs.clear();
    changed_.clear();
    wakes_.clear();
    now_ = {};
    add_elastic(1, 5);
    workload_.jobs.back().truth.elastic = std::make_shared<Quickening>();
    start_world(Duration{}, from_seconds(settle_s));
    load_one_of(1, 1, 0);
    run_until(35);  // 5 at 1 from the start at 5 s on, then 20 at 2, 30 at 3, 20 at 4
    EXPECT_NEAR(world_->progress(TaskId{1})->done, 75, 1e-9);
    run_until(48);  // the first epoch ended at 41 s, after 5 at 5
    EXPECT_NEAR(changed_[1].at(0), 41 + settle_s, 1e-9);
    EXPECT_NEAR(world_->progress(TaskId{1})->done, 142, 1e-9);
    run_until(100);
    EXPECT_EQ(done_[1], 56) << "46 at 7 from 50 s on";
  }
}

TEST_F(ElasticWorld, WhatIsLostMayBeOfAnEarlierEpoch) {
  begin();
  load_one_of(1, 1, 0);
  run_until(90);
  world_->unload(TaskId{1});
  load_one_of(1, 1, 0);
  run_until(150);
  EXPECT_EQ(changed_[1], std::vector<double>{100});
  world_->lose(TaskId{1});
  EXPECT_NEAR(world_->lost_s(), 60, 1e-9);
  load_one_of(1, 1, 0);
  run_until(155);
  EXPECT_NEAR(world_->progress(TaskId{1})->done, 95, 1e-9);
  run_until(400);
  EXPECT_EQ(done_[1], 260);
}

}  // namespace
}  // namespace muster::replay
