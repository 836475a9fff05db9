#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "model/ids.hpp"
#include "model/time.hpp"

namespace muster {

/// Bounds of the link between a master and its workers. Both ends have their own; no option has to
/// be equal on both.
struct WorkerLinkOptions {
  std::size_t max_frame_bytes = std::size_t{1} << 20;  ///< 4 KiB .. 64 MiB; of either direction
  std::uint32_t credits = 256;             ///< frames the other end may be ahead; 1 .. 1,048,576
  std::size_t max_queued_frames = 10'000;  ///< that wait for the other end; more: the link ends
  std::size_t max_queued_bytes = std::size_t{64} << 20;
  /// Of frames that were handed to an actor that has not come to them yet; beyond it nothing more
  /// is read.
  std::size_t max_unread_bytes = std::size_t{4} << 20;
  Duration heartbeat = from_seconds(2);      ///< > 0
  Duration dead_after = from_seconds(10);    ///< of silence; > heartbeat
  Duration handshake = from_seconds(10);     ///< from the connection to the first frame; > 0
  std::uint32_t max_steering_frames = 1000;  ///< heartbeats and credits from the other end in one
                                             ///< heartbeat interval
  std::size_t max_meeting = 256;             ///< master: connections that have not said hello yet
  std::size_t max_links = 100'000;           ///< master: connections in all
  Duration first_delay = from_seconds(0.2);  ///< worker: before dialing again; doubles each time
  Duration max_delay = from_seconds(15);     ///< worker: up to this; also after a refusal
  /// No TLS. Addresses that are not of the loopback interface are refused: for tests and
  /// benchmarks on one machine.
  bool insecure_loopback = false;
};

/// Kind of an event of a link.
enum class LinkNewsKind : std::uint8_t {
  up,
  down,
  refused,  ///< before it was up, for what one end said
  failed    ///< it did not come about, or something said could not be sent
};

/// An event of a link, for logs.
struct LinkNews {
  LinkNewsKind kind = LinkNewsKind::up;
  InstanceId instance;  ///< invalid while it is not known
  std::string text;     ///< the peer, and the reason
};
/// Called on the link's own thread; has to return soon.
using LinkListener = std::function<void(const LinkNews&)>;

/// Common name in the certificate of an instance's worker.
inline std::string certificate_name(InstanceId instance) {
  return "instance-" + std::to_string(instance.value);
}

}  // namespace muster
