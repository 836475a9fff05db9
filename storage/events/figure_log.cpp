#include "storage/events/figure_log.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace muster {
namespace {

// The columns are the members of a sample by the names that `fields` gives them, so that a new one
// is kept without a line here. A file says in its first line which it has: one of an earlier
// version has fewer, and what it lacks is the sample's default.

/// The names of the columns, in the order of a sample's members.
struct Columns {
  std::vector<std::string> names{};

  void operator()(const Key& key, const auto&) { names.emplace_back(key.name); }
};

std::vector<std::string> columns() {
  Columns all;
  const HistorySample sample;
  fields(all, sample);
  return all.names;
}

/// A sample's values, as its line has them.
struct LineOut {
  std::vector<std::string> values{};

  void operator()(const Key&, const Instant& at) {
    values.push_back(fmt::format("{}", to_seconds(at)));
  }
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void operator()(const Key&, const Number& number) { values.push_back(fmt::format("{}", number)); }
};

std::string line_of(const HistorySample& sample) {
  LineOut line;
  fields(line, sample);
  return fmt::format("{}\n", fmt::join(line.values, ","));
}

std::vector<std::string> parted(std::string_view line) {
  std::vector<std::string> parts(1);
  for (const char letter : line) {
    if (letter == ',') {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  return parts;
}

/// Sets a sample's members from a line's values, which have a column each.
class LineIn {
 public:
  LineIn(const std::vector<std::string>& names, const std::vector<std::string>& values)
      : names_(names), values_(values), whole_(names.size() == values.size()) {}

  bool is_whole() const { return whole_; }

  void operator()(const Key& key, Instant& at) {
    // Beyond these a time would not fit an Instant.
    constexpr double kMostSeconds = 9e9;
    double at_s = -1;
    (*this)(key, at_s);
    whole_ &= at_s >= 0 && at_s < kMostSeconds;
    if (whole_) at = Instant{from_seconds(at_s)};
  }
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void operator()(const Key& key, Number& number) {
    const auto column = std::find(names_.begin(), names_.end(), key.name);
    if (!whole_ || column == names_.end()) return;
    const std::string& text = values_[static_cast<std::size_t>(column - names_.begin())];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    whole_ = error == std::errc{} && end == text.data() + text.size();
  }

 private:
  const std::vector<std::string>& names_;
  const std::vector<std::string>& values_;
  bool whole_;
};

/// Nothing when a crash or somebody's editor has left half a line.
std::optional<HistorySample> sample_from(std::string_view line,
                                         const std::vector<std::string>& names) {
  const std::vector<std::string> values = parted(line);
  HistorySample sample;
  LineIn in(names, values);
  fields(in, sample);
  return in.is_whole() ? std::optional(sample) : std::nullopt;
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
  std::vector<std::string> names = columns();
  const std::string time = names.front();
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(time)) {
      names = parted(line);
      continue;
    }
    const auto sample = sample_from(line, names);
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
    out << fmt::format("{}\n", fmt::join(columns(), ","));
    for (const HistorySample& sample : kept_) out << line_of(sample);
    if (!out.flush()) return;
  }
  std::error_code ignored;
  std::filesystem::rename(made, file_, ignored);
  lines_ = kept_.size();
}

}  // namespace muster
