#include "masters/actor/worker_links.hpp"

#include <algorithm>

namespace muster {
namespace {

/// A hello whose number is this little below the last one's was said before it by that process.
constexpr std::uint64_t kHellosOfOne = 1'000'000;

}  // namespace

bool WorkerLinks::is_old(const WorkerHello& hello) const {
  const auto known = connections_.find(hello.instance);
  if (known == connections_.end() || hello.number == 0) return false;
  const std::uint64_t last = known->second.hello;
  return hello.number <= last && last - hello.number < kHellosOfOne;
}

void WorkerLinks::meet(const WorkerHello& hello, const WorkerActor& worker) {
  const InstanceId id = hello.instance;
  Connection& connection = connections_[id];
  if (connection.worker != worker) instances_[worker.address()] = id;
  connection = {worker, hello.limits, hello.isolation, hello.number, connection.rejected};
  silent_.erase(id);
}

std::optional<InstanceId> WorkerLinks::lose(const caf::actor_addr& link) {
  const auto known = instances_.find(link);
  if (known == instances_.end()) return std::nullopt;
  const InstanceId id = known->second;
  instances_.erase(known);
  const auto found = connections_.find(id);
  if (found == connections_.end() || found->second.worker.address() != link) return std::nullopt;
  found->second.worker = nullptr;
  return id;
}

void WorkerLinks::forget(InstanceId id) {
  connections_.erase(id);
  silent_.erase(id);
}

void WorkerLinks::clear() {
  connections_.clear();
  instances_.clear();
}

const WorkerActor* WorkerLinks::on(InstanceId id) const {
  const auto found = connections_.find(id);
  return found == connections_.end() || !found->second.worker ? nullptr : &found->second.worker;
}

std::map<InstanceId, WorkerStanding> WorkerLinks::standings() const {
  std::map<InstanceId, WorkerStanding> standings;
  for (const auto& [id, connection] : connections_) {
    standings[id] = {static_cast<bool>(connection.worker), connection.limits, connection.isolation};
  }
  return standings;
}

bool WorkerLinks::await(InstanceId id, Instant lost_at) {
  return on(id) == nullptr && silent_.try_emplace(id, lost_at).second;
}

std::vector<InstanceId> WorkerLinks::take_lost(Instant now) {
  std::vector<InstanceId> lost;
  std::erase_if(silent_, [&](const auto& silent) {
    if (silent.second <= now) lost.push_back(silent.first);
    return silent.second <= now;
  });
  return lost;
}

std::optional<Instant> WorkerLinks::next_lost() const {
  std::optional<Instant> next;
  for (const auto& [id, lost_at] : silent_) next = next ? std::min(*next, lost_at) : lost_at;
  return next;
}

std::vector<InstanceId> WorkerLinks::cut_off() const {
  std::vector<InstanceId> cut;
  for (const auto& [id, lost_at] : silent_) {
    if (connections_.contains(id)) cut.push_back(id);
  }
  return cut;
}

void WorkerLinks::note_start(InstanceId id) {
  const auto found = connections_.find(id);
  if (found != connections_.end()) found->second.rejected = 0;
}

std::uint32_t WorkerLinks::note_rejection(InstanceId id) {
  const auto found = connections_.find(id);
  return found == connections_.end() ? 0 : ++found->second.rejected;
}

}  // namespace muster
