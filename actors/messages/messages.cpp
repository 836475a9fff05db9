#include "actors/messages/interfaces.hpp"

namespace muster {

std::string to_string(ActorError code) {
  switch (code) {
    case ActorError::invalid_job:
      return "the job has no task";
    case ActorError::unknown:
      return "not known here";
    case ActorError::not_connected:
      return "the node that could answer is unreachable";
    case ActorError::too_many:
      return "too_many";
    case ActorError::store_failed:
      return "the store cannot write the change";
    case ActorError::stopping:
      return "it will not be completed";
    case ActorError::learns_numbers:
      return "the site still learns its numbers";
    case ActorError::too_large:
      return "the answer is larger than a message between nodes may be";
    case ActorError::busy:
      return "the limit of waiting questions of this kind is reached";
    case ActorError::planner_failed:
      return "the policy has failed and starts again";
    case ActorError::out_of_range:
      return "the number is not within the bounds that were given for it";
    case ActorError::other_roster:
      return "it numbers sites and masters in another way";
  }
  return "unknown error";
}

void add_messages(caf::actor_system_config& config) {
  config.add_message_types<caf::id_block::muster>();
  config.add_message_types<caf::id_block::muster_queries>();
  config.add_message_types<caf::id_block::muster_handles>();
  config.add_error_category(caf::atom("muster"),
                            [](std::uint8_t code, caf::atom_value, const caf::message& context) {
                              const std::string text = to_string(static_cast<ActorError>(code));
                              return context.empty() ? text : text + ": " + caf::to_string(context);
                            });
}

}  // namespace muster
