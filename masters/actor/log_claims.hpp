#pragma once

#include <cstddef>
#include <deque>
#include <functional>

#include "actors/messages/messages.hpp"
#include "masters/actor/attempt_places.hpp"
#include "masters/actor/log_handover.hpp"

namespace muster {

/// A worker may hand over the output of attempts that were on its own instance only. Of one that is
/// not there any more, as after a restart of the master, that is looked up, some at a time.
class LogClaims {
 public:
  struct Host {
    /// Tells whether some output of the attempt is kept. False: it does not, for too many wait.
    std::function<bool(const LogName&, std::function<void(bool)>)> is_kept;
    /// go_on() is to be called after a while.
    std::function<void()> go_on_later;
  };
  LogClaims(LogHandover& handover, const AttemptPlaces& places, Host host);

  /// The attempt is over, by the word of its worker.
  void note(const WorkerReport& report);
  /// Files of attempts are full, of which those count that run on the instance.
  void note(const FilledLogs& said);
  /// Looks up what could not be before; until then the worker keeps it.
  void go_on();

 private:
  /// A worker says that it has the output of an attempt that is not on its instance any more.
  struct Claim {
    LogName name;
    InstanceId on;
  };

  bool look_up(const Claim& claim);
  bool judge(const Claim& claim, const AttemptPlace& place);
  bool judge_earlier(const Claim& claim);

  LogHandover& handover_;
  const AttemptPlaces& places_;
  Host host_;
  std::deque<Claim> claims_;  ///< to be looked up: no more than workers keep attempts
  std::size_t open_ = 0;      ///< that are being looked up
};

}  // namespace muster
