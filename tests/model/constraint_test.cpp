#include "model/constraint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/cluster_state.hpp"
#include "model/feasible.hpp"
#include "model/state_snapshot.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/same_state.hpp"

namespace muster {
namespace {

using test::IsGolden;
using test::JobBuilder;
using test::message_of;

InstanceType type(const std::string& name, const std::string& family, Labels labels) {
  InstanceType made;
  made.name = name;
  made.family = family;
  made.capacity = Resources::of(0, 8, 32);
  made.on_demand = Price::from_usd_h(1);
  made.labels = std::move(labels);
  return made;
}

const InstanceType kPlain = type("c7i.large", "c7i", {});
const InstanceType kZoned = type("c7i.xlarge", "c7i", {{"disk", "nvme"}, {"zone", "eu-1a"}});

bool admits(const std::string& text, const InstanceType& type) {
  return Constraint::parse(text).value().admits(type);
}

TEST(Constraint, has_every_type_where_it_says_nothing) {
  EXPECT_TRUE(Constraint().is_empty());
  EXPECT_TRUE(Constraint::parse("").value().is_empty());
  EXPECT_TRUE(admits("", kPlain));
}

TEST(Constraint, compares_names_and_families_with_patterns) {
  EXPECT_TRUE(admits("type=c7i.*", kPlain));
  EXPECT_TRUE(admits("type=*large", kZoned));
  EXPECT_FALSE(admits("type=c7i.large", kZoned));
  EXPECT_TRUE(admits("type=c7i.?large", kZoned));
  EXPECT_FALSE(admits("type=c7i.?large", kPlain));
  EXPECT_TRUE(admits("type=m5.*|c7i.*", kPlain));
  EXPECT_FALSE(admits("type!=m5.*|c7i.*", kPlain));
  EXPECT_TRUE(admits("family=c7?", kPlain));
  EXPECT_FALSE(admits("family!=c7i", kPlain));
  EXPECT_TRUE(admits("type=*a*g*", kPlain)) << "goes back to the last star";
  EXPECT_FALSE(admits("type=c7i", kPlain)) << "of the whole name";
}

TEST(Constraint, compares_labels_and_takes_one_that_is_not_there_as_no_value) {
  EXPECT_TRUE(admits("zone=eu-1a", kZoned));
  EXPECT_TRUE(admits("label.zone=eu-1a", kZoned));
  EXPECT_FALSE(admits("zone=eu-1a", kPlain));
  EXPECT_TRUE(admits("zone!=eu-1a", kPlain));
  EXPECT_FALSE(admits("zone!=eu-1b|eu-1a", kZoned));
  EXPECT_TRUE(admits("label.disk=ssd|nvme", kZoned));
  EXPECT_FALSE(admits("zone=eu-1", kZoned)) << "labels are no patterns";
}

TEST(Constraint, asks_for_all_of_its_terms) {
  EXPECT_TRUE(admits("type=c7i.*, zone=eu-1a, label.disk=nvme", kZoned));
  EXPECT_FALSE(admits("type=c7i.*,zone=eu-1a,label.disk=ssd", kZoned));
  EXPECT_THAT(Constraint::parse("zone=a,type=b,zone!=c,label.x=d").value().keys(),
              ::testing::ElementsAre("zone", "type", "label.x"));
}

TEST(Constraint, says_what_is_wrong_with_a_text) {
  std::string many = "zone=a";
  for (int i = 0; i < 16; ++i) many += ",zone=a";
  std::string values = "zone=a";
  for (int i = 0; i < 32; ++i) values += "|a";
  for (const std::string& text :
       {std::string("zone"), std::string("zone=a,"), std::string(",zone=a"), std::string("=a"),
        std::string("zone="), std::string("zone=a|"), std::string("zone=a|b c"),
        std::string("market=spot"), std::string("label.=a"), std::string("label.Disk=a"),
        std::string("zone=*"), std::string("type==a"), std::string("type=a\"b"), std::string(" "),
        many, values, "zone=" + std::string(65, 'a'),
        "type=" + std::string(kMaxConstraintBytes, 'a')}) {
    EXPECT_THAT(message_of(Constraint::parse(text), ConstraintError::malformed), IsGolden())
        << text;
  }
}

TEST(Constraint, that_cannot_be_read_is_met_by_no_type) {
  const Constraint later = Constraint::of("rack~7");
  EXPECT_FALSE(later.is_empty());
  EXPECT_FALSE(later.admits(kPlain));
  EXPECT_EQ(later.text(), "rack~7") << "whoever knows it reads it again";
  EXPECT_FALSE(later.is_readable());
  EXPECT_TRUE(Constraint::of("zone=a").is_readable());
}

/// A state with a job for each of these constraints.
ClusterState state_with(const Catalog& catalog, const std::vector<std::string>& constraints) {
  ClusterState state(catalog);
  std::uint64_t id = 1;
  for (const std::string& constraint : constraints) {
    Job job = JobBuilder(id++).tasks(3).build();
    job.constraint = constraint;
    state.apply({test::at_s(1), JobAccepted{job}});
  }
  return state;
}

ShapeId shape_of_job(const ClusterState& state, std::uint64_t job) {
  return state.task(state.find(JobId{job})->tasks.front()).shape;
}

/// The types on which the job's tasks may not be.
std::vector<std::string> refused_types(const ClusterState& state, std::uint64_t job) {
  const TaskRow& task = state.task(state.find(JobId{job})->tasks.front());
  std::vector<std::string> refused;
  for (TypeId type{0}; type.value < state.catalog().size(); ++type.value) {
    const bool may = !why_infeasible(state, {&task, type, Market::on_demand});
    if (!may) refused.push_back(state.catalog()[type].name);
  }
  return refused;
}

TEST(Constraint, is_a_part_of_the_shape_of_a_jobs_tasks) {
  const Catalog catalog({kPlain, kZoned});
  const ClusterState state =
      state_with(catalog, {"", "zone=eu-1a", "zone=eu-1a", "zone!=eu-1a", "rack~7"});
  EXPECT_EQ(shape_of_job(state, 2), shape_of_job(state, 3));
  EXPECT_NE(shape_of_job(state, 1), shape_of_job(state, 2));
  EXPECT_NE(shape_of_job(state, 2), shape_of_job(state, 4));
  EXPECT_EQ(state.shape_count(), 4U);
  EXPECT_TRUE(state.inconsistencies().empty());
}

TEST(Constraint, is_asked_of_by_the_rule_of_placement) {
  const Catalog catalog({kPlain, kZoned});
  const ClusterState state = state_with(catalog, {"", "zone=eu-1a"});
  const auto why = [&](std::uint64_t job, std::uint32_t type) {
    const TaskRow& task = state.task(state.find(JobId{job})->tasks.front());
    return why_infeasible(state, {&task, TypeId{type}, Market::on_demand});
  };
  EXPECT_FALSE(why(1, 0));
  EXPECT_FALSE(why(2, 1));
  EXPECT_EQ(why(2, 0), (Refusal{RefusalKind::not_now, RefusalCode::constraint, {}, 0, 0}));
}

TEST(Constraint, comes_back_with_a_snapshot_also_one_that_cannot_be_read) {
  const Catalog catalog({kPlain, kZoned});
  const ClusterState state = state_with(catalog, {"", "zone=eu-1a", "rack~7", " "});
  const ClusterState back = restore(snapshot_of(state), catalog).value();
  EXPECT_EQ(test::difference(state, back), "");
  EXPECT_EQ(back.shape(shape_of_job(back, 2)).constraint.text(), "zone=eu-1a");
}

TEST(Constraint, is_one_with_another_that_the_same_types_meet_in_whatever_words) {
  const Catalog catalog({kPlain, kZoned});
  const ClusterState state =
      state_with(catalog, {"zone=eu-1a", "type=*.xlarge", "label.disk=nvme", "", "type!=other"});
  EXPECT_EQ(shape_of_job(state, 1), shape_of_job(state, 2));
  EXPECT_EQ(shape_of_job(state, 1), shape_of_job(state, 3));
  EXPECT_EQ(shape_of_job(state, 4), shape_of_job(state, 5)) << "which every type meets";
  EXPECT_EQ(state.shape_count(), 2U);
  EXPECT_TRUE(state.inconsistencies().empty());
}

TEST(Constraint, holds_though_the_job_that_had_it_in_other_words_has_ended) {
  const Catalog catalog({kPlain, kZoned});
  ClusterState state = state_with(catalog, {"zone=eu-1a", "type=*.xlarge"});
  state.apply({test::at_s(2), JobFinished{JobId{1}, JobOutcome::cancelled, 1, 0}});
  EXPECT_EQ(refused_types(state, 2), std::vector<std::string>{"c7i.large"});
  state.apply({test::at_s(3), JobFinished{JobId{2}, JobOutcome::cancelled, 1, 0}});
  EXPECT_TRUE(state.inconsistencies().empty());
}

TEST(Constraint, is_told_from_others_anew_where_a_restart_finds_another_catalog) {
  const Catalog before({kPlain}), after({kPlain, kZoned});
  const ClusterState state = state_with(before, {"", "type!=*.xlarge", "zone!=eu-1b"});
  ASSERT_EQ(state.shape_count(), 1U);
  const ClusterState back = restore(snapshot_of(state), after).value();
  EXPECT_TRUE(back.inconsistencies().empty());
  EXPECT_EQ(refused_types(back, 1), std::vector<std::string>{});
  EXPECT_EQ(refused_types(back, 2), std::vector<std::string>{"c7i.xlarge"});
  EXPECT_EQ(refused_types(back, 3), std::vector<std::string>{});
  // Another one of that state goes on alike.
  ClusterState one = back, other = restore(snapshot_of(back), after).value();
  for (ClusterState* each : {&one, &other}) {
    Job job = JobBuilder(9).build();
    job.constraint = "zone=eu-1a";
    each->apply({test::at_s(3), JobFinished{JobId{2}, JobOutcome::cancelled, 1, 0}});
    each->apply({test::at_s(4), JobAccepted{job}});
  }
  EXPECT_EQ(shape_of_job(one, 9), shape_of_job(other, 9));
  EXPECT_EQ(test::difference(one, other), "");
}

TEST(Constraint, is_that_of_the_job_where_the_snapshot_of_an_earlier_version_tells_words_apart) {
  const Catalog catalog({kPlain, kZoned});
  const std::vector<std::string> constraints{"zone=eu-1a", "type=*.xlarge", "zone!=eu-1a"};
  StateSnapshot snapshot = snapshot_of(state_with(catalog, constraints));
  const Demands demands = snapshot.shapes.front().demands;
  snapshot.shapes.push_back({demands, Constraint::of("type=*.xlarge")});
  for (std::size_t i = 3; i < 6; ++i) snapshot.tasks[i].shape = ShapeId{2};
  const ClusterState back = restore(snapshot, catalog).value();
  EXPECT_TRUE(back.inconsistencies().empty());
  EXPECT_EQ(shape_of_job(back, 1), shape_of_job(back, 2));
  EXPECT_EQ(refused_types(back, 2), std::vector<std::string>{"c7i.large"});
  EXPECT_EQ(refused_types(back, 3), std::vector<std::string>{"c7i.xlarge"});
}

}  // namespace
}  // namespace muster
