#pragma once

#include <iterator>
#include <utility>
#include <vector>

#include "model/event.hpp"

namespace muster {

/// Where a master's events go before their effects leave it.
class Journal {
 public:
  virtual ~Journal() = default;

  /// When this returns, all events of the batch are durable, in their order, after those of
  /// earlier batches. A batch is kept as a whole or not at all.
  virtual void append(std::vector<Event>&& batch) = 0;
};

/// Keeps the events in memory, for replay and tests.
class MemoryJournal final : public Journal {
 public:
  void append(std::vector<Event>&& batch) override {
    events_.insert(events_.end(), std::make_move_iterator(batch.begin()),
                   std::make_move_iterator(batch.end()));
    batch.clear();
  }

  const std::vector<Event>& events() const { return events_; }
  /// Hands all events over; none are left.
  std::vector<Event> take() { return std::exchange(events_, {}); }

 private:
  std::vector<Event> events_;
};

}  // namespace muster
