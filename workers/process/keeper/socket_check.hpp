#pragma once

#include <poll.h>

#include <cstdint>
#include <optional>
#include <string>

#include "workers/process/descriptor.hpp"

namespace muster::process {

/// One question to a port of this computer, all without ever waiting: whether it takes a
/// connection, or whether it answers a GET with a status from 200 to 399.
class SocketCheck {
 public:
  /// Without a path only a connection is asked for.
  SocketCheck(std::uint32_t port, const std::string& path);

  /// Goes on as far as it can. Nothing until it is over; then why it has failed, empty: it has not.
  std::optional<std::string> go_on();
  /// For poll(): worth to go on when it is ready.
  pollfd waits_for() const;

 private:
  std::optional<std::string> read_answer();

  std::uint32_t port_;
  bool connected_ = false;
  bool asks_;
  std::string unsent_;
  std::string answer_;  ///< as far as it has come and is not read
  std::size_t heard_ = 0;
  Descriptor socket_;
};

}  // namespace muster::process
