#include "config/elastic_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace muster::config {
namespace {

using R = JobRequest;

constexpr std::size_t kMostEpochs = 100;
/// In seconds, of a whole job with one worker: 10 years, as of other times of a request.
constexpr double kLongest_s = 315'360'000;
constexpr NumberRange kWidth{.low = 1, .high = kWidestJob, .whole = true};
/// A day: a job that needs longer to start again had better keep one width.
constexpr NumberRange kRescale{.low = 0.001, .high = 86'400};
/// Well within what a program may say: plans divide ends and add them up.
constexpr NumberRange kEnd{.low = 1e-6, .high = 1e12};
constexpr NumberRange kSpeedup{.low = 0.001, .high = kWidestJob};
constexpr NumberRange kBatch{.low = 1, .high = kLargestBatch, .whole = true};

struct Widths {
  std::uint32_t least = 1;
  std::uint32_t most = 1;
};

/// "1-8"; nothing when the text is no such range.
std::optional<Widths> parse_widths(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto least = parse_number(text.substr(0, dash));
  const auto most = parse_number(text.substr(dash + 1));
  if (!least || !most || !kWidth.contains(*least) || !kWidth.contains(*most)) return std::nullopt;
  if (*least > *most) return std::nullopt;
  return Widths{static_cast<std::uint32_t>(*least), static_cast<std::uint32_t>(*most)};
}

std::string wanted_widths() {
  return fmt::format(
      "a text like \"1-8\": the least and the most workers, each from 1 to {}, the least first",
      kWidestJob);
}

bool read_widths(JobRequest& request, const RequestValue& value) {
  const auto* text = std::get_if<std::string>(&value.data);
  if (text == nullptr || !parse_widths(*text)) return false;
  request.elastic = *text;
  return true;
}

/// "1,1.9,2.7", as flags say it.
std::optional<std::vector<double>> parse_numbers(std::string_view text) {
  std::vector<double> numbers;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    more = comma != std::string_view::npos;
    std::string_view part = text.substr(0, comma);
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    const auto number = parse_number(part);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
    if (more) text.remove_prefix(comma + 1);
  }
  return numbers;
}

template <std::vector<double> JobRequest::*kAt>
bool read_numbers(JobRequest& request, const RequestValue& value) {
  std::vector<double> numbers;
  if (const auto* text = std::get_if<std::string>(&value.data)) {
    auto parsed = parse_numbers(*text);
    if (!parsed) return false;
    numbers = *std::move(parsed);
  } else if (const auto* list = std::get_if<RequestValue::List>(&value.data)) {
    for (const RequestValue& element : *list) {
      const auto number = element.number();
      if (!number) return false;
      numbers.push_back(*number);
    }
  }
  if (numbers.empty()) return false;
  request.*kAt = std::move(numbers);
  return true;
}

void check_widths(const JobRequest& request, const Report& report) {
  if (request.elastic.empty() || parse_widths(request.elastic)) return;
  report("elastic",
         fmt::format("has to be {}; it is \"{:.60}\"", wanted_widths(), request.elastic));
}

void check_ends(const JobRequest& request, const Report& report) {
  const std::vector<double>& ends = request.progress_ends;
  if (ends.size() > kMostEpochs) {
    return report("progress_ends", fmt::format("has to have at most {} numbers; it has {}",
                                               kMostEpochs, ends.size()));
  }
  double before = 0;
  for (const double end : ends) {
    if (!kEnd.contains(end)) {
      return report("progress_ends",
                    fmt::format("each has to be {}; one is {}", describe(kEnd), number_text(end)));
    }
    if (end <= before) {
      return report("progress_ends", fmt::format("has to rise; {} comes after {}", number_text(end),
                                                 number_text(before)));
    }
    before = end;
  }
}

void check_speedup(const JobRequest& request, const Report& report) {
  if (request.speedup.empty()) return;
  for (const double each : request.speedup) {
    if (kSpeedup.contains(each)) continue;
    return report("speedup", fmt::format("each has to be {}; one is {}", describe(kSpeedup),
                                         number_text(each)));
  }
  if (request.speedup.front() != 1) {
    report("speedup", fmt::format("has to begin with that of one worker, 1; it begins with {}",
                                  number_text(request.speedup.front())));
  }
}

/// Keys that speak of elastic jobs alone, and whether the request has them.
std::array<std::pair<std::string_view, bool>, 8> given(const JobRequest& request) {
  return {{{"progress_unit", !request.progress_unit.empty()},
           {"progress_ends", !request.progress_ends.empty()},
           {"speedup", !request.speedup.empty()},
           {"rescale_s", request.rescale_s.has_value()},
           {"batch", request.batch.has_value()},
           {"batch_max", request.batch_max.has_value()},
           {"local_batch_min", request.local_batch_min.has_value()},
           {"local_batch_max", request.local_batch_max.has_value()}}};
}

/// The bounds, with defaults for what was left out.
BatchLimits limits_of(const JobRequest& request) {
  BatchLimits limits;
  limits.initial = request.batch.value_or(1);
  limits.largest = request.batch_max.value_or(limits.initial);
  limits.local_min = request.local_batch_min.value_or(1);
  limits.local_max = request.local_batch_max.value_or(limits.largest);
  return limits;
}

void check_batches(const JobRequest& request, const Widths& widths, const Report& report) {
  if (!request.batch) {
    for (const auto& [key, is_there] : given(request)) {
      if (is_there && key.find("batch_") != std::string_view::npos) {
        report(key, "needs batch, the samples of a step that training begins with");
      }
    }
    return;
  }
  const BatchLimits limits = limits_of(request);
  if (limits.largest < limits.initial) {
    report("batch_max", fmt::format("has to be at least batch, which is {}; it is {}",
                                    limits.initial, limits.largest));
  }
  if (limits.local_max < limits.local_min) {
    report(request.local_batch_max ? "local_batch_max" : "local_batch_min",
           fmt::format("a worker's least batch, {}, has to be at most its largest, {}",
                       limits.local_min, limits.local_max));
  }
  // In 64 bits: the product of two numbers that are fine alone may not fit into 32.
  if (std::uint64_t{limits.local_min} * widths.least > limits.largest) {
    report("local_batch_min",
           fmt::format("times the least width, {}, has to be at most the largest batch, {}; it is "
                       "{}",
                       widths.least, limits.largest, limits.local_min));
  }
}

/// Plans divide by what is said of speeds.
void check_speeds(const JobRequest& request, const Widths& widths, const Report& report) {
  if (request.speedup.size() > widths.most) {
    report("speedup", fmt::format("has to have at most {} numbers, one for each width; it has {}",
                                  widths.most, request.speedup.size()));
  }
  if (request.progress_ends.empty() || !request.baseline_rate_per_s) return;
  const double alone_s = request.progress_ends.back() / *request.baseline_rate_per_s;
  if (alone_s <= kLongest_s) return;
  report("progress_ends",
         fmt::format("one worker would take {} s for all of it, at baseline_rate_per_s = {}; that "
                     "has to be at most {} s, 10 years",
                     number_text(alone_s), number_text(*request.baseline_rate_per_s),
                     number_text(kLongest_s)));
}

/// Refuses keys of other kinds of jobs that elastic ones cannot have.
void check_kind(const JobRequest& request, bool tasks_given, const Report& report) {
  if (tasks_given) report("tasks", "cannot be given beside elastic, which says how many workers");
  if (!request.array.empty())
    report("array", "cannot be given beside elastic: all work on one job");
  if (request.gang) report("gang", "cannot be given beside elastic: its workers start together");
  if (request.max_running > 0) {
    report("max_running", "cannot be given beside elastic, which says how many workers");
  }
  if (request.max_fails) {
    report("max_fails", "cannot be given beside elastic: the job fails with any of its workers");
  }
  if (!request.movable) {
    report("movable", "cannot be false beside elastic: another width stops and starts the workers");
  }
  constexpr std::string_view kFills = "cannot be given beside elastic: its workers fill instances";
  if (request.distinct_instances) report("distinct_instances", std::string(kFills));
  if (request.most_an_instance) report("most_an_instance", std::string(kFills));
}

}  // namespace

