#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Addresses at which users are told of the ends of their jobs.

namespace muster::config {

/// How long such an address may be, in bytes.
inline constexpr std::size_t kLongestNotify = 2'000;

/// A webhook.
struct HookAddress {
  bool tls = true;   ///< https
  std::string host;  ///< in small letters; an address of IPv6 without its brackets
  std::string url;
};

/// Nothing: the text is no address of a webhook. It has no name of a user, no password, no
/// fragment, and letters of ASCII alone.
std::optional<HookAddress> parse_hook(std::string_view text);
/// Whether mail may be sent there: one address, which neither a program's option nor a second line
/// of a message can be.
bool is_mail_address(std::string_view text);
/// One of the two.
bool is_notify_address(std::string_view text);

/// As it may be shown to others: of a webhook its host, for the rest may be a secret.
std::string shown_address(std::string_view text);

/// Letters, digits, dots, hyphens; at most 253 bytes.
bool is_host_name(std::string_view text);
std::string in_small_letters(std::string_view text);

}  // namespace muster::config
