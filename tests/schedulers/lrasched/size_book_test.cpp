#include "schedulers/lrasched/size_book.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "learning/services/service_family.hpp"
#include "schedulers/lrasched/size_search.hpp"
#include "tests/schedulers/cluster.hpp"
#include "tests/support/golden.hpp"

namespace muster::lrasched {
namespace {

using ::muster::test::IsGolden;
using ::muster::testing::Cluster;
using ::muster::testing::table_3;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kMetric = "performance";

/// A service of that many replicas, and two tasks to spare, that asks for 4 cores and 4 GiB and may
/// have an eighth of both.
Job sized(std::uint64_t number, std::uint32_t replicas, double bound) {
  Job job = ::muster::test::JobBuilder(number)
                .tasks(replicas + 2)
                .demand(Resources::of(0, 4, 4))
                .gang(false)
                .build();
  ServiceSpec spec;
  spec.replicas = replicas;
  spec.goal = {.metric = kMetric, .bound = bound, .at_least = true};
  spec.size = {.least_cpus = 0.5, .least_memory_gib = 0.5};
  job.kind = spec;
  return job;
}

std::vector<const TaskRow*> replicas_of(const Cluster& cluster, std::uint64_t job) {
  std::vector<const TaskRow*> rows;
  for (const Slot slot : cluster.state().find(JobId{job})->tasks) {
    const TaskRow& task = cluster.state().task(slot);
    if (task.wanted) rows.push_back(&task);
  }
  return rows;
}
std::vector<double> cores_of(const Cluster& cluster, std::uint64_t job) {
  std::vector<double> cores;
  for (const TaskRow* task : replicas_of(cluster, job)) {
    cores.push_back(task->held.amount[Resource::cpu]);
  }
  return cores;
}
/// All replicas say the number that `of` gives for their size.
template <class Of>
void say(Cluster& cluster, std::uint64_t job, const Of& of) {
  for (const TaskRow* task : replicas_of(cluster, job)) {
    if (task->phase != TaskPhase::running) continue;
    cluster.replica_says(task->id, kMetric, of(task->held.amount));
  }
  cluster.let_pass(std::chrono::minutes{1});
}
/// Rounds after each of which all replicas say theirs.
template <class Of>
void run(Cluster& cluster, std::uint64_t job, int rounds, const Of& of) {
  for (int i = 0; i < rounds; ++i) {
    cluster.round();
    say(cluster, job, of);
  }
}
/// As many numbers as there are cores.
double by_cores(const Resources& size) {
  return size[Resource::cpu];
}
/// A fleet that holds all sizes beside each other.
Cluster roomy(const std::string& policy = "lrasched") {
  Cluster cluster(table_3(), policy);
  cluster.add_to_fleet("it1", 8);
  return cluster;
}

TEST(ServiceSizesBetween, double_from_the_least_to_what_is_asked_for) {
  const ServiceSizes sizes = sizes_between({0.5, 1}, Resources::of(0, 3, 4));
  ASSERT_EQ(sizes.size(), 4U * 3U);
  EXPECT_EQ(sizes[0].cores, 0.5);
  EXPECT_EQ(sizes[0].memory_gib, 1);
  EXPECT_EQ(sizes[sizes.largest()].cores, 3);
  EXPECT_EQ(sizes[sizes.largest()].memory_gib, 4);
}

TEST(ServiceSizesBetween, are_no_more_than_a_learner_compares) {
  const ServiceSizes sizes = sizes_between({0.001, 0.001}, Resources::of(0, 1000, 1000));
  EXPECT_EQ(sizes.size(), kMostSteps * kMostSteps);
  EXPECT_EQ(sizes[sizes.largest()].cores, 1000);
  EXPECT_EQ(sizes_between({2, 2}, Resources::of(0, 2, 2)).size(), 1U);
}

TEST(LraSizes, begin_with_what_is_asked_for_and_try_a_smaller_size_with_one_replica) {
  Cluster cluster = roomy();
  cluster.submit(sized(1, 3, 1));
  cluster.round();
  EXPECT_THAT(cores_of(cluster, 1), ElementsAre(4, 4, 4));
  say(cluster, 1, by_cores);
  const Plan plan = cluster.round();
  ASSERT_THAT(plan.places, SizeIs(1));
  EXPECT_EQ(plan.places.front().cause.code, CauseCode::resized);
  EXPECT_EQ(testing::figure(plan, "services_number_at_15_of_1"), 4) << "of the largest size";
  std::vector<double> cores = cores_of(cluster, 1);
  EXPECT_LT(cores.front(), 4);
  EXPECT_THAT(std::vector(cores.begin() + 1, cores.end()), ElementsAre(4, 4));
}

TEST(LraSizes, are_noted_by_cores_and_memory_for_those_who_read_of_them) {
  Cluster cluster = roomy();
  cluster.submit(sized(1, 3, 0.8));
  run(cluster, 1, 1, by_cores);
  const Plan plan = cluster.round();
  const auto noted = [&](const std::string& name) {
    return testing::figure(plan, "services_" + name + "_of_1");
  };
  for (const std::string which : {"at", "size"}) {
    EXPECT_EQ(noted(which + "_cores"), 4);
    EXPECT_EQ(noted(which + "_gib"), 4);
  }
  const Resources& tried = replicas_of(cluster, 1).front()->held.amount;
  EXPECT_EQ(noted("trial_cores"), tried[Resource::cpu]);
  EXPECT_EQ(noted("trial_gib"), tried[Resource::memory]);
}

TEST(LraSizes, let_all_replicas_follow_when_the_goal_is_met) {
  Cluster cluster = roomy();
  cluster.submit(sized(1, 3, 0.8));
  run(cluster, 1, 20, by_cores);
  EXPECT_THAT(cores_of(cluster, 1), ElementsAre(1, 1, 1));
  EXPECT_THAT(cluster.round().places, IsEmpty()) << "it is settled";
}

TEST(LraSizes, leave_a_size_that_does_not_meet_the_goal_any_more) {
  Cluster cluster = roomy();
  cluster.submit(sized(1, 2, 0.8));
  run(cluster, 1, 20, by_cores);
  ASSERT_THAT(cores_of(cluster, 1), ElementsAre(1, 1));
  const auto under_load = [](const Resources& size) { return size[Resource::cpu] / 2; };
  for (int i = 0; i < 20; ++i) {
    say(cluster, 1, under_load);
    cluster.round();
  }
  EXPECT_THAT(cores_of(cluster, 1), ElementsAre(2, 2));
}

TEST(LraSizes, leave_a_size_at_which_a_program_ends) {
  Cluster cluster = roomy();
  cluster.submit(sized(1, 2, 0.1));
  const auto ends_below_4_gib = [&] {
    for (const TaskRow* task : replicas_of(cluster, 1)) {
      const bool ends = task->held.amount[Resource::memory] < 4;
      cluster.replica_says(task->id, kMetric, 1, ends ? 1 : 0);
    }
    cluster.let_pass(std::chrono::minutes{1});
  };
  for (int i = 0; i < 40; ++i) {
    cluster.round();
    ends_below_4_gib();
  }
  for (const TaskRow* task : replicas_of(cluster, 1)) {
    EXPECT_EQ(task->held.amount[Resource::memory], 4);
  }
}

TEST(LraSizes, go_back_where_a_trial_is_never_ready) {
  Cluster cluster = roomy();
  cluster.submit(sized(1, 2, 0.1));
  for (int i = 0; i < 60; ++i) {
    cluster.round();
    for (const TaskRow* task : replicas_of(cluster, 1)) {
      if (task->held.amount[Resource::cpu] == 4) cluster.replica_says(task->id, kMetric, 1);
    }
  }
  for (const TaskRow* task : replicas_of(cluster, 1)) {
    EXPECT_EQ(task->held.amount[Resource::cpu], 4);
  }
}

TEST(LraSizes, are_corrected_while_another_one_is_tried) {
  Cluster cluster = roomy();
  cluster.submit(sized(1, 3, 0.8));
  const auto at_most_2 = [](const Resources& size) { return size[Resource::cpu] >= 2 ? 2 : 0.1; };
  run(cluster, 1, 1, at_most_2);
  int rounds = 0;
  while (cores_of(cluster, 1) != std::vector<double>{2, 2, 2} && ++rounds < 20) {
    run(cluster, 1, 1, at_most_2);
  }
  ASSERT_LT(rounds, 20);
  // One tries another size, and the others miss the goal from now on.
  run(cluster, 1, 6, [](const Resources& size) { return size[Resource::cpu] >= 4 ? 1 : 0.1; });
  EXPECT_THAT(cores_of(cluster, 1), ElementsAre(4, 4, 4));
}

TEST(LraSizes, are_tried_again_on_the_next_day) {
  Cluster cluster = roomy("lrasched,changes_a_day=1");
  cluster.submit(sized(1, 1, 0.001));
  run(cluster, 1, 30, by_cores);
  const std::vector<double> first = cores_of(cluster, 1);
  const double memory = replicas_of(cluster, 1).front()->held.amount[Resource::memory];
  for (int day = 0; day < 12; ++day) {
    cluster.let_pass(std::chrono::hours{24});
    run(cluster, 1, 3, by_cores);
  }
  EXPECT_LE(cores_of(cluster, 1), first);
  EXPECT_LE(replicas_of(cluster, 1).front()->held.amount[Resource::memory], memory);
  EXPECT_THAT(cores_of(cluster, 1), ElementsAre(0.5));
}

TEST(LraSizes, begin_with_what_is_asked_for_in_another_revision) {
  Cluster cluster = roomy();
  cluster.submit(sized(1, 2, 0.8));
  run(cluster, 1, 20, by_cores);
  ASSERT_THAT(cores_of(cluster, 1), ElementsAre(1, 1));
  Job next = sized(2, 2, 0.8);
  std::get<ServiceSpec>(next.kind).replaces = JobId{1};
  cluster.submit(next);
  for (int i = 0; i < 2; ++i) cluster.want(next.tasks[i].id);
  cluster.round();
  EXPECT_THAT(cores_of(cluster, 2), ElementsAre(4, 4));
  for (int i = 0; i < 3; ++i) {
    say(cluster, 2, by_cores);
    cluster.round();
  }
  EXPECT_THAT(cores_of(cluster, 2), ElementsAre(1, 1)) << "it knows the numbers of the one before";
}

TEST(LraSizes, of_other_services_do_not_wait_for_those_whose_numbers_leap) {
  Cluster cluster = roomy();
  for (std::uint64_t i = 1; i <= SizeSearch::kMostStepsARound; ++i) {
    Job noisy = sized(i, 1, 1000);
    noisy.tasks.resize(2);
    for (TaskSpec& task : noisy.tasks) task.demands = Demands(Resources::of(0, 0.02, 0.02));
    std::get<ServiceSpec>(noisy.kind).size = {.least_cpus = 0.01, .least_memory_gib = 0.01};
    cluster.submit(noisy);
  }
  cluster.submit(sized(99, 2, 0.8));
  double leap = 1;
  for (int i = 0; i < 20; ++i) {
    cluster.round();
    leap *= -2;
    for (std::uint64_t job = 1; job <= SizeSearch::kMostStepsARound; ++job) {
      for (const TaskRow* task : replicas_of(cluster, job)) {
        if (task->phase == TaskPhase::running) cluster.replica_says(task->id, kMetric, leap);
      }
    }
    say(cluster, 99, by_cores);
    cluster.let_pass(std::chrono::seconds{7 * i});
  }
  EXPECT_LT(cores_of(cluster, 99).front(), 4);
}

TEST(LraSizes, survive_numbers_of_any_size) {
  Cluster cluster = roomy();
  Job job = sized(1, 1, 1);
  std::get<ServiceSpec>(job.kind).goal.at_least = false;
  cluster.submit(job);
  for (const double number : {1.0, 1e-300, 1e10, -1e18, 0.0, 1e18, 1e-300, 1.0, -1.0, 1e18}) {
    run(cluster, 1, 1, [&](const Resources&) { return number; });
    const std::string saved = cluster.policy().save_state(cluster.state());
    auto other = make_policy({"lrasched", {}}, cluster.catalog()).value();
    EXPECT_TRUE(other->load_state(saved, cluster.view())) << saved;
  }
}

TEST(LraSizes, are_no_more_those_at_which_a_stand_in_has_failed) {
  Cluster cluster = roomy();
  cluster.submit(sized(1, 2, 0.8));
  run(cluster, 1, 20, by_cores);
  ASSERT_THAT(cores_of(cluster, 1), ElementsAre(1, 1));
  // The master takes it back, and another one comes, before a round has seen it fail.
  const std::vector<const TaskRow*> before = replicas_of(cluster, 1);
  const TaskId fails{102}, comes{103};
  for (const TaskRow* task : before) ASSERT_TRUE(task->id != fails && task->id != comes);
  cluster.want(before.front()->id, false);
  cluster.want(fails);
  cluster.round();
  ASSERT_EQ(cluster.state().find(fails)->held.amount[Resource::cpu], 1);
  cluster.replica_ends(fails);
  cluster.want(fails, false);
  cluster.want(comes);
  const std::string saved = cluster.policy().save_state(cluster.state());
  auto other = make_policy(parse_policy("lrasched").value(), cluster.catalog()).value();
  ASSERT_TRUE(other->load_state(saved, cluster.view()));
  EXPECT_EQ(other->save_state(cluster.state()), saved);
  const Plan plan = cluster.round();
  EXPECT_EQ(cluster.state().find(comes)->held.amount[Resource::cpu], 4);
  const auto notes_failure = [](const Plan& of) {
    return std::ranges::any_of(of.note.figures, [](const auto& figure) {
      return figure.first.starts_with("services_failed_at_") && figure.first.ends_with("_of_1");
    });
  };
  EXPECT_TRUE(notes_failure(plan));
  EXPECT_EQ(testing::figure(plan, "services_at_cores_of_1"), 1);
  EXPECT_FALSE(notes_failure(cluster.round())) << "once is enough";
}

TEST(SizeBook, takes_up_a_memory_of_a_version_that_saved_the_services_alone) {
  Cluster cluster = roomy();
  cluster.submit(sized(1, 2, 0.8));
  cluster.round();
  SizeBook book;
  ASSERT_TRUE(book.load("[[1,[[3,0.5]],2,null,[],true]]", cluster.view()));
  const SizedService& service = *book.find(JobId{1});
  EXPECT_EQ(service.chosen, 2U);
  EXPECT_EQ(service.numbers.at(3), 0.5);
  EXPECT_TRUE(service.goes_on);
  EXPECT_FALSE(book.load("{}", cluster.view()));
}

TEST(LraSizes, stay_as_asked_for_where_the_goal_is_not_met) {
  Cluster cluster = roomy();
  cluster.submit(sized(1, 2, 100));
  run(cluster, 1, 5, by_cores);
  EXPECT_THAT(cores_of(cluster, 1), ElementsAre(4, 4));
}

TEST(LraSizes, are_those_that_users_state_where_the_policy_is_told_so) {
  for (const std::string policy : {"lrasched,sizes=stated", "ffd", "muster,eager"}) {
    Cluster cluster = roomy(policy);
    cluster.submit(sized(1, 2, 1));
    run(cluster, 1, 4, by_cores);
    EXPECT_THAT(cores_of(cluster, 1), ElementsAre(4, 4)) << policy;
  }
}

/// The cheapest size of the family that meets the goal, and what a search comes to, over services
/// that the learner has not seen.
struct Comparison {
  int missed = 0;    ///< services that do not meet their goal
  double price = 0;  ///< over that of the cheapest right size, mean
};
Comparison compare(const std::string& policy) {
  constexpr std::uint64_t kServices = 30;
  Comparison sum;
  for (std::uint64_t seed = 1; seed <= kServices; ++seed) {
    Rng rng(1000 + seed);
    const FamilyService service = draw_service(rng);
    const ServiceSizes sizes = sizes_between({0.5, 0.5}, Resources::of(0, 4, 4));
    const PerformanceCurve truth = performance_curve(service, sizes);
    const double goal = rng.uniform(0.5, 0.9);
    Cluster cluster = roomy(policy);
    cluster.submit(sized(1, 2, goal));
    const auto of = [&](const Resources& amount) {
      std::uint32_t at = 0;
      while (sizes[at].cores != amount[Resource::cpu] ||
             sizes[at].memory_gib != amount[Resource::memory]) {
        ++at;
      }
      return truth[at];
    };
    run(cluster, 1, 25, of);
    const auto order = sizes.by_price();
    const auto right =
        std::ranges::find_if(order, [&](std::uint32_t at) { return truth[at] >= goal; });
    const Resources& got = replicas_of(cluster, 1).front()->held.amount;
    sum.missed += of(got) < goal ? 1 : 0;
    const double price_usd_h =
        got[Resource::cpu] * kCorePrice_usd_h + got[Resource::memory] * kGibPrice_usd_h;
    sum.price += price_usd_h / sizes[*right].price_usd_h / kServices;
  }
  return sum;
}

TEST(LraSizes, come_near_to_the_cheapest_that_meets_the_goal_by_any_learner) {
  const auto near = [](const std::string& learner, double most) {
    const Comparison found = compare("lrasched,learner=" + learner);
    EXPECT_EQ(found.missed, 0) << learner;
    EXPECT_THAT(found.price, AllOf(::testing::Ge(1), ::testing::Le(most))) << learner;
  };
  near("history", 1.15);
  near("fm", 1.4);
  near("mf", 1.4);
}

/// lrasched, to which each file has that text.
PolicyModule with_file(const std::string& text) {
  PolicyModule module = *find_module("lrasched").value();
  module.read = [inner = module.read, files = module.read_files, text](const PolicySpec& spec) {
    auto params = inner(spec);
    EXPECT_EQ(files(params.value(), [&](const std::filesystem::path&) { return text; }), "");
    return params;
  };
  return module;
}

TEST(LraSizes, are_predicted_from_the_services_of_a_history) {
  // Half of the cores have ever been enough, but for memory less than all never was.
  const PastService past{{1, 2}, {4, 8}, {0.1, 1, 0.1, 1}};
  const std::vector all(30, past);
  const auto first_trial = [](Cluster cluster) {
    cluster.add_to_fleet("it1", 8);
    cluster.submit(sized(1, 3, 3.8));
    run(cluster, 1, 1, by_cores);
    cluster.round();
    return replicas_of(cluster, 1).front()->held.amount;
  };
  const Resources tried =
      first_trial(Cluster(table_3(), with_file(past_services_text(all)), "lrasched,history=past"));
  EXPECT_EQ(tried[Resource::cpu], 2);
  EXPECT_EQ(tried[Resource::memory], 4);
  EXPECT_NE(first_trial(Cluster(table_3(), "lrasched")), tried)
      << "drawn services say something else";
}

TEST(LraSizes, need_a_history_that_can_be_read) {
  const Catalog catalog = table_3();
  const auto fault_of = [&](const std::string& text) {
    PolicyServices services;
    services.read_file = [&](const std::filesystem::path&) { return text; };
    const auto made =
        make_policy(parse_policy("lrasched,history=old").value(), catalog, 1, services);
    EXPECT_EQ(made ? PolicyError{} : made.error().code, PolicyError::bad_file);
    return made ? "" : made.error().message;
  };
  EXPECT_THAT(fault_of("web"), HasSubstr("policy \"lrasched\": history: old: line 1"));
  EXPECT_THAT(fault_of(seal_model("past-services", 7, "")), IsGolden());
}

TEST(SizeBook, is_what_its_events_say_whoever_folds_them) {
  Cluster cluster = roomy();
  cluster.submit(sized(1, 2, 1));
  for (int i = 0; i < 6; ++i) {
    run(cluster, 1, 1, by_cores);
    auto other = find_module("lrasched")
                     .value()
                     ->make_policy(parse_policy("lrasched").value(), cluster.catalog())
                     .value();
    const std::string saved = cluster.policy().save_state(cluster.state());
    ASSERT_TRUE(other->load_state(saved, cluster.view()));
    EXPECT_EQ(other->save_state(cluster.state()), saved);
    Rng one(7), two(7);
    Budget of_one, of_two;
    const Plan plan = cluster.policy().decide(cluster.view(), one, of_one);
    EXPECT_EQ(other->decide(cluster.view(), two, of_two).note, plan.note);
  }
}

TEST(SizeBook, leaves_out_steps_that_it_does_not_understand) {
  SizeBook book;
  RoundNote note;
  note.figures = {{"services_number_at_3_of_9", 1},
                  {"services_size_of_9", 2},
                  {"services_number_at_", 1},
                  {"services_number_at_4_of_", 1},
                  {"services_failed_at_99999_of_1", 1e9},
                  {"services_trial_of_", -1}};
  EXPECT_THAT(book.read(note), IsEmpty());
}

}  // namespace
}  // namespace muster::lrasched
