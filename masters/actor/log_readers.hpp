#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "actors/messages/messages.hpp"
#include "config/master_settings.hpp"
#include "masters/actor/attempt_places.hpp"
#include "masters/actor/log_handover.hpp"
#include "masters/actor/part_host.hpp"
#include "storage/events/log_sink.hpp"

namespace muster {

/// Reads the output of attempts to a master's users: from the worker while it is not across, and
/// from where it is kept once it is.
class LogReaders {
 public:
  struct Host {
    /// Whether the instance's worker can be spoken to.
    std::function<bool(InstanceId)> can_ask;
    std::function<void(InstanceId, const LogRequest&)> ask;
    /// For questions, whose answers come to hear().
    std::function<std::uint64_t()> number;  ///< rises
    std::function<Instant()> now;
    /// Where the output of an attempt is that is over and not across; nothing when it is not so.
    std::function<std::optional<InstanceId>(const LogName&)> place_of;
    /// Reads what is kept; `use` is called in the actor. False: it is not, for too many wait
    /// already.
    std::function<bool(const LogSink::Place&, LogSink::Use)> read_kept;
    std::function<bool()> has_removed;  ///< see LogSink
  };
  struct Setup {
    LogReaderBounds bounds;
    std::string master;    ///< its name
    bool is_kept = false;  ///< output is brought to the master's node
  };
  LogReaders(Setup setup, const AttemptPlaces& places, Host host);

  void read(const LogRequest& request, PartAnswer<LogAnswer> answer);
  void hear(const LogAnswer& answer);
  /// The worker that was asked is gone, and its open questions are dropped with it.
  void cut(InstanceId id);
  /// Drops all questions: their askers are gone.
  void clear();

 private:
  /// Somebody who waits for a part of a log.
  struct Reader {
    PartAnswer<LogAnswer> answer;
    std::uint64_t number = 0;  ///< in the reader's own count
    InstanceId on;             ///< whose worker was asked
    Attempt attempt = 0;
    bool runs = false;  ///< the attempt did when it was asked
    Instant since{};    ///< when the worker was asked
  };
  using Entry = std::map<std::uint64_t, Reader>::iterator;

  void send(const LogRequest& request, const AttemptPlace& place,
            const PartAnswer<LogAnswer>& answer);
  void ask(const LogRequest& request, Reader reader);
  void send_kept(const LogRequest& request, const AttemptPlace& place,
                 const PartAnswer<LogAnswer>& answer);
  bool has_room(InstanceId on);
  Reader take(Entry entry);

  Setup setup_;
  const AttemptPlaces& places_;
  Host host_;
  std::map<std::uint64_t, Reader> readers_;         ///< by number: the oldest first
  std::map<InstanceId, std::uint32_t> readers_of_;  ///< how many of them wait for whose worker
};

}  // namespace muster
