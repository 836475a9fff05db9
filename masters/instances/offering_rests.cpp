// The part of a master's memory that says how long the cloud is not asked for what it refused.

#include <algorithm>

#include "masters/master_memory.hpp"
#include "model/room_lack.hpp"

namespace muster {
namespace {

/// Doublings that make any rest as long as it may be.
constexpr std::uint32_t kMostRefusals = 32;
/// To ask for a machine of one's own is free, and each may join or become free at any time.
constexpr Duration kMachineBackoff = std::chrono::seconds{5};

}  // namespace

/// Of offerings that the cloud counts the rest is short.
Duration MasterMemory::first_backoff(const OfferingKey& key) const {
  const OfferingRow* row = facts_.state.offerings().find(key.type, key.market, key.zone);
  const bool counted = row != nullptr && row->free;
  return counted ? std::min(settings_.launch_backoff, kMachineBackoff) : settings_.launch_backoff;
}

/// Refused again after a rest, an offering rests twice as long as before. Orders that were on their
/// way when it began to rest do not count.
void MasterMemory::rest(const OfferingKey& key, RefusalCode code, Instant now) {
  OfferingRest& rest = facts_.rests[key];
  if (now >= rest.until || rest.refusals == 0) {
    rest.refusals = std::min(rest.refusals + 1, kMostRefusals);
  }
  const Duration first = first_backoff(key);
  Duration length = first;
  if (first == settings_.launch_backoff) {
    for (std::uint32_t i = 1; i < rest.refusals && length < settings_.launch_backoff_longest; ++i)
      length *= 2;
    length = std::max(first, std::min(length, settings_.launch_backoff_longest));
  }
  rest.until = std::max(rest.until, now + length);
  rest.code = code;
}

/// The cloud gave one, or got one back: its next refusal counts as the first, and what is left of
/// the rest is no longer than a first one.
void MasterMemory::ease_rest(const OfferingKey& key, Instant now) {
  const auto found = facts_.rests.find(key);
  if (found == facts_.rests.end()) return;
  found->second.refusals = 0;
  found->second.until = std::min(found->second.until, now + first_backoff(key));
  if (found->second.until <= now) facts_.rests.erase(found);
}

/// Offerings that rest because the cloud was full may be asked for at once.
void MasterMemory::end_rests_of_room() {
  std::erase_if(facts_.rests, [](const auto& each) { return is_full_cloud(each.second.code); });
}

bool MasterMemory::rests_at(const OfferingKey& key, Instant now) const {
  const auto rest = facts_.rests.find(key);
  return rest != facts_.rests.end() && rest->second.until > now;
}

UnavailableOfferings MasterMemory::unavailable_offerings(Instant now, bool rents) const {
  UnavailableOfferings backed_off;
  if (!rents) {
    for (const OfferingRow& row : facts_.state.offerings().rows()) backed_off.push_back({row.key});
    return backed_off;
  }
  for (const auto& [key, rest] : facts_.rests) {
    if (rest.until > now) backed_off.push_back({key, rest.code});
  }
  // Not a moment's rest: it ends when the cloud says so, or an instance of the master is gone.
  for (const OfferingRow& row : facts_.state.offerings().rows()) {
    if (left_of(facts_.state, row) == 0u && !rests_at(row.key, now)) {
      backed_off.push_back({row.key, RefusalCode::no_free_machine});
    }
  }
  return backed_off;
}

}  // namespace muster
