#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/client/answers.hpp"

// Tokens and the audit log, as the API answers them and as people read them.

namespace muster::client {

/// A token of the API.
struct TokenAnswer {
  std::string name;
  std::string role;
  std::string user;                       ///< empty: it acts for whoever calls
  std::string state;                      ///< valid, expired or revoked
  std::optional<double> created_s;        ///< nothing: it is a line of the API token's file
  std::optional<double> expires_s;        ///< nothing: never
  std::optional<double> earlier_until_s;  ///< until then the secret before counts as well
  std::string secret{};                   ///< of one that was made just now
};

/// A line of the audit log; empty members are not known.
struct AuditAnswer {
  double at_s = 0;
  std::string token;
  std::string user;
  std::string address;
  std::string method;
  std::string path;
  std::optional<std::uint64_t> status;
  std::string about;
  std::uint64_t unlisted = 0;  ///< requests before it that are not in the log
  std::uint64_t lost = 0;      ///< number of lost entries before it, in an entry without other news
};

/// GET /v1/me: name, role and user of the token that asks.
Parsed<TokenAnswer> own_token(const Answer& answer);
/// GET /v1/tokens, and what the other requests about tokens answer.
Parsed<std::vector<TokenAnswer>> token_list(const Answer& answer);
Parsed<TokenAnswer> token_of(const Answer& answer);
Parsed<TokenAnswer> issued_token(const Answer& answer);
/// GET /v1/audit.
Parsed<std::vector<AuditAnswer>> audit_list(const Answer& answer);
/// Name of the node whose log that answer is; empty: an API of an earlier version has not named it.
std::string audit_node(const Answer& answer);

/// Tables of them.
std::string view(const std::vector<TokenAnswer>& tokens);
std::string view(const std::vector<AuditAnswer>& entries);
/// The token's attributes in one line, and below it the secret.
std::string issued_text(const TokenAnswer& token);

}  // namespace muster::client
