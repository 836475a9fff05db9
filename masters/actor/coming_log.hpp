#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "actors/messages/messages.hpp"
#include "storage/events/log_sink.hpp"

namespace muster {

/// Places in an attempt's streams, one in each.
using LogEnds = std::array<std::uint64_t, kLogStreams>;

/// One attempt's output on its way from its worker to the keep: which piece is asked for next, and
/// what is taken of an answer. While the attempt runs its output comes in parts, as far as its
/// worker has said that files are full; the rest comes when the attempt is over.
class ComingLog {
 public:
  /// No stream is longer, whatever a worker says.
  static constexpr std::uint64_t kMaxOffset = std::uint64_t{1} << 63;
  static constexpr std::uint32_t kPieceBytes = 256 * 1024;
  /// No part is longer: it is what a crash of the master has come again.
  static constexpr std::uint64_t kPartBytes = std::uint64_t{8} << 20;

  /// How much of a stream is taken of a worker at most.
  struct Bounds {
    std::uint64_t bytes = 0;
    std::uint64_t pieces() const;  ///< in which they may come
  };
  /// Where it is, to go back to when a piece cannot be handed on now.
  struct Cursor {
    std::size_t stream = 0;   ///< the one that is asked for
    LogEnds next{};           ///< where the next piece of each begins
    std::uint64_t until = 0;  ///< where the part ends that is coming; 0: no part is
    bool rest = false;        ///< it is the rest that comes, stream by stream
    std::uint64_t taken = 0;  ///< bytes of the part or stream that have come
    std::uint64_t pieces = 0;
  };

  /// Files of the running attempt are full up to these places.
  void fill(const LogEnds& ends);
  /// Output that came whole with the report of the attempt's end.
  void add_whole(const WorkerReport& report);
  bool has_text() const { return whole_[0] || whole_[1]; }
  /// The rest may come.
  void end() { over_ = true; }
  /// Something is to come now.
  bool wants() const;

  /// The stream of which it is to be found out first up to where it is kept.
  std::optional<std::size_t> unknown() const;
  void know(std::size_t stream, std::uint64_t kept);
  /// Up to where each stream is kept; nothing: it is not known.
  std::array<std::optional<std::uint64_t>, kLogStreams> kept() const;

  /// The next piece, without the number of the question; nothing: the next delivery is
  /// from_report().
  std::optional<LogRequest> question(const LogName& name);
  LogDelivery from_report(const LogName& name);
  /// The part of the answer to the last question that is handed on.
  LogDelivery hear(const LogName& name, const LogAnswer& answer, const Bounds& bounds);
  /// All that is left is lost, but for what came with the report.
  LogDelivery lose(const LogName& name, const std::string& reason) const;

  const Cursor& at() const { return at_; }
  void go_back(const Cursor& before) { at_ = before; }
  /// The part that was handed on is kept.
  void part_kept();
  /// Nothing is left of what came behind the last part.
  void begin_anew();

 private:
  void begin_next();
  void add_next_whole(LogDelivery& delivery);
  void hear_part(const LogAnswer& answer, bool sound, LogDelivery& delivery);

  LogEnds filled_{};
  LogEnds kept_{};  ///< up to where each is in parts
  std::array<bool, kLogStreams> known_{};
  std::array<std::optional<std::string>, kLogStreams> whole_;  ///< came with the report
  bool over_ = false;
  Cursor at_;
};

/// How much is kept already of attempts of which nothing is to come now, by their instance.
class KeptParts {
 public:
  void add(const LogName& name, InstanceId on, const ComingLog& log) {
    by_instance_[on][name] = log.kept();
  }
  /// Something is to come again: the log is told what is known.
  void take(const LogName& name, InstanceId on, ComingLog& log);
  void forget(InstanceId on) { by_instance_.erase(on); }

 private:
  using Kept = std::array<std::optional<std::uint64_t>, kLogStreams>;
  std::map<InstanceId, std::map<LogName, Kept>> by_instance_;
};

}  // namespace muster
