#pragma once

#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "tests/support/builders.hpp"

namespace muster::test {

/// Writes event logs by hand: at() sets the time, each other call appends one event. Task ids are
/// those of JobBuilder: a job of one task gives it its own number.
class LogBuilder {
 public:
  LogBuilder& at(double seconds) {
    now_ = at_s(seconds);
    return *this;
  }
  LogBuilder& accept(const JobBuilder& job) { return add(JobAccepted{job.build()}); }
  LogBuilder& refuse(std::uint64_t task, Refusal refusal) {
    return add(TaskRefused{TaskId{task}, refusal});
  }
  LogBuilder& round(std::uint64_t number, std::string choice) {
    return add(RoundDecided{number, {std::move(choice), {}}});
  }
  LogBuilder& launch(std::uint64_t instance, const std::string& type, Cause cause = {}) {
    const TypeId id = type_named(catalog_, type);
    return add(LaunchRequested{InstanceId{instance}, id, Market::on_demand,
                               catalog_.price(id, Market::on_demand), cause});
  }
  LogBuilder& up(std::uint64_t instance) { return add(InstanceUp{InstanceId{instance}}); }
  LogBuilder& ready(std::uint64_t instance) { return add(InstanceReady{InstanceId{instance}}); }
  /// Asked for, up and ready, all at once.
  LogBuilder& boot(std::uint64_t instance, const std::string& type) {
    return launch(instance, type).up(instance).ready(instance);
  }
  LogBuilder& release(std::uint64_t instance) {
    return add(ReleaseDecided{InstanceId{instance}, {CauseCode::empty, 0}});
  }
  LogBuilder& terminate(std::uint64_t instance) {
    return add(TerminateIssued{InstanceId{instance}});
  }
  LogBuilder& gone(std::uint64_t instance) { return add(InstanceGone{InstanceId{instance}}); }
  LogBuilder& assign(std::uint64_t task, std::uint64_t instance, Cause cause = {}) {
    return add(TaskAssigned{TaskId{task}, InstanceId{instance}, cause});
  }
  LogBuilder& start(std::uint64_t task, std::uint64_t instance, Attempt attempt = 1) {
    return add(StartIssued{TaskId{task}, InstanceId{instance}, attempt, demanded(task, instance)});
  }
  LogBuilder& started(std::uint64_t task, Attempt attempt = 1) {
    return add(TaskStarted{TaskId{task}, attempt, from_seconds(5), from_seconds(10)});
  }
  LogBuilder& stop(std::uint64_t task, Attempt attempt = 1) {
    return add(StopIssued{TaskId{task}, attempt});
  }
  LogBuilder& left(std::uint64_t task, Attempt attempt = 1) {
    return add(TaskCheckpointed{TaskId{task}, attempt, from_seconds(3)});
  }
  LogBuilder& finish(std::uint64_t task, Attempt attempt = 1) {
    return add(TaskFinished{TaskId{task}, attempt});
  }
  LogBuilder& fail(std::uint64_t task, std::string reason, Attempt attempt = 1) {
    return add(TaskFailed{TaskId{task}, attempt, std::move(reason)});
  }
  LogBuilder& end(std::uint64_t job, double throughput = 1, std::uint64_t samples = 0) {
    return add(JobFinished{JobId{job}, JobOutcome::completed, throughput, samples});
  }
  LogBuilder& give_up(std::uint64_t job, JobOutcome outcome) {
    return add(JobFinished{JobId{job}, outcome, 1, 0});
  }
  LogBuilder& add(EventBody body) {
    events_.push_back({now_, std::move(body)});
    return *this;
  }

  const std::vector<Event>& events() const { return events_; }
  const Catalog& catalog() const { return catalog_; }

 private:
  /// What the task demands on the instance, when it may be there.
  std::optional<Grant> demanded(std::uint64_t task, std::uint64_t instance) const {
    const Demands* demands = nullptr;
    std::optional<TypeId> type;
    for (const Event& event : events_) {
      const auto* launch = std::get_if<LaunchRequested>(&event.body);
      if (launch != nullptr && launch->instance.value == instance) type = launch->type;
      const auto* accepted = std::get_if<JobAccepted>(&event.body);
      if (accepted == nullptr) continue;
      for (const TaskSpec& spec : accepted->job.tasks) {
        if (spec.id.value == task) demands = &spec.demands;
      }
    }
    const FamilyDemand* demand =
        demands != nullptr && type ? demands->on(catalog_[*type].family) : nullptr;
    return demand != nullptr ? std::optional(Grant::of(demand->amount)) : std::nullopt;
  }

  Catalog catalog_ = table3_catalog();
  Instant now_;
  std::vector<Event> events_;
};

}  // namespace muster::test
