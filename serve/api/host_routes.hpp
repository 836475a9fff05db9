#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "serve/api/exchange.hpp"
#include "serve/api/http.hpp"
#include "serve/api/routes.hpp"

namespace muster::api {

/// The machines of one's own that have joined, as the API asks for them. Every function may be
/// called from any thread, and may wait for a disk.
class HostAdmin {
 public:
  virtual ~HostAdmin() = default;
  virtual Response hosts() = 0;
  virtual Response declare_lost(std::uint64_t host, const std::string& body) = 0;
  virtual Response remove(std::uint64_t host, const std::string& body) = 0;
  virtual Response drain(std::uint64_t host, bool drained) = 0;
  virtual Response label(std::uint64_t host, const std::string& body) = 0;
  virtual Response join_tokens() = 0;
  virtual Response create_join_token(const std::string& body) = 0;
  virtual Response revoke_join_token(const std::string& id) = 0;
};

/// Whether the operation is one about machines that join.
bool is_about_hosts(Operation operation);
/// One of them.
struct HostQuestion {
  Operation operation = Operation::hosts;
  Match found;
  std::string body{};
};
/// A step that answers the exchange; `hosts` is null where no machine joins this node.
std::function<void()> about_hosts(std::shared_ptr<HostAdmin> hosts, HostQuestion question,
                                  std::shared_ptr<Exchange> exchange);

}  // namespace muster::api
