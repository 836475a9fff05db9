#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "actors/messages/messages.hpp"
#include "config/master_settings.hpp"
#include "masters/actor/attempt_places.hpp"
#include "masters/actor/log_handover.hpp"
#include "masters/actor/open_questions.hpp"
#include "masters/actor/part_host.hpp"
#include "storage/events/log_sink.hpp"

namespace muster {

/// Reads the output of attempts to a master's users: from where it is kept once it is across; until
/// then the parts that are kept, and what comes behind them from the worker.
class LogReaders {
 public:
  struct Host {
    /// Whether the instance's worker can be spoken to.
    std::function<bool(InstanceId)> can_ask;
    std::function<void(InstanceId, const LogRequest&)> ask;
    /// For questions, whose answers come to hear().
    std::function<std::uint64_t()> number;  ///< rises
    std::function<Instant()> now;
    /// Where the output of an attempt is that is not across; nothing when no output is to come.
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
    LogRequest request;  ///< as it was asked, of the attempt that it is of
    InstanceId on;       ///< whose worker is asked
    bool runs = false;   ///< the attempt does
    KeptLog kept{};      ///< the parts that are kept from that place on
    bool again = false;  ///< that was read for the second time
    Instant since{};     ///< when the worker was asked

    /// The kept parts begin later than was asked for.
    bool has_gap() const { return !kept.text.empty() && kept.offset > request.offset; }
    std::uint64_t kept_end() const { return kept.offset + kept.text.size(); }
  };

  void send(const LogRequest& request, const AttemptPlace& place,
            const PartAnswer<LogAnswer>& answer);
  void begin(Reader reader);
  void go_on(Reader reader);
  void ask(Reader reader);
  static void answer_kept(const Reader& reader, std::uint64_t end);
  void send_kept(const LogRequest& request, const AttemptPlace& place,
                 const PartAnswer<LogAnswer>& answer);

  Setup setup_;
  const AttemptPlaces& places_;
  Host host_;
  OpenQuestions<Reader> readers_;
};

}  // namespace muster
