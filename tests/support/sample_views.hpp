#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "model/job_documents.hpp"
#include "model/views.hpp"
#include "tests/support/builders.hpp"

// Views in which everything that can be said is said, with text that JSON has to escape.

namespace muster::test {

inline constexpr const char* kOddText = "a \"quoted\" \\ text,\n\xc3\xa4 and \x01";

/// Gives every member that `fields` names a value of its own, which is not the default, and every
/// list two elements.
class Sampler {
 public:
  void operator()(Key, auto& value) { put(value); }

 private:
  template <class T>
  void put(T& value) {
    if constexpr (Described<T>) {
      fields(*this, value);
    } else if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(1);
    } else if constexpr (std::is_same_v<T, bool>) {
      value = true;
    } else {
      value = static_cast<T>(++number_);
    }
  }
  void put(double& value) { value = ++number_ + 0.1; }
  void put(std::string& value) { value = kOddText + std::to_string(++number_); }
  void put(Instant& value) { value = at_s(++number_ + 0.125); }
  void put(Duration& value) { value = std::chrono::seconds{++number_}; }
  void put(Resources& value) {
    value = Resources::of(++number_, 2, 4.5);
    value[Resource::network] = 10;
  }
  void put(Job& value) { value = JobBuilder(++number_).build(); }
  /// Of members that a view does not name a document may lack all.
  void put(std::vector<NamedJson>& value) { value.clear(); }
  void put(TaskEnd& value) { value = {++number_, ++number_, TaskEnd::Kind::failed}; }
  void put(Labels& labels) {
    labels = {{kOddText + std::to_string(++number_), kOddText}, {"disk", "nvme"}};
  }
  template <class Tag, class Number>
  void put(Id<Tag, Number>& value) {
    value.value = ++number_;
  }
  template <class T>
  void put(std::optional<T>& value) {
    put(value.emplace());
  }
  template <class T>
  void put(std::vector<T>& list) {
    for (int i = 0; i < 2; ++i) put(list.emplace_back());
  }

  std::uint32_t number_ = 0;
};

template <class View>
View sample() {
  View view{};
  Sampler sampler;
  fields(sampler, view);
  return view;
}

inline JobView sample_job(std::uint64_t id = 7) {
  JobView view = sample<JobView>();
  view.job = JobId{id};
  view.name = kOddText;
  view.state = ShownState::failed;
  view.tasks = 9;
  view.usd = 0.1 + 0.2;
  view.max_fails = 0;
  view.exit_code = -3;
  view.submission->array = "0-100:10";
  view.submission->job = Job{};
  view.submission->job.program.env = {{"NAME", ""}};
  return view;
}

inline TaskView sample_task(std::uint32_t index) {
  TaskView view = sample<TaskView>();
  view.index = index;
  view.usd = 1e-9;
  view.ran_s = 1e21;
  return view;
}

inline InstanceView sample_instance() {
  InstanceView view = sample<InstanceView>();
  view.requested = at_s(10);
  view.used = Resources::of(0.5, 1, 2);
  return view;
}

inline CostView sample_cost() {
  CostView view;
  view.total_usd = 12.5;
  view.unsettled_usd = -0.25;
  view.tasks_usd = 10;
  view.idle = {{"boot", 0.5}, {"drain", 0}, {"fragmentation", 1}, {"idle", 1}};
  view.by = {{kOddText, 7}, {"ben", 3}};
  return view;
}

inline DecisionView sample_decision() {
  DecisionView view = sample<DecisionView>();
  view.at = at_s(300);
  view.figures = {{"S_F", 1.5},
                  {"M_F", std::numeric_limits<double>::infinity()},
                  {"D", std::numeric_limits<double>::quiet_NaN()}};
  return view;
}

inline CellFigures sample_figures() {
  CellFigures view;
  view.master = "m0";
  view.jobs_waiting = 1;
  view.jobs_running = 2;
  view.jobs_held = 3;
  view.active_jobs = 6;
  view.over_jobs = 100'000;
  view.pending = 4;
  view.assigned = 5;
  view.held = 6;
  view.capped = 2;
  view.running = 7;
  view.elastic_jobs = 2;
  view.elastic_workers = 5;
  view.instances = {{"c7i.large", Market::spot, 3}, {"c7i.large", Market::on_demand, 2}};
  view.instance_count = 5;
  view.usd_h = 0.75;
  view.total_usd = 1'234.5;
  view.today_usd = 12;
  view.rounds = 99;
  view.last_decision_ms = 1.25;
  view.caps = {10, 0, 250.5};
  view.trouble = "the disk is slow";
  view.counts = {{CountKind::job_over, "completed", 7},
                 {CountKind::launch_refused, "cloud_capacity", 2},
                 {CountKind::move, "", 3}};
  view.histograms = {{"decision", {{0.001, 4}, {0.01, 2}}, 1, 0.75},
                     {"start", {{1, 0}, {60, 5}}, 0, 90.5}};
  view.metrics = {{"ann", "p99_ms", 3, 1.5, 2, 4}};
  return view;
}

inline HistorySample sample_of_past(double at, double usd_h) {
  HistorySample sample;
  sample.at = at_s(at);
  sample.usd_h = usd_h;
  sample.spent_usd = usd_h * 2;
  sample.instances = 3;
  sample.tasks_running = 4;
  sample.tasks_pending = 5;
  sample.jobs_waiting = 6;
  return sample;
}

}  // namespace muster::test
