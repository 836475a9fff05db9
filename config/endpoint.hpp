#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

/// Where something listens.
struct Endpoint {
  std::string host;  ///< a name or an address; an IPv6 address without its brackets
  std::uint16_t port = 0;

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

/// "host:port", "[::1]:port" for an IPv6 address.
std::string to_text(const Endpoint& endpoint);

/// The form that to_text() writes, with a port from 1 to 65535. Names come out in small letters and
/// IPv6 addresses in their shortest form, so that equal ones are equal.
std::optional<Endpoint> parse_endpoint(std::string_view text);

/// Only this machine reaches it: 127.0.0.0/8, ::1 or localhost.
bool is_loopback(const Endpoint& endpoint);

/// It stands for all of a machine's addresses: 0.0.0.0 or ::.
bool is_wildcard(const Endpoint& endpoint);

}  // namespace muster
