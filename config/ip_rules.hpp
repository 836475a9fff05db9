#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Which addresses of the internet a node may be made to speak to by its users.

namespace muster::config {

/// An address: one of IPv4 as the last four bytes of ::ffff:0:0/96.
struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};

  bool is_v4() const;
  friend bool operator==(const IpAddress&, const IpAddress&) = default;
};

/// From "10.1.2.3" or "2001:db8::1"; nothing: it is no address. Has no zone and no brackets.
std::optional<IpAddress> parse_ip(std::string_view text);
std::string to_text(const IpAddress& address);

/// Addresses that begin with equal bits.
struct IpBlock {
  IpAddress first;
  unsigned bits = 128;  ///< of 128, also in a block of IPv4

  bool contains(const IpAddress& address) const;
};
/// From "10.0.0.0/8", "fd00::/8" or one address; nothing: it is neither.
std::optional<IpBlock> parse_ip_block(std::string_view text);

/// Everybody on the internet may be there: no loopback, link-local, private, shared (CGNAT),
/// multicast, reserved or documentation address, and no address at which clouds tell machines of
/// themselves; nor such an address of IPv4 within one of IPv6 (mapped, NAT64, 6to4).
bool is_public(const IpAddress& address);

/// Hosts that are allowed besides, from a config.
struct AllowedHosts {
  std::vector<std::string> names{};  ///< in small letters
  std::vector<IpBlock> blocks{};

  bool names_host(std::string_view host) const;
  bool has(const IpAddress& address) const;
};
/// The texts have to be right.
AllowedHosts allowed_hosts(const std::vector<std::string>& texts);
/// Whether the text is a host name, an address or a block.
bool is_allowed_text(std::string_view text);

}  // namespace muster::config
