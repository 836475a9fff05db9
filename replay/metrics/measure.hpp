#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/catalog.hpp"
#include "model/event.hpp"
#include "replay/metrics/run_result.hpp"

namespace muster::metrics {

/// When the levels of a run (tasks an instance, allocation) are read. A run that goes on beyond
/// `sample_to` is sampled; a shorter one gives its mean over all its time.
struct MeasureOptions {
  Instant sample_from{std::chrono::hours{24 * 30}};
  Instant sample_to{std::chrono::hours{24 * 60}};
  Duration sample_every{std::chrono::seconds{300}};
  /// How long after its instant a sample is read, so that a round at that instant counts.
  Duration sample_settle{std::chrono::milliseconds{500}};
  /// Says which jobs are long; unset: jobs have no classes.
  std::function<bool(JobId)> is_long = {};
  /// Deadline of a job; empty: no deadlines.
  std::function<Duration(JobId)> slo = {};
  /// How long a job takes when nothing is in its way; empty: not known.
  std::function<Duration(JobId)> alone = {};
  /// Cost of the work where each task is billed alone; nothing: no tariff.
  std::optional<double> tariff_usd{};
};

/// Derives from a log every figure of a run that the log determines; the rest (policy, seed,
/// decision and wall times, digest, cost by purpose, ratios to other runs) is left as it is by
/// default. The table of metric_table.hpp says how each is computed. Times without an instance are
/// left out of the levels, as are kinds of resources that no instance has.
class Measure {
 public:
  explicit Measure(const Catalog& catalog, const MeasureOptions& options = {});
  ~Measure();
  Measure(const Measure&) = delete;
  Measure& operator=(const Measure&) = delete;

  /// Takes the next event. The job of the event has to stay alive until the job's end was seen; of
  /// a job that is over only its figures are kept.
  void see(const Event& event);
  RunResult finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The figures of a whole log.
RunResult measure(std::span<const Event> events, const Catalog& catalog,
                  const MeasureOptions& options = {});

/// The value at rank ceil(percent/100 n) of ascending values; there has to be one.
double nearest_rank(std::span<const double> ascending, double percent);

}  // namespace muster::metrics
