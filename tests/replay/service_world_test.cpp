#include "replay/service_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/support/builders.hpp"

namespace muster::replay {
namespace {

using test::at_s;
using test::JobBuilder;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kNoise = 0.01;

class ServiceWorldTest : public ::testing::Test, private LoadListener {
 protected:
  ServiceWorldTest() : world_(setup()) {}

  /// A service of `replicas`, whose performance is 0.8 alone and 0.4 beside others; they are ready
  /// 20 s after their start.
  void add_service(std::uint64_t id, std::size_t replicas, bool measured = true) {
    Delays delays;
    delays.init = std::chrono::seconds{20};
    WorkloadJob& entry = jobs_[id];
    entry.job = JobBuilder(id).tasks(replicas).delays(delays).gang(false).build();
    entry.job.kind = ServiceSpec{};
    ServiceTruth truth;
    if (measured) {
      truth.performance =
          std::make_shared<const ServicePerformance>(*parse_performance("measured:1/1=0.8;x2=0.5"));
    }
    entry.truth.service = std::make_shared<const ServiceTruth>(truth);
    world_.add(entry, entry.job);
  }
  TaskId replica(std::uint64_t service, std::size_t number) const {
    return jobs_.at(service).job.tasks.at(number).id;
  }
  void load(TaskId task, std::uint64_t instance, double at, Attempt attempt = 1) {
    now_ = at_s(at);
    world_.load(
        {task, InstanceId{instance}, TypeId{0}, 1, {this, task, attempt}, Resources::of(0, 2, 2)});
  }
  void run_until(double seconds) {
    while (!wakes_.empty() && wakes_.begin()->first <= at_s(seconds)) {
      now_ = wakes_.begin()->first;
      wakes_.erase(wakes_.begin());
      world_.wake(now_);
    }
    now_ = at_s(seconds);
  }
  double performance(TaskId task) const { return world_.replica(task)->performance.value(); }
  std::vector<std::uint64_t> take_told() { return std::exchange(told_, {}); }

  ServiceWorld world_;
  std::map<std::uint64_t, WorkloadJob> jobs_;
  ReplicaNoise noise_{kNoise, 1};
  std::size_t asked_ = 0;  ///< wakes

 private:
  ServiceWorldSetup setup() {
    return {std::chrono::seconds{1}, ReplicaNoise(kNoise, 1),
            [this](Instant at) {
              ++asked_;
              wakes_.emplace(at, 0);
            },
            [this] { return now_; }};
  }
  void on_done(TaskId, Attempt) override { FAIL() << "a replica has no end of its own"; }
  void on_change(TaskId task, Attempt) override { told_.push_back(task.value); }

