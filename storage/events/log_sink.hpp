#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/ids.hpp"

namespace muster {

/// Standard output and standard error.
inline constexpr std::size_t kLogStreams = 2;

/// Why there is no log of an attempt whose worker had one.
inline constexpr const char* kDiskTookNothing = "the disk of its master's node took nothing";

/// Whose output a log is.
struct LogName {
  TaskId task;
  Attempt attempt = 0;
  friend auto operator<=>(const LogName&, const LogName&) = default;
};

/// A piece of one of an attempt's streams.
struct LogPiece {
  bool error_stream = false;
  std::uint64_t offset = 0;  ///< in all that was written to the stream
  std::string text;
};

/// Kept output of an attempt from one place on.
struct KeptLog {
  std::uint64_t offset = 0;  ///< where `text` begins: later than asked where there is a gap
  std::string text;
  std::uint64_t end = 0;  ///< of the stream, as far as it is kept
  std::string lost;       ///< why what comes behind `end` is missing; empty: nothing is
  bool none = false;      ///< not even its beginning can be read, for the reason in `lost`
  bool open = false;      ///< only parts are kept: the last delivery has not come
};

/// Output of an attempt that comes across at once: pieces, and with the last of them that no more
/// will come.
struct LogDelivery {
  LogName name;
  std::vector<LogPiece> pieces{};  ///< each stream's in their order
  bool last = false;
  std::string lost{};  ///< with the last: why not everything has come; empty: it has
  bool part = false;   ///< a part of one stream is whole with it, and kept whatever is to come
};

/// Keeps the output of attempts within bounds: of those that are over, and parts of those that run.
class LogSink {
 public:
  using Done = std::function<void(bool written)>;

  virtual ~LogSink() = default;

  /// `done` is called once it is dealt with, from any thread: with false when the disk did not take
  /// it. Nothing that came of the attempt behind its last part is left then, and may come anew.
  /// Output that is in no part cannot be read before the attempt's last delivery, and output of a
  /// part is not kept twice. A delivery that brings nothing but a loss replaces no log that is
  /// whole. False: it was not taken, for too many wait already.
  virtual bool take(LogDelivery delivery, Done done) = 0;

  struct Place {
    LogName name;
    bool error_stream = false;
    std::uint64_t offset = 0;
    std::uint32_t max_bytes = 0;
  };
  using Use = std::function<void(std::optional<KeptLog>)>;
  /// Hands the log to `use`, from any thread: nothing when it is not known of one of that name.
  /// False: it is not called, for too many wait already.
  virtual bool read(const Place& place, Use use) = 0;
  /// Logs were removed to keep within the bounds: an absent log may have been one of them.
  virtual bool has_removed() const = 0;
};

}  // namespace muster
