#include "storage/events/figure_log.hpp"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>

namespace muster {
namespace {

constexpr std::string_view kHead =
    "at_s,usd_h,spent_usd,instances,tasks_running,tasks_pending,jobs_waiting\n";

std::string line_of(const HistorySample& sample) {
  return fmt::format("{},{},{},{},{},{},{}\n", to_seconds(sample.at), sample.usd_h,
                     sample.spent_usd, sample.instances, sample.tasks_running, sample.tasks_pending,
                     sample.jobs_waiting);
}

/// Takes a number and the comma behind it off the front.
template <class Number>
bool take(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.empty()) return true;
  if (text.front() != ',') return false;
  text.remove_prefix(1);
  return true;
}

/// Nothing when a crash or somebody's editor has left half a line.
std::optional<HistorySample> sample_from(std::string_view line) {
  HistorySample sample;
  double at_s = 0;
  const bool whole = take(line, at_s) && take(line, sample.usd_h) && take(line, sample.spent_usd) &&
                     take(line, sample.instances) && take(line, sample.tasks_running) &&
                     take(line, sample.tasks_pending) && take(line, sample.jobs_waiting);
  // Beyond these a time would not fit an Instant.
  constexpr double kMostSeconds = 9e9;
  if (!whole || !line.empty() || !(at_s >= 0 && at_s < kMostSeconds)) return std::nullopt;
  sample.at = Instant{from_seconds(at_s)};
  return sample;
}

}  // namespace

FigureLog::FigureLog(std::filesystem::path file, std::size_t most)
    : file_(std::move(file)), most_(most) {
  load();
  rewrite();
  thread_ = std::thread([this] { run(); });
}

FigureLog::~FigureLog() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  news_.notify_one();
  thread_.join();
}

void FigureLog::load() {
  std::ifstream in(file_);
  for (std::string line; std::getline(in, line);) {
    const auto sample = sample_from(line);
    if (!sample) continue;
    // Samples that a clock that was ahead has dated later give way.
    while (!read_.empty() && read_.back().at >= sample->at) read_.pop_back();
    read_.push_back(*sample);
  }
  if (read_.size() > most_) {
    read_.erase(read_.begin(), read_.end() - static_cast<std::ptrdiff_t>(most_));
  }
  kept_ = read_;
}

void FigureLog::append(const HistorySample& sample) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= most_) return;
    waiting_.push_back(sample);
  }
  news_.notify_one();
}

void FigureLog::run() {
  while (true) {
    std::vector<HistorySample> samples;
    {
      std::unique_lock lock(mutex_);
      news_.wait(lock, [&] { return stops_ || !waiting_.empty(); });
      // Samples that still wait when it stops are written first.
      if (waiting_.empty()) return;
      samples.swap(waiting_);
    }
    for (const HistorySample& sample : samples) put(sample);
  }
}

void FigureLog::put(const HistorySample& sample) {
  if (kept_.size() >= most_) kept_.erase(kept_.begin());
  kept_.push_back(sample);
  if (lines_ >= 2 * most_) return rewrite();
  std::ofstream(file_, std::ios::app) << line_of(sample);
  ++lines_;
}

/// Puts the new file in the old one's place in one step, so that a crash leaves one of them.
void FigureLog::rewrite() {
  const std::filesystem::path made = file_.string() + ".new";
  {
    std::ofstream out(made, std::ios::trunc);
    out << kHead;
    for (const HistorySample& sample : kept_) out << line_of(sample);
    if (!out.flush()) return;
  }
  std::error_code ignored;
  std::filesystem::rename(made, file_, ignored);
  lines_ = kept_.size();
}

}  // namespace muster
