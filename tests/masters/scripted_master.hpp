#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "masters/master.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/plain_settings.hpp"

namespace muster::test {

/// Answers with the plans it was given, in turn, and remembers what it was shown.
class ScriptedPolicy : public Policy {
 public:
  struct Script {
    std::deque<Plan> plans;
    std::vector<Event> seen;
    RentLeft left;  ///< that it was shown at its last decision
    bool settled = false;
    bool wants_metrics = false;
  };
  explicit ScriptedPolicy(Script& script) : script_(script) {}
  Cadence cadence() const override {
    return {.period = std::chrono::seconds{300}, .wants_metrics = script_.wants_metrics};
  }
  void observe(const Event& event, const ClusterView&) override { script_.seen.push_back(event); }
  bool settled(const ClusterView&) const override { return script_.settled; }
  std::unique_ptr<Policy> clone() const override { return std::make_unique<ScriptedPolicy>(*this); }
  Plan decide(const ClusterView& view, Rng&, Budget&) override {
    script_.left = view.left;
    if (script_.plans.empty()) return {};
    Plan plan = std::move(script_.plans.front());
    script_.plans.pop_front();
    return plan;
  }

 private:
  Script& script_;
};

class MasterTest : public ::testing::Test {
 protected:
  MasterTest() { make_master({}); }

  void make_master(MasterCaps caps, Fleet fleet = {}) {
    MasterSettings settings = settings_;
    MasterDependencies parts;
    parts.fleet = std::move(fleet);
    parts.catalog = &catalog_;
    parts.policy = std::make_unique<ScriptedPolicy>(script_);
    parts.keep_history = true;
    settings.caps = caps;
    settings.max_attempts = 2;
    master_.emplace(settings, std::move(parts));
  }

  TypeId it3() const { return type_named(catalog_, "it3"); }
  Instant now() { return at_s(clock_s_++); }

  /// A plan that puts the tasks on one new instance.
  Plan together(std::vector<std::uint64_t> tasks) {
    Plan plan;
    plan.launches.push_back({it3(), Market::on_demand, {}});
    for (std::uint64_t id : tasks) plan.places.push_back({TaskId{id}, LaunchIndex{0}, {}});
    return plan;
  }
  /// The effects of what has happened since; its events go to the others.
  std::vector<Effect> commit() {
    Commit commit = master_->commit();
    events_.insert(events_.end(), commit.events.begin(), commit.events.end());
    return std::move(commit.effects);
  }
  std::vector<Effect> round(Plan plan) {
    script_.plans.push_back(std::move(plan));
    master_->round({}, now());
    return commit();
  }
  std::vector<Effect> boot(std::uint64_t id) {
    master_->instance_up(InstanceId{id}, {}, now());
    master_->instance_ready(InstanceId{id}, now());
    return commit();
  }
  void started(std::uint64_t task, Attempt attempt) {
    master_->task_started({TaskId{task}, attempt, {}, {}}, now());
  }
  template <class Wanted>
  static std::size_t count(const std::vector<Effect>& effects) {
    std::size_t n = 0;
    for (const Effect& e : effects) n += std::holds_alternative<Wanted>(e);
    return n;
  }
  /// One job of the id, running on instance `id` - 1, which it has for itself.
  void one_running(std::uint64_t id, std::size_t tasks = 1) {
    const Job job = JobBuilder(id).tasks(tasks).build();
    ASSERT_EQ(master_->submit(job, now()), SubmitResult::accepted);
    std::vector<std::uint64_t> ids;
    for (const TaskSpec& task : job.tasks) ids.push_back(task.id.value);
    round(together(ids));
    boot(id - 1);
    for (std::uint64_t task : ids) started(task, 1);
    commit();
  }

  MasterSettings settings_ = test::plain_settings();
  Catalog catalog_ = table3_catalog();
  ScriptedPolicy::Script script_;
  std::vector<Event> events_;
  std::optional<Master> master_;
  double clock_s_ = 0;
};

}  // namespace muster::test
