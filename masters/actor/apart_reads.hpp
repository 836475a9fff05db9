#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "masters/actor/part_host.hpp"
#include "storage/stores/history.hpp"

namespace muster {

/// Reads of a master's history, which may wait for the disk: meanwhile the master goes on.
class ApartReads {
 public:
  /// Null: there is no history, and nothing is read.
  ApartReads(const History* history, PartHost& host) : history_(history), host_(host) {}

  const History* history() const { return history_; }
  bool has(JobId id) const { return history_ != nullptr && history_->contains(id); }

  /// Has `read` run where it may wait for the disk, and `then` in the actor with what it gave.
  /// False: too many wait already.
  template <class Value>
  bool read(std::function<Value()> read, std::function<void(Value&&)> then) const {
    return history_->read_apart(
        [read = std::move(read), then = std::move(then), post = host_.post_first()] {
          const auto found = std::make_shared<Value>(read());
          post([then, found] { then(std::move(*found)); });
        });
  }
  /// Has `answer` told what `read` gave, or why it was not run: too many wait already.
  template <class Value>
  void answer(std::function<Value()> read, const PartAnswer<Value>& answer) const {
    answer_if_read<Value>([read = std::move(read)] { return std::optional<Value>(read()); },
                          answer);
  }
  /// Likewise; `read` gives nothing where the store could not be read, and the answer says so.
  template <class Value>
  void answer_if_read(std::function<std::optional<Value>()> read,
                      const PartAnswer<Value>& answer) const {
    const bool waits =
        this->read<std::optional<Value>>(std::move(read), [answer](std::optional<Value>&& found) {
          if (found) return answer(*std::move(found));
          answer(caf::make_error(ActorError::store_failed));
        });
    if (!waits) answer(caf::make_error(ActorError::store_failed));
  }

 private:
  const History* history_;
  PartHost& host_;
};

}  // namespace muster
