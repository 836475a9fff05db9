#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "actors/messages/messages.hpp"
#include "config/master_settings.hpp"
#include "model/time.hpp"

namespace muster {

/// The askers of questions to workers, by the numbers of the questions, which rise with time. An
/// asker has its `answer`, the instance `on` whose worker was asked, and `since` when.
template <class Asker>
class OpenQuestions {
 public:
  /// Whether one more may wait for that worker. Drops askers that wait no more.
  bool has_room(InstanceId on, const LogReaderBounds& bounds, Instant now) {
    // The oldest stand first.
    while (!open_.empty() && now - open_.begin()->second.since >= bounds.age) {
      take(open_.begin()).answer(caf::make_error(ActorError::not_connected));
    }
    const auto of = open_of_.find(on);
    return open_.size() < bounds.most && (of == open_of_.end() || of->second < bounds.of_instance);
  }
  void add(std::uint64_t number, Asker asker) {
    ++open_of_[asker.on];
    open_[number] = std::move(asker);
  }
  /// Null: no asker waits for it.
  const Asker* find(std::uint64_t number) const {
    const auto found = open_.find(number);
    return found == open_.end() ? nullptr : &found->second;
  }
  /// The asker waits no more; find() has it.
  Asker take(std::uint64_t number) { return take(open_.find(number)); }
  /// The worker that was asked is gone.
  void cut(InstanceId on) {
    for (auto asker = open_.begin(); asker != open_.end();) {
      const auto next = std::next(asker);
      if (asker->second.on == on) {
        take(asker).answer(caf::make_error(ActorError::not_connected));
      }
      asker = next;
    }
  }
  void clear() {
    open_.clear();
    open_of_.clear();
  }

 private:
  using Entry = typename std::map<std::uint64_t, Asker>::iterator;

  Asker take(Entry entry) {
    Asker taken = std::move(entry->second);
    open_.erase(entry);
    const auto of = open_of_.find(taken.on);
    if (--of->second == 0) open_of_.erase(of);
    return taken;
  }

  std::map<std::uint64_t, Asker> open_;
  std::map<InstanceId, std::uint32_t> open_of_;  ///< how many of them wait for whose worker
};

}  // namespace muster
