#include "schedulers/lrasched/size_book.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <utility>

#include "model/fields.hpp"
#include "model/task_metrics.hpp"
#include "schedulers/saved_lines.hpp"

// Numbers are kept as they were said, and not relative to the largest size's: that one may be
// measured again.

namespace muster::lrasched {
namespace {

/// A number that differs by more from that of before, at an unchanged size, is of another load.
constexpr double kOtherLoad = 0.1;
/// Of one length.
constexpr auto kFoundAt = std::to_array<std::string_view>(
    {"services_number_at_", "services_failed_at_", "services_absent_at_"});
constexpr std::string_view kSizeOf = "services_size_of_";
constexpr std::string_view kTrialOf = "services_trial_of_";
constexpr std::string_view kGoesOn = "services_goes_on_of_";
constexpr std::string_view kOf = "_of_";

std::vector<double> steps_between(double least, double most) {
  std::vector<double> steps;
  for (double each = least; each < most && steps.size() < kMostSteps; each *= 2) {
    steps.push_back(each);
  }
  if (steps.size() == kMostSteps) {
    steps.clear();
    const double ratio = std::pow(most / least, 1.0 / (kMostSteps - 1));
    for (double each = least; steps.size() + 1 < kMostSteps; each *= ratio) steps.push_back(each);
  }
  steps.push_back(most);
  return steps;
}

/// The whole number that the text begins with, and the rest of it.
std::optional<std::pair<std::uint64_t, std::string_view>> leading_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc()) return std::nullopt;
  return std::pair(number, text.substr(static_cast<std::size_t>(read.ptr - text.data())));
}

/// The number of a size, or one that no service has.
std::uint32_t size_number(double figure) {
  return figure >= 0 && figure < kMostPoints ? static_cast<std::uint32_t>(figure) : kMostPoints;
}

/// Of those before only the last day's count.
void count_change(SizedService& service, Instant at) {
  std::erase_if(service.changes, std::not_fn(SizedService::is_within_day(at)));
  service.changes.push_back(at);
}

/// A number of another load outdates those of other sizes; the largest one's, by which performance
/// is told, is taken to have changed likewise.
void note_number(SizedService& service, std::uint32_t size, double number) {
  auto& numbers = service.numbers;
  const auto before = numbers.find(size);
  if (before != numbers.end() &&
      std::abs(before->second - number) > kOtherLoad * std::abs(before->second)) {
    const std::uint32_t largest = service.sizes->largest();
    const auto unit = numbers.find(largest);
    const bool is_known = unit != numbers.end() && before->second > 0;
    const double of_largest = is_known ? unit->second * (number / before->second) : number;
    numbers.clear();
    numbers[largest] = std::clamp(of_largest, -kMostMetric, kMostMetric);
  }
  numbers[size] = number;
}

}  // namespace

ServiceSizes sizes_between(const SizeRange& least, const Resources& asked) {
  return ServiceSizes::grid(steps_between(least.least_cpus, asked[Resource::cpu]),
                            steps_between(least.least_memory_gib, asked[Resource::memory]));
}

Resources SizedService::grant(std::uint32_t size) const {
  Resources amount = asked;
  amount[Resource::cpu] = (*sizes)[size].cores;
  amount[Resource::memory] = (*sizes)[size].memory_gib;
  return amount;
}

/// A policy may begin in the middle of a log, after another one.
void SizeBook::look(const ClusterState& state) {
  for (const JobRow& row : state.jobs()) add(row);
}

const SizedService* SizeBook::find(JobId id) const {
  const auto found = services_.find(id);
  return found != services_.end() ? &found->second : nullptr;
}

