#include "schedulers/boa/boa_policy.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "schedulers/boa/boa_memory.hpp"
#include "tests/schedulers/boa/two_epochs.hpp"
#include "tests/schedulers/cluster.hpp"

namespace muster {
namespace {

using test::JobBuilder;
using testing::Cluster;
using testing::figure;
using testing::two_epochs;

/// Nodes of four GPUs at a dollar an hour.
Catalog nodes() {
  return Catalog({testing::type_of("node", "", Resources::of(4, 48, 192), 1)});
}

Job training(std::uint64_t id, std::uint32_t most = 4) {
  return JobBuilder(id)
      .demand(Resources::of(1, 4, 16))
      .workload_class("net")
      .elastic(1, most, two_epochs())
      .build();
}

constexpr const char* kWide = "boa,budget=100,rates_h=net:10";
/// Three workers in the second epoch take a fourteenth more of half a GPU-hour: there is enough for
/// half of the jobs to be so wide.
constexpr const char* kShared = "boa,plan=share,budget_counts=used,budget=10.18,rates_h=net:10";
constexpr const char* kNarrow = "boa,budget=10,rates_h=net:10";

TEST(Boa, RunsJobsAsWideAsTheirEpochIsBestAt) {
  Cluster cluster(nodes(), kWide);
  cluster.submit(training(1));
  cluster.round();
  cluster.round();
  EXPECT_EQ(cluster.layout(), "node(1)");
  cluster.progress(1, 120);
  cluster.round();
  EXPECT_EQ(cluster.state().find(JobId{1})->width, 4U);
  EXPECT_EQ(cluster.layout(), "node(1 101 102 103)");
}

/// Where a job states no class its name is one: a plan for all that ever were would never end.
TEST(Boa, ForgetsClassesThatNoJobHasHadForLongest) {
  Cluster cluster(nodes(), "boa,budget=100");
  const auto classes = [&] {
    return nlohmann::json::parse(cluster.policy().save_state(cluster.state())).at("classes").size();
  };
  for (std::uint64_t id = 1; id <= boa::kIdleClasses + 50; ++id) {
    Job job = training(id);
    job.workload_class = "name-" + std::to_string(id);
    cluster.submit(job);
    cluster.round();
    cluster.round();
    cluster.finish(id);
  }
  cluster.submit(training(1000));
  cluster.round();
  EXPECT_LE(classes(), boa::kIdleClasses + 1);
  EXPECT_NE(cluster.layout(), "") << "the job of a class that is new has its place";
}

TEST(Boa, ReadsStatedRatesOfAnySize) {
  Cluster cluster(nodes(), "boa,budget=100,rates_h=net:1e-320+other:5e-324");
  cluster.submit(training(1));
  cluster.round();
  cluster.round();
  EXPECT_NE(cluster.layout(), "");
}

TEST(Boa, RemembersClassesWhoseNamesAreNotUtf8) {
  Cluster cluster(nodes(), "boa,budget=100");
  Job job = training(1);
  job.workload_class = "caf\xe9 \"net\"";
  cluster.submit(job);
  cluster.round();
  const std::string saved = cluster.policy().save_state(cluster.state());
  auto again = cluster.policy().clone();
  ASSERT_TRUE(again->load_state(saved, cluster.view()));
  EXPECT_EQ(again->save_state(cluster.state()), saved);
}

TEST(Boa, LeavesJobsWhereTheyAreWhileTheirWidthIsTheSame) {
  Cluster cluster(nodes(), kWide);
  for (const std::uint64_t id : {1, 2, 3}) cluster.submit(training(id));
  cluster.round();
  cluster.round();
  const std::string before = cluster.layout();
  EXPECT_EQ(before, "node(1 2 3)");
  const Plan plan = cluster.round();
  EXPECT_TRUE(plan.places.empty());
  EXPECT_TRUE(plan.resizes.empty());
  EXPECT_TRUE(plan.launches.empty());
}

TEST(Boa, PlansWidthsThatKeepTheBudget) {
  Cluster wide(nodes(), kWide);
  Cluster narrow(nodes(), kNarrow);
  for (Cluster* cluster : {&wide, &narrow}) {
    cluster->submit(training(1));
    cluster->round();
  }
  const Plan at_ease = wide.round();
  const Plan tight = narrow.round();
  EXPECT_NEAR(figure(at_ease, "planned_gpus"), 5 + 5 * 4 / 3.6, 1e-9);
  EXPECT_EQ(figure(tight, "planned_gpus"), 10);
  EXPECT_LT(figure(at_ease, "planned_jct_s"), figure(tight, "planned_jct_s"));
}

/// The load is 20 GPUs; what is left over widens the second epoch of one of the two classes.
std::vector<std::uint32_t> widths_under(const std::string& weights) {
  Cluster cluster(nodes(), "boa,budget=20.4,rates_h=net:10+other:10" + weights);
  Job other = training(2);
  other.workload_class = "other";
  cluster.submit(training(1));
  cluster.submit(other);
  cluster.round();
  cluster.round();
  for (const std::uint64_t id : {1, 2}) cluster.progress(id, 120);
  cluster.round();
  return {cluster.state().find(JobId{1})->width, cluster.state().find(JobId{2})->width};
}

TEST(Boa, WidensTheClassThatWeighsMore) {
  const auto first = widths_under(",weights=net:3");
  EXPECT_GT(first[0], first[1]);
  const auto second = widths_under(",weights=net:0.5+other:2");
  EXPECT_LT(second[0], second[1]);
}

/// Which of so many jobs are wide in the second epoch, where there is enough for about half of
/// them.
std::vector<std::uint32_t> shared_widths(Cluster& cluster, std::uint64_t jobs) {
  for (std::uint64_t id = 1; id <= jobs; ++id) cluster.submit(training(id));
  cluster.round();
  cluster.round();
  for (std::uint64_t id = 1; id <= jobs; ++id) cluster.progress(id, 120);
  cluster.round();
  cluster.round();
  std::vector<std::uint32_t> widths;
  for (std::uint64_t id = 1; id <= jobs; ++id) {
    widths.push_back(cluster.state().find(JobId{id})->width);
  }
  return widths;
}

TEST(Boa, LetsAShareOfTheJobsGoAnotherWay) {
  Cluster cluster(nodes(), kShared);
  const auto widths = shared_widths(cluster, 20);
  const auto narrow = std::count(widths.begin(), widths.end(), 1U);
  const auto wide = std::count(widths.begin(), widths.end(), 3U);
  EXPECT_EQ(narrow + wide, 20);
  EXPECT_GE(wide, 9);
  EXPECT_LE(wide, 11);
}

TEST(Boa, RefusesWeightsThatAreNone) {
  for (const char* wrong :
       {"net", "net:", ":2", "net:x", "net:0", "net:-1", "net:1001", "net:2+"}) {
    const auto spec = parse_policy(std::string("boa,weights=") + wrong);
    const auto made = make_policy(spec.value(), nodes());
    ASSERT_FALSE(made) << wrong;
    EXPECT_NE(made.error().message.find("weights"), std::string::npos) << made.error().message;
  }
}

TEST(Boa, SaysThatABudgetCannotBeKept) {
  Cluster cluster(nodes(), "boa,budget=4,rates_h=net:10");
  cluster.add_to_fleet("node");
  cluster.submit(JobBuilder(9).tasks(4).gang(true).demand(Resources::of(1, 4, 16)).build());
  cluster.round();
  cluster.submit(training(1));
  const Plan plan = cluster.round();
  EXPECT_EQ(figure(plan, "load"), 10);
  EXPECT_EQ(figure(plan, "budget"), 4);
  const TaskRow& task = *cluster.state().find(TaskId{1});
  EXPECT_EQ(task.reason.code, RefusalCode::over_budget);
  EXPECT_NEAR(task.reason.asked, 10, 1e-9);
  EXPECT_NEAR(task.reason.available, 4, 1e-9);
}

TEST(Boa, PlansForTypesByPathsOnly) {
  const auto made = make_policy(parse_policy("boa,budget_usd_h=5,plan=glue").value(), nodes());
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("budget_usd_h goes with plan=path"), std::string::npos);
}

TEST(Boa, PlansForTypesByWhatJobsStateOnly) {
  const auto spec = parse_policy("boa,budget_usd_h=5,speedups=learned");
  const auto made = make_policy(spec.value(), nodes());
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("budget_usd_h goes with speedups=oracle"), std::string::npos);
}