std::vector<RequestKey> elastic_keys() {
  const std::string numbers = "list of numbers, or text like \"1,1.9\"";
  return {
      {"elastic", "text", "none",
       "the job is elastic: instead of `tasks`, the least and the most workers that the policy may "
       "give it, like \"1-8\"",
       RequestOther{&R::elastic, wanted_widths(), read_widths, check_widths},
       RequestFlag{
           "--elastic",
           "MIN-MAX, like 1-8: the policy chooses the number of workers between these two"}},
      {"progress_unit", "text", "none", "unit of an elastic job's progress, like \"samples\"",
       RequestText{&R::progress_unit}, RequestFlag{"--progress-unit"}},
      {"progress_ends", numbers, "none",
       "the progress at which its epochs end, rising; the last one is the end of the job",
       RequestOther{&R::progress_ends, "a list of numbers, or a text like \"100,250\"",
                    read_numbers<&R::progress_ends>, check_ends},
       RequestFlag{"--progress-ends", "where its epochs end, like 100,250; the last is its end"}},
      {"speedup", numbers, "learnt",
       "how many times as fast as one worker are 1, 2, ... of them; more are as fast as the last",
       RequestOther{&R::speedup, "a list of numbers, or a text like \"1,1.9,2.7\"",
                    read_numbers<&R::speedup>, check_speedup},
       RequestFlag{"--speedup", "speeds of 1, 2, ... workers relative to one, like 1,1.9,2.7"}},
      {"rescale_s", "seconds, or text like \"5min\"", fmt::format("{}", kDefaultRescale_s),
       "for how long a change of width keeps it from progress: until its workers have stopped and "
       "started",
       RequestNumber{&R::rescale_s, kRescale, NumberText::time},
       RequestFlag{"--rescale", "for how long another width keeps it from progress; default: 30s"}},
      {"batch", "whole number", "none",
       "the job trains: samples of a step at first; the job reports how long its steps take",
       RequestNumber{&R::batch, kBatch}, RequestFlag{"--batch"}},
      {"batch_max", "whole number", "`batch`", "most samples of a step",
       RequestNumber{&R::batch_max, kBatch}, RequestFlag{"--batch-max"}},
      {"local_batch_min", "whole number", "1", "fewest samples that a worker takes at once",
       RequestNumber{&R::local_batch_min, kBatch}, RequestFlag{"--local-batch-min"}},
      {"local_batch_max", "whole number", "`batch_max`",
       "most samples that a worker has memory for at once",
       RequestNumber{&R::local_batch_max, kBatch}, RequestFlag{"--local-batch-max"}}};
}

