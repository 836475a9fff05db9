#pragma once

#include <caf/all.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "actors/messages/messages.hpp"
#include "model/time.hpp"

namespace muster {

/// Answers of several actors; nothing for one that did not answer in time.
template <class Answer>
struct Answers : std::vector<std::optional<Answer>> {
  using std::vector<std::optional<Answer>>::vector;

  bool too_large = false;  ///< one of them has an answer that no message can carry
};

/// Marks those that have answered; takes out what they said. Both keep their order.
template <class Answer>
std::vector<bool> answered(const Answers<Answer>& answers) {
  std::vector<bool> who;
  for (const auto& answer : answers) who.push_back(answer.has_value());
  return who;
}
template <class Answer>
std::vector<Answer> heard(Answers<Answer> answers) {
  std::vector<Answer> all;
  for (auto& answer : answers) {
    if (answer) all.push_back(std::move(*answer));
  }
  return all;
}

/// Asks one actor from any thread; `done` is called once, in a thread of the actor system. The
/// asking actor counts among the system's actors, so that objects that `done` uses are released
/// once these have ended.
template <class Answer, class Handle, class... Words>
void ask(caf::actor_system& system, const Handle& whom, Duration timeout,
         std::function<void(caf::expected<Answer>)> done, Words... words) {
  system.spawn([=](caf::event_based_actor* self) {
    self->request(whom, timeout, words...)
        .then([done](Answer& answer) { done(std::move(answer)); },
              [done](caf::error& error) { done(std::move(error)); });
  });
}

/// Asks several actors one question; `done` gets each answer, or why it did not come, in the order
/// of the actors.
template <class Answer, class Handle, class... Words>
void ask_each(caf::actor_system& system, const std::vector<Handle>& whom, Duration timeout,
              std::function<void(std::vector<caf::expected<Answer>>)> done, Words... words) {
  if (whom.empty()) return done({});
  system.spawn([=](caf::event_based_actor* self) {
    const caf::expected<Answer> none{caf::error{}};
    auto answers = std::make_shared<std::vector<caf::expected<Answer>>>(whom.size(), none);
    auto missing = std::make_shared<std::size_t>(whom.size());
    const auto one_more = [answers, missing, done] {
      if (--*missing == 0) done(std::move(*answers));
    };
    for (std::size_t i = 0; i < whom.size(); ++i) {
      self->request(whom[i], timeout, words...)
          .then(
              [=](Answer& answer) {
                (*answers)[i] = std::move(answer);
                one_more();
              },
              [=](caf::error& error) {
                (*answers)[i] = std::move(error);
                one_more();
              });
    }
  });
}

/// Likewise, where the reason of a missing answer does not matter.
template <class Answer, class Handle, class... Words>
void ask_all(caf::actor_system& system, const std::vector<Handle>& whom, Duration timeout,
             std::function<void(Answers<Answer>)> done, Words... words) {
  ask_each<Answer>(
      system, whom, timeout,
      [done](std::vector<caf::expected<Answer>> each) {
        Answers<Answer> answers;
        for (caf::expected<Answer>& one : each) {
          answers.too_large |= !one && one.error() == ActorError::too_large;
          answers.push_back(one ? std::optional(std::move(*one)) : std::nullopt);
        }
        done(std::move(answers));
      },
      words...);
}

/// Asks the actors one after the other until one answers; `done` gets its answer, or why the last
/// one did not answer. One that cannot be reached says so at once; one that is slow has the
/// timeout.
template <class Answer, class Handle, class... Words>
void ask_first(caf::actor_system& system, const std::vector<Handle>& whom, Duration timeout,
               std::function<void(caf::expected<Answer>)> done, Words... words) {
  if (whom.empty()) return done(caf::make_error(ActorError::not_connected));
  const auto heard = [=, &system](caf::expected<Answer> answer) {
    if (answer || whom.size() == 1) return done(std::move(answer));
    ask_first<Answer>(system, std::vector<Handle>(whom.begin() + 1, whom.end()), timeout, done,
                      words...);
  };
  ask<Answer>(system, whom.front(), timeout, heard, words...);
}

}  // namespace muster
