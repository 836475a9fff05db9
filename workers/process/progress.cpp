#include "workers/process/progress.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "model/task_metrics.hpp"
#include "workers/process/files/attempt_dir.hpp"

namespace muster::process {
namespace {

constexpr const char* kRatesFile = "alone_rates";
/// A better rate is worth a write to the file when it is better by this much.
constexpr double kWorthSaving = 1.01;
constexpr std::string_view kVerb = "progress ";
constexpr std::string_view kStepVerb = "step ";
constexpr std::string_view kMetricVerb = "metric ";
/// Of the numbers that a step is said by.
constexpr std::size_t kStepNumbers = 6;

}  // namespace

Duration boot_time() {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

void ProgressMeter::add(const ProgressPoint& point) {
  points_.push_back(point);
  // Two points stay however old they are: a slow task has a rate too.
  while (points_.size() > kMaxPoints ||
         (points_.size() > 2 && points_[1].at < point.at - kWindow)) {
    points_.pop_front();
  }
}

std::optional<double> ProgressMeter::rate(Duration now, Duration since) const {
  if (points_.size() < 2) return std::nullopt;
  std::size_t first = 0;
  while (first + 2 < points_.size() && points_[first].at < since) ++first;
  const ProgressPoint& from = points_[first];
  const ProgressPoint& to = points_.back();
  const Duration gap = (to.at - from.at) / static_cast<std::int64_t>(points_.size() - 1 - first);
  // Silence for more than two gaps counts as time without progress, or a task that hangs would keep
  // its last rate for ever.
  const Duration until = now - to.at > 2 * gap ? now : to.at;
  if (until <= from.at) return std::nullopt;
  return (to.units - from.units) / to_seconds(until - from.at);
}

std::optional<double> progress_from(std::string_view line) {
  if (!line.starts_with(kVerb)) return std::nullopt;
  line.remove_prefix(kVerb.size());
  double units = 0;
  const char* end = line.data() + line.size();
  const auto parsed = std::from_chars(line.data(), end, units);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  if (!std::isfinite(units) || units < 0 || units > kMostProgress) return std::nullopt;
  return units;
}

std::optional<TrainingSample> step_from(std::string_view line) {
  if (!line.starts_with(kStepVerb)) return std::nullopt;
  line.remove_prefix(kStepVerb.size());
  std::array<double, kStepNumbers> said{};
  const char* at = line.data();
  const char* const end = at + line.size();
  for (std::size_t i = 0; i < said.size(); ++i) {
    if (i > 0 && (at == end || *at++ != ' ')) return std::nullopt;
    const auto parsed = std::from_chars(at, end, said[i]);
    if (parsed.ec != std::errc{} || !(said[i] >= 0 && said[i] <= kMostProgress)) {
      return std::nullopt;
    }
    at = parsed.ptr;
  }
  if (at != end) return std::nullopt;
  const auto [local_batch, accumulation, step_s, sync_s, grad_sqr, grad_var] = said;
  const auto is_count = [](double number) {
    return number <= kLargestBatch && number == std::floor(number);
  };
  if (!is_count(local_batch) || local_batch < 1 || !is_count(accumulation)) return std::nullopt;
  if (sync_s >= step_s) return std::nullopt;
  return TrainingSample{.nodes = 0,
                        .replicas = 1,
                        .local_batch = static_cast<std::uint32_t>(local_batch),
                        .accumulation = static_cast<std::uint32_t>(accumulation),
                        .step_s = step_s,
                        .sync_s = sync_s,
                        .grad_sqr = grad_sqr,
                        .grad_var = grad_var};
}

SaidMetric metric_from(std::string_view line) {
  SaidMetric said;
  // The value is all that stands behind the first space: of "p99 5 ms" the value is wrong, not the
  // name.
  const std::size_t end = line.starts_with(kMetricVerb) ? line.find(' ', kMetricVerb.size()) : 0;
  if (end <= kMetricVerb.size() || end == std::string_view::npos) {
    said.problem = "say: metric NAME VALUE";
    return said;
  }
  said.name = line.substr(kMetricVerb.size(), end - kMetricVerb.size());
  const std::string_view value = line.substr(end + 1);
  const char* const last = value.data() + value.size();
  const auto parsed = std::from_chars(value.data(), last, said.value);
  if (!is_metric_name(said.name)) {
    said.problem =
        "the name of a metric has small letters, digits and '_', a letter first, and at most " +
        std::to_string(kMaxMetricNameBytes) + " characters";
  } else if (parsed.ec != std::errc{} || parsed.ptr != last || !is_metric_value(said.value)) {
    said.problem = "the value of a metric is a number from -1e18 to 1e18";
  }
  return said;
}

AloneRates::AloneRates(std::filesystem::path folder) : folder_(std::move(folder)) {
  const Descriptor open = open_folder(folder_);
  const auto text = open ? read_whole(open.get(), kRatesFile, kMaxRecordBytes) : std::nullopt;
  if (!text) return;
  const auto rates = nlohmann::json::parse(*text, nullptr, false);
  if (!rates.is_object()) return;
  for (const auto& [name, rate] : rates.items()) {
    if (rate.is_number() && rate.get<double>() > 0) best_[name] = rate.get<double>();
  }
}

void AloneRates::record(const std::string& workload_class, double rate) {
  if (!(rate > 0)) return;
  const auto found = best_.find(workload_class);
  if (found == best_.end() && best_.size() >= kMaxClasses) return;
  double& best = best_[workload_class];
  if (rate <= best * kWorthSaving) return;
  best = rate;
  save();
}

std::optional<double> AloneRates::best(const std::string& workload_class) const {
  const auto found = best_.find(workload_class);
  if (found == best_.end()) return std::nullopt;
  return found->second;
}

void AloneRates::save() const {
  const Descriptor open = open_folder(folder_);
  if (!open) return;
  const std::string text =
      nlohmann::json(best_).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  write_whole(open.get(), kRatesFile, text, false);  // lost rates are seen again
}

}  // namespace muster::process
