#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "serve/hosts/host_book.hpp"

// The part of the book that is about instances: which machine is in use by which, and until when.

namespace muster::hosts {
namespace {

using UseRefused = Failure<int>;

UseRefused no_host(std::uint32_t number) {
  return {kHostUnknown, fmt::format("there is no host {}: `muster hosts` shows them", number)};
}

UseRefused leased(const HostEntry& host, Duration left) {
  return {kHostConflict,
          fmt::format("host {} may run instance {} until its lease is over: for {:.0f} s more, and "
                      "then it counts as lost by itself",
                      host.number, host.use->instance.value, std::ceil(to_seconds(left)))};
}

/// By which states of machines are told.
struct Clock {
  Duration now{};
  Duration report{};
};

std::map<std::string, std::uint32_t> free_by_type(const HostTable& hosts, Clock clock) {
  std::map<std::string, std::uint32_t> free;
  for (const auto& [number, host] : hosts.all()) {
    if (is_free(host, state_of(host, clock.now, clock.report))) ++free[host.type];
  }
  return free;
}

/// Null: no machine of the type is free. O(machines), and only for a launch.
HostEntry* free_machine(HostTable& hosts, const std::string& type, Clock clock) {
  HostEntry* found = nullptr;
  for (auto& [number, host] : hosts.all()) {
    if (host.type != type || !is_free(host, state_of(host, clock.now, clock.report))) continue;
    // One on which the last instance could not begin would take each launch.
    if (host.trouble.empty()) return &host;
    if (found == nullptr) found = &host;
  }
  return found;
}

UseRefused reports(std::uint32_t number) {
  return {kHostConflict,
          fmt::format("host {} reports, so it is not lost: end its daemon first, or say --force "
                      "where nothing of its tasks runs any more",
                      number)};
}

UseRefused in_use(const HostEntry& host) {
  return {kHostConflict,
          fmt::format("host {} is in use by instance {}: `muster hosts drain {}` first, or say "
                      "--force to have its tasks run again elsewhere",
                      host.number, host.use->instance.value, host.number)};
}

UseRefused no_label_room() {
  return {kHostConflict, fmt::format("a machine has at most {} labels, and the list of machines {} "
                                     "MiB",
                                     kMaxLabels, kMaxHostBytes >> 20)};
}

}  // namespace

bool HostBook::reserve(InstanceId instance, const std::string& type) {
  std::function<void()> tell;
  {
    const std::lock_guard lock(mutex_);
    if (hosts_.of_instance(instance) != nullptr) return true;
    const Clock clock{setup_.since_boot(), setup_.report};
    HostEntry* found = free_machine(hosts_, type, clock);
    if (found == nullptr) return false;
    hosts_.assign(*found, instance);
    // Not by the next sweep: when another machine has come free by then the number is as before,
    // and a master that takes off what it has asked for since would hear of neither.
    const auto told = told_free_.find(type);
    if (told != told_free_.end() && --told->second == 0) told_free_.erase(told);
    tell = watcher_.room;
  }
  if (tell) tell();
  return true;
}

std::optional<std::string> HostBook::begin(InstanceId instance) {
  const std::lock_guard lock(mutex_);
  HostEntry* host = hosts_.of_instance(instance);
  if (host == nullptr) return std::nullopt;
  if (host->use->use == Use::reserved) {
    host->use->use = Use::ordered;
    host->use->change = writer_.change();
  }
  return fmt::format("host-{}", host->number);
}

bool HostBook::has(InstanceId instance) const {
  const std::lock_guard lock(mutex_);
  const HostEntry* host = hosts_.of_instance(instance);
  return host != nullptr && host->use->use != Use::reserved;
}

void HostBook::free(HostEntry& host, Steps& steps) {
  Assignment had = hosts_.release(host);
  for (auto& done : had.done) steps.push_back(std::move(done));
  // A start that still finds the instance there has the machine end it again.
  if (had.use != Use::reserved) writer_.change_late(setup_.since_boot());
}

bool HostBook::end(InstanceId instance, std::function<void()> done) {
  const std::lock_guard lock(mutex_);
  HostEntry* host = hosts_.of_instance(instance);
  if (host == nullptr) return true;
  if (!host->use->told) {
    Steps none;
    free(*host, none);
    return true;
  }
  host->use->use = Use::ending;
  if (done) host->use->done.push_back(std::move(done));
  return false;
}

void HostBook::keep_only(const std::function<bool(InstanceId)>& is_rented) {
  std::vector<InstanceId> others;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [number, host] : hosts_.all()) {
      if (host.use && !is_rented(host.use->instance)) others.push_back(host.use->instance);
    }
  }
  for (const InstanceId instance : others) end(instance, {});
}

