#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/enum_words.hpp"
#include "model/event.hpp"
#include "model/job.hpp"
#include "model/money.hpp"

namespace muster {

/// How an attempt of a task left its instance.
enum class AttemptEnd : std::uint8_t {
  not_over,
  finished,  ///< it has done its work
  failed,    ///< its program or its worker ended it, and not because it was told to stop
  moved,     ///< it was told to stop, and the task has another place or waits for one
  stopped,   ///< it was told to stop, for its job was over
  lost       ///< its worker or instance was gone
};
constexpr auto words_of(AttemptEnd) {
  using E = AttemptEnd;
  return std::to_array<EnumWord<E>>({{E::not_over, "not over"},
                                     {E::finished, "finished"},
                                     {E::failed, "failed"},
                                     {E::moved, "moved"},
                                     {E::stopped, "stopped"},
                                     {E::lost, "lost"}});
}

/// One attempt of a task.
struct AttemptHistory {
  Attempt number = 0;  ///< 0: nothing is known of it
  InstanceId instance;
  TypeId type;
  std::optional<Market> market{};
  std::optional<Instant> sent_at{};  ///< when its worker was told to start it
  std::optional<Instant> started_at{};
  std::optional<Instant> ended_at{};
  AttemptEnd end = AttemptEnd::not_over;
  /// Why it had to leave, as its plan or master said; nothing: it did not have to.
  std::optional<CauseCode> leaves{};
  std::optional<CloudReason> gone{};  ///< of one that was lost with its instance
  std::optional<std::int32_t> exit_code{};
  std::string reason{};  ///< of one that failed or was lost; long ones are cut
  Money cost{};          ///< known when another attempt has followed it
  Usage used{};          ///< of one that has ended

  friend bool operator==(const AttemptHistory&, const AttemptHistory&) = default;
};

/// History of one task, as far as its users read it.
struct TaskHistory {
  Attempt attempts = 0;
  bool finished = false;
  std::uint32_t moves = 0;
  std::uint32_t failures = 0;         ///< attempts that failed
  std::string reason;                 ///< of the last attempt that did not finish, blameless or not
  InstanceId instance;                ///< the last one
  TypeId type;                        ///< of that instance
  std::optional<Instant> started_at;  ///< of the first attempt
  std::optional<Instant> ended_at;    ///< of the last one that ended
  ProcessEnd end;                     ///< of the last one that ended
  Money cost;                         ///< known when the job is over
  FailureKind failure = FailureKind::unknown;  ///< the kind of the last one
  bool failed = false;                         ///< for good, with that one
  std::uint32_t losses = 0;                    ///< attempts that ended by a fault of their worker
  Metrics metrics{};  ///< metrics that it reported last; known when the job is over
  /// Its newest attempt.
  AttemptHistory newest{};
  /// The attempts before that one which are kept, by rising numbers: the first and the last ones.
  std::vector<AttemptHistory> earlier{};
  Money paid{};  ///< its cost until the newest attempt was sent
  /// How long the attempts that have ended ran, all together; nothing: earlier versions did not
  /// say.
  std::optional<Duration> ran{Duration{}};
  Usage used{};  ///< by the attempts that have ended, all together
};

/// How an attempt comes to its end.
struct AttemptEnding {
  AttemptEnd end = AttemptEnd::not_over;
  std::optional<CloudReason> gone{};
  std::optional<std::int32_t> exit_code{};
  std::string reason{};
  Usage used{};
};

/// The next attempt is sent to its instance; `paid`: the task's cost until then. Of the attempts
/// with it at most `most` first and `most` last ones are kept. O(most).
void begin_attempt(TaskHistory& task, AttemptHistory next, Money paid, std::uint32_t most);
/// The newest attempt has ended; it changes nothing when it had already.
void end_attempt(TaskHistory& task, AttemptEnding ending, Instant at);
/// The newest attempt is to leave its instance. A cause that its instance gives goes before one of
/// a plan, and of several plans the first one counts.
void note_leaving(TaskHistory& task, CauseCode cause);
/// Attempts that are known to have been and are not kept.
std::uint32_t attempts_left_out(const TaskHistory& task);
/// Fills in the newest attempt from the other members, for records of earlier versions; `is_over`:
/// its job is.
void complete_attempts(TaskHistory& task, bool is_over);

/// A job that is over, as its users want to read of it later.
struct JobHistory {
  Job job;
  JobOutcome outcome = JobOutcome::completed;
  Instant accepted_at, over_at;
  double mean_throughput = 1;
  std::vector<TaskHistory> tasks;  ///< one a task of the job, in its order
};

/// An attempt that was on an instance.
struct VisitHistory {
  JobId job;
  std::uint32_t index = 0;  ///< of the task in its job
  Attempt attempt = 0;
  Instant sent_at;
  std::optional<Instant> ended_at{};
  AttemptEnd end = AttemptEnd::not_over;

  friend bool operator==(const VisitHistory&, const VisitHistory&) = default;
};

/// Life of an instance, as far as its master knows it.
struct InstanceHistory {
  TypeId type;
  Market market = Market::on_demand;
  std::string zone{};
  Price price;  ///< of an hour: the last one
  Instant requested_at;
  std::optional<Instant> up_at{};  ///< billed from then on
  std::optional<Instant> ready_at{};
  std::optional<Instant> released_at{};
  std::optional<Instant> ended_at{};
  std::optional<CauseCode> rented_for{};    ///< nothing: it was rented under an earlier version
  std::optional<CauseCode> released_for{};  ///< nothing: it is not released
  std::optional<CloudReason> gone{};        ///< of one that has ended, or was refused
  Money bill{};                             ///< of one that has ended
  std::uint64_t visits_before = 0;          ///< attempts that were there and are not among `visits`
  std::vector<VisitHistory> visits{};       ///< the newest last

  friend bool operator==(const InstanceHistory&, const InstanceHistory&) = default;
};

/// One more attempt is on the instance; at most `most` are kept. O(most).
void begin_visit(InstanceHistory& instance, const VisitHistory& visit, std::uint32_t most);
/// The newest attempt of the task there has ended. O(visits).
void end_visit(InstanceHistory& instance, const VisitHistory& ended);

}  // namespace muster
