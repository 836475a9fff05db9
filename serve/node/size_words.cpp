#include "serve/node/size_words.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "model/rounded_text.hpp"

namespace muster {
namespace {

constexpr std::string_view kServices = "services_";
constexpr std::string_view kOf = "_of_";
constexpr std::string_view kNumberAt = "number_at_", kFailedAt = "failed_at_",
                           kAbsentAt = "absent_at_", kTogether = "together_";
constexpr int kSizeDigits = 4;

/// A size by its number, and by its amounts where the note has them.
struct NotedSize {
  std::string number{};
  double cores = 0;
  double memory_gib = 0;

  std::string text() const {
    if (cores <= 0) return "size " + number;
    return fmt::format("{} core{} and {} GiB", rounded_text(cores, kSizeDigits),
                       cores == 1 ? "" : "s", rounded_text(memory_gib, kSizeDigits));
  }
};

/// A step of the search for a size, or for the replicas that an instance may hold.
struct NotedStep {
  std::string job;
  std::string_view found;
  double value = 0;
  NotedSize at{}, size{};
  std::optional<NotedSize> trial{};
  bool goes_on = false;
  std::string limit{};  ///< of replicas on an instance; empty: it is the policy's own

  /// Nothing follows from a number of replicas with which the policy's own limit stays.
  bool is_news() const { return found != kTogether || !limit.empty(); }

  std::string text() const {
    std::string text = "job " + job + ": ";
    if (found == kTogether) return text + text_of_limit();
    if (found == kFailedAt) {
      text += "a replica failed at " + at.text();
    } else if (found == kAbsentAt) {
      text += "no replica could be measured at " + at.text();
    } else {
      text += rounded_text(value, kSizeDigits) + " at " + at.text();
    }
    text += ", its replicas get " + size.text();
    if (trial) text += ", one tries " + trial->text();
    if (goes_on) text += ", more is tried when it may change again";
    return text;
  }

 private:
  std::string text_of_limit() const {
    std::string text = rounded_text(value, kSizeDigits) + " with " + at.number +
                       (at.number == "1" ? " replica" : " replicas") + " on an instance";
    return text + ", which may hold " + limit;
  }
};

/// The name without what all of these begin with, and the job at its end; nothing: another figure.
std::optional<std::pair<std::string_view, std::string_view>> parts_of(std::string_view figure) {
  if (!figure.starts_with(kServices)) return std::nullopt;
  figure.remove_prefix(kServices.size());
  const std::size_t of = figure.rfind(kOf);
  if (of == std::string_view::npos) return std::nullopt;
  return std::pair(figure.substr(0, of), figure.substr(of + kOf.size()));
}

/// The kind of finding, behind which stands the number of its size.
std::optional<std::string_view> found_of(std::string_view what) {
  for (const std::string_view found : {kNumberAt, kFailedAt, kAbsentAt, kTogether}) {
    const bool is_begun = what.starts_with(found) && what.size() > found.size();
    if (is_begun && what[found.size()] >= '0' && what[found.size()] <= '9') return found;
  }
  return std::nullopt;
}

void take(NotedStep& step, std::string_view what, double value) {
  const auto number = [&] { return rounded_text(value, kSizeDigits); };
  if (what == "at_cores") step.at.cores = value;
  if (what == "at_gib") step.at.memory_gib = value;
  if (what == "size") step.size.number = number();
  if (what == "size_cores") step.size.cores = value;
  if (what == "size_gib") step.size.memory_gib = value;
  if (what == "trial") step.trial.emplace().number = number();
  if (what == "trial_cores" && step.trial) step.trial->cores = value;
  if (what == "trial_gib" && step.trial) step.trial->memory_gib = value;
  if (what == "goes_on") step.goes_on = true;
  if (what == "limit" && value > 0) step.limit = number();
}

}  // namespace

bool is_of_size(std::string_view figure) {
  return parts_of(figure).has_value();
}

std::vector<std::string> words_of_sizes(const std::vector<FigureView>& figures) {
  std::vector<NotedStep> steps;
  for (const FigureView& figure : figures) {
    const auto parts = parts_of(figure.name);
    if (!parts) continue;
    const auto& [what, job] = *parts;
    if (const auto found = found_of(what)) {
      NotedStep& step = steps.emplace_back();
      step.job = job;
      step.found = *found;
      step.value = figure.value;
      step.at.number = what.substr(found->size());
    } else if (!steps.empty() && steps.back().job == job) {
      take(steps.back(), what, figure.value);
    }
  }
  std::vector<std::string> words;
  for (const NotedStep& step : steps) {
    if (step.is_news()) words.push_back(step.text());
  }
  return words;
}

}  // namespace muster