/// A revision begins with the largest size, as it may need more than the one before: its program is
/// another one. The numbers of that one stand until its own are known.
void SizeBook::add(const JobRow& row) {
  const ServiceSpec* spec = row.job.service();
  if (spec == nullptr || !spec->size.is_there() || !spec->goal.is_there()) return;
  const auto& demands = row.job.tasks.front().demands.entries();
  // Where families have amounts of their own, its user has chosen a size for each.
  if (demands.size() != 1) return;
  const Resources& asked = demands.front().amount;
  const auto is_range = [](double least, double most) {
    return least >= kLeastLearnt && least <= most && most <= kGreatestLearnt;
  };
  if (!is_range(spec->size.least_cpus, asked[Resource::cpu]) ||
      !is_range(spec->size.least_memory_gib, asked[Resource::memory])) {
    return;
  }
  auto sizes = std::make_shared<const ServiceSizes>(sizes_between(spec->size, asked));
  const std::uint32_t largest = sizes->largest();
  SizedService service{asked, std::move(sizes), spec->goal, {}, largest, {}, {}, false, {}};
  const SizedService* before = find(spec->replaces);
  if (before != nullptr && before->asked == asked && *before->sizes == *service.sizes &&
      before->goal == service.goal) {
    service.numbers = before->numbers;
    service.changes = before->changes;
    service.goes_on = true;
  }
  services_.insert_or_assign(row.job.id, std::move(service));
}

void SizeBook::observe(const Event& event, const ClusterView& view) {
  if (!std::exchange(looked_, true)) return look(view.state);
  if (const auto* accepted = std::get_if<JobAccepted>(&event.body)) {
    add(*view.state.find(accepted->job.id));
  } else if (const auto* over = std::get_if<JobFinished>(&event.body)) {
    services_.erase(over->job);
  } else if (const auto* changed = std::get_if<ReplicaChanged>(&event.body)) {
    note_end(*changed, view.state, event.at);
  } else if (const auto* round = std::get_if<RoundDecided>(&event.body)) {
    for (const SizeStep& step : read(round->note)) take(step, event.at);
  }
}

/// The master takes a stand-in back that fails with its size, before a round sees it: without this
/// it would get that size again and again.
void SizeBook::note_end(const ReplicaChanged& changed, const ClusterState& state, Instant at) {
  const TaskRow* task = changed.state.restarts > 0 ? state.find(changed.task) : nullptr;
  if (task == nullptr) return;
  const JobRow& job = state.job(task->job);
  const auto found = services_.find(job.job.id);
  if (found == services_.end()) return;
  SizedService& service = found->second;
  const std::uint32_t largest = service.sizes->largest();
  const Resources& held = task->held.amount;
  if (service.trial && held == service.grant(*service.trial)) {
    service.failed = service.trial;
  } else if (job.leaving > 0 && service.chosen != largest &&
             held == service.grant(service.chosen)) {
    service.failed = service.chosen;
    service.chosen = largest;
    count_change(service, at);
  } else {
    return;
  }
  service.numbers[*service.failed] = service.worst();
  service.trial.reset();
  service.goes_on = true;
}

void note_finding(SizedService& service, const SizeStep& step) {
  if (step.found == SizeFinding::number) note_number(service, step.size, step.number);
  if (step.found == SizeFinding::failed) service.numbers[step.size] = service.worst();
}

void SizeBook::take(const SizeStep& step, Instant at) {
  const auto found = services_.find(step.job);
  if (found == services_.end()) return;
  SizedService& service = found->second;
  note_finding(service, step);
  if (step.found == SizeFinding::failed && step.size == service.failed) service.failed.reset();
  const bool tries = step.trial && step.trial != service.trial;
  const bool corrects = !service.trial && step.chosen != service.chosen;
  service.chosen = step.chosen;
  service.trial = step.trial;
  service.goes_on = step.goes_on;
  if (tries || corrects) count_change(service, at);
}

void SizeBook::write(const std::vector<SizeStep>& steps, RoundNote& note) const {
  for (const SizeStep& step : steps) {
    const std::uint64_t job = step.job.value;
    const ServiceSizes& sizes = *services_.at(step.job).sizes;
    const auto add_size = [&](std::string_view which, std::uint32_t number) {
      const ServiceSize& size = sizes[number];
      note.figures.emplace_back(fmt::format("services_{}_cores_of_{}", which, job), size.cores);
      note.figures.emplace_back(fmt::format("services_{}_gib_of_{}", which, job), size.memory_gib);
    };
    note.figures.emplace_back(
        fmt::format("{}{}_of_{}", kFoundAt[static_cast<std::size_t>(step.found)], step.size, job),
        step.number);
    add_size("at", step.size);
    note.figures.emplace_back(fmt::format("{}{}", kSizeOf, job), step.chosen);
    add_size("size", step.chosen);
    if (step.trial) {
      note.figures.emplace_back(fmt::format("{}{}", kTrialOf, job), *step.trial);
      add_size("trial", *step.trial);
    }
    if (step.goes_on) note.figures.emplace_back(fmt::format("{}{}", kGoesOn, job), 1);
  }
}