void HostBook::watch(Watcher watcher) {
  const std::lock_guard lock(mutex_);
  watcher_ = std::move(watcher);
}

std::map<std::string, std::uint32_t> HostBook::free_machines() const {
  const std::lock_guard lock(mutex_);
  return free_by_type(hosts_, {setup_.since_boot(), setup_.report});
}

/// Nothing of its instance runs any more.
void HostBook::give_up(HostEntry& host, const std::string& why, Steps& steps) {
  host.lost = true;
  host.present.clear();
  setup_.note(fmt::format("host {} is lost: {}", host.number, why));
  if (!host.use) return;
  const InstanceId instance = host.use->instance;
  const bool was_ending = host.use->use == Use::ending;
  free(host, steps);
  if (was_ending || !watcher_.lost) return;
  steps.push_back(
      [lost = watcher_.lost, instance,
       text = fmt::format("is lost with host {}: {}", host.number, why)] { lost(instance, text); });
}

void HostBook::sweep() {
  Steps steps;
  {
    std::unique_lock lock(mutex_);
    const Duration now = setup_.since_boot();
    for (auto& [number, host] : hosts_.all()) {
      if (host.lost || !host.use) continue;
      const auto over = terms_.end_of(host);
      if (!over || now <= *over) continue;
      give_up(host,
              fmt::format("nothing has been heard of it for its lease of {:.0f} s",
                          to_seconds(setup_.lease)),
              steps);
    }
    auto free = free_by_type(hosts_, {now, setup_.report});
    if (free != told_free_ && watcher_.room) {
      told_free_ = std::move(free);
      steps.push_back(watcher_.room);
    }
    if (writer_.is_due(now)) save(lock);
  }
  for (const auto& step : steps) step();
}

HostRow HostBook::shown(const HostEntry& host) const {
  HostRow row = row_of(host, now_of(host), setup_.since_boot());
  if (row.trouble.empty()) row.trouble = writer_.fault();
  return row;
}

std::vector<HostRow> HostBook::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<HostRow> rows;
  for (const auto& [number, host] : hosts_.all()) rows.push_back(shown(host));
  return rows;
}

Expected<HostRow, int> HostBook::declare_lost(std::uint32_t number, bool force) {
  Steps steps;
  std::unique_lock lock(mutex_);
  HostEntry* found = hosts_.find(number);
  if (found == nullptr) return no_host(number);
  if (!force && now_of(*found) == HostState::ready) return reports(number);
  const auto over = terms_.end_of(*found);
  const Duration now = setup_.since_boot();
  if (!force && found->use && found->use->told && over && now <= *over) {
    return leased(*found, *over - now);
  }
  give_up(*found, "an admin says so", steps);
  writer_.change();
  const HostRow row = shown(*found);
  auto fault = save(lock);
  lock.unlock();
  for (const auto& step : steps) step();
  if (fault) return *std::move(fault);
  return row;
}

Expected<HostRow, int> HostBook::remove(std::uint32_t number, bool force) {
  Steps steps;
  std::unique_lock lock(mutex_);
  HostEntry* found = hosts_.find(number);
  if (found == nullptr) return no_host(number);
  if (found->use && !force) return in_use(*found);
  if (found->use) give_up(*found, "an admin has removed it", steps);
  const HostRow row = shown(*found);
  hosts_.erase(number);
  writer_.change();
  auto fault = save(lock);
  lock.unlock();
  for (const auto& step : steps) step();
  if (fault) return *std::move(fault);
  return row;
}

Expected<HostRow, int> HostBook::change(std::uint32_t number, const HostChange& wanted) {
  std::unique_lock lock(mutex_);
  HostEntry* found = hosts_.find(number);
  if (found == nullptr) return no_host(number);
  if (!hosts_.relabel(*found, wanted.labels)) return no_label_room();
  if (wanted.drained) found->drained = *wanted.drained;
  writer_.change();
  const HostRow row = shown(*found);
  if (auto fault = save(lock)) return *std::move(fault);
  return row;
}

}  // namespace muster::hosts