TEST(Boa, ReadsWhatAVersionWithoutTypesRemembered) {
  Cluster cluster(nodes(), kWide);
  cluster.submit(training(1));
  cluster.round();
  const std::string words = cluster.policy().save_state(cluster.state());
  auto older = nlohmann::json::parse(words);
  for (const char* later : {"families", "types", "stays", "epoch_h"}) older.erase(later);
  for (auto& entry : older.at("classes")) entry.erase(7);
  const auto twin = make_policy(parse_policy(kWide).value(), cluster.catalog()).value();
  ASSERT_TRUE(twin->load_state(older.dump(), cluster.view()));
  auto known = nlohmann::json::parse(words);
  known["epoch_h"] = nlohmann::json::array();  // until the next plan
  EXPECT_EQ(twin->save_state(cluster.state()), known.dump());
}

/// The order of the members of each line is on disk: stores that earlier masters wrote have it.
TEST(Boa, ReadsAndWritesItsMemoryAsItIsStored) {
  const std::string text =
      R"({"classes":[["net",[[120.0,0.5,[1.0,1.5],[]]],[1.0],0.25,[1000],null,4,)"
      R"([["a100",2.5,1.5]]]],"empty_since":[[3,5]],"epoch_h":[[0.5]],"families":[["a100"]],)"
      R"("figures":[1.5,2.5,3.5,4.5,5.5],"first":1000,"gpus":[1.5,2.5,3.5,4.5],)"
      R"("integrated":2000,"jobs":[[7,"net",60.0,1500,2,4,true]],"newest":[1000],)"
      R"("over_budget":null,"planned":["net"],"planned_at":1200,"planned_known":3,)"
      R"("shared":[0,0.5,[2]],"stays":[[[[2,0.5,1.25,2.25]]]],"types":["a100"],"widths":[[4]]})";
  const Cluster cluster(nodes(), kWide);
  boa::BoaMemory memory{boa::BoaParams{}};
  ASSERT_TRUE(memory.load(text, cluster.view()));
  EXPECT_EQ(memory.save(), text);
}