  Instant now_;
  std::multimap<Instant, int> wakes_;
  std::vector<std::uint64_t> told_;
};

TEST_F(ServiceWorldTest, a_replica_is_ready_some_time_after_its_start_and_stays_so) {
  add_service(1, 1);
  load(TaskId{1}, 1, 100);
  run_until(119);
  EXPECT_FALSE(world_.replica(TaskId{1})->ready);
  EXPECT_THAT(take_told(), IsEmpty());
  run_until(120);
  EXPECT_TRUE(world_.replica(TaskId{1})->ready);
  EXPECT_THAT(take_told(), ElementsAre(1));
  const std::size_t asked = asked_;
  run_until(1e7);
  EXPECT_TRUE(world_.replica(TaskId{1})->ready);
  EXPECT_THAT(take_told(), IsEmpty());
  EXPECT_EQ(asked_, asked);  // no change, no cost
}

TEST_F(ServiceWorldTest, a_replica_that_is_stopped_starts_anew_elsewhere) {
  add_service(1, 1);
  load(TaskId{1}, 1, 0);
  run_until(10);
  world_.unload(TaskId{1});
  run_until(50);
  EXPECT_THAT(take_told(), IsEmpty());
  load(TaskId{1}, 2, 60, 2);
  run_until(79);
  EXPECT_FALSE(world_.replica(TaskId{1})->ready);
  run_until(80);
  EXPECT_TRUE(world_.replica(TaskId{1})->ready);
  EXPECT_THAT(take_told(), ElementsAre(1));
}

TEST_F(ServiceWorldTest, replicas_of_one_service_on_an_instance_slow_each_other) {
  add_service(1, 2);
  const TaskId one = replica(1, 0), other = replica(1, 1);
  load(one, 1, 0);
  run_until(100);
  EXPECT_DOUBLE_EQ(performance(one), 0.8 * noise_.factor(one, 1));
  EXPECT_EQ(world_.throughput(one), 1);
  take_told();
  load(other, 1, 100);
  EXPECT_THAT(take_told(), ElementsAre(one.value));
  EXPECT_DOUBLE_EQ(performance(one), 0.4 * noise_.factor(one, 1));
  EXPECT_DOUBLE_EQ(world_.throughput(one), 0.5);
  run_until(200);
  EXPECT_THAT(take_told(), ElementsAre(other.value));
  world_.unload(other);
  EXPECT_THAT(take_told(), ElementsAre(one.value));
  EXPECT_DOUBLE_EQ(performance(one), 0.8 * noise_.factor(one, 1));
}

TEST_F(ServiceWorldTest, replicas_that_are_lost_with_their_instance_are_told_nothing) {
  add_service(1, 2);
  load(replica(1, 0), 1, 0);
  load(replica(1, 1), 1, 0);
  run_until(100);
  take_told();
  // Their listener is about to be gone.
  world_.lose(replica(1, 0));
  world_.lose(replica(1, 1));
  EXPECT_THAT(take_told(), IsEmpty());
}

TEST_F(ServiceWorldTest, replicas_of_other_services_and_on_other_instances_do_not) {
  add_service(1, 2);
  add_service(2, 1);
  load(replica(1, 0), 1, 0);
  load(replica(1, 1), 2, 0);
  load(replica(2, 0), 1, 0);
  run_until(100);
  for (const TaskId each : {replica(1, 0), replica(1, 1), replica(2, 0)}) {
    EXPECT_DOUBLE_EQ(performance(each), 0.8 * noise_.factor(each, 1));
  }
}

TEST_F(ServiceWorldTest, a_service_whose_performance_is_not_known_says_that_it_is_ready_alone) {
  add_service(1, 2, false);
  load(replica(1, 0), 1, 0);
  run_until(20);
  EXPECT_TRUE(world_.replica(replica(1, 0))->ready);
  EXPECT_FALSE(world_.replica(replica(1, 0))->performance);
  take_told();
  load(replica(1, 1), 1, 30);
  EXPECT_THAT(take_told(), IsEmpty());
  EXPECT_EQ(world_.throughput(replica(1, 0)), 1);
}

TEST_F(ServiceWorldTest, a_service_that_is_over_is_not_known_any_more) {
  add_service(1, 2);
  load(replica(1, 0), 1, 0);
  load(replica(1, 1), 1, 0);
  world_.forget(jobs_.at(1).job);
  EXPECT_FALSE(world_.knows(replica(1, 0)));
  run_until(100);
  EXPECT_THAT(take_told(), IsEmpty());
  // Workers may hear of it later.
  world_.unload(replica(1, 0));
  world_.lose(replica(1, 1));
}

TEST(ReplicaNoise, is_of_the_attempt_and_the_seed_alone) {
  const ReplicaNoise noise(0.1, 1);
  EXPECT_EQ(noise.factor(TaskId{1}, 1), noise.factor(TaskId{1}, 1));
  EXPECT_NE(noise.factor(TaskId{1}, 1), noise.factor(TaskId{1}, 2));
  EXPECT_NE(noise.factor(TaskId{1}, 1), noise.factor(TaskId{2}, 1));
  EXPECT_NE(noise.factor(TaskId{1}, 1), ReplicaNoise(0.1, 2).factor(TaskId{1}, 1));
  EXPECT_EQ(ReplicaNoise(0, 1).factor(TaskId{1}, 1), 1);
}

}  // namespace
}  // namespace muster::replay
