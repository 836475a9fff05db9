#include "schedulers/muster/room_index.hpp"

#include <algorithm>
#include <cmath>
#include <ranges>

namespace muster::own {
namespace {

/// Hosts to be rented that were added last: tasks that are about as much worth came to them.
constexpr std::size_t kNewest = 32;
constexpr std::size_t kLooksOfOne = 4;
/// Level of 1 of a resource; the next one is of up to twice as much.
constexpr int kLevelOfOne = 32;
constexpr int kMostLevel = 120;

/// 0: nothing, or less than that.
std::uint8_t level_of(double left) {
  if (left <= kResourceEpsilon) return 0;
  return static_cast<std::uint8_t>(std::clamp(std::ilogb(left) + kLevelOfOne, 1, kMostLevel));
}

/// Hosts of that level have less, but for rounding.
double bound_of(std::uint8_t level) {
  return level == 0 ? 2 * kResourceEpsilon : std::ldexp(1, level - kLevelOfOne + 1);
}

}  // namespace

void RoomIndex::take_out(std::uint32_t host) {
  Known& known = known_[host];
  if (!known.listed) return;
  const auto cell = cells_.find(known.cell);
  std::vector<std::uint32_t>& hosts = cell->second;
  hosts[known.place] = hosts.back();
  known_[hosts.back()].place = known.place;
  hosts.pop_back();
  if (hosts.empty()) cells_.erase(cell);
  known.listed = false;
}

/// Puts a host where it belongs now.
void RoomIndex::follow(std::uint32_t host) {
  if (host >= known_.size()) known_.resize(host + std::size_t{1});
  const RoundLayout::Working& working = layout_.host(host);
  if (working.gone) return take_out(host);
  const Resources& capacity = layout_.model().prices.types()[working.host.type].capacity;
  Cell cell{.type = working.host.type.value, .levels = {}};
  for (std::size_t i = 0; i < kKinds; ++i) {
    const Resource kind = kAllResources[i];
    cell.levels[i] = level_of(capacity[kind] - working.used[kind]);
  }
  if (known_[host].listed && known_[host].cell == cell) return;
  take_out(host);
  std::vector<std::uint32_t>& hosts = cells_[cell];
  known_[host] = {true, cell, static_cast<std::uint32_t>(hosts.size())};
  hosts.push_back(host);
}

void RoomIndex::take_in_changes() {
  // Those that are there stand first, and each that is added later is among the changes.
  for (auto next = static_cast<std::uint32_t>(known_.size()); next < layout_.hosts().size();
       ++next) {
    follow(next);
    if (layout_.host(next).present == kUnassigned) fresh_.push_back(next);
  }
  const std::span<const std::uint32_t> changes = layout_.changes();
  for (; seen_changes_ < changes.size(); ++seen_changes_) follow(changes[seen_changes_]);
}

/// Whether hosts of the cell, one of which is given, may have room.
bool RoomIndex::may_hold(const Cell& cell, std::uint32_t task, std::uint32_t host) const {
  const Resources& asked = layout_.amount_on(task, host);
  for (std::size_t i = 0; i < kKinds; ++i) {
    if (asked[kAllResources[i]] > bound_of(cell.levels[i])) return false;
  }
  return true;
}

const std::vector<std::uint32_t>& RoomIndex::with_room_for(std::uint32_t task) {
  take_in_changes();
  std::erase_if(fresh_, [&](std::uint32_t host) { return layout_.host(host).gone; });
  found_.clear();
  for (const auto& [cell, hosts] : cells_) {
    if (!may_hold(cell, task, hosts.front())) continue;
    for (const std::uint32_t host : hosts) {
      const bool is_present = layout_.host(host).present != kUnassigned;
      if (is_present && layout_.has_room(task, host)) found_.push_back(host);
    }
  }
  found_.insert(found_.end(), fresh_.begin(), fresh_.end());
  return found_;
}

const std::vector<std::uint32_t>& RoomIndex::some_with_room_for(std::uint32_t task,
                                                                std::size_t most) {
  take_in_changes();
  found_.clear();
  auto first_newest = static_cast<std::uint32_t>(layout_.hosts().size());
  for (const std::uint32_t host : std::views::reverse(fresh_)) {
    if (found_.size() == std::min(kNewest, most)) break;
    first_newest = host;
    if (!layout_.host(host).gone) found_.push_back(host);
  }
  std::size_t looks = kLooksOfOne * most;
  for (const auto& [cell, hosts] : cells_) {
    if (!may_hold(cell, task, hosts.front())) continue;
    for (const std::uint32_t host : hosts) {
      if (looks-- == 0 || found_.size() >= most) return found_;
      if (host < first_newest && layout_.has_room(task, host)) found_.push_back(host);
    }
  }
  return found_;
}

}  // namespace muster::own
