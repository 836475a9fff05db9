#include "schedulers/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "schedulers/eva/eva_policy.hpp"
#include "schedulers/market_split.hpp"
#include "tests/schedulers/catalogs.hpp"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::Pair;

const Catalog& catalog() {
  static const Catalog table = testing::table_3();
  return table;
}

Expected<std::unique_ptr<Policy>, PolicyError> make(const std::string& text) {
  auto spec = parse_policy(text);
  EXPECT_TRUE(spec.has_value()) << text;
  return make_policy(spec.value(), catalog());
}

void expect_failure(const std::string& text, PolicyError code,
                    const std::vector<std::string>& said) {
  const auto made = make(text);
  ASSERT_FALSE(made.has_value()) << text;
  EXPECT_EQ(made.error().code, code) << made.error().message;
  for (const std::string& part : said) EXPECT_THAT(made.error().message, HasSubstr(part));
}

TEST(ParsePolicy, reads_a_name_with_values_and_flags) {
  const auto spec = parse_policy("eva,t=0.9,full-only");
  ASSERT_TRUE(spec.has_value());
  EXPECT_EQ(spec->name, "eva");
  EXPECT_THAT(spec->params, ::testing::ElementsAre(Pair("t", "0.9"), Pair("full-only", "true")));
}

TEST(ParsePolicy, refuses_empty_parts) {
  for (const char* text : {"", ",", "eva,", "eva,,t=1", "=1", "eva=2", "eva,=3"}) {
    const auto spec = parse_policy(text);
    ASSERT_FALSE(spec.has_value()) << text;
    EXPECT_EQ(spec.error().code, PolicyError::malformed);
  }
}

std::vector<PolicyModule> all_modules() {
  std::vector<PolicyModule> all = known_policies();
  all.insert(all.end(), known_groups().begin(), known_groups().end());
  return all;
}

TEST(Registry, has_each_name_once_and_finds_it) {
  std::set<std::string> names;
  for (const PolicyModule& module : all_modules()) {
    EXPECT_TRUE(names.insert(module.name).second) << module.name;
    EXPECT_EQ(find_module(module.name).value()->meaning, module.meaning);
    EXPECT_FALSE(module.meaning.empty() || module.meaning.find('\n') != std::string::npos);
  }
  EXPECT_EQ(find_module("hcopo").error().code, PolicyError::unknown_policy);
}

TEST(Registry, every_default_passes_its_own_check_and_is_shown_as_itself) {
  for (const PolicyModule& module : all_modules()) {
    PolicySpec spec{module.name, {}};
    std::set<std::string> names;
    for (const ParamInfo& param : module.params) {
      EXPECT_TRUE(names.insert(param.name).second) << module.name << " " << param.name;
      EXPECT_FALSE(param.meaning.empty() || param.range.empty()) << param.name;
      spec.params.emplace_back(param.name, param.default_value);
    }
    const auto read = module.read(spec);
    EXPECT_TRUE(read.has_value()) << (read ? "" : read.error().message);
  }
}

TEST(Registry, masters_make_every_policy_and_no_group) {
  for (const PolicyModule& module : known_policies()) {
    EXPECT_TRUE(module.composition.empty());
    EXPECT_TRUE(make_policy({module.name, {}}, catalog()).has_value()) << module.name;
  }
  for (const PolicyModule& module : known_groups()) EXPECT_FALSE(module.composition.empty());
}

/// The parameters of a module as "name=default", in the order in which they are shown.
std::vector<std::string> params_of(const std::string& name) {
  std::vector<std::string> shown;
  for (const ParamInfo& param : find_module(name).value()->params) {
    shown.push_back(param.name + "=" + param.default_value);
  }
  return shown;
}

