#pragma once

#include "model/event.hpp"

namespace muster {

struct MasterFacts;

/// A part of a master that keeps something of its own by the master's events. It may record nothing
/// while it hears of one.
class EventListener {
 public:
  EventListener() = default;
  EventListener(const EventListener&) = delete;
  EventListener& operator=(const EventListener&) = delete;
  virtual ~EventListener() = default;

  /// The facts do not know of the event yet.
  virtual void before(const Event& /*event*/, const MasterFacts& /*facts*/) {}
  /// The facts know of it.
  virtual void after(const Event& /*event*/, const MasterFacts& /*facts*/) {}
  /// The facts are those of a snapshot: of what led to them nothing will be heard.
  virtual void restored(const MasterFacts& /*facts*/) {}
};

}  // namespace muster
