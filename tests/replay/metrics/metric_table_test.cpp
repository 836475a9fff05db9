#include "replay/metrics/metric_table.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "replay/metrics/measure.hpp"
#include "tests/replay/metrics/log_builder.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/places.hpp"

namespace muster::metrics {
namespace {

using muster::test::IsGolden;
using muster::test::JobBuilder;
using muster::test::LogBuilder;
using testing::AllOf;
using testing::StartsWith;

constexpr double kHour = 3600;

JobBuilder gpu_job(std::uint64_t id) {
  return JobBuilder(id).demand(Resources::of(1, 4, 24));
}

RoundDecided round(std::uint64_t number, std::string choice, std::uint64_t quiet = 0) {
  return {number, {std::move(choice), {}}, quiet};
}

/// Three jobs of one task on one it1 ($12/h; 4 GPUs, 16 CPUs, 244 GiB), which is up from 0 h to 5 h
/// and taken back by its cloud. Job 1, long, runs from 1 h to 4 h after two starts. Job 2, short,
/// comes at 1 h and runs from 2 h to 4 h. Job 3, short, waits all the time.
LogBuilder three_jobs() {
  LogBuilder log;
  log.at(0).accept(gpu_job(1)).accept(gpu_job(3)).add(round(1, "full")).boot(1, "it1");
  log.at(1 * kHour).start(1, 1).start(1, 1, 2).started(1, 2).accept(gpu_job(2));
  log.add(round(2, "partial"));
  log.at(2 * kHour).start(2, 1).started(2);
  log.at(4 * kHour).finish(1, 2).end(1, 0.8, 10).finish(2).end(2, 0.9, 5);
  log.add(round(5, "partial", 2));
  log.at(4.5 * kHour).add(ReleaseDecided{InstanceId{1}, {CauseCode::interrupted, 0}}).terminate(1);
  log.at(5 * kHour).gone(1);
  return log;
}

/// The run of these jobs, after a baseline that took twice the money and the time.
std::vector<RunResult> two_runs() {
  MeasureOptions options;
  options.is_long = [](JobId id) { return id.value == 1; };
  options.slo = [](JobId id) { return from_seconds(id.value == 1 ? 5 * kHour : 3 * kHour); };
  options.alone = [](JobId id) { return from_seconds(id.value == 1 ? 2.5 * kHour : 2 * kHour); };
  options.tariff_usd = 7.5;
  const LogBuilder log = three_jobs();
  std::vector<RunResult> runs(2);
  RunResult& baseline = runs[0];
  baseline.total_cost_usd = 120;
  baseline.mean_jct_h = 7;
  baseline.throughput_jobs_h = 0.25;
  baseline.short_jobs.emplace().mean_jct_s = 1.5 * kHour;
  baseline.long_jobs.emplace().mean_jct_s = 16 * kHour;
  runs[1] = measure(log.events(), log.catalog(), options);
  runs[1].bound_usd = 40;
  runs[1].rented_above = 0.125;
  runs[1].lost_work_h = 1.5;
  runs[1].decision_ms_mean = 0.25;
  runs[1].decision_ms_p99 = 2;
  runs[1].wall_s = 3.5;
  normalize(runs);
  return runs;
}

/// By hand. Serving hours: 4.5, of which 4 until the last completion; task hours: 1 + 2 x 2 = 5.
const std::map<std::string, std::optional<double>>& without_bounds() {
  static const std::map<std::string, std::optional<double>> kValues = {
      {"jobs_submitted", 3},
      {"jobs_completed", 2},
      {"total_cost_usd", 5 * 12},
      {"normalized_cost", 60.0 / 120},
      {"tariff_usd", 7.5},
      {"mean_jct_h", (4 + 3) / 2.0},
      {"p50_jct_h", 3},
      {"p95_jct_h", 4},
      {"p99_jct_h", 4},
      {"p50_slowdown", 3 / 2.0},
      {"p95_slowdown", 4 / 2.5},
      {"normalized_jct", 3.5 / 7},
      {"short_jobs.jobs_submitted", 2},
      {"short_jobs.jobs_completed", 1},
      {"short_jobs.mean_jct_s", 3 * kHour},
      {"short_jobs.p50_jct_s", 3 * kHour},
      {"short_jobs.p90_jct_s", 3 * kHour},
      {"short_jobs.p99_jct_s", 3 * kHour},
      {"short_jobs.slo_met", 1.0 / 2},
      {"short_jobs.normalized_jct", 3 / 1.5},
      {"long_jobs.jobs_submitted", 1},
      {"long_jobs.jobs_completed", 1},
      {"long_jobs.mean_jct_s", 4 * kHour},
      {"long_jobs.p50_jct_s", 4 * kHour},
      {"long_jobs.p90_jct_s", 4 * kHour},
      {"long_jobs.p99_jct_s", 4 * kHour},
      {"long_jobs.slo_met", 1},
      {"long_jobs.normalized_jct", 4 / 16.0},
      {"makespan_s", 4 * kHour},
      {"throughput_jobs_h", 2 / 4.0},
      {"normalized_throughput", 0.5 / 0.25},
      {"utilization.gpu", 5 * 1 / (4 * 4.0)},
      {"utilization.cpu", 5 * 4 / (4 * 16.0)},
      {"utilization.memory", 5 * 24 / (4 * 244.0)},
      {"utilization.storage", {}},
      {"utilization.network", {}},
      {"utilization.spare", {}},
      {"gpu_h_unused.starting", 0},
      {"gpu_h_unused.remainders", 1 * 3 + 2 * 2},
      {"gpu_h_unused.empty", (1 + 0.5) * 4},
      {"gpu_h_unused.leaving", 0.5 * 4},
      {"mean_idle_h", ((4 - 3) + (3 - 2)) / 2.0},
      {"mean_normalized_throughput", (0.8 + 0.9) / 2},
      {"tasks_per_instance", 5 / 4.5},
      {"allocation.gpu", 5 * 1 / (4.5 * 4)},
      {"allocation.cpu", 5 * 4 / (4.5 * 16)},
      {"allocation.memory", 5 * 24 / (4.5 * 244)},
      {"gpu_h.used", 5},
      {"gpu_h.rented", 4 * 4.5},
      {"gpu_h.billed", 4 * 5},
      {"gpus_while_arriving.used", 0},
      {"gpus_while_arriving.rented", 4},
      {"efficiency", {}},  // they are not elastic
      {"width_error", {}},
      {"instances_launched", 1},
      {"interruptions", 1},
      {"lost_work_h", 1.5},
      {"migrations_per_task", (1 + 0) / 2.0},
      {"full_reconfiguration_share", 1 / 5.0},  // partial: one, the two quiet ones, one
      {"rounds", 3},
      {"decision_ms_mean", 0.25},
      {"decision_ms_p99", 2},
      {"wall_s", 3.5},
      {"events", 6 + 5 + 2 + 5 + 2 + 1}};
  return kValues;
}

const std::map<std::string, std::optional<double>>& by_hand() {
  static const auto kValues = [] {
    auto all = without_bounds();
    for (const char* each :
         {"submitted", "ended", "replicas", "replica_h", "ready_share", "goal_share", "performance",
          "restarts", "price_over_right", "cost_usd"}) {
      all[std::string("services.") + each] = std::nullopt;
    }
    all["bound.usd"] = 40;
    all["bound.above"] = std::nullopt;  // job 3 did not complete
    all["bound.rented_above"] = 0.125;
    return all;
  }();
  return kValues;
}

TEST(BoundMetric, is_the_share_by_which_a_whole_run_costs_more) {
  RunResult run;
  run.jobs_submitted = run.jobs_completed = 3;
  run.total_cost_usd = 60;
  const Metric& above = *find_metric(metric_table(), "bound.above");
  EXPECT_FALSE(above.of(run));
  run.bound_usd = 40;
  EXPECT_DOUBLE_EQ(above.of(run).value(), 0.5);
  run.bound_usd = 0;  // of no work
  EXPECT_FALSE(above.of(run));
}

TEST(ServiceMetrics, are_of_replicas_over_their_time) {
  RunResult run;
  run.services = {.submitted = 4,
                  .ended = 3,
                  .replicas = 10,
                  .restarts = 7,
                  .wanted_h = 200,
                  .ready_h = 150,
                  .goal_wanted_h = 100,
                  .goal_h = 60,
                  .measured_h = 120,
                  .performance_h = 90,
                  .held_usd = 30,
                  .right_usd = 20,
                  .cost_usd = 12.5};
  const std::map<std::string, double> wanted = {
      {"submitted", 4},          {"ended", 3},        {"replicas", 10},      {"replica_h", 200},
      {"ready_share", 0.75},     {"goal_share", 0.6}, {"performance", 0.75}, {"restarts", 7},
      {"price_over_right", 1.5}, {"cost_usd", 12.5}};
  for (const auto& [key, value] : wanted) {
    const Metric* metric = find_metric(metric_table(), "services." + key);
    ASSERT_NE(metric, nullptr) << key;
    EXPECT_DOUBLE_EQ(metric->of(run).value(), value) << key;
  }
  // Services without goals, whose performance is not known.
  run.services->goal_wanted_h = run.services->measured_h = run.services->right_usd = 0;
  for (const char* key :
       {"services.goal_share", "services.performance", "services.price_over_right"}) {
    EXPECT_FALSE(find_metric(metric_table(), key)->of(run)) << key;
  }
}

class EachMetric : public testing::TestWithParam<std::string> {};

TEST_P(EachMetric, is_what_was_worked_out_by_hand) {
  const Metric* metric = find_metric(metric_table(), GetParam());
  ASSERT_NE(metric, nullptr);
  const auto wanted = by_hand().find(metric->key);
  ASSERT_NE(wanted, by_hand().end()) << "work " << metric->key << " out by hand, above";
  const std::optional<double> value = metric->of(two_runs()[1]);
  ASSERT_EQ(value.has_value(), wanted->second.has_value());
  if (value) {
    EXPECT_DOUBLE_EQ(*value, *wanted->second);
  }
}

TEST_P(EachMetric, of_nothing_is_nothing_or_nought) {
  EXPECT_EQ(find_metric(metric_table(), GetParam())->of({}).value_or(0), 0);
}

TEST_P(EachMetric, that_is_a_count_has_no_fraction) {
  const Metric* metric = find_metric(metric_table(), GetParam());
  const double value = metric->of(two_runs()[1]).value_or(0);
  if (!metric->whole) return;
  EXPECT_EQ(value, static_cast<double>(static_cast<std::uint64_t>(value)));
  if (metric->column) {
    EXPECT_EQ(metric->column->decimals, 0);
  }
}

std::vector<std::string> all_keys() {
  std::vector<std::string> keys;
  for (const Metric& metric : metric_table()) keys.push_back(metric.key);
  return keys;
}

INSTANTIATE_TEST_SUITE_P(Metrics, EachMetric, testing::ValuesIn(all_keys()), [](const auto& of) {
  std::string name = of.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

TEST(MetricTable, has_unique_keys_whole_groups_and_a_description_of_each) {
  EXPECT_EQ(fault_of(metric_table()), "");
}

TEST(MetricTable, is_in_the_order_that_json_has) {
  const std::vector<std::string> keys = all_keys();
  EXPECT_EQ(keys.front(), "jobs_submitted");
  EXPECT_EQ(keys.back(), "events");
  EXPECT_EQ(keys.size(), by_hand().size());
}

TEST(MetricTable, a_column_says_more_than_its_name_where_another_has_the_same) {
  std::set<std::string> heads;
  for (const Metric& metric : metric_table()) {
    if (!metric.column) continue;
    const Column& column = *metric.column;
    EXPECT_TRUE(heads
                    .insert(fmt::format("{}|{}|{}", column.name, column.unit,
                                        static_cast<int>(column.place)))
                    .second)
        << metric.key;
  }
}

/// A table of metrics that are all in order.
std::vector<Metric> sound_table() {
  const auto of = [](const RunResult& run) { return std::optional(run.total_cost_usd); };
  return {{.key = "a", .unit = "$", .better = Better::lower, .how = "so", .of = of},
          {.key = "g.b", .unit = "h", .how = "so", .of = of},
          {.key = "g.c", .unit = "h", .how = "so", .of = of},
          {.key = "d",
           .unit = "of 1",
           .better = Better::lower,
           .how = "so",
           .of = of,
           .relative_to = "a"}};
}

TEST(MetricTable, that_is_malformed_is_told) {
  const auto fault = [](const std::function<void(std::vector<Metric>&)>& spoil) {
    std::vector<Metric> table = sound_table();
    spoil(table);
    return fault_of(table);
  };
  const auto names_key = [](const std::string& key) {
    return AllOf(StartsWith(key + " "), IsGolden());
  };
  EXPECT_EQ(fault([](auto&) {}), "");
  EXPECT_THAT(fault([](auto& table) { table[3].key = "a"; }), names_key("a"));
  EXPECT_THAT(fault([](auto& table) { std::swap(table[0], table[1]); }), names_key("g.c"));
  EXPECT_EQ(fault([](auto& table) { table[1].unit = ""; }), "g.b has no unit");
  EXPECT_THAT(fault([](auto& table) { table[1].how = ""; }), names_key("g.b"));
  EXPECT_EQ(fault([](auto& table) { table[1].of = nullptr; }), "g.b is not computed");
  EXPECT_THAT(fault([](auto& table) { table[3].relative_to = "z"; }), names_key("d"));
  EXPECT_THAT(fault([](auto& table) { table[3].relative_to = "g.b"; }), names_key("d"));
  EXPECT_THAT(fault([](auto& table) { table[3].better = Better::higher; }), names_key("d"));
  EXPECT_THAT(fault([](auto& table) { table[0].column = Column{.out_of = "z"}; }), names_key("a"));
}

TEST(Normalize, compares_cost_with_the_first_run_of_the_same_seed) {
  const auto run = [](std::string policy, std::uint64_t seed, double usd) {
    RunResult result;
    result.policy = std::move(policy);
    result.seed = seed;
    result.total_cost_usd = usd;
    return result;
  };
  std::vector<RunResult> runs = {run("a", 1, 100), run("a", 2, 0), run("b", 1, 58), run("b", 2, 5)};
  normalize(runs);
  EXPECT_EQ(runs[0].normalized.at("total_cost_usd"), 1.0);
  EXPECT_EQ(runs[2].normalized.at("total_cost_usd"), 0.58);
  EXPECT_EQ(runs[3].normalized.count("total_cost_usd"), 0u);  // nothing to compare with
}

TEST(Normalize, compares_jct_and_throughput_with_the_first_run_of_the_same_seed) {
  std::vector<RunResult> runs(2);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto factor = static_cast<double>(i + 1);
    runs[i].mean_jct_h = 2 * factor;
    runs[i].throughput_jobs_h = 12 / factor;
    runs[i].short_jobs.emplace().mean_jct_s = 5 * factor;
    runs[i].long_jobs.emplace();
  }
  normalize(runs);
  EXPECT_EQ(runs[0].normalized.at("mean_jct_h"), 1.0);
  EXPECT_EQ(runs[1].normalized.at("mean_jct_h"), 2.0);
  EXPECT_EQ(runs[1].normalized.at("throughput_jobs_h"), 0.5);
  EXPECT_EQ(runs[1].normalized.at("short_jobs.mean_jct_s"), 2.0);
  EXPECT_EQ(runs[1].normalized.count("long_jobs.mean_jct_s"), 0u);
}

TEST(Normalize, compares_only_what_is_good_one_way) {
  for (const auto& [better, count] :
       {std::pair{Better::lower, 1u}, {Better::higher, 1u}, {Better::neither, 0u}}) {
    std::vector<Metric> table = sound_table();
    table[0].better = table[3].better = better;
    std::vector<RunResult> runs(1);
    runs[0].total_cost_usd = 5;
    normalize(runs, table);
    EXPECT_EQ(runs[0].normalized.count("a"), count) << name_of(better);
  }
}

TEST(MetricTable, is_the_one_that_the_document_shows) {
  std::string rows;
  for (const Metric& metric : metric_table()) {
    rows += fmt::format("| `{}` | {} | {} | {} | {} |\n", metric.key, metric.unit,
                        name_of(metric.better), metric.how,
                        metric.column ? name_of(metric.column->shown) : "JSON only");
  }
  std::ifstream file(test::source_dir() / "docs/metrics.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(text.str().find(rows) != std::string::npos) << "docs/metrics.md should say:\n"
                                                          << rows;
}

}  // namespace
}  // namespace muster::metrics
