#include "learning/runtime_predictor.hpp"

#include <gtest/gtest.h>

#include "tests/learning/learnt_text.hpp"
#include "tests/support/builders.hpp"

namespace muster {
namespace {

Job job(const std::string& user, const std::string& name, const std::string& cls = "c") {
  Job job = test::JobBuilder(1).workload_class(cls).build();
  job.user = user;
  job.name = name;
  return job;
}

double predicted_s(const RuntimePredictor& predictor, const Job& job) {
  return predictor.predict(job)->runtime_s;
}

void observe(RuntimePredictor& predictor, const Job& job, std::initializer_list<double> runs_s) {
  for (const double run_s : runs_s) predictor.observe(job, from_seconds(run_s));
}

TEST(RuntimePredictor, knows_nothing_at_first_and_then_what_it_has_seen) {
  RuntimePredictor predictor;
  EXPECT_FALSE(predictor.predict(job("ann", "train")).has_value());
  observe(predictor, job("ann", "train"), {40});
  EXPECT_EQ(predicted_s(predictor, job("ann", "train")), 40);
  EXPECT_EQ(predicted_s(predictor, job("bob", "sort", "other")), 40)
      << "all that is known of any job";
}

TEST(RuntimePredictor, is_exact_where_user_and_name_say_it_all) {
  RuntimePredictor predictor;
  const std::vector<Job> jobs = {job("ann", "train"), job("ann", "sort"), job("bob", "train"),
                                 job("bob", "sort")};
  for (int round = 0; round < 6; ++round) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const double truth_s = 10 * static_cast<double>(i + 1);
      if (round > 2) {  // an expert is heard once it has been tried twice
        EXPECT_DOUBLE_EQ(predicted_s(predictor, jobs[i]), truth_s);
        const std::string_view key = predictor.predict(jobs[i])->key;
        EXPECT_NE(key.find("user"), std::string_view::npos) << key;
        EXPECT_NE(key.find("name"), std::string_view::npos) << key;
      }
      observe(predictor, jobs[i], {truth_s});
    }
  }
}

TEST(RuntimePredictor, takes_numbered_runs_for_runs_of_one_job) {
  RuntimePredictor predictor;
  for (int i = 0; i < 5; ++i) observe(predictor, job("", "nightly-" + std::to_string(i), ""), {70});
  for (int i = 0; i < 5; ++i) observe(predictor, job("", "hourly-" + std::to_string(i), ""), {7});
  EXPECT_DOUBLE_EQ(predicted_s(predictor, job("", "nightly-77", "")), 70);
}

TEST(RuntimePredictor, listens_to_the_group_that_has_erred_least) {
  RuntimePredictor predictor;
  // What ann runs depends on its class; her name for it means nothing.
  for (int i = 0; i < 10; ++i) {
    observe(predictor, job("ann", i % 2 == 0 ? "x" : "y", "quick"), {10});
    observe(predictor, job("ann", i % 3 == 0 ? "x" : "y", "slow"), {1000});
  }
  EXPECT_NEAR(predicted_s(predictor, job("ann", "x", "quick")), 10, 1e-9);
  EXPECT_NEAR(predicted_s(predictor, job("ann", "y", "slow")), 1000, 1e-9);
  EXPECT_NE(predictor.predict(job("ann", "y", "slow"))->key.find("class"), std::string_view::npos);
}

TEST(RuntimePredictor, takes_the_estimator_that_fits) {
  RuntimePredictor drifting;
  double run_s = 10;
  for (int i = 0; i < 40; ++i) observe(drifting, job("ann", "grow"), {run_s *= 1.2});
  EXPECT_EQ(drifting.predict(job("ann", "grow"))->estimator, Estimator::rolling);
  RuntimePredictor spiky;
  for (int i = 0; i < 10; ++i) observe(spiky, job("ann", "spike"), {10, 10, 10, 10, 900});
  EXPECT_EQ(spiky.predict(job("ann", "spike"))->estimator, Estimator::median);
  EXPECT_EQ(predicted_s(spiky, job("ann", "spike")), 10);
}

