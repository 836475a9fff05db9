#include "workers/process/keeper/port_claims.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace muster::process {
namespace {

/// The name of the number, bound; empty when another keeper has it.
Descriptor claim(std::uint32_t number) {
  Descriptor holder(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // An abstract name begins with a zero byte, and goes with its socket.
  const std::string name = "muster-port-" + std::to_string(number);
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const bool bound =
      holder && bind(holder.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0;
  return bound ? std::move(holder) : Descriptor();
}

template <class Address>
bool can_bind(const Address& address, sa_family_t family) {
  // Without SO_REUSEADDR: a program that does not set it either has to get the number.
  const Descriptor probe(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return probe &&
         bind(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

/// Whether no socket has the number, on any address.
bool is_free(std::uint32_t number) {
  sockaddr_in6 all{};
  all.sin6_family = AF_INET6;
  all.sin6_port = htons(static_cast<std::uint16_t>(number));
  all.sin6_addr = in6addr_any;
  if (can_bind(all, AF_INET6)) return true;
  if (errno == EADDRINUSE || errno == EACCES) return false;
  // There is no IPv6.
  sockaddr_in all_of_4{};
  all_of_4.sin_family = AF_INET;
  all_of_4.sin_port = all.sin6_port;
  return can_bind(all_of_4, AF_INET);
}

}  // namespace

std::optional<PortClaims> PortClaims::make(const std::vector<std::string>& names,
                                           std::uint32_t first, std::uint32_t last,
                                           std::uint32_t begin) {
  PortClaims claims;
  const std::uint32_t count = last - first + 1;
  for (std::uint32_t i = 0; i < count && claims.held_.size() < names.size(); ++i) {
    const std::uint32_t number = first + (begin % count + i) % count;
    Descriptor held = claim(number);
    if (!held || !is_free(number)) continue;
    claims.ports_.push_back({names[claims.held_.size()], number});
    claims.held_.push_back(std::move(held));
  }
  return claims.held_.size() == names.size() ? std::optional(std::move(claims)) : std::nullopt;
}

}  // namespace muster::process
