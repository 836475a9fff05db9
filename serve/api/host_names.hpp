#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace muster::api {

/// The names by which the API may be asked. A page of a stranger can have its own name lead to
/// this machine and then read what its browser is answered; the name that it asked by gives it
/// away.
class HostNames {
 public:
  /// `address`: the one that the server listens on. Besides that address, loopback names and this
  /// machine's own it is `more`, of which each is a name or an address without a port.
  HostNames(const std::string& address, const std::vector<std::string>& more);

  /// Whether a Host header's value is one of them, whatever the port. An empty one is: only clients
  /// of HTTP/1.0 send no such header, and browsers are not among these.
  bool has(std::string_view header) const;
  /// For messages.
  std::string text() const;

 private:
  bool has_address(const std::string& host) const;

  bool any_address_ = false;  ///< it listens on all of them
  std::set<std::string> names_;
};

}  // namespace muster::api
