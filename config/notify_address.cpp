#include "config/notify_address.hpp"

#include <algorithm>

#include "config/ip_rules.hpp"
#include "config/numbers.hpp"

namespace muster::config {
namespace {

constexpr std::string_view kTls = "https://";
constexpr std::string_view kWithoutTls = "http://";

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_visible(char c) {
  return c > 0x20 && c < 0x7f;
}

bool is_port(std::string_view text) {
  const auto port = parse_whole(text);
  return port && *port >= 1 && *port <= 65'535;
}

/// The host of what stands between the slashes; empty: that is no host, or has more than a port.
std::string hook_host(std::string_view authority) {
  std::string_view host = authority;
  std::string_view rest;
  if (authority.starts_with('[')) {
    const std::size_t end = authority.find(']');
    if (end == std::string_view::npos) return {};
    host = authority.substr(1, end - 1);
    rest = authority.substr(end + 1);
    if (host.find(':') == std::string_view::npos || !parse_ip(host)) return {};
  } else {
    host = authority.substr(0, authority.find(':'));
    rest = authority.substr(host.size());
    if (!is_host_name(host)) return {};
  }
  if (!rest.empty() && (rest.front() != ':' || !is_port(rest.substr(1)))) return {};
  return in_small_letters(host);
}

}  // namespace

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  });
  return small;
}

bool is_host_name(std::string_view text) {
  constexpr std::size_t kLongest = 253;
  return !text.empty() && text.size() <= kLongest && is_letter_or_digit(text.front()) &&
         text.find("..") == std::string_view::npos &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_letter_or_digit(c) || c == '.' || c == '-'; });
}

std::optional<HookAddress> parse_hook(std::string_view text) {
  const bool tls = text.starts_with(kTls);
  if ((!tls && !text.starts_with(kWithoutTls)) || text.size() > kLongestNotify) return std::nullopt;
  if (!std::all_of(text.begin(), text.end(), is_visible)) return std::nullopt;
  if (text.find_first_of("\\#\"<>") != std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(tls ? kTls.size() : kWithoutTls.size());
  std::string host = hook_host(rest.substr(0, rest.find_first_of("/?")));
  if (host.empty()) return std::nullopt;
  return HookAddress{tls, std::move(host), std::string(text)};
}

bool is_mail_address(std::string_view text) {
  constexpr std::size_t kLongest = 254;
  constexpr std::string_view kOthers = "!#$%&'*+/=?^_`{|}~.-";
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos || at == 0 || text.size() > kLongest) return false;
  const std::string_view local = text.substr(0, at);
  return local.front() != '-' &&
         std::all_of(local.begin(), local.end(),
                     [&](char c) {
                       return is_letter_or_digit(c) || kOthers.find(c) != std::string_view::npos;
                     }) &&
         is_host_name(text.substr(at + 1));
}

bool is_notify_address(std::string_view text) {
  return parse_hook(text).has_value() || is_mail_address(text);
}

std::string shown_address(std::string_view text) {
  const auto hook = parse_hook(text);
  if (!hook) return std::string(text);
  const bool v6 = hook->host.find(':') != std::string::npos;
  return std::string(hook->tls ? kTls : kWithoutTls) + (v6 ? "[" : "") + hook->host +
         (v6 ? "]" : "") + "/...";
}

}  // namespace muster::config
