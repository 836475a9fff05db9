#include "schedulers/muster/run_times.hpp"

#include <algorithm>
#include <cmath>

// Statements of run times are mostly wrong, but wrong in a way that can be counted. A task's end is
// therefore not a time but a list of equally likely times, and everything that is made of ends (how
// long an instance lasts, what a task adds to that) is worked out case by case. Where statements
// are right all cases come to equal times.

namespace muster::own {
namespace {

constexpr double kStepsOfOctave = 16;
constexpr double kShortest_s = 1;
/// No case is longer than this many times the statement, or than as much again as the task has run:
/// a task that runs on for that long is moved away meanwhile, and does not hold a whole instance to
/// its end.
constexpr double kLongestRatio = 8;
/// Jobs that are assumed before any task has ended: half of that as long as said, the rest evenly
/// over four octaves less and more.
constexpr double kSupposedJobs = 0.5;
constexpr int kSupposedOctaves = 4;
/// Weight of a statement an octave apart.
constexpr double kOctaveApart = 0.5;

std::int32_t octave_of(double seconds) {
  return static_cast<std::int32_t>(std::floor(std::log2(std::max(seconds, kShortest_s))));
}

}  // namespace

std::optional<Duration> said_run_time(const Job& job, const TaskSpec& task, RunTimes source) {
  if (source == RunTimes::unknown) return std::nullopt;
  if (source == RunTimes::predicted) return job.prediction.runtime;
  return task.runtime_hint ? task.runtime_hint : job.runtime_hint;
}

const TaskRow* finished_run(const Event& event, const ClusterState& state) {
  const auto* finished = std::get_if<TaskFinished>(&event.body);
  const TaskRow* row = finished != nullptr ? state.find(finished->task) : nullptr;
  return row != nullptr && row->ran > Duration{} ? row : nullptr;
}

double mean(const Cases& cases) {
  float sum = 0;
  for (const float one : cases) sum += one;
  return sum / static_cast<float>(kCases);
}

double mean_excess(const Cases& one, const Cases& other) {
  float sum = 0;
  for (std::size_t i = 0; i < kCases; ++i) sum += std::max(0.0F, one[i] - other[i]);
  return sum / static_cast<float>(kCases);
}

Cases later(Cases cases, double seconds) {
  for (float& one : cases) one += static_cast<float>(seconds);
  return cases;
}

void raise(Cases& cases, const Cases& least) {
  for (std::size_t i = 0; i < kCases; ++i) cases[i] = std::max(cases[i], least[i]);
}

void RunTimeRecord::add(const TaskRow& task, Duration expected, double share) {
  const double said_s = std::max(to_seconds(expected), kShortest_s);
  const double octaves = std::log2(to_seconds(task.ran) / said_s);
  const auto step = static_cast<std::int32_t>(std::lround(octaves * kStepsOfOctave));
  counts_[{octave_of(said_s), step}] += share;
}

const RunTimeOutlook::Curve& RunTimeOutlook::curve_of(std::int32_t octave) {
  const auto [known, is_new] = curves_.try_emplace(octave);
  if (!is_new) return known->second;
  std::map<std::int32_t, double> sums;
  double all = kSupposedJobs;
  sums[0] = kSupposedJobs / 2;
  for (int i = 1; i <= kSupposedOctaves; ++i) {
    const auto step = static_cast<std::int32_t>(i * kStepsOfOctave);
    sums[step] = sums[-step] = kSupposedJobs / (4 * kSupposedOctaves);
  }
  for (const auto& [key, count] : record_.counts()) {
    const double weight = count * std::pow(kOctaveApart, std::abs(key.first - octave));
    sums[key.second] += weight;
    all += weight;
  }
  double before = 0;
  for (const auto& [step, sum] : sums) {
    before += sum;
    known->second.push_back({std::exp2(step / kStepsOfOctave), before / all});
  }
  return known->second;
}

/// Which quantile each case is for the job: shuffled by the job's number alone, so that a round
/// needs no generator and every round mixes alike.
const std::array<std::uint8_t, kCases>& RunTimeOutlook::order_of(JobId job) {
  if (ordered_ == job) return order_;
  ordered_ = job;
  std::uint64_t seed = job.value;
  const auto next = [&] {
    std::uint64_t z = (seed += 0x9e3779b97f4a7c15ULL);  // SplitMix64
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  };
  for (std::size_t i = 0; i < kCases; ++i) order_[i] = static_cast<std::uint8_t>(i);
  for (std::size_t left = kCases; left > 1; --left) {
    std::swap(order_[left - 1], order_[next() % left]);
  }
  return order_;
}

Cases RunTimeOutlook::left(JobId job, Duration said, Duration ran) {
  const double said_s = std::max(to_seconds(said), kShortest_s);
  const double ran_s = to_seconds(ran);
  const double most_s = std::max(said_s * kLongestRatio, 2 * ran_s);
  const Curve& curve = curve_of(octave_of(said_s));
  const auto& order = order_of(job);
  // Cases that would be over by now have not come about.
  const auto open = std::find_if(curve.begin(), curve.end(),
                                 [&](const Step& step) { return step.ratio * said_s > ran_s; });
  const double over = open == curve.begin() ? 0 : std::prev(open)->until;
  Cases left;
  for (std::size_t i = 0; i < kCases; ++i) {
    const double share = (order[i] + 0.5) / static_cast<double>(kCases);
    // No recorded task ran for as long: as likely as not it lasts as long again.
    double total_s = ran_s / (1 - share);
    if (open != curve.end()) {
      auto step = std::lower_bound(open, curve.end(), over + (1 - over) * share,
                                   [](const Step& one, double at) { return one.until < at; });
      if (step == curve.end()) --step;
      total_s = step->ratio * said_s;
    }
    left[i] = static_cast<float>(std::max(kShortest_s, std::min(total_s, most_s) - ran_s));
  }
  return left;
}

}  // namespace muster::own