TEST(Registry, describes_each_policy_with_its_papers_defaults) {
  EXPECT_THAT(params_of("no-packing"), ElementsAre("period_s=300", "eager=false", "spot=asked"));
  EXPECT_THAT(params_of("eva"), ElementsAre("artifact=false", "paper=false", "full-only=false",
                                            "partial-only=false", "rp=false", "single=false",
                                            "t=0.95", "period_s=300", "eager=false", "spot=asked"));
  EXPECT_THAT(params_of("synergy"),
              ElementsAre("artifact=false", "t=0.95", "period_s=300", "eager=false", "spot=asked"));
  EXPECT_THAT(params_of("owl"), ElementsAre("artifact=false", "t=0.95", "profile=learnt",
                                            "period_s=300", "eager=false", "spot=asked"));
  const std::vector<std::string> alone = {"backfill=true",       "on_demand_fallback=true",
                                          "max_interruptions=2", "threshold_s=90",
                                          "idle_release_s=60",   "period_s=30"};
  EXPECT_THAT(params_of("hcoop-no-packing"), ElementsAreArray(alone));
  std::vector<std::string> packing = {"group=2", "pairing=greedy", "exact_tasks=200"};
  packing.insert(packing.end(), alone.begin(), alone.end());
  EXPECT_THAT(params_of("hcoop"), ElementsAreArray(packing));
  EXPECT_THAT(params_of("lrasched"),
              ElementsAre("fit=balanced", "order=increasing", "patience=3", "limit=0",
                          "goal_limit=2", "limits=learnt", "phase2=rent", "spread=0.1",
                          "moves=true", "clears=true", "sizes=learnt", "learner=history",
                          "probe_for_s=30", "changes_a_day=3", "history=", "strict=false",
                          "free_wait_s=36", "at_once=true", "period_s=300", "eager=false"));
  EXPECT_THAT(params_of("ffd"),
              ElementsAre("fit=first", "phase2=rent", "strict=false", "free_wait_s=36",
                          "at_once=true", "period_s=300", "eager=false"));
  EXPECT_THAT(params_of("lra-ilp"),
              ElementsAre("nodes=2000", "seconds=5", "cells=20000", "limit=0", "strict=false",
                          "free_wait_s=36", "at_once=true", "period_s=300", "eager=false"));
  EXPECT_THAT(params_of("sparrow"),
              ElementsAre("probe_ratio=2", "min_probes=1", "replacement=false",
                          "cancellation=false", "skip_blocked=false", "network_delay_ms=0.5"));
  EXPECT_THAT(
      params_of("eagle"),
      ElementsAre("cutoff_s=90.5811", "short_partition=0.02", "probe_ratio=2", "min_probes=20",
                  "replacement=true", "retry_rounds=1", "sticky=true", "srpt=true",
                  "starvation_cap=5", "skip_blocked=false", "network_delay_ms=0.5"));
  EXPECT_THAT(params_of("pigeon"),
              ElementsAre("cutoff_s=90.5811", "groups=30", "reserved=0.02", "weight=0",
                          "skip_blocked=false", "network_delay_ms=0.5"));
}

TEST(Registry, only_hcoop_has_jobs_sorted_and_shared_and_stratus_has_run_times_predicted) {
  for (const PolicyModule& module : all_modules()) {
    const bool hcoop = module.name == "hcoop" || module.name == "hcoop-no-packing";
    std::optional<ClassifierKind> by;
    if (hcoop) by = ClassifierKind::svm;
    if (module.name == "stratus") by = ClassifierKind::hint;
    EXPECT_EQ(module.intake.classify_by, by) << module.name;
    EXPECT_EQ(module.intake.masters_per_job, hcoop ? 2U : 1U) << module.name;
    const std::set<std::string> by_run_time{"muster",  "lrasched", "ffd",       "lra-ilp",
                                            "stratus", "hotspot",  "supercloud"};
    EXPECT_EQ(module.uses.predictions, hcoop || by_run_time.contains(module.name)) << module.name;
  }
  EXPECT_EQ(intake_of("hcoop,period_s=1")->masters_per_job, 2U);
  EXPECT_EQ(intake_of("hcoop,").error().code, PolicyError::malformed);
  EXPECT_EQ(intake_of("hcopo").error().code, PolicyError::unknown_policy);
}