std::vector<SizeStep> SizeBook::read(const RoundNote& note) const {
  std::vector<SizeStep> steps;
  for (const auto& [name, value] : note.figures) {
    const std::string_view text = name;
    const auto found = std::ranges::find_if(
        kFoundAt, [&](std::string_view prefix) { return text.starts_with(prefix); });
    if (found != kFoundAt.end()) {
      const auto size = leading_number(text.substr(found->size()));
      if (!size || !size->second.starts_with(kOf)) continue;
      const auto job = leading_number(size->second.substr(kOf.size()));
      if (!job) continue;
      SizeStep& step = steps.emplace_back();
      step.job = JobId{job->first};
      step.size = size_number(static_cast<double>(size->first));
      step.found = static_cast<SizeFinding>(found - kFoundAt.begin());
      step.number = value;
    } else if (!steps.empty() && text.starts_with(kSizeOf)) {
      steps.back().chosen = size_number(value);
    } else if (!steps.empty() && text.starts_with(kTrialOf)) {
      steps.back().trial = size_number(value);
    } else if (!steps.empty() && text.starts_with(kGoesOn)) {
      steps.back().goes_on = true;
    }
  }
  std::erase_if(steps, [this](const SizeStep& step) {
    const SizedService* service = find(step.job);
    const auto is_one = [&](std::uint32_t size) { return size < service->sizes->size(); };
    return service == nullptr || !is_one(step.size) || !is_one(step.chosen) ||
           !is_one(step.trial.value_or(0));
  });
  return steps;
}

namespace {

constexpr const char* kServices = "services";
constexpr const char* kFailed = "failed";

struct SavedService {
  JobId job{};
  std::map<std::uint32_t, double> numbers{};
  std::uint32_t chosen = 0;
  std::optional<std::uint32_t> trial{};
  std::vector<Instant> changes{};
  bool goes_on = false;
};
void line(auto& a, Like<SavedService> auto& service) {
  a(service.job, service.numbers, service.chosen, service.trial, service.changes, service.goes_on);
}

}  // namespace

std::string SizeBook::save() const {
  std::vector<SavedService> all;
  std::map<JobId, std::uint32_t> failed;
  for (const auto& [id, service] : services_) {
    all.push_back(
        {id, service.numbers, service.chosen, service.trial, service.changes, service.goes_on});
    if (service.failed) failed[id] = *service.failed;
  }
  return saved::Json{{kServices, saved::saved(all)}, {kFailed, saved::saved(failed)}}.dump();
}

bool SizeBook::load(std::string_view text, const ClusterView& view) {
  services_.clear();
  look(view.state);
  looked_ = true;
  try {
    const saved::Json all = saved::Json::parse(text, nullptr, false);
    // Earlier versions saved the list of services alone.
    const bool is_list = all.is_array();
    std::map<JobId, std::uint32_t> failed;
    if (!is_list) failed = saved::loaded<decltype(failed)>(saved::member(all, kFailed));
    for (SavedService& each :
         saved::loaded<std::vector<SavedService>>(is_list ? all : saved::member(all, kServices))) {
      const auto found = services_.find(each.job);
      if (found == services_.end()) continue;
      SizedService& service = found->second;
      const std::uint32_t sizes = service.sizes->size();
      if (each.chosen >= sizes || each.trial.value_or(0) >= sizes) continue;
      std::erase_if(each.numbers, [&](const auto& one) { return one.first >= sizes; });
      service.numbers = std::move(each.numbers);
      service.chosen = each.chosen;
      service.trial = each.trial;
      service.changes = std::move(each.changes);
      service.goes_on = each.goes_on;
      const auto unsaid = failed.find(each.job);
      if (unsaid != failed.end() && unsaid->second < sizes) service.failed = unsaid->second;
    }
    return true;
  } catch (const saved::NotUnderstood&) {
    return false;
  }
}

}  // namespace muster::lrasched
