#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workers/process/descriptor.hpp"

namespace muster::process {

/// Behind the name of a shim's socket: that of the one by which commands beside its task come.
inline constexpr const char* kBesideSocket = "-beside";

/// A shim's words on that connection, each a line: the command runs; it was not begun, and why, by
/// no fault of the command's or by one; it has ended, with its exit code.
inline constexpr std::string_view kBesideRuns = "runs";
inline constexpr std::string_view kBesideNotNow = "not now ";
inline constexpr std::string_view kBesideFailed = "failed ";
inline constexpr std::string_view kBesideEnded = "ended ";
/// The other end's word before a signal for the command.
inline constexpr std::string_view kBesideSignal = "signal ";

/// A command beside a task. The worker that asks for it sends one byte with descriptors: a file
/// with the request, then a terminal, or standard input, output and error.
struct BesideRequest {
  bool terminal = false;
  std::string term;  ///< the variable TERM; empty: not set
  std::vector<std::string> argv;

  friend bool operator==(const BesideRequest&, const BesideRequest&) = default;
};
inline constexpr std::size_t kMostBesideBytes = std::size_t{128} << 10;

/// The request as bytes; no text in it has a zero byte. Something else reads as nothing.
std::string to_bytes(const BesideRequest& request);
std::optional<BesideRequest> beside_from(std::string_view bytes);

/// A request as it has come.
struct BesideAsked {
  BesideRequest request;
  std::vector<Descriptor> streams;  ///< one of a terminal, else three
};

/// Sends the request over a Unix socket, without waiting; false when that cannot be.
bool send_beside(int connection, const BesideRequest& request, const std::vector<int>& streams);

/// Takes the request that waits at the connection. Nothing, with errno EAGAIN, when it has not come
/// yet; another errno: it cannot be read.
std::optional<BesideAsked> take_beside(int connection);

}  // namespace muster::process