TEST(Registry, workers_are_asked_for_throughput_where_the_policy_says_that_it_uses_it) {
  for (const PolicyModule& module : known_policies()) {
    const auto made = make_policy({module.name, {}}, catalog());
    EXPECT_EQ(module.uses.throughput, made.value()->cadence().wants_throughput) << module.name;
  }
}

TEST(Registry, makes_the_paths_of_parameters_absolute_and_leaves_all_else) {
  const std::string here = std::filesystem::current_path();
  EXPECT_EQ(with_absolute_paths("lrasched,history=a/b,eager,period_s=5"),
            "lrasched,history=" + here + "/a/b,eager,period_s=5");
  for (const std::string same : {"lrasched,history=/a", "lrasched,history=", "hcopo,history=a",
                                 "eva,t=0.5", "lrasched,,", "lrasched,eager"}) {
    EXPECT_EQ(with_absolute_paths(same), same);
  }
}

TEST(MakePolicy, hands_the_parameters_on) {
  const auto made = make("eva,period_s=60");
  EXPECT_EQ(made.value()->cadence().period, std::chrono::seconds{60});
  EXPECT_EQ(make("hcoop").value()->cadence().period, std::chrono::seconds{30});
  EXPECT_EQ(make("hcoop,period_s=5").value()->cadence().period, std::chrono::seconds{5});
  const auto careful = make("eva,t=0.5");
  const auto& split = dynamic_cast<const MarketSplit&>(*careful.value());
  const auto* eva = dynamic_cast<const eva::EvaPolicy*>(&split.on_demand());
  ASSERT_NE(eva, nullptr);
  EXPECT_EQ(eva->table().default_pair(), 0.5);
}

TEST(MakePolicy, names_the_known_policies_when_it_does_not_know_one) {
  expect_failure("hcopo", PolicyError::unknown_policy, {"hcopo", "no-packing", "eva"});
}

TEST(MakePolicy, names_the_known_parameters_when_it_does_not_know_one) {
  expect_failure("eva,tt=1", PolicyError::unknown_parameter, {"tt", "period_s", "artifact"});
  expect_failure("hcoop-no-packing,group=2", PolicyError::unknown_parameter, {"backfill"});
  expect_failure("no-packing,t=1", PolicyError::unknown_parameter, {"no-packing", "period_s"});
}

TEST(MakePolicy, says_what_a_parameter_of_an_earlier_version_is_called) {
  const auto spec = parse_policy("hcoop,spill=false");
  ASSERT_TRUE(spec);
  const Catalog catalog;
  const auto made = make_policy(spec.value(), catalog);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message,
            "policy \"hcoop\": parameter \"spill\" is called on_demand_fallback now");
}

TEST(MakePolicy, names_the_range_of_a_bad_value) {
  for (const char* bad : {"0", "1.01", "-1", "nan", "inf", "", "0.9x", "x"}) {
    expect_failure(std::string("eva,t=") + bad, PolicyError::bad_value, {"> 0 and <= 1"});
  }
  expect_failure("eva,rp=yes", PolicyError::bad_value, {"true or false", "yes"});
  expect_failure("no-packing,period_s=0", PolicyError::bad_value, {"604800"});
  for (const char* bad : {"0", "4", "1.5"}) {
    expect_failure(std::string("hcoop,group=") + bad, PolicyError::bad_value, {"1, 2 or 3"});
  }
  expect_failure("hcoop,pairing=best", PolicyError::bad_value, {"greedy or exact", "best"});
  expect_failure("hcoop,idle_release_s=-1", PolicyError::bad_value, {">= 0"});
  EXPECT_TRUE(make("hcoop,idle_release_s=0,max_interruptions=0").has_value());
}

TEST(MakePolicy, refuses_parameters_that_contradict_each_other) {
  expect_failure("eva,full-only,partial-only", PolicyError::contradiction, {"full-only"});
  expect_failure("eva,t=0.9,t=0.8", PolicyError::contradiction, {"twice"});
  EXPECT_TRUE(make("eva,full-only,partial-only=false").has_value());
  expect_failure("hcoop,pairing=exact,group=3", PolicyError::contradiction, {"group"});
}

}  // namespace
}  // namespace muster
