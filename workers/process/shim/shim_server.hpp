#pragma once

#include <string>

namespace muster {

/// The second word of a shim server's command line: `PROGRAM shims ATTEMPTS ROOM`.
inline constexpr const char* kShimServerVerb = "shims";

namespace process {
/// The number of the descriptor by which a shim server takes its orders.
inline constexpr int kServerOrders = 3;
/// A shim server's byte when it takes orders. It answers each by the number of the shim's process,
/// or a negative errno, as a 32-bit number.
inline constexpr char kServerReady = '!';
/// The longest name of an attempt, and as many bytes of room in the command line for `ps`.
inline constexpr unsigned kLongestAttemptName = 40;
}  // namespace process

/// Forks a shim for each order that comes by its descriptor: the name of an attempt in the folder
/// of attempts, with the attempt's lock and the channel to the executor. Ends when the other end is
/// closed everywhere; its shims live on. Returns an exit code of the command.
int serve_shims(const std::string& attempts);

}  // namespace muster
