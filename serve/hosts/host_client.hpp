#pragma once

#include <memory>
#include <string>

#include "actors/link/tls.hpp"
#include "config/endpoint.hpp"
#include "model/expected.hpp"

namespace muster::hosts {

/// Why nothing was answered.
enum class AskError : std::uint8_t {
  unreachable,  ///< no process listens there, or no answer comes in time
  stranger,     ///< the other end cannot prove that it is of the cluster: nothing was sent to it
  clock,        ///< a certificate does not hold by this machine's clock: nothing was sent
  refused,      ///< the cluster has refused, with a reason for people
  other         ///< it is no join port
};

/// The join port, as a machine knows it.
struct JoinPort {
  Endpoint place;
  std::string authority;  ///< SHA-256 of the authority that it has to prove, hexadecimal
};

/// Asks the join port, one request after the other over one connection, which is made anew when it
/// has ended. Waits for answers, some seconds each.
class HostClient {
 public:
  /// Without files for requests to join.
  explicit HostClient(JoinPort port);
  HostClient(JoinPort port, TlsFiles own);
  ~HostClient();
  HostClient(const HostClient&) = delete;
  HostClient& operator=(const HostClient&) = delete;

  /// The body of the answer. The request may have been carried out when it fails as unreachable.
  Expected<std::string, AskError> post(const std::string& path, const std::string& body);
  /// The status of HTTP of the last refusal.
  int refused_status() const;

 private:
  class Line;
  std::unique_ptr<Line> line_;
};

}  // namespace muster::hosts
