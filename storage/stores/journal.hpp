#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "model/event.hpp"

namespace muster {

/// Where a master's events go before their effects leave it.
class Journal {
 public:
  using Durable = std::function<void()>;

  virtual ~Journal() = default;

  /// Takes a batch; it is kept as a whole or not at all, after those of earlier calls. `durable` is
  /// called once, in the order of the calls, when the batch has been written down for good: before
  /// this returns or later, from whatever thread.
  virtual void append(std::vector<Event>&& batch, Durable durable) = 0;

  /// Why batches cannot be written down at present; empty when they can. Batches that were taken
  /// are kept and tried again. May be called from any thread.
  virtual std::string trouble() const { return {}; }

  /// Why nothing new should be begun, although batches can be written down; empty: nothing speaks
  /// against it. May be called from any thread.
  virtual std::string strain() const { return {}; }
};

/// Keeps the events in memory, for replay and tests.
class MemoryJournal final : public Journal {
 public:
  void append(std::vector<Event>&& batch, Durable durable) override {
    events_.insert(events_.end(), std::make_move_iterator(batch.begin()),
                   std::make_move_iterator(batch.end()));
    batch.clear();
    durable();
  }

  const std::vector<Event>& events() const { return events_; }
  /// Hands all events over and keeps no copy.
  std::vector<Event> take() { return std::exchange(events_, {}); }

 private:
  std::vector<Event> events_;
};

/// The journal of one of several masters that share another one, which says whose events are whose.
class CellJournal final : public Journal {
 public:
  CellJournal(Journal& shared, std::uint32_t cell) : shared_(shared), cell_(cell) {}

  void append(std::vector<Event>&& batch, Durable durable) override {
    for (Event& event : batch) event.cell = cell_;
    shared_.append(std::move(batch), std::move(durable));
  }
  std::string trouble() const override { return shared_.trouble(); }
  std::string strain() const override { return shared_.strain(); }

 private:
  Journal& shared_;
  std::uint32_t cell_;
};

}  // namespace muster
