#include "replay/report/event_details.hpp"

#include <cstdint>

namespace muster::report {

Details details_of(const Refusal& refusal) {
  Details details{{"refusal", std::string(name_of(refusal.code))},
                  {"kind", std::string(name_of(refusal.kind))}};
  if (refusal.binding) details.emplace_back("binding", std::string(name_of(*refusal.binding)));
  details.emplace_back("asked", refusal.asked);
  details.emplace_back("available", refusal.available);
  return details;
}

Details details_of(CloudReason reason) {
  return {{"reason", std::string(name_of(reason))}};
}

Details details_of(const Refusal& refusal, CloudReason reason) {
  Details details = details_of(refusal);
  if (reason != CloudReason::not_said) details.emplace_back("reason", std::string(name_of(reason)));
  return details;
}

Details details_of(const Cause& cause) {
  return {{"cause", std::string(name_of(cause.code))}, {"gain_usd_h", cause.gain_usd_h}};
}

Details details_of(const ServiceScaled& event) {
  Details details{{"replicas", std::uint64_t{event.replicas}}};
  if (event.measured) details.emplace_back("measured", *event.measured);
  return details;
}

}  // namespace muster::report
