#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/enum_words.hpp"
#include "replay/metrics/run_result.hpp"

namespace muster::metrics {

/// Which way a metric is good. One that is good neither way is not held against another run's.
enum class Better : std::uint8_t { lower, higher, neither };
constexpr auto words_of(Better) {
  using E = Better;
  return std::to_array<EnumWord<E>>(
      {{E::lower, "lower"}, {E::higher, "higher"}, {E::neither, "neither"}});
}

/// When a metric has a column in the tables; JSON always has all.
enum class Shown : std::uint8_t { always, with_classes, with_interruptions, with_services };
constexpr auto words_of(Shown) {
  using E = Shown;
  return std::to_array<EnumWord<E>>({{E::always, "always"},
                                     {E::with_classes, "with classes"},
                                     {E::with_interruptions, "with interruptions"},
                                     {E::with_services, "with services"}});
}

/// The parts of a table from left to right. Columns of one part stand in the order of the metrics.
enum class Place : std::uint8_t {
  cost,
  jct,
  short_jobs,
  short_mean,
  long_jobs,
  long_mean,
  relative,
  utilization,
  makespan,
  services,
  levels,
  fleet,
  rounds,
  notes
};

/// How the tables for people show a metric.
struct Column {
  std::string name{};
  std::string unit{};
  Place place = Place::cost;
  int decimals = 2;
  double factor = 1;  ///< from the metric's unit to the column's
  Shown shown = Shown::always;
  std::string out_of{};  ///< key of a metric: cells are "199/200", both added up over the runs
};

/// A figure of each run: the one description of it for tables, JSON, HTML, normalisation and
/// docs/metrics.md.
struct Metric {
  /// The name in JSON, without spaces; "group.key" stands in an object "group" there. The members
  /// of a group follow one another.
  std::string key{};
  std::string unit{};
  Better better = Better::neither;
  std::string how{};  ///< how it is computed, in one sentence
  /// Absent where the metric has no meaning for the run.
  std::function<std::optional<double>(const RunResult&)> of{};
  std::optional<Column> column{};
  bool whole = false;  ///< a count: JSON shows no fraction
  bool timed = false;  ///< by a clock of the machine: differs between two runs of one seed
  /// Key of another metric: this one is that of the run over that of the baseline.
  std::string relative_to{};
  /// For a group that not every run has: JSON shows null instead.
  std::function<bool(const RunResult&)> has_group{};
};

/// Every metric, in the order in which JSON lists them.
const std::vector<Metric>& metric_table();

/// The metric of that key; null if there is no such metric.
const Metric* find_metric(std::span<const Metric> table, std::string_view key);

/// The fault of a table, in one sentence: keys that are not unique, groups that are torn apart, a
/// missing description, a ratio of a figure that is good neither way. Empty when nothing is.
std::string fault_of(std::span<const Metric> table);

/// The figures in the round notes of the runs whose names end in a unit, as metrics: means over the
/// rounds, in the order in which they came up.
std::vector<Metric> note_metrics(std::span<const RunResult> runs);

/// Whether tables of these runs have the column.
bool is_shown(const Column& column, std::span<const RunResult> runs);

/// Sets the ratios of each run to the first run with its seed, the baseline.
void normalize(std::span<RunResult> runs);
void normalize(std::span<RunResult> runs, std::span<const Metric> table);

}  // namespace muster::metrics