TEST(Boa, GivesBackNodesThatNobodyNeeds) {
  Cluster cluster(nodes(), kWide);
  cluster.submit(training(1));
  cluster.round();
  cluster.round();
  cluster.finish(1);
  cluster.round();
  EXPECT_EQ(cluster.layout(), "");
}

TEST(Boa, KeepsAnEmptyNodeForTheNextJobWhereItIsTold) {
  // Rounds are five minutes apart.
  Cluster cluster(nodes(), "boa,budget=100,rates_h=net:10,keep_empty_s=700");
  cluster.submit(training(1));
  for (int i = 0; i < 2; ++i) cluster.round();
  cluster.finish(1);
  for (int i = 0; i < 3; ++i) cluster.round();
  EXPECT_EQ(cluster.layout(), "node()") << "ten minutes since a round saw it empty";
  cluster.submit(training(2));
  for (int i = 0; i < 3; ++i) cluster.round();
  EXPECT_EQ(cluster.layout(), "node(2)");
  cluster.finish(2);
  for (int i = 0; i < 3; ++i) cluster.round();
  EXPECT_EQ(cluster.layout(), "node()") << "the time begins anew";
  const auto twin =
      make_policy(parse_policy("boa,budget=100,rates_h=net:10,keep_empty_s=700").value(),
                  cluster.catalog())
          .value();
  const std::string words = cluster.policy().save_state(cluster.state());
  ASSERT_TRUE(twin->load_state(words, cluster.view()));
  EXPECT_EQ(twin->save_state(cluster.state()), words);
  cluster.round();
  EXPECT_EQ(cluster.layout(), "");
}

TEST(Boa, LetsJobsOfAFleetGrowInTurnAndTheOthersQueue) {
  Cluster cluster(nodes(), "boa,budget=100,rates_h=net:10");
  cluster.add_to_fleet("node");
  cluster.submit(training(1));
  cluster.submit(training(2));
  cluster.round();
  cluster.progress(1, 120);
  cluster.progress(2, 120);
  cluster.submit(training(3));
  cluster.round();
  // Neither has room to grow beside the other, and both go on as they did.
  EXPECT_EQ(cluster.layout(), "node(1 2 3)");
  EXPECT_EQ(cluster.state().find(JobId{1})->width, 1U);
  cluster.finish(2);
  cluster.finish(3);
  cluster.submit(training(4));
  cluster.round();
  EXPECT_EQ(cluster.layout(), "node(1 101 102 103)") << "the others queue";
  EXPECT_EQ(cluster.state().find(TaskId{4})->reason.code, RefusalCode::awaiting_capacity);
}