TEST(RuntimePredictor, is_compared_with_a_job_before_it_learns_of_it) {
  RuntimePredictor predictor;
  const Job ann = job("ann", "train");
  const std::uint64_t cls = RuntimePredictor::error_class(ann);
  observe(predictor, ann, {100});
  EXPECT_EQ(predictor.probability_of_error_within(cls, 1), 0) << "the first one was not predicted";
  observe(predictor, ann, {80});
  EXPECT_EQ(predictor.probability_of_error_within(cls, 0.1), 0) << "100 was said, not 80 or 90";
  EXPECT_EQ(predictor.probability_of_error_within(cls, 0.21), 1) << "delta is 0.2";
}

TEST(RuntimePredictor, counts_errors_by_user_and_class) {
  RuntimePredictor predictor;
  for (int i = 0; i < 30; ++i) {
    observe(predictor, job("ann", "a", "steady"), {100});
    observe(predictor, job("ann", "b", "wild"), {i % 2 == 0 ? 1.0 : 5000.0});
  }
  const SorsRule rule{.eps = 0.5, .p_threshold = 0.95, .min_samples = 20};
  const SorsVerdict steady = predictor.judge(job("ann", "a", "steady"), rule);
  EXPECT_TRUE(steady.allowed());
  EXPECT_GE(steady.promised_s, 100);
  EXPECT_EQ(predictor.judge(job("ann", "b", "wild"), rule).reason, SorsReason::error_too_probable);
  EXPECT_EQ(predictor.judge(job("bob", "a", "steady"), rule).reason, SorsReason::too_few_samples);
  EXPECT_EQ(RuntimePredictor().judge(job("ann", "a"), rule).reason, SorsReason::no_estimate);
}

TEST(RuntimePredictor, remembers_no_more_than_it_may) {
  RuntimePredictor predictor({.groups = 50, .classes = 3});
  for (int i = 0; i < 200; ++i) {
    const std::string letter(1 + i % 20, static_cast<char>('a' + i % 26));
    observe(predictor, job(letter, letter, letter), {10});
  }
  EXPECT_EQ(predictor.groups(), 50u);
  EXPECT_EQ(predictor.classes(), 3u);
  EXPECT_EQ(predicted_s(predictor, job("new", "new", "new")), 10);
}

TEST(RuntimePredictor, copes_with_the_shortest_and_the_longest_of_runs) {
  RuntimePredictor predictor;
  observe(predictor, job("ann", "x"), {0, 0, 0});
  EXPECT_GT(predicted_s(predictor, job("ann", "x")), 0);
  predictor.observe(job("ann", "x"), Duration::max());
  predictor.observe(job("ann", "x"), Duration::min());
  EXPECT_TRUE(parse_predictor(predictor_text(predictor)).has_value());
}

TEST(RuntimePredictor, goes_on_from_its_text_as_if_it_had_never_stopped) {
  RuntimePredictor predictor({.groups = 40, .classes = 4});
  Rng rng(11);
  const auto some = [&] {
    const std::string name(1, static_cast<char>('a' + rng.below(9)));
    return job("u" + name, name + name, name);
  };
  for (int i = 0; i < 300; ++i) observe(predictor, some(), {rng.uniform(1, 100)});
  auto again = parse_predictor(predictor_text(predictor));
  ASSERT_TRUE(again.has_value()) << again.error().message;
  for (int i = 0; i < 100; ++i) {
    const Job next = some();
    const double run_s = rng.uniform(1, 100);
    EXPECT_EQ(predicted_s(predictor, next), predicted_s(again.value(), next));
    observe(predictor, next, {run_s});
    observe(again.value(), next, {run_s});
  }
  EXPECT_EQ(predictor_text(predictor), predictor_text(again.value()));
}

TEST(RuntimePredictor, is_never_made_from_a_damaged_text) {
  RuntimePredictor predictor;
  for (int i = 0; i < 8; ++i) observe(predictor, job("ann", "x"), {10.0 + i});
  test::expect_damage_is_noticed(predictor_text(predictor), "predictor", parse_predictor,
                                 [](const RuntimePredictor& read) {
                                   RuntimePredictor used = read;
                                   observe(used, job("ann", "x"), {12});
                                   ASSERT_TRUE(std::isfinite(predicted_s(used, job("ann", "x"))));
                                 });
}

}  // namespace
}  // namespace muster
