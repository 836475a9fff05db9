#include "config/endpoint.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "config/numbers.hpp"

namespace muster {
namespace {

constexpr std::size_t kMaxHost = 253;
constexpr std::size_t kMaxLabel = 63;
constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kLabelLetters = "abcdefghijklmnopqrstuvwxyz0123456789-";

std::string lower(std::string_view text) {
  std::string small(text);
  for (char& c : small) {
    // Not tolower(), which follows the locale.
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return small;
}

std::optional<std::string> ipv6(std::string_view text) {
  in6_addr address{};
  std::array<char, INET6_ADDRSTRLEN> shortest{};
  if (inet_pton(AF_INET6, std::string(text).c_str(), &address) != 1) return std::nullopt;
  // Read and written again: equal addresses become equal texts.
  inet_ntop(AF_INET6, &address, shortest.data(), shortest.size());
  return std::string(shortest.data());
}

bool is_label(std::string_view text) {
  return !text.empty() && text.size() <= kMaxLabel && text.front() != '-' && text.back() != '-' &&
         text.find_first_not_of(kLabelLetters) == std::string_view::npos;
}

/// A name of the DNS or an IPv4 address.
bool is_host(const std::string& host) {
  if (host.empty() || host.size() > kMaxHost) return false;
  std::string_view rest = host;
  std::string_view label;
  do {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    label = rest.substr(0, dot);
    if (!is_label(label)) return false;
    rest = dot < rest.size() ? rest.substr(dot + 1) : std::string_view{};
  } while (!rest.empty());
  if (host.back() == '.') return false;
  // A host that ends in a number is an address: "127.0.0.300" and "8080" are not names.
  in_addr address{};
  const bool number = label.find_first_not_of(kDigits) == std::string_view::npos;
  return !number || inet_pton(AF_INET, host.c_str(), &address) == 1;
}

std::optional<std::string> host_of(std::string_view text) {
  if (text.size() > 2 && text.front() == '[' && text.back() == ']') {
    return ipv6(text.substr(1, text.size() - 2));
  }
  std::string host = lower(text);
  return is_host(host) ? std::optional(std::move(host)) : std::nullopt;
}

}  // namespace

std::string to_text(const Endpoint& endpoint) {
  const bool brackets = endpoint.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", brackets ? "[" : "", endpoint.host, brackets ? "]" : "",
                     endpoint.port);
}

std::optional<Endpoint> parse_endpoint(std::string_view text) {
  // The last one: an IPv6 address has colons of its own, inside its brackets.
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::optional<std::uint64_t> port = parse_whole(text.substr(colon + 1));
  if (!port || *port == 0 || *port > std::numeric_limits<std::uint16_t>::max()) {
    return std::nullopt;
  }
  std::optional<std::string> host = host_of(text.substr(0, colon));
  if (!host) return std::nullopt;
  return Endpoint{std::move(*host), static_cast<std::uint16_t>(*port)};
}

bool is_loopback(const Endpoint& endpoint) {
  if (endpoint.host == "localhost" || endpoint.host == "::1") return true;
  in_addr address{};
  return endpoint.host.starts_with("127.") &&
         inet_pton(AF_INET, endpoint.host.c_str(), &address) == 1;
}

bool is_wildcard(const Endpoint& endpoint) {
  return endpoint.host == "0.0.0.0" || endpoint.host == "::";
}

}  // namespace muster
