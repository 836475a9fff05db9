#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "storage/stores/journal.hpp"

namespace muster::replay {

/// The journal of a run: shows each event to everybody who wants to know, in order, and forgets it.
/// Only the jobs that are not over are kept, for the events about their tasks: the job of a
/// `JobAccepted` stays alive until all readers have seen its `JobFinished`.
class RunLog final : public Journal {
 public:
  using Reader = std::function<void(const Event&)>;

  /// Before the first event. Everybody is shown what is left of an event when `rename` has changed
  /// it.
  void rename_by(std::function<void(Event&)> rename) { rename_ = std::move(rename); }
  void show_to(Reader reader) { readers_.push_back(std::move(reader)); }

  void append(std::vector<Event>&& batch, Durable durable) override;

  /// The run is over: later events, as actors end, are shown to no reader.
  void close() { readers_.clear(); }

 private:
  void take(Event&& event);
  void show(const Event& event) const;

  std::function<void(Event&)> rename_;
  std::vector<Reader> readers_;
  /// How the jobs that are not over, or the parts of them that a cell has, were accepted.
  std::multimap<std::pair<std::uint32_t, JobId>, Event> open_;
};

}  // namespace muster::replay
