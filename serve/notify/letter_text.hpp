#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/letter.hpp"

// The texts of letters, and the signatures of webhooks.

namespace muster::notify {

/// The JSON document of a webhook; `cluster`: its name.
std::string json_of(const Letter& letter, const std::string& cluster);
/// A line of ASCII without anything that a user has named.
std::string subject_of(const Letter& letter, const std::string& cluster);
/// A whole mail: headers, an empty line and a text. `from`: empty: no such header.
std::string mail_of(const Letter& letter, const std::string& cluster, const std::string& from);

/// HMAC-SHA256 (RFC 2104) in small hexadecimal digits.
std::string hmac_sha256(std::string_view key, std::string_view text);
/// The key that webhooks of the user are signed by, made from the cluster's.
std::string key_of_user(std::string_view cluster_key, std::string_view user);
/// "t=1764400000,v1=...": of the time, a dot and the body.
std::string signature_of(std::string_view key, std::int64_t unix_s, std::string_view body);

}  // namespace muster::notify
