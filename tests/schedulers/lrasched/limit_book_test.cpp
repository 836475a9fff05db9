#include "schedulers/lrasched/limit_book.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/schedulers/cluster.hpp"

namespace muster::lrasched {
namespace {

using ::muster::testing::Cluster;
using ::muster::testing::table_3;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Le;

constexpr const char* kNumber = "performance";
constexpr const char* kLimit = "services_limit_of_1";

/// A service of that many replicas of a core, and two tasks to spare.
Job service(std::uint32_t replicas, double bound, bool at_least = true, std::uint64_t id = 1) {
  Job job = ::muster::test::JobBuilder(id)
                .tasks(replicas + 2)
                .demand(Resources::of(0, 1, 1))
                .gang(false)
                .build();
  ServiceSpec spec;
  spec.replicas = replicas;
  spec.goal = {.metric = kNumber, .bound = bound, .at_least = at_least};
  job.kind = spec;
  return job;
}

constexpr const char* kLearnt = "lrasched,limits=learnt";

/// The service on as few instances as hold it two by two, and then that many more.
Cluster cluster_of(const Job& job, const std::string& policy = kLearnt, std::size_t more = 6) {
  Cluster cluster(table_3(), policy);
  cluster.add_to_fleet("it3", job.service()->replicas / 2);
  cluster.submit(job);
  cluster.round();
  if (more > 0) cluster.add_to_fleet("it3", more);
  return cluster;
}

/// Tasks of the service on each instance that has some.
std::map<Slot, int> together(const Cluster& cluster) {
  std::map<Slot, int> on;
  for (const Slot slot : cluster.state().find(JobId{1})->tasks) {
    const TaskRow& task = cluster.state().task(slot);
    if (task.at != kNoSlot) ++on[task.at];
  }
  return on;
}
std::vector<int> counts(const Cluster& cluster) {
  std::vector<int> all;
  for (const auto& [slot, count] : together(cluster)) all.push_back(count);
  std::ranges::sort(all);
  return all;
}

/// All replicas say the number that `of` gives for how many are together; then a round.
template <class Of>
Plan step(Cluster& cluster, const Of& of) {
  const std::map<Slot, int> on = together(cluster);
  for (const Slot slot : cluster.state().find(JobId{1})->tasks) {
    const TaskRow& task = cluster.state().task(slot);
    if (task.phase != TaskPhase::running) continue;
    cluster.replica_says(task.id, kNumber, of(on.at(task.at)));
  }
  cluster.let_pass(std::chrono::minutes{1});
  return cluster.round();
}
/// Limits that rounds have noted.
template <class Of>
std::vector<double> limits(Cluster& cluster, int rounds, const Of& of) {
  std::vector<double> noted;
  for (int i = 0; i < rounds; ++i) {
    for (const auto& [name, value] : step(cluster, of).note.figures) {
      if (name == kLimit && (noted.empty() || noted.back() != value)) noted.push_back(value);
    }
  }
  return noted;
}

double falls(int together) {
  return 1 - 0.02 * (together - 1);
}

TEST(LraLimits, fall_where_the_goal_is_missed_and_replicas_move_one_by_one) {
  Cluster cluster = cluster_of(service(4, 0.985));
  ASSERT_THAT(counts(cluster), ElementsAre(2, 2));
  const Plan plan = step(cluster, falls);
  EXPECT_EQ(testing::figure(plan, kLimit), 1);
  EXPECT_EQ(testing::figure(plan, "services_together_2_of_1"), 0.98);
  ASSERT_EQ(plan.places.size(), 1U) << "one at a time";
  EXPECT_EQ(plan.places.front().cause.code, CauseCode::partial_reconfiguration);
  EXPECT_THAT(limits(cluster, 10, falls), ElementsAre(1));
  EXPECT_THAT(counts(cluster), ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(step(cluster, falls).places, IsEmpty());
}

TEST(LraLimits, rise_by_one_where_there_is_something_to_spare) {
  Cluster cluster = cluster_of(service(6, 0.5));
  ASSERT_THAT(counts(cluster), ElementsAre(2, 2, 2));
  EXPECT_THAT(limits(cluster, 5, falls), ElementsAre(3)) << "no three are together yet";
  EXPECT_THAT(counts(cluster), ElementsAre(2, 2, 2)) << "nothing moves for that";
}

TEST(LraLimits, stay_where_there_is_little_to_spare) {
  Cluster cluster = cluster_of(service(6, 0.97));
  EXPECT_THAT(limits(cluster, 5, falls), Each(0)) << "that of the policy";
}

TEST(LraLimits, do_not_come_back_to_a_number_that_missed_the_goal) {
  Cluster cluster = cluster_of(service(4, 0.985));
  EXPECT_THAT(limits(cluster, 30, falls), ElementsAre(1));
  cluster.let_pass(std::chrono::hours{25});
  EXPECT_THAT(limits(cluster, 30, falls), Each(1)) << "nor on the next day";
  EXPECT_THAT(counts(cluster), ElementsAre(1, 1, 1, 1));
}

TEST(LraLimits, rise_again_under_another_load) {
  Cluster cluster = cluster_of(service(4, 0.985));
  EXPECT_THAT(limits(cluster, 10, falls), ElementsAre(1));
  cluster.let_pass(std::chrono::hours{25});
  const auto better = [](int together) { return 2 * falls(together); };
  EXPECT_THAT(limits(cluster, 10, better), ElementsAre(2));
}

TEST(LraLimits, change_a_few_times_a_day) {
  Cluster cluster = cluster_of(service(4, 0.985), "lrasched,limits=learnt,changes_a_day=1");
  double leap = 1;
  const auto leaps = [&](int together) { return leap * falls(together); };
  std::vector<double> noted;
  for (int i = 0; i < 20; ++i) {
    leap = i % 4 < 2 ? 1 : 2;
    for (const double limit : limits(cluster, 1, leaps)) noted.push_back(limit);
  }
  noted.erase(std::ranges::unique(noted).begin(), noted.end());
  EXPECT_LE(noted.size(), 2U);
}

TEST(LraLimits, are_kept_where_no_other_instance_has_room) {
  Cluster cluster = cluster_of(service(4, 0.985), kLearnt, 0);
  EXPECT_THAT(limits(cluster, 10, falls), ElementsAre(1));
  EXPECT_THAT(counts(cluster), ElementsAre(2, 2)) << "there are two instances";
}

TEST(LraLimits, are_never_above_that_of_the_policy) {
  Cluster cluster = cluster_of(service(6, 0.1), "lrasched,limits=learnt,limit=2");
  limits(cluster, 5, [](int) { return 1.0; });
  EXPECT_THAT(counts(cluster), Each(Le(2)));
  EXPECT_THAT(limits(cluster, 5, [](int) { return 1.0; }), Each(0));
}

TEST(LraLimits, are_those_of_the_policy_where_it_is_told_so) {
  Cluster cluster = cluster_of(service(4, 0.985), "lrasched,limits=stated");
  EXPECT_THAT(limits(cluster, 10, falls), IsEmpty());
  EXPECT_THAT(counts(cluster), ElementsAre(2, 2));
}

TEST(LraLimits, of_a_latency_are_learnt_likewise) {
  Cluster cluster = cluster_of(service(4, 50, false));
  EXPECT_THAT(limits(cluster, 10, [](int together) { return 48.2 + together; }), ElementsAre(1));
  EXPECT_THAT(counts(cluster), ElementsAre(1, 1, 1, 1));
}

TEST(LraLimits, survive_numbers_of_any_size_and_a_restart) {
  for (const bool at_least : {true, false}) {
    Cluster cluster = cluster_of(service(4, 0.95, at_least));
    for (const double number : {1.0, 1e-300, 1e10, -1e18, 0.0, 1e18, 1e-300, -1.0, 1e18}) {
      step(cluster, [&](int together) { return number / together; });
      const std::string saved = cluster.policy().save_state(cluster.state());
      auto other = make_policy(parse_policy(kLearnt).value(), cluster.catalog());
      ASSERT_TRUE(other.value()->load_state(saved, cluster.view())) << saved;
      EXPECT_EQ(other.value()->save_state(cluster.state()), saved);
    }
  }
}

TEST(LraLimits, are_learnt_of_all_services_however_many_have_news_in_each_round) {
  constexpr std::uint32_t kServices = 80;  // a round takes the steps of 57
  Cluster cluster(table_3(), kLearnt);
  cluster.add_to_fleet("it3", kServices);
  for (std::uint32_t id = 1; id <= kServices; ++id) {
    cluster.submit(service(1, 0.5, true, id));
  }
  cluster.round();
  std::set<std::string> learnt;
  for (int round = 0; round < 12; ++round) {
    for (std::uint32_t id = 1; id <= kServices; ++id) {
      for (const Slot slot : cluster.state().find(JobId{id})->tasks) {
        const TaskRow& task = cluster.state().task(slot);
        if (task.phase == TaskPhase::running) cluster.replica_says(task.id, kNumber, 1 + round % 2);
      }
    }
    cluster.let_pass(std::chrono::minutes{1});
    for (const auto& [name, value] : cluster.round().note.figures) {
      if (name.starts_with("services_limit_of_")) learnt.insert(name);
    }
  }
  EXPECT_EQ(learnt.size(), kServices);
}

TEST(LimitBook, leaves_out_figures_that_no_round_has_written) {
  Cluster cluster = cluster_of(service(4, 0.985));
  LimitBook book;
  EXPECT_TRUE(book.load("[]", cluster.view()));
  EXPECT_FALSE(book.load("{}", cluster.view()));
  RoundNote note;
  note.figures = {{"services_limit_of_1", 4},      {"services_together_0_of_1", 1},
                  {"services_together_9_of_1", 1}, {"services_together_x_of_1", 1},
                  {"services_together_2_of_7", 1}, {"services_together_2_of_1x", 1}};
  EXPECT_THAT(book.read(note), IsEmpty());
  note.figures = {{"services_together_2_of_1", 0.5}, {"services_limit_of_1", -3}};
  ASSERT_EQ(book.read(note).size(), 1U);
  EXPECT_EQ(book.read(note).front().limit, 0U);
}

}  // namespace
}  // namespace muster::lrasched
