#include "model/service.hpp"

#include <algorithm>

#include "model/task_metrics.hpp"
#include "model/text_cut.hpp"

namespace muster {

bool is_port_name(std::string_view name) {
  return name.size() <= kMostPortNameBytes && is_metric_name(name);
}

std::string trouble_text(std::string_view text) {
  std::string clean(whole_characters(text, kMostTroubleBytes));
  std::ranges::replace_if(
      clean, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
  return clean;
}

bool is_replica_state(const ReplicaState& state) {
  const auto is_plain = [](const std::string& text, std::size_t most) {
    return text.size() <= most && std::ranges::all_of(text, [](char c) {
             return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F;
           });
  };
  return state.pause >= Duration::zero() && is_plain(state.trouble, kMostTroubleBytes) &&
         is_plain(state.address, kMostAddressBytes) && state.ports.size() <= kMostPorts &&
         std::ranges::all_of(state.ports, [](const ReplicaPort& port) {
           return is_port_name(port.name) && port.number <= kMostPortNumber;
         });
}

}  // namespace muster