void check_elastic(const JobRequest& request, bool tasks_given, const Report& report) {
  if (request.elastic.empty()) {
    for (const auto& [key, is_there] : given(request)) {
      if (is_there) report(key, "is for elastic jobs: say elastic, like \"1-8\", too");
    }
    return;
  }
  check_kind(request, tasks_given, report);
  const auto widths = parse_widths(request.elastic);
  if (!widths) return;
  check_speeds(request, *widths, report);
  check_batches(request, *widths, report);
}

void make_elastic(const JobRequest& request, Job& job) {
  const Widths widths = *parse_widths(request.elastic);
  ElasticSpec spec;
  spec.min_width = widths.least;
  spec.max_width = widths.most;
  spec.speedup = request.speedup;
  spec.unit = request.progress_unit;
  std::vector<ElasticEpoch> epochs;
  for (const double end : request.progress_ends) {
    epochs.push_back({end, request.baseline_rate_per_s.value_or(0), request.speedup, {}});
  }
  spec.epochs = ElasticEpochs(std::move(epochs));
  if (request.batch) spec.batch = limits_of(request);
  job.kind = std::move(spec);
  job.gang = true;
  // Workers that are stopped for another width go on from where they were: elastic programs save
  // that.
  job.checkpoints = true;
  TaskSpec worker = job.tasks.front();
  // All of it is time without progress, however it is shared between stopping and starting.
  worker.delays.init = from_seconds(request.rescale_s.value_or(kDefaultRescale_s));
  job.tasks.assign(widths.most, worker);
  for (std::uint32_t i = 0; i < widths.most; ++i) job.tasks[i].array_index = i;
}

void ask_elastic(const Job& job, JobRequest& request) {
  const auto* spec = std::get_if<ElasticSpec>(&job.kind);
  if (spec == nullptr) return;
  request.elastic = fmt::format("{}-{}", spec->min_width, spec->max_width);
  request.progress_unit = spec->unit;
  for (const ElasticEpoch& epoch : spec->epochs.all()) request.progress_ends.push_back(epoch.until);
  request.speedup = spec->speedup;
  if (!job.tasks.empty()) request.rescale_s = to_seconds(job.tasks.front().delays.init);
  if (!spec->batch) return;
  request.batch = spec->batch->initial;
  request.batch_max = spec->batch->largest;
  request.local_batch_min = spec->batch->local_min;
  request.local_batch_max = spec->batch->local_max;
}

}  // namespace muster::config
