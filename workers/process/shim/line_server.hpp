#pragma once

#include <poll.h>
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workers/process/descriptor.hpp"

namespace muster::process {

/// Text lines with whoever connects to a Unix socket, all without ever waiting. Made for peers that
/// cannot be trusted: one that sends too long a line, does not read its answers or comes when there
/// are enough already is cut off.
class LineServer {
 public:
  struct Bounds {
    std::size_t connections = 8;
    std::size_t line_bytes = 256;
    std::size_t bytes_a_round = 4096;  ///< read from one connection each time it is served
  };
  /// Answer to a line; nothing: cut the connection.
  using Answer = std::function<std::optional<std::string>(std::string_view line)>;

  explicit LineServer(Bounds bounds) : bounds_(bounds) {}

  void listen(Descriptor listener) { listener_ = std::move(listener); }
  /// The first line to every new connection.
  void greet(std::function<std::string()> greeting) { greeting_ = std::move(greeting); }
  /// Only processes of these users are let in.
  void admit(std::vector<uid_t> users) { users_ = std::move(users); }
  /// And, of these, only those in this process's own user namespace: no isolated task.
  void admit_own_namespace_only() { own_namespace_only_ = true; }
  /// Or only those in the user namespace of a process, whose number is asked for at each
  /// connection.
  void admit_namespace_of(std::function<pid_t()> process) { of_namespace_ = std::move(process); }
  void add(Descriptor connection);

  void add_to(std::vector<pollfd>& polled) const;
  /// Serves what poll() found ready; true when any connection had something to say.
  bool serve(const std::vector<pollfd>& polled, const Answer& answer);
  /// Tells all who are connected.
  void tell(std::string_view text);

 private:
  struct Peer {
    Descriptor connection;
    std::string input;
  };

  void accept_all();
  bool hear(Peer& peer, const Answer& answer) const;

  Bounds bounds_;
  Descriptor listener_;
  std::vector<uid_t> users_;
  bool own_namespace_only_ = false;
  std::function<pid_t()> of_namespace_;  ///< empty: any namespace
  std::function<std::string()> greeting_;
  std::vector<Peer> peers_;
};

/// User at the other end of a connection; nothing when that is not known.
std::optional<uid_t> user_of_peer(int connection);

/// Whether who is at the other end is in the user namespace of this process; a system without
/// namespaces has one for all.
bool is_peer_in_own_namespace(int connection);
/// Likewise, of another process' namespace; false for a process that is not there.
bool is_peer_in_namespace_of(int connection, pid_t process);

/// Sends all of the text at once; false when the peer does not take it.
bool send_text(int connection, std::string_view text);

}  // namespace muster::process