TEST(Boa, BeginsInPartOnWhatIsLeftOfAFleet) {
  Cluster cluster(nodes(), "boa,budget=100,rates_h=net:10+wide:1");
  cluster.add_to_fleet("node");
  cluster.submit(training(1));
  cluster.round();
  Job wide = JobBuilder(2)
                 .demand(Resources::of(1, 4, 16))
                 .workload_class("wide")
                 .elastic(1, 4, ElasticEpochs({{100, 1, {1, 2, 3, 4}, {}}}))
                 .build();
  cluster.submit(wide);
  wide = JobBuilder(3)
             .demand(Resources::of(1, 4, 16))
             .workload_class("wide")
             .elastic(1, 4, ElasticEpochs({{100, 1, {1, 2, 3, 4}, {}}}))
             .build();
  cluster.submit(wide);
  cluster.round();
  EXPECT_EQ(cluster.layout(), "node(1 2 201 202)") << "three of the four that it would have";
}

TEST(Boa, RunsJobsThatAreNotElasticBesides) {
  Cluster cluster(nodes(), kWide);
  cluster.submit(JobBuilder(5).tasks(3).gang(true).demand(Resources::of(1, 4, 16)).build());
  cluster.submit(JobBuilder(6).tasks(2).gang(false).demand(Resources::of(1, 4, 16)).build());
  cluster.round();
  cluster.round();
  EXPECT_EQ(cluster.layout(), "node(5 6 501 502) node(601)");
}

/// A job that states nothing but that any number of workers will do.
Job silent(std::uint64_t id) {
  return JobBuilder(id)
      .demand(Resources::of(1, 4, 16))
      .workload_class("silent")
      .elastic(1, 4)
      .build();
}

TEST(Boa, WidensJobsThatStateNothingAsTheyShowThatItPays) {
  Cluster cluster(nodes(), "boa,budget=100,rates_h=silent:10");
  cluster.submit(silent(1));
  cluster.round();
  cluster.round();
  double done = 0;
  const auto go_on = [&](double rate) {
    for (int report = 0; report < 3; ++report) {
      cluster.progress(1, done += rate);
      cluster.round();
    }
  };
  go_on(10);
  EXPECT_EQ(cluster.state().find(JobId{1})->width, 2U)
      << "twice what was seen, as if it were linear";
  go_on(20);
  EXPECT_EQ(cluster.state().find(JobId{1})->width, 4U);
  // Four are slower than two were: the next plan has them back.
  go_on(15);
  for (int rounds = 0; rounds < 4; ++rounds) cluster.round();
  EXPECT_EQ(cluster.state().find(JobId{1})->width, 2U);
}

TEST(Boa, LearnsWhateverJobsStateWhereItIsTold) {
  Cluster cluster(nodes(), "boa,budget=100,rates_h=net:10,speedups=learned");
  cluster.submit(training(1));
  cluster.round();
  cluster.round();
  cluster.progress(1, 120);
  cluster.round();
  EXPECT_EQ(cluster.state().find(JobId{1})->width, 1U) << "nobody has shown that four are faster";
}

TEST(Boa, DecidesAfterARestartAsItWouldHave) {
  Cluster cluster(nodes(), kWide);
  cluster.submit(training(1));
  cluster.round();
  cluster.round();
  cluster.progress(1, 150);
  const std::string words = cluster.policy().save_state(cluster.state());
  boa::BoaParams params;
  params.budget_gpus = 100;
  params.arrivals.stated = {"net:10"};
  boa::BoaPolicy other(params);
  ASSERT_TRUE(other.load_state(words, cluster.view()));
  EXPECT_EQ(other.save_state(cluster.state()), words);
  Rng rng(1);
  Budget budget;
  const Plan mine = cluster.policy().decide(cluster.view(), rng, budget);
  const Plan its = other.decide(cluster.view(), rng, budget);
  ASSERT_EQ(mine.resizes.size(), 1U);
  ASSERT_EQ(its.resizes.size(), 1U);
  EXPECT_EQ(mine.resizes[0].width, its.resizes[0].width);
  EXPECT_FALSE(other.load_state("{}", cluster.view()));
}

TEST(Boa, RemembersWhoGoesAnotherWay) {
  Cluster cluster(nodes(), kShared);
  shared_widths(cluster, 4);
  const std::string words = cluster.policy().save_state(cluster.state());
  EXPECT_EQ(words.find("\"shared\":null"), std::string::npos);
  boa::BoaParams params;
  params.plan = boa::PlanKind::share;
  boa::BoaPolicy other(params);
  ASSERT_TRUE(other.load_state(words, cluster.view()));
  EXPECT_EQ(other.save_state(cluster.state()), words);
}

}  // namespace
}  // namespace muster
