#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "actors/time/alarm.hpp"
#include "masters/actor/log_claims.hpp"
#include "masters/actor/log_handover.hpp"
#include "masters/actor/log_readers.hpp"
#include "masters/master.hpp"

namespace muster {

/// Where a master keeps the output of its tasks, if anywhere.
struct LogCare {
  LogSink* sink = nullptr;
  LogHandover::Bounds bounds;
};

/// Looks after the output of a master's tasks: has it brought to the master's node before an
/// instance ends, and reads it to users from there, or from the worker while it is not across.
/// Without a sink output stays where it is.
class MasterLogs {
 public:
  /// The workers, as far as output is concerned.
  struct Workers {
    /// Whether the instance's worker can be spoken to.
    std::function<bool(InstanceId)> can_ask;
    std::function<void(InstanceId, const LogRequest&)> ask;
    /// The attempt need not be kept on its instance any more.
    std::function<void(InstanceId, const LogName&)> acknowledge;
    /// Nothing keeps the instance any more.
    std::function<void(InstanceId)> free;
  };
  /// The places have to outlive it.
  MasterLogs(const LogCare& care, const Master& master, const AttemptPlaces& places, PartHost& host,
             Workers workers);

  /// Called once, after the master is restored: output that was not across when it ended is waited
  /// for, as workers name it in their hello.
  void begin();
  /// The attempt is over, by the word of its worker.
  void note(const WorkerReport& report);
  /// Files of attempts that run are full.
  void hear(const FilledLogs& said);
  /// That is durable: see LogHandover. False: nothing is to come of it from that instance.
  bool take(const LogName& name, InstanceId on);
  void hear(const LogAnswer& answer);
  void read(const LogRequest& request, PartAnswer<LogAnswer> answer);

  /// The instance's worker cannot be spoken to; it can (again).
  void cut(InstanceId id);
  void met(InstanceId id);
  /// No worker of the instance will be there any more.
  void forget(InstanceId id) { readers_.cut(id); }
  /// The instance is gone, and with it what is not across; before the master hears of that.
  void lose(InstanceId id);
  /// Whether the instance must not be ended yet.
  bool holds(InstanceId id);
  /// The instance is ended whatever is to come.
  void let_go(InstanceId id);
  /// Drops all questions, and keeps nothing more.
  void close();

 private:
  LogHandover::Host handover_host();
  LogClaims::Host claims_host();
  LogReaders::Host readers_host();
  bool read_kept(const LogSink::Place& place, PartHost::Post post, LogSink::Use use);
  void tend();

  LogSink* sink_;
  const Master& master_;
  PartHost& host_;
  Workers workers_;
  Alarm<PartHost> alarm_;
  std::uint64_t next_ = 0;  ///< number of the last question to a worker
  LogReaders readers_;
  std::unique_ptr<LogHandover> handover_;  ///< null: output stays where it is
  std::unique_ptr<LogClaims> claims_;      ///< with it
};

}  // namespace muster
