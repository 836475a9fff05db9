#include "config/ip_rules.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>

#include "config/notify_address.hpp"
#include "config/numbers.hpp"

namespace muster::config {
namespace {

constexpr unsigned kMappedBits = 96;

/// Blocks of IPv4 at which not everybody may be (RFC 6890 and the registry that it began).
constexpr std::array<std::string_view, 18> kNotPublicV4 = {
    "0.0.0.0/8",      "10.0.0.0/8",     "100.64.0.0/10",   "127.0.0.0/8",     "169.254.0.0/16",
    "172.16.0.0/12",  "192.0.0.0/24",   "192.0.2.0/24",    "192.31.196.0/24", "192.52.193.0/24",
    "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15",   "198.51.100.0/24",
    "203.0.113.0/24", "224.0.0.0/4",    "240.0.0.0/4"};
/// Azure tells its machines of themselves here.
constexpr std::string_view kMetadataV4 = "168.63.129.16";
/// All that is given to hosts of the internet, and what of it is not.
constexpr std::string_view kGlobalV6 = "2000::/3";
constexpr std::array<std::string_view, 3> kNotPublicV6 = {"2001::/23", "2001:db8::/32",
                                                          "3fff::/20"};
constexpr std::string_view kNat64 = "64:ff9b::/96";
constexpr std::string_view k6to4 = "2002::/16";

/// The four bytes from there on, as an address of IPv4.
IpAddress embedded(const IpAddress& in, std::size_t from) {
  IpAddress out;
  out.bytes[10] = out.bytes[11] = 0xff;
  std::copy_n(in.bytes.begin() + static_cast<std::ptrdiff_t>(from), 4, out.bytes.begin() + 12);
  return out;
}

bool is_in(const IpAddress& address, std::string_view block) {
  return parse_ip_block(block)->contains(address);
}

}  // namespace

bool IpAddress::is_v4() const {
  return std::all_of(bytes.begin(), bytes.begin() + 10, [](std::uint8_t b) { return b == 0; }) &&
         bytes[10] == 0xff && bytes[11] == 0xff;
}

std::optional<IpAddress> parse_ip(std::string_view text) {
  // The system's functions take texts with a zero behind them.
  const std::string copy(text);
  if (copy.size() != std::strlen(copy.c_str())) return std::nullopt;
  IpAddress out;
  in_addr v4{};
  if (inet_pton(AF_INET, copy.c_str(), &v4) == 1) {
    out.bytes[10] = out.bytes[11] = 0xff;
    std::memcpy(out.bytes.data() + 12, &v4, 4);
    return out;
  }
  in6_addr v6{};
  if (inet_pton(AF_INET6, copy.c_str(), &v6) != 1) return std::nullopt;
  std::memcpy(out.bytes.data(), &v6, 16);
  return out;
}

std::string to_text(const IpAddress& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const bool v4 = address.is_v4();
  inet_ntop(v4 ? AF_INET : AF_INET6, address.bytes.data() + (v4 ? 12 : 0), text.data(),
            static_cast<socklen_t>(text.size()));
  return text.data();
}

bool IpBlock::contains(const IpAddress& address) const {
  for (unsigned bit = 0; bit < bits; bit += 8) {
    const unsigned here = std::min(8U, bits - bit);
    const auto mask = static_cast<std::uint8_t>(0xff << (8 - here));
    if (((first.bytes[bit / 8] ^ address.bytes[bit / 8]) & mask) != 0) return false;
  }
  return true;
}

std::optional<IpBlock> parse_ip_block(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto first = parse_ip(text.substr(0, slash));
  if (!first) return std::nullopt;
  IpBlock block{*first};
  if (slash == std::string_view::npos) return block;
  const auto bits = parse_whole(text.substr(slash + 1));
  // An address of IPv4 that is written as one of IPv6 counts its bits as such.
  const bool v4 = text.substr(0, slash).find(':') == std::string_view::npos;
  if (!bits || *bits > (v4 ? 32U : 128U)) return std::nullopt;
  block.bits = static_cast<unsigned>(*bits) + (v4 ? kMappedBits : 0);
  return block;
}

bool is_public(const IpAddress& address) {
  const auto has = [&](std::string_view block) { return is_in(address, block); };
  if (address.is_v4()) {
    return std::none_of(kNotPublicV4.begin(), kNotPublicV4.end(), has) && !has(kMetadataV4);
  }
  if (has(kNat64)) return is_public(embedded(address, 12));
  if (has(k6to4)) return is_public(embedded(address, 2));
  return has(kGlobalV6) && std::none_of(kNotPublicV6.begin(), kNotPublicV6.end(), has);
}

bool AllowedHosts::names_host(std::string_view host) const {
  return std::find(names.begin(), names.end(), host) != names.end();
}

bool AllowedHosts::has(const IpAddress& address) const {
  return std::any_of(blocks.begin(), blocks.end(),
                     [&](const IpBlock& block) { return block.contains(address); });
}

AllowedHosts allowed_hosts(const std::vector<std::string>& texts) {
  AllowedHosts allowed;
  for (const std::string& text : texts) {
    if (const auto block = parse_ip_block(text)) {
      allowed.blocks.push_back(*block);
    } else {
      allowed.names.push_back(in_small_letters(text));
    }
  }
  return allowed;
}

bool is_allowed_text(std::string_view text) {
  return parse_ip_block(text).has_value() || is_host_name(text);
}

}  // namespace muster::config
