#pragma once

#include <string>
#include <utility>
#include <vector>

#include "replay/report/json_report.hpp"
#include "tests/replay/report/runs.hpp"
#include "tools/experiment/results.hpp"

namespace muster::test {

/// What `muster replay --json` says of a run with this cost and JCT.
inline experiment::RunJson report_of(double usd, double jct_h, double wall_s = 1) {
  metrics::RunResult run = run_of("eva", 1, usd);
  run.mean_jct_h = jct_h;
  run.wall_s = wall_s;
  run.not_completed.clear();
  const std::vector<metrics::RunResult> runs = {run};
  return experiment::RunJson::parse(report::json_report(runs)).at("runs").at(0);
}

/// Two policies, no-packing and eva, with three seeds each in one grid.
inline experiment::Results study() {
  experiment::Results study;
  study.experiment.name = "study <1>";
  study.experiment.about = "what & why";
  study.experiment.metrics = {"total_cost_usd", "mean_jct_h"};
  study.experiment.grids.resize(1);
  study.experiment.grids[0].name = "first, second";
  study.experiment.grids[0].policies = {"no-packing", "eva"};
  study.plan.points = {
      {.grid = 0,
       .labels = {{"t", "0.5"}},
       .policy = "no-packing",
       .family = "no-packing",
       .baseline = 0},
      {.grid = 0, .labels = {{"t", "0.5"}}, .policy = "eva", .family = "eva,t={t}", .baseline = 0}};
  for (std::size_t point = 0; point < 2; ++point) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      study.plan.runs.push_back({.point = point,
                                 .seed = seed,
                                 .config = "a.toml",
                                 .policy = study.plan.points[point].policy,
                                 .overrides = {"a.b=1", "c=2"}});
      study.keys.push_back(std::string(63, 'k') + std::to_string(study.keys.size()));
    }
  }
  study.provenance.version = "1.2.3";
  study.provenance.command = "muster experiment 'a b.toml'";
  study.provenance.machine = {{"host", "h"}, {"cores", 2}};
  return study;
}

/// The study with these runs, three a policy, as if they had been done.
inline experiment::Results study_of(const std::vector<std::optional<experiment::RunJson>>& runs) {
  experiment::Results results = study();
  for (const auto& run : runs) {
    results.records.push_back(run ? std::optional(nlohmann::ordered_json{{"run", *run}})
                                  : std::nullopt);
  }
  results.findings = experiment::find(results.plan, runs);
  return results;
}

}  // namespace muster::test
