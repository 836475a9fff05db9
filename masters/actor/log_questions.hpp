#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "model/time.hpp"
#include "storage/events/log_sink.hpp"

namespace muster {

/// Questions for output that workers have not answered yet, by number.
class LogQuestions {
 public:
  /// Numbers rise, and so do the times.
  void open(std::uint64_t number, const LogName& name, Instant due) {
    asked_[number] = {name, due};
  }
  /// It is open no longer, if it was; the number becomes 0, which no question has.
  void close(std::uint64_t& number) { asked_.erase(std::exchange(number, 0)); }
  /// Whose output was asked for; nothing: no such question is open.
  std::optional<LogName> find(std::uint64_t number) const {
    const auto asked = asked_.find(number);
    return asked == asked_.end() ? std::nullopt : std::optional(asked->second.name);
  }
  /// The question that was to be answered first, if its time is over.
  std::optional<LogName> overdue(Instant now) const {
    const auto due = next_due();
    return due && *due <= now ? std::optional(asked_.begin()->second.name) : std::nullopt;
  }
  std::optional<Instant> next_due() const {
    return asked_.empty() ? std::nullopt : std::optional(asked_.begin()->second.due);
  }

 private:
  struct Question {
    LogName name;
    Instant due;
  };
  std::map<std::uint64_t, Question> asked_;
};

}  // namespace muster
