#include "serve/api/host_names.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <asio/ip/address.hpp>
#include <optional>
#include <system_error>

namespace muster::api {
namespace {

/// As names are compared: in small letters, without the dot that a full name may end with.
std::string plain(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  std::string text(host);
  for (char& letter : text) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return text;
}

bool is_port(std::string_view text) {
  return std::ranges::all_of(text, [](char letter) { return letter >= '0' && letter <= '9'; });
}

/// The host of a Host header: a name or address, in brackets an address with colons, and behind a
/// colon a port. Nothing of any other text, of which others may see another part as the host.
std::optional<std::string_view> host_of(std::string_view header) {
  const bool bracketed = header.starts_with('[');
  const std::size_t end = bracketed ? header.find(']') : header.find(':');
  if (bracketed && end == std::string_view::npos) return std::nullopt;
  const std::string_view host = bracketed ? header.substr(1, end - 1) : header.substr(0, end);
  std::string_view rest = end == std::string_view::npos ? "" : header.substr(end);
  if (bracketed) rest.remove_prefix(1);
  const bool has_colon = host.find(':') != std::string_view::npos;
  const bool good = !host.empty() && has_colon == bracketed &&
                    (rest.empty() || (rest.front() == ':' && is_port(rest.substr(1))));
  return good ? std::optional(host) : std::nullopt;
}

}  // namespace

HostNames::HostNames(const std::string& address, const std::vector<std::string>& more) {
  names_.insert("localhost");
  std::array<char, 256> own{};
  // The last byte stays 0: a longer name comes without one.
  if (::gethostname(own.data(), own.size() - 1) == 0 && own.front() != '\0') {
    const std::string name = plain(own.data());
    names_.insert(name);
    names_.insert(name.substr(0, name.find('.')));
  }
  std::error_code none;
  const asio::ip::address bound = asio::ip::make_address(address, none);
  any_address_ = !none && bound.is_unspecified();
  if (!none && !any_address_) names_.insert(bound.to_string());
  for (const std::string& each : more) {
    const asio::ip::address number = asio::ip::make_address(each, none);
    // An address has several spellings; a header's is brought to the same one.
    names_.insert(none ? plain(each) : number.to_string());
  }
}

bool HostNames::has(std::string_view header) const {
  if (header.empty()) return true;
  const auto said = host_of(header);
  if (!said) return false;
  const std::string host = plain(*said);
  return names_.contains(host) || has_address(host);
}

/// No stranger's name is an address: to whoever asks by one, the answer is meant.
bool HostNames::has_address(const std::string& host) const {
  std::error_code none;
  const asio::ip::address address = asio::ip::make_address(host, none);
  if (none) return false;
  return any_address_ || address.is_loopback() || names_.contains(address.to_string());
}

std::string HostNames::text() const {
  std::string all = any_address_ ? "its addresses" : "loopback addresses";
  for (const std::string& name : names_) all += ", " + name;
  return all;
}

}  // namespace muster::api
