#pragma once

#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "masters/actor/part_host.hpp"
#include "tests/support/builders.hpp"

namespace muster::test {

/// Lends a part of a master's actor what the actor would, without one: time passes and messages are
/// heard as the test says.
class FakePartHost final : public PartHost {
 public:
  Instant now() const override { return now_; }
  Instant stamp() override { return now_ + stamp_ahead; }
  void after(Duration wait, Step step) override { timers_.emplace(now_ + wait, std::move(step)); }
  Post post() override {
    return [this](Step step) { posted.push_back(std::move(step)); };
  }
  Post post_first() override {
    return [this](Step step) { posted_first.push_back(std::move(step)); };
  }
  using PartHost::commit;
  void commit(Step then) override {
    ++commits;
    if (on_commit) on_commit();
    if (then) then();
  }
  void want_round() override { ++rounds_wanted; }

  /// Steps that are due until then happen.
  void run_until_s(double seconds) {
    const Instant end = at_s(seconds);
    while (!timers_.empty() && timers_.begin()->first <= end) {
      auto due = timers_.extract(timers_.begin());
      now_ = std::max(now_, due.key());
      due.mapped()();
      hear_posted();
    }
    now_ = end;
  }
  void hear_posted() {
    while (!posted.empty() || !posted_first.empty()) {
      std::deque<Step>& next = posted_first.empty() ? posted : posted_first;
      const Step step = std::move(next.front());
      next.pop_front();
      step();
    }
  }

  std::deque<Step> posted, posted_first;
  std::function<void()> on_commit;
  Duration stamp_ahead{};  ///< of the clock
  int commits = 0;
  int rounds_wanted = 0;

 private:
  Instant now_ = at_s(0);
  std::multimap<Instant, Step> timers_;
};

/// Keeps what a question was answered.
template <class Value>
struct Answered {
  std::vector<Value> values;
  std::vector<caf::error> errors;

  PartAnswer<Value> answer() {
    return [this](caf::expected<Value> said) {
      if (said) {
        values.push_back(std::move(*said));
      } else {
        errors.push_back(std::move(said.error()));
      }
    };
  }
};

}  // namespace muster::test
