// The part of a master's memory that says how long the cloud is not asked for what it refused.

#include <algorithm>

#include "masters/master_memory.hpp"
#include "model/room_lack.hpp"

namespace muster {
namespace {

/// Doublings that make any rest as long as it may be.
constexpr std::uint32_t kMostRefusals = 32;

}  // namespace

/// Refused again after a rest, an offering rests twice as long as before. Orders that were on their
/// way when it began to rest do not count.
void MasterMemory::rest(const OfferingKey& key, RefusalCode code, Instant now) {
  OfferingRest& rest = facts_.rests[key];
  if (now >= rest.until || rest.refusals == 0) {
    rest.refusals = std::min(rest.refusals + 1, kMostRefusals);
  }
  Duration length = settings_.launch_backoff;
  for (std::uint32_t i = 1; i < rest.refusals && length < settings_.launch_backoff_longest; ++i)
    length *= 2;
  length = std::max(settings_.launch_backoff, std::min(length, settings_.launch_backoff_longest));
  rest.until = std::max(rest.until, now + length);
  rest.code = code;
}

/// The cloud gave one, or got one back: its next refusal counts as the first, and what is left of
/// the rest is no longer than a first one.
void MasterMemory::ease_rest(const OfferingKey& key, Instant now) {
  const auto found = facts_.rests.find(key);
  if (found == facts_.rests.end()) return;
  found->second.refusals = 0;
  found->second.until = std::min(found->second.until, now + settings_.launch_backoff);
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
