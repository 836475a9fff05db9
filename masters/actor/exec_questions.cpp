#include "masters/actor/exec_questions.hpp"

#include <string>
#include <utility>

namespace muster {

ExecQuestions::ExecQuestions(const AttemptPlaces& places, Host host)
    : places_(places), host_(std::move(host)) {}

/// The instance that is to be asked, and the attempt put into a request that begins a command.
/// Nothing: the task does not run.
std::optional<InstanceId> ExecQuestions::place_for(ExecRequest& request) const {
  if (request.command != 0) return instance_of_exec(request.command);
  const auto place = places_.known(request.task);
  if (!place || !place->known) return std::nullopt;
  request.attempt = place->attempt;
  return places_.runs_on(request.task, place->attempt);
}

void ExecQuestions::ask(ExecRequest request, const PartAnswer<ExecAnswer>& answer) {
  const auto on = place_for(request);
  if (!on) {
    return answer(exec_trouble(request, ExecTrouble::not_running, "it is not on any instance now"));
  }
  if (!places_.is_here(*on)) {
    return answer(exec_trouble(request, ExecTrouble::unknown, "its instance is gone"));
  }
  if (!host_.can_ask(*on)) return answer(caf::make_error(ActorError::not_connected));
  if (!open_.has_room(*on, {kMost, kMostOfInstance, kAge}, host_.now())) {
    return answer(caf::make_error(ActorError::busy,
                                  "too many questions about commands wait for instance " +
                                      std::to_string(on->value) + ": ask again in a second"));
  }
  const std::uint64_t number = ++next_;
  open_.add(number, {answer, request.number, *on, host_.now()});
  request.number = number;
  host_.ask(*on, request);
}

void ExecQuestions::hear(ExecAnswer answer) {
  const Asker* waits = open_.find(answer.number);
  // Only the worker that was asked has the answer.
  if (waits == nullptr || waits->on != answer.instance) return;
  const Asker asker = open_.take(answer.number);
  answer.number = asker.number;
  asker.answer(std::move(answer));
}

void ExecQuestions::clear() {
  open_.clear();
}

}  // namespace muster
