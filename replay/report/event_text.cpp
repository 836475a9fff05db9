#include "replay/report/event_text.hpp"

#include <fmt/format.h>

#include "replay/metrics/labels.hpp"

// Words for what a log names by number. The constructor goes through the whole log for prices and
// times that become known later; follow() then goes through it a second time, event by event, for
// what holds at the moment.

namespace muster::report {

using metrics::clock_text;
using metrics::length_text;
using metrics::usd_text;

EventText::EventText(std::span<const Event> events, const Catalog& catalog)
    : end_(events.empty() ? Instant{} : events.back().at), catalog_(&catalog) {
  for (const Event& event : events) {
    if (const auto* accepted = std::get_if<JobAccepted>(&event.body)) {
      for (const TaskSpec& task : accepted->job.tasks) tasks_[task.id] = {&accepted->job, &task};
    } else if (const auto* launch = std::get_if<LaunchRequested>(&event.body)) {
      instances_[launch->instance] = {launch->type, launch->market,
                                      metrics::RentedPrice(*launch, event.cell)};
    } else if (const auto* changed = std::get_if<OfferingChanged>(&event.body)) {
      for (auto& [id, instance] : instances_) {
        // A price after the end would show as the one that it was rented at.
        if (instance.gone || !instance.price.is_changed_by(event, catalog)) continue;
        instance.price.change(changed->change);
      }
    } else if (const auto* up = std::get_if<InstanceUp>(&event.body)) {
      const auto found = instances_.find(up->instance);
      if (found != instances_.end()) found->second.up = event.at;
    } else if (const auto* gone = std::get_if<InstanceGone>(&event.body)) {
      const auto found = instances_.find(gone->instance);
      if (found != instances_.end()) found->second.gone = event.at;
    }
  }
}

void EventText::follow(const Event& event) {
  if (const auto* round = std::get_if<RoundDecided>(&event.body)) {
    round_at_ = event.at;
    round_ = *round;
  }
  occupancy_.apply(event);
}

std::string EventText::name(TaskId id) const {
  const auto found = tasks_.find(id);
  if (found == tasks_.end() || found->second.job->name.empty()) {
    return fmt::format("task {}", id.value);
  }
  return fmt::format("task {} ({})", id.value, found->second.job->name);
}

std::string EventText::name(InstanceId id) const {
  const auto found = instances_.find(id);
  if (found == instances_.end()) return fmt::format("instance {}", id.value);
  return fmt::format("instance {} ({})", id.value, (*catalog_)[found->second.type].name);
}

std::string EventText::company(InstanceId id, TaskId except) const {
  std::string names;
  for (TaskId task : occupancy_.on(id)) {
    if (task != except) names += (names.empty() ? "with " : ", ") + name(task);
  }
  return names.empty() ? "alone" : names;
}

std::string EventText::round_text(Instant now) const {
  if (!round_at_ || now - *round_at_ >= std::chrono::seconds{1}) return "";
  return round_.note.choice.empty()
             ? fmt::format(" [round {}]", round_.round)
             : fmt::format(" [round {}: {}]", round_.round, round_.note.choice);
}

std::string EventText::cost_text(InstanceId id) const {
  const auto found = instances_.find(id);
  if (found == instances_.end()) return name(id) + ": the log has no launch of it";
  const Instance& instance = found->second;
  std::string text = fmt::format("{} at ${:.6g}/h", name(id), instance.price.now.usd_h());
  if (!instance.price.earlier.empty()) {
    text += fmt::format(" (${:.6g}/h at first)", instance.price.earlier.front().price.usd_h());
  }
  if (!instance.up) return text + " was never up: $0.00";
  // An instance that is still there has cost what it has by the end of the log.
  const Instant until = instance.gone.value_or(end_);
  return text + fmt::format(" was up for {}, {} to {}{}: {}", length_text(until - *instance.up),
                            clock_text(*instance.up), clock_text(until),
                            instance.gone ? "" : " (end of the log)", usd_text(cost(id).usd()));
}

Money EventText::cost(InstanceId id) const {
  const auto found = instances_.find(id);
  if (found == instances_.end() || !found->second.up) return {};
  const Instance& instance = found->second;
  return instance.price.charge(*instance.up, instance.gone.value_or(end_));
}

}  // namespace muster::report
