#include "serve/local/local_roles.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <asio/ip/tcp.hpp>
#include <fstream>
#include <utility>

namespace muster::local {
namespace {

constexpr unsigned kFirstPort = 12000;
constexpr unsigned kMostPorts =
    2 * (kMaxSites + kMaxMasters) + 16;  ///< more than any cluster needs

/// The first of the ports that the system gives to outgoing connections. Connections of others, and
/// of the cluster's own nodes, take those at any time between choosing a port and listening at it.
unsigned first_outgoing_port() {
  unsigned first = 0;
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> first;
  return first > kFirstPort + kMostPorts ? first : 32768;  // as the system has it by default
}

/// Ports of the loopback interface that are free now, in a row as far as they are. They are below
/// those of outgoing connections, from a random one on, so that two clusters seldom want equal
/// ports; the system chooses where no port is free there. Never `taken`.
std::vector<std::uint16_t> free_ports(std::size_t count, unsigned taken) {
  asio::io_context io;
  std::vector<asio::ip::tcp::acceptor> held;  // all at once, so that they differ
  std::vector<std::uint16_t> ports;
  const unsigned span = first_outgoing_port() - kFirstPort;
  unsigned at = 0;
  if (getrandom(&at, sizeof at, 0) != sizeof at) at = 0;
  at %= span;
  for (unsigned tried = 0; ports.size() < count; ++tried, at = (at + 1) % span) {
    const auto wanted = static_cast<std::uint16_t>(tried < span ? kFirstPort + at : 0);
    if (wanted != 0 && wanted == taken) continue;
    asio::ip::tcp::acceptor acceptor(io);
    asio::error_code failed;
    acceptor.open(asio::ip::tcp::v4());
    acceptor.bind({asio::ip::address_v4::loopback(), wanted}, failed);
    if (failed && wanted != 0) continue;
    if (failed) throw asio::system_error(failed);
    ports.push_back(acceptor.local_endpoint().port());
    held.push_back(std::move(acceptor));
  }
  return ports;
}

struct NamedPlace {
  const char* name;
  GeoPoint position;
};
constexpr std::array<NamedPlace, kMaxSites> kPlaces{{{"tokyo", {35.68, 139.69}},
                                                     {"oslo", {59.91, 10.75}},
                                                     {"austin", {30.27, -97.74}},
                                                     {"nairobi", {-1.29, 36.82}},
                                                     {"sydney", {-33.87, 151.21}}}};

}  // namespace

std::vector<NodeConfig> spread(const LocalRequest& request) {
  const std::uint32_t roles = request.sites + request.masters;
  std::vector<NodeConfig> nodes(request.nodes);
  const std::vector<std::uint16_t> ports =
      free_ports(request.nodes + roles, request.api_port.value_or(0));
  std::size_t next = 0;
  const auto loopback = [&] { return Endpoint{"127.0.0.1", ports[next++]}; };
  for (std::uint32_t i = 0; i < request.nodes; ++i) {
    nodes[i].name = fmt::format("n{}", i);
    nodes[i].address = loopback();
  }
  for (std::uint32_t i = 0; i < request.sites; ++i) {
    nodes[i].site = kPlaces[i].name;
    nodes[i].position = kPlaces[i].position;
    nodes[i].api = loopback();
  }
  // With fewer nodes than roles, masters share nodes with sites, from the first one on.
  const std::uint32_t first_master = request.nodes >= roles ? request.sites : 0;
  for (std::uint32_t i = 0; i < request.masters; ++i) {
    nodes[first_master + i].master = fmt::format("m{}", i);
    nodes[first_master + i].workers = loopback();
  }
  const auto idle = std::find_if(nodes.begin(), nodes.end(),
                                 [](const NodeConfig& node) { return !node.site && !node.master; });
  NodeConfig& beside = idle != nodes.end() ? *idle : nodes[first_master];
  (request.join ? nodes.front() : beside).cloud = true;
  return nodes;
}

std::uint32_t most_nodes(const LocalRequest& request) {
  return request.sites + request.masters + (request.join ? 0 : 1);
}

}  // namespace muster::local
