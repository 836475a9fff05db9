#include "schedulers/lrasched/limit_book.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "model/fields.hpp"
#include "schedulers/saved_lines.hpp"

namespace muster::lrasched {
namespace {

/// A number that differs by more from that of before, with as many together, is of another load.
constexpr double kLoadChange = 0.1;
constexpr std::string_view kTogether = "services_together_";
constexpr std::string_view kTogetherCores = "services_together_cores_of_";
constexpr std::string_view kTogetherGib = "services_together_gib_of_";
constexpr std::string_view kLimitOf = "services_limit_of_";
constexpr std::string_view kOfJob = "_of_";

std::optional<std::uint64_t> whole_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  return is_whole ? std::optional(number) : std::nullopt;
}

/// The step that a figure begins: `services_together_2_of_9`.
std::optional<LimitStep> begun_by(std::string_view figure) {
  if (!figure.starts_with(kTogether)) return std::nullopt;
  figure.remove_prefix(kTogether.size());
  const std::size_t of = figure.find(kOfJob);
  if (of == std::string_view::npos) return std::nullopt;
  const auto together = whole_of(figure.substr(0, of));
  const auto job = whole_of(figure.substr(of + kOfJob.size()));
  if (!together || !job || *together == 0 || *together > kMostTogether) return std::nullopt;
  LimitStep step;
  step.job = JobId{*job};
  step.together = static_cast<std::uint32_t>(*together);
  return step;
}

}  // namespace

void note_number(LimitedService& service, const LimitStep& step) {
  if (service.size != step.size) service.numbers.clear();
  service.size = step.size;
  const auto before = service.numbers.find(step.together);
  if (before != service.numbers.end() &&
      std::abs(before->second - step.number) > kLoadChange * std::abs(before->second)) {
    service.numbers.clear();
  }
  service.numbers[step.together] = step.number;
}

void LimitBook::observe(const Event& event, const ClusterView& view) {
  if (!std::exchange(looked_, true)) return look(view.state);
  if (const auto* accepted = std::get_if<JobAccepted>(&event.body)) {
    add(*view.state.find(accepted->job.id));
  } else if (const auto* over = std::get_if<JobFinished>(&event.body)) {
    services_.erase(over->job);
  } else if (const auto* round = std::get_if<RoundDecided>(&event.body)) {
    for (const LimitStep& step : read(round->note)) take(step, event.at);
  }
}

/// A policy may begin in the middle of a log, after another one.
void LimitBook::look(const ClusterState& state) {
  for (const JobRow& row : state.jobs()) add(row);
}

/// A revision begins with what was learnt of the one before: its own numbers outdate that.
void LimitBook::add(const JobRow& row) {
  const ServiceSpec* spec = row.job.service();
  if (spec == nullptr || !spec->goal.is_there()) return;
  LimitedService service;
  const auto before = services_.find(spec->replaces);
  if (before != services_.end() && before->second.goal == spec->goal) service = before->second;
  service.goal = spec->goal;
  services_.insert_or_assign(row.job.id, std::move(service));
}

std::uint32_t LimitBook::limit_of(JobId id) const {
  const auto found = services_.find(id);
  return found != services_.end() ? found->second.limit : 0;
}

void LimitBook::take(const LimitStep& step, Instant at) {
  const auto found = services_.find(step.job);
  if (found == services_.end()) return;
  LimitedService& service = found->second;
  note_number(service, step);
  if (step.limit == service.limit) return;
  service.limit = step.limit;
  std::erase_if(service.changes, std::not_fn(LimitedService::is_within_day(at)));
  service.changes.push_back(at);
}

void LimitBook::write(const std::vector<LimitStep>& steps, RoundNote& note) {
  for (const LimitStep& step : steps) {
    const std::uint64_t job = step.job.value;
    note.figures.emplace_back(fmt::format("{}{}{}{}", kTogether, step.together, kOfJob, job),
                              step.number);
    note.figures.emplace_back(fmt::format("{}{}", kTogetherCores, job), step.size[Resource::cpu]);
    note.figures.emplace_back(fmt::format("{}{}", kTogetherGib, job), step.size[Resource::memory]);
    note.figures.emplace_back(fmt::format("{}{}", kLimitOf, job), step.limit);
  }
}

std::vector<LimitStep> LimitBook::read(const RoundNote& note) const {
  std::vector<LimitStep> steps;
  for (const auto& [name, value] : note.figures) {
    const std::string_view text = name;
    if (auto step = begun_by(text)) {
      step->number = value;
      steps.push_back(*step);
    } else if (!steps.empty() && text.starts_with(kTogetherCores)) {
      steps.back().size[Resource::cpu] = value;
    } else if (!steps.empty() && text.starts_with(kTogetherGib)) {
      steps.back().size[Resource::memory] = value;
    } else if (!steps.empty() && text.starts_with(kLimitOf)) {
      const bool is_one = value >= 0 && value <= kLargestService;
      steps.back().limit = is_one ? static_cast<std::uint32_t>(value) : 0;
    }
  }
  std::erase_if(steps, [this](const LimitStep& step) { return !services_.contains(step.job); });
  return steps;
}

namespace {

struct SavedLimit {
  JobId job{};
  Resources size{};
  std::map<std::uint32_t, double> numbers{};
  std::uint32_t limit = 0;
  std::vector<Instant> changes{};
};
void line(auto& a, Like<SavedLimit> auto& service) {
  a(service.job, service.size, service.numbers, service.limit, service.changes);
}

}  // namespace

std::string LimitBook::save() const {
  std::vector<SavedLimit> all;
  for (const auto& [id, service] : services_) {
    if (service.numbers.empty() && service.limit == 0) continue;
    all.push_back({id, service.size, service.numbers, service.limit, service.changes});
  }
  return saved::saved(all).dump();
}

bool LimitBook::load(std::string_view text, const ClusterView& view) {
  services_.clear();
  look(view.state);
  looked_ = true;
  try {
    const saved::Json all = saved::Json::parse(text, nullptr, false);
    for (SavedLimit& each : saved::loaded<std::vector<SavedLimit>>(all)) {
      const auto found = services_.find(each.job);
      if (found == services_.end() || each.limit > kLargestService) continue;
      std::erase_if(each.numbers,
                    [](const auto& one) { return one.first == 0 || one.first > kMostTogether; });
      found->second.size = each.size;
      found->second.numbers = std::move(each.numbers);
      found->second.limit = each.limit;
      found->second.changes = std::move(each.changes);
    }
    return true;
  } catch (const saved::NotUnderstood&) {
    return false;
  }
}

}  // namespace muster::lrasched
