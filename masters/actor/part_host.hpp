#pragma once

#include <algorithm>
#include <caf/error.hpp>
#include <caf/expected.hpp>
#include <functional>
#include <utility>

#include "actors/messages/messages.hpp"
#include "model/time.hpp"

namespace muster {

/// Answers a question, once: with the value, or with the reason why there is no value.
template <class Value>
using PartAnswer = std::function<void(caf::expected<Value>)>;

/// A master's actor as its parts know it: its clocks, its turns, and the way to its journal.
class PartHost {
 public:
  using Step = std::function<void()>;
  using Post = std::function<void(Step)>;

  virtual ~PartHost() = default;

  /// The time that the clock shows; timers go by it.
  virtual Instant now() const = 0;
  /// The time that events are stamped with: see StampClock.
  virtual Instant stamp() = 0;

  /// Runs the step in the actor after that time.
  virtual void after(Duration wait, Step step) = 0;
  /// Runs the step in the actor at the given time, at once when that is past.
  void at(Instant when, Step step) {
    after(std::max(Duration::zero(), when - now()), std::move(step));
  }
  /// Has steps run in the actor, behind all that waits there; may be called from any thread,
  /// whatever has become of the actor.
  virtual Post post() = 0;
  /// Has them run before what waits there.
  virtual Post post_first() = 0;

  /// Puts on record what has happened in the master; its effects follow, and then `then`, when that
  /// is durable.
  virtual void commit(Step then) = 0;
  void commit() { commit({}); }
  /// Something has happened for which the policy is to be asked.
  virtual void want_round() = 0;
};

}  // namespace muster
