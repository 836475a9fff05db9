#include "replay/sampling/sampling_messages.hpp"

namespace muster {

void add_sampling_messages(caf::actor_system_config& config) {
  add_messages(config);
  config.add_message_types<caf::id_block::muster_sampling>();
  config.add_message_types<caf::id_block::muster_membership>();
}

}  // namespace muster
