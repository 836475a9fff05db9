#include "masters/instances/offering_news.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

// Changes of offerings come by number, and each is recorded once. One that leaves out a number is a
// sign that the cloud has to be asked for the ones between, since prices bill piecewise.

namespace muster {

bool misses_change(std::uint64_t known, std::span<const OfferingChange> changes) {
  const auto news = std::find_if(changes.begin(), changes.end(),
                                 [&](const auto& change) { return change.number > known; });
  return news != changes.end() && news->number > known + 1;
}

bool record_offerings(MasterRecorder& recorder, std::span<const OfferingChange> changes,
                      Instant now) {
  const ClusterState& state = recorder.facts().state;
  bool better = false;
  for (OfferingChange change : changes) {
    if (!state.is_news(change)) continue;
    Offering& offering = change.offering;
    if (!std::isfinite(offering.interruptions_h)) offering.interruptions_h = 0;
    const auto type = state.catalog().find(offering.type);
    const OfferingRow* before =
        type ? state.offerings().find(*type, offering.market, offering.zone) : nullptr;
    const bool had_none = before == nullptr || !before->available || left_of(state, *before) == 0u;
    const bool back = offering.available && offering.free != 0u && had_none;
    better |= type && (back || before == nullptr || before->price != offering.price);
    recorder.record(OfferingChanged{std::move(change)}, now);
  }
  return better;
}

}  // namespace muster
