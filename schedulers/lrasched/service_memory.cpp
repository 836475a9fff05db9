#include "schedulers/lrasched/service_memory.hpp"

#include <utility>

#include "model/fields.hpp"
#include "schedulers/saved_lines.hpp"

namespace muster::lrasched {
void line(auto& a, Like<ServiceMemory::Arrival> auto& arrival) {
  a(arrival.at, arrival.size, arrival.replicas);
}

void ServiceMemory::observe(const Event& event, const ClusterView& view) {
  if (!std::exchange(looked_, true)) return look(view.state);
  if (const auto* accepted = std::get_if<JobAccepted>(&event.body)) {
    if (accepted->job.service() != nullptr) add(*view.state.find(accepted->job.id));
  } else if (const auto* over = std::get_if<JobFinished>(&event.body)) {
    services_.erase(over->job);
  }
}

/// A policy may begin in the middle of a log, after another one.
void ServiceMemory::look(const ClusterState& state) {
  for (const JobRow& row : state.jobs()) {
    if (row.job.service() != nullptr) add(row);
  }
}

void ServiceMemory::add(const JobRow& row) {
  services_.insert(row.job.id);
  const auto& demands = row.job.tasks.front().demands.entries();
  if (demands.empty()) return;
  arrivals_.push_back({row.accepted_at, demands.front().amount, row.replicas});
  while (arrivals_.front().at + kRemembered < row.accepted_at) arrivals_.pop_front();
}

Demand ServiceMemory::demand(Instant now) const {
  Demand demand;
  for (const Arrival& arrival : arrivals_) {
    if (arrival.at + kRemembered < now) continue;
    demand.add({.size = arrival.size.amounts(), .replicas = arrival.replicas});
  }
  return demand;
}

std::string ServiceMemory::save() const {
  return saved::saved(arrivals_).dump();
}

bool ServiceMemory::load(std::string_view text, const ClusterView& view) {
  try {
    auto arrivals = saved::loaded<std::deque<Arrival>>(saved::Json::parse(text, nullptr, false));
    services_.clear();
    look(view.state);
    arrivals_ = std::move(arrivals);
    looked_ = true;
    return true;
  } catch (const saved::NotUnderstood&) {
    return false;
  }
}

}  // namespace muster::lrasched
