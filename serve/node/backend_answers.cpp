#include "serve/node/backend_answers.hpp"

#include <utility>

#include "actors/messages/messages.hpp"
#include "serve/node/json_text.hpp"

namespace muster::backend {

using api::Answer;
using api::refusal;

Answer ok(std::string document) {
  return {200, std::move(document)};
}

Answer ok(std::string_view name, std::uint64_t number) {
  JsonText out;
  out.begin_object().field(name, number).end_object();
  return ok(out.take());
}

Answer none_answers(bool too_large) {
  if (!too_large) return refusal(503, "unreachable", "no master can be reached at present");
  return refusal(
      503, "too large",
      "the answer is larger than a message between nodes may be: ask for less of it at a "
      "time (limit)");
}

Answer from_error(const caf::error& error, const caf::actor_system& system,
                  const std::string& what) {
  if (error == ActorError::unknown) {
    const caf::message& more = error.context();
    const bool is_told = more.match_elements<std::string>();
    return refusal(404, "not found",
                   "there is no " + what + (is_told ? "; " + more.get_as<std::string>(0) : ""));
  }
  if (error == ActorError::stopping) return refusal(409, "stopping", what + " is stopping");
  if (error == ActorError::invalid_job) return refusal(422, "invalid", "the job is not valid");
  if (error == ActorError::too_many) {
    return refusal(429, "too many", "the limit of cancels that wait to be confirmed is reached");
  }
  if (error == ActorError::learns_numbers) {
    const caf::message& more = error.context();
    return refusal(503, "numbers",
                   more.match_elements<std::string>() ? more.get_as<std::string>(0)
                                                      : "the site still learns its numbers");
  }
  if (error == ActorError::too_large) return none_answers(true);
  if (error == ActorError::busy) {
    const caf::message& more = error.context();
    return refusal(503, "busy",
                   more.match_elements<std::string>() ? more.get_as<std::string>(0)
                                                      : "too many such questions wait already");
  }
  if (error == ActorError::planner_failed) {
    const caf::message& more = error.context();
    return refusal(503, "planner",
                   "the master's policy has failed and starts again" +
                       (more.match_elements<std::string>() ? ": " + more.get_as<std::string>(0)
                                                           : std::string()));
  }
  if (error == ActorError::store_failed) {
    return refusal(503, "store", "the store takes no records at present: " + system.render(error));
  }
  return refusal(503, "unreachable",
                 "the site or master that could answer is unreachable at present");
}

}  // namespace muster::backend
