#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "actors/messages/messages.hpp"
#include "masters/actor/coming_log.hpp"
#include "masters/actor/log_holds.hpp"
#include "masters/actor/log_questions.hpp"
#include "masters/actor/log_turns.hpp"
#include "storage/events/log_sink.hpp"

namespace muster {

/// Brings what attempts have written from their workers into the keep of their master's node: in
/// parts, as their files fill, and the rest once they are over. Little output came with the report
/// of the end; all else is asked for piece by piece, a few attempts at once and each piece when the
/// one before is on the disk. Plain calls: the master's actor is around it. Missing output is on
/// record as lost, with the reason.
///
/// Whose turn it is, and which instances are left alone, is for LogTurns to say; which piece of an
/// attempt is next, for ComingLog.
class LogHandover {
 public:
  static constexpr std::uint64_t kMaxOffset = ComingLog::kMaxOffset;

  struct Host {
    /// False: the instance's worker cannot be spoken to.
    std::function<bool(InstanceId, const LogRequest&)> ask;
    /// The attempt need not be kept on its instance any more.
    std::function<void(InstanceId, const LogName&)> acknowledge;
    /// Nothing keeps the instance any more.
    std::function<void(InstanceId)> free;
    /// Runs the step where the handover lives; may be called from any thread.
    std::function<void(std::function<void()>)> post;
    /// For questions, whose answers come to hear().
    std::function<std::uint64_t()> number;  ///< rises
    std::function<Instant()> now;
    /// on_time() is to be called then. A call that is too early does no harm.
    std::function<void(Instant)> wake;
  };
  struct Bounds {
    Duration hold{};  ///< longest hold of an instance that is to be ended, and longest wait for an
                      ///< answer
    std::uint64_t stream_bytes = 0;  ///< of a stream; further bytes of a worker are not taken

    Duration patience() const;  ///< that an answer is waited for
    Duration pause() const;     ///< after the disk took nothing
  };
  LogHandover(LogSink& sink, Bounds bounds, Host host);

  /// Files of the attempt, which runs on the instance, are full up to these places. May come again.
  void fill(const LogName& name, InstanceId on, const LogEnds& ends);
  /// The attempt is over, by the word of its worker. Once that is durable, begin() follows.
  void note(const WorkerReport& report);
  /// As note(), when it is yet to be found out whether that attempt ever was on the instance;
  /// confirm() or dismiss() follows. False: the attempt's outcome is known already.
  bool note_unsure(const WorkerReport& report);
  void confirm(const LogName& name, InstanceId on);
  /// The output is not taken from there. `lost`, if there is any, goes on record as the reason why
  /// output is missing.
  void dismiss(const LogName& name, InstanceId on, const std::string& lost);
  /// False: nothing is to come of it from that instance.
  bool begin(const LogName& name, InstanceId on);
  /// False: it answers no question of this object.
  bool hear(const LogAnswer& answer);
  /// The instance's worker cannot be spoken to; it can (again).
  void cut(InstanceId id);
  void met(InstanceId id);
  /// Nothing more comes from the instance: the rest of its output is lost.
  void lose(InstanceId id, const std::string& reason);
  /// The attempt's output is lost, but for parts of it; its end was never noted.
  void lose(const LogName& name, const std::string& reason) {
    sink_.take({name, {}, true, reason}, {});
  }

  /// Whether the instance must not be ended yet: something is to come from it, and it was not held
  /// for the longest time. From the first question on.
  bool holds(InstanceId id, Instant now);
  /// Before anything else of an instance that is to be ended: its worker has to say first what it
  /// has. As if something were to come from it, until met().
  void expect(InstanceId id) { holds_.expect(id); }
  /// When on_time() has something to do.
  std::optional<Instant> next_due() const;
  /// Lets go of those that were held for the longest time, and waits no longer for answers that are
  /// overdue.
  void on_time(Instant now);
  /// The instance is ended whatever is to come.
  void let_go(InstanceId id) { holds_.let_go(id); }

  /// Where the output of an attempt is that is not across; nothing when no output is to come.
  std::optional<InstanceId> place_of(const LogName& name) const;

 private:
  enum class Step { unsure, noted, waiting, active, stalled };
  struct Coming {
    InstanceId on;
    Step step = Step::noted;
    ComingLog log;
    bool over = false;           ///< the attempt's end was noted
    bool closed = false;         ///< all of it is with the keeper
    bool part = false;           ///< with what the keeper has last a part is whole
    bool refused = false;        ///< the disk did not take what came of it last
    std::uint64_t serial = 0;    ///< tells it from an earlier one of that name
    std::uint64_t question = 0;  ///< the open question; 0: no question is open
  };
  using Entry = std::map<LogName, Coming>::iterator;
  Coming& add(const LogName& name, InstanceId on);
  void note_end(Coming& coming, const WorkerReport& report);
  void pump();
  void go_on(const LogName& name);
  void look_up(const LogName& name, const Coming& coming, std::size_t stream);
  void set_aside(Entry entry);
  void take(LogDelivery delivery, Coming& coming, const ComingLog::Cursor& before);
  void on_taken(const LogName& name, std::uint64_t serial, bool written);
  void lose(const LogName& name, const Coming& coming, const std::string& reason);
  void leave_active(Coming& coming, Step next);
  void wait_again(Entry entry, Duration pause);
  void finish(Entry entry);
  void drop(Entry entry);
  void free_if_done(InstanceId id);

  LogSink& sink_;
  Bounds bounds_;
  Host host_;
  std::map<LogName, Coming> coming_;
  KeptParts kept_;  ///< of attempts that run and of which nothing is to come now
  LogTurns turns_;  ///< of the attempts that are coming
  LogQuestions asked_;
  std::uint64_t serial_ = 0;
  std::size_t texts_ = 0;  ///< attempts whose output is here in memory
  LogHolds holds_;
  std::shared_ptr<const bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace muster
