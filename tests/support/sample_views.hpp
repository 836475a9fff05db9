#pragma once

#include <limits>
#include <string>

#include "model/views.hpp"
#include "tests/support/builders.hpp"

// Views in which everything that can be said is said, with text that JSON has to escape.

namespace muster::test {

inline constexpr const char* kOddText = "a \"quoted\" \\ text,\n\xc3\xa4 and \x01";

inline JobView sample_job(std::uint64_t id = 7) {
  JobView view;
  view.job = JobId{id};
  view.name = kOddText;
  view.user = "ann";
  view.workload_class = "resnet";
  view.command = {"python3", "train.py", kOddText};
  view.market = MarketChoice::spot;
  view.gang = true;
  view.movable = false;
  view.checkpoints = true;
  view.distinct_instances = true;
  view.state = ShownState::failed;
  view.tasks = 9;
  view.whole = 12;
  view.waiting = 1;
  view.held = 2;
  view.capped = 4;
  view.starting = 3;
  view.running = 4;
  view.finished = 5;
  view.failed = 6;
  view.failed_attempts = 70'000;
  view.submitted = at_s(1'700'000'000.125);
  view.over = at_s(1'700'000'001.1);
  view.usd = 0.1 + 0.2;
  view.max_fails = 0;
  view.exit_code = -3;
  view.failed_task = 11;
  view.failure = "task 11 has failed";
  view.reason = kOddText;
  view.master = "m0, m1";
  view.to = "oslo";
  view.to_site = true;
  view.elastic = {1, 12, 3, 250.5, 1000, "samples"};
  view.submission.emplace();
  view.submission->array = "0-100:10";
  view.submission->job.program.env = {{"NAME", ""}};
  return view;
}

inline TaskView sample_task(std::uint32_t index) {
  TaskView view;
  view.index = index;
  view.phase = ShownPhase::stopping;
  view.attempt = 3;
  view.instance = InstanceId{1'000'000'001};
  view.instance_type = "c7i.large";
  view.usd = 1e-9;
  view.exit_code = 137;
  view.reason = ReasonView{RefusalKind::not_now, RefusalCode::instance_cap, kOddText};
  view.moves = 4;
  view.failures = 5;
  view.last_failure = FailureView{FailureKind::out_of_memory, "9 MiB used"};
  view.ran_s = 1e21;
  view.started = at_s(3);
  view.ended = at_s(4.25);
  view.metrics = {{"loss", 1e-9}, {"p99_ms", 12.5}};
  view.why = "saves its checkpoint";
  return view;
}

inline InstanceView sample_instance() {
  InstanceView view;
  view.instance = InstanceId{3};
  view.type = "p3.2xlarge";
  view.market = Market::spot;
  view.phase = InstancePhase::terminating;
  view.released = true;
  view.usd_h = 0.918;
  view.requested = at_s(10);
  view.up = at_s(11.5);
  view.master = "m1";
  view.tasks = {{JobId{7}, 0}, {JobId{8}, 5}};
  view.more_tasks = 3;
  view.used = Resources::of(0.5, 1, 2);
  view.capacity = Resources::of(1, 8, 61);
  view.capacity[Resource::network] = 10;
  view.connected = true;
  view.limits = "cgroup v2";
  view.isolation = "uid";
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
  DecisionView view;
  view.at = at_s(300);
  view.master = "m0";
  view.round = 12;
  view.choice = "full";
  view.figures = {{"S_F", 1.5},
                  {"M_F", std::numeric_limits<double>::infinity()},
                  {"D", std::numeric_limits<double>::quiet_NaN()}};
  view.launches = 1;
  view.placements = 2;
  view.moves = 3;
  view.resizes = 2;
  view.releases = 4;
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

inline PlanView sample_plan() {
  PlanView view;
  view.master = "m0";
  view.launches = {{"c7i.large", Market::on_demand, 0.09}};
  view.places = {{0, "a new c7i.large"}, {1, "instance 3 (c7i.large)"}};
  view.refusals = {{2, RefusalKind::not_now, "not now: instance cap"}};
  view.left_out = 4;
  view.moves = 2;
  view.usd_h = 0.59;
  view.usd_h_now = 0.5;
  return view;
}

}  // namespace muster::test
