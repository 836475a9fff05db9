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

}  // namespace

/// O(machines), and only for a launch.
bool HostBook::reserve(InstanceId instance, const std::string& type) {
  const std::lock_guard lock(mutex_);
  if (hosts_.of_instance(instance) != nullptr) return true;
  HostEntry* found = nullptr;
  for (auto& [number, host] : hosts_.all()) {
    const bool is_free = !host.use && host.present.empty();
    if (host.type != type || !is_free || now_of(host) != HostState::ready) continue;
    // One on which the last instance could not begin would take each launch.
    if (found == nullptr) found = &host;
    if (!host.trouble.empty()) continue;
    found = &host;
    break;
  }
  if (found != nullptr) hosts_.assign(*found, instance);
  return found != nullptr;
}

std::optional<std::string> HostBook::begin(InstanceId instance) {
  const std::lock_guard lock(mutex_);
  HostEntry* host = hosts_.of_instance(instance);
  if (host == nullptr) return std::nullopt;
  if (host->use->use == Use::reserved) {
    host->use->use = Use::ordered;
    changed();
    host->use->change = changes_;
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
  changed();
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

void HostBook::watch(std::function<void(InstanceId, const std::string&)> lost) {
  const std::lock_guard lock(mutex_);
  lost_ = std::move(lost);
}

/// Nothing of its instance runs any more.
void HostBook::give_up(HostEntry& host, const std::string& why, Steps& steps) {
  host.lost = true;
  host.present.clear();
  note(fmt::format("host {} is lost: {}", host.number, why));
  if (!host.use) return;
  const InstanceId instance = host.use->instance;
  const bool was_ending = host.use->use == Use::ending;
  free(host, steps);
  if (was_ending || !lost_) return;
  steps.push_back(
      [lost = lost_, instance, text = fmt::format("is lost with host {}: {}", host.number, why)] {
        lost(instance, text);
      });
}

void HostBook::sweep() {
  Steps steps;
  {
    const std::lock_guard lock(mutex_);
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
  }
  for (const auto& step : steps) step();
}

std::vector<HostRow> HostBook::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<HostRow> rows;
  for (const auto& [number, host] : hosts_.all()) rows.push_back(row_of(host, now_of(host)));
  return rows;
}

Expected<HostRow, int> HostBook::declare_lost(std::uint32_t number) {
  Steps steps;
  std::unique_lock lock(mutex_);
  HostEntry* found = hosts_.find(number);
  if (found == nullptr) return no_host(number);
  if (now_of(*found) == HostState::ready) {
    return UseRefused{
        kHostConflict,
        fmt::format("host {} reports, so it is not lost: end its daemon first", number)};
  }
  const auto over = terms_.end_of(*found);
  const Duration now = setup_.since_boot();
  if (found->use && found->use->told && over && now <= *over) {
    return leased(*found, *over - now);
  }
  give_up(*found, "an admin says so", steps);
  const HostRow row = row_of(*found, now_of(*found));
  auto fault = save(lock);
  lock.unlock();
  for (const auto& step : steps) step();
  if (fault) return *std::move(fault);
  return row;
}

Expected<HostRow, int> HostBook::remove(std::uint32_t number) {
  std::unique_lock lock(mutex_);
  HostEntry* found = hosts_.find(number);
  if (found == nullptr) return no_host(number);
  if (found->use) {
    return UseRefused{kHostConflict,
                      fmt::format("host {} is in use by instance {}: `muster drain {}` first",
                                  number, found->use->instance.value, found->use->instance.value)};
  }
  const HostRow row = row_of(*found, now_of(*found));
  hosts_.erase(number);
  changed();
  if (auto fault = save(lock)) return *std::move(fault);
  return row;
}

}  // namespace muster::hosts
