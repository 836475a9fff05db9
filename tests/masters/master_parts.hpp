#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "masters/master_recorder.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/plain_settings.hpp"

namespace muster::test {

/// What a part of a master writes through, without a master: events happen as the test says, one a
/// second, and what the part makes of them is read from the commits.
class MasterPartsTest : public ::testing::Test {
 protected:
  /// Where the policy wants to be told what tasks report of themselves.
  struct Told {
    bool rented = false;
    bool of_fleet = false;
  };

  /// `period`: of the policy's regular rounds; zero: it has none.
  void begin(Fleet fleet = {}, Duration period = {}) {
    recorder_.emplace(settings_, dependencies(std::move(fleet), period));
  }
  MasterDependencies dependencies(Fleet fleet, Duration period) {
    MasterDependencies parts;
    parts.catalog = &catalog_;
    parts.policy = std::make_unique<IdlePolicy>(period, told_);
    parts.fleet = std::move(fleet);
    return parts;
  }

  Instant now() { return at_s(clock_s_++); }
  void happen(EventBody body) { recorder_->record(std::move(body), now()); }
  void submit(std::uint64_t id, std::size_t tasks = 1, bool gang = true) {
    happen(JobAccepted{JobBuilder(id).tasks(tasks).gang(gang).build()});
  }
  void launch(std::uint64_t id, const std::string& type = "it4") {
    const TypeId known = type_named(catalog_, type);
    const Price price = catalog_[known].on_demand;
    happen(LaunchRequested{InstanceId{id}, known, Market::on_demand, price, {}});
  }
  void up(std::uint64_t id) { happen(InstanceUp{InstanceId{id}}); }
  void ready(std::uint64_t id, const std::string& type = "it4") {
    launch(id, type);
    up(id);
    happen(InstanceReady{InstanceId{id}});
  }
  void assign(std::uint64_t task, std::uint64_t instance) {
    happen(TaskAssigned{TaskId{task}, InstanceId{instance}, {}, kGrant});
  }
  /// Assigned, started, and said to run.
  void run(std::uint64_t task, std::uint64_t instance) {
    assign(task, instance);
    happen(StartIssued{TaskId{task}, InstanceId{instance}, 1, kGrant});
    happen(TaskStarted{TaskId{task}, 1, {}, {}});
  }

  const MasterFacts& facts() const { return recorder_->facts(); }
  const ClusterState& state() const { return facts().state; }
  const TaskRow& task(std::uint64_t id) const { return *state().find(TaskId{id}); }
  const JobRow& job(std::uint64_t id) const { return *state().find(JobId{id}); }
  TypeId it3() const { return type_named(catalog_, "it3"); }
  TypeId it4() const { return type_named(catalog_, "it4"); }

  /// What has happened before is of no interest.
  void forget() { recorder_->commit(); }
  /// The events of one kind since the last look, which takes the others away too.
  template <class Wanted>
  std::vector<Wanted> events() {
    std::vector<Wanted> found;
    for (const Event& event : recorder_->commit().events) {
      if (const auto* body = std::get_if<Wanted>(&event.body)) found.push_back(*body);
    }
    return found;
  }
  template <class Wanted>
  std::vector<Wanted> effects() {
    std::vector<Wanted> found;
    for (const Effect& effect : recorder_->commit().effects) {
      if (const auto* body = std::get_if<Wanted>(&effect)) found.push_back(*body);
    }
    return found;
  }
  static std::vector<std::uint64_t> numbers(const std::vector<StartTask>& all) {
    return tasks_of(all);
  }
  static std::vector<std::uint64_t> numbers(const std::vector<StopTask>& all) {
    return tasks_of(all);
  }
  static std::vector<std::uint64_t> numbers(const std::vector<LaunchInstance>& all) {
    return instances_of(all);
  }
  static std::vector<std::uint64_t> numbers(const std::vector<EndInstance>& all) {
    return instances_of(all);
  }

  inline static const Grant kGrant{Resources::of(0, 2, 4)};
  Catalog catalog_ = table3_catalog();
  MasterSettings settings_ = plain_settings();
  Told told_;
  std::optional<MasterRecorder> recorder_;
  double clock_s_ = 0;

 private:
  class IdlePolicy : public Policy {
   public:
    IdlePolicy(Duration period, Told told) : period_(period), told_(told) {}
    Cadence cadence() const override { return {.period = period_, .wants_metrics = told_.rented}; }
    Cadence fleet_cadence() const override {
      return {.period = period_, .wants_metrics = told_.of_fleet};
    }
    void observe(const Event&, const ClusterView&) override {}
    std::unique_ptr<Policy> clone() const override { return std::make_unique<IdlePolicy>(*this); }
    Plan decide(const ClusterView&, Rng&, Budget&) override { return {}; }

   private:
    Duration period_;
    Told told_;
  };
  template <class Each>
  static std::vector<std::uint64_t> tasks_of(const std::vector<Each>& all) {
    std::vector<std::uint64_t> ids;
    for (const Each& each : all) ids.push_back(each.task.value);
    return ids;
  }
  template <class Each>
  static std::vector<std::uint64_t> instances_of(const std::vector<Each>& all) {
    std::vector<std::uint64_t> ids;
    for (const Each& each : all) ids.push_back(each.instance.value);
    return ids;
  }
};

}  // namespace muster::test
