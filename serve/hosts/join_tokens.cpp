#include "serve/hosts/join_tokens.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "model/check.hpp"
#include "model/hexadecimal.hpp"
#include "serve/api/token_record.hpp"
#include "serve/hosts/host_refusal.hpp"
#include "serve/hosts/row_value.hpp"

namespace muster::hosts {
namespace {

using TokenJson = nlohmann::ordered_json;
using TokenRefused = Failure<int>;

constexpr const char* kAgain = "; an admin makes one: `muster join-token create`";

std::string random_digits(std::size_t bytes) {
  std::vector<unsigned char> random(bytes);
  MUSTER_CHECK(RAND_bytes(random.data(), static_cast<int>(bytes)) == 1,
               "the system gives no random bytes");
  return hexadecimal(random);
}

std::string print_of_secret(const std::string& secret) {
  return hexadecimal(api::digest_of(secret));
}

/// In a time that does not tell how much of it is right.
bool is_secret_of(const JoinTokenRow& token, const std::string& secret) {
  const std::string print = print_of_secret(secret);
  return token.digest.size() == print.size() &&
         CRYPTO_memcmp(token.digest.data(), print.data(), print.size()) == 0;
}

}  // namespace

Expected<JoinToken, int> JoinTokens::make(std::uint32_t hosts, std::int64_t lifetime_s,
                                          const std::string& authority, std::int64_t now_s) {
  if (hosts < 1 || hosts > kMaxHostsOfToken) {
    return TokenRefused{kHostUnfit, fmt::format("hosts: has to be from 1 to {}", kMaxHostsOfToken)};
  }
  std::erase_if(rows_, [&](const auto& each) {
    constexpr std::int64_t kKeptS = 30L * 86'400;
    return each.second.expires_s + kKeptS < now_s;
  });
  if (rows_.size() >= kMaxJoinTokens) {
    return TokenRefused{kHostConflict,
                        fmt::format("there are {} join tokens, and no more are kept: one goes 30 "
                                    "days after its end",
                                    kMaxJoinTokens)};
  }
  constexpr std::size_t kIdBytes = 4, kSecretBytes = 16;
  JoinToken made{random_digits(kIdBytes), random_digits(kSecretBytes), authority};
  while (rows_.contains(made.id)) made.id = random_digits(kIdBytes);
  rows_[made.id] = {made.id, print_of_secret(made.secret), hosts, 0,
                    now_s,   now_s + lifetime_s,           false};
  return made;
}

Expected<JoinTokenRow, int> JoinTokens::revoke(const std::string& id) {
  const auto found = rows_.find(id);
  if (found == rows_.end()) {
    return TokenRefused{
        kHostUnknown,
        fmt::format("there is no join token '{}': `muster join-token list` shows them", id)};
  }
  found->second.revoked = true;
  return found->second;
}

const JoinTokenRow* JoinTokens::find(const std::string& id, const std::string& secret) const {
  const auto found = rows_.find(id);
  return found != rows_.end() && is_secret_of(found->second, secret) ? &found->second : nullptr;
}

std::optional<TokenRefused> JoinTokens::end_of(const JoinTokenRow& token, std::int64_t now_s) {
  if (token.revoked) {
    return TokenRefused{kHostForbidden,
                        fmt::format("the join token {} is revoked{}", token.id, kAgain)};
  }
  if (now_s >= token.expires_s) {
    return TokenRefused{kHostForbidden, fmt::format("the join token {} has expired {} s ago{}",
                                                    token.id, now_s - token.expires_s, kAgain)};
  }
  return std::nullopt;
}

std::optional<TokenRefused> JoinTokens::fault_of(const JoinTokenRow* token, std::int64_t now_s) {
  if (token == nullptr) {
    return TokenRefused{kHostForbidden, std::string("the cluster has no such join token") + kAgain};
  }
  if (auto over = end_of(*token, now_s)) return over;
  if (token->used >= token->hosts) {
    return TokenRefused{
        kHostForbidden,
        fmt::format("the join token {} is used up: {} of {} machines have joined by "
                    "it; an admin makes another: `muster join-token create`",
                    token->id, token->used, token->hosts)};
  }
  return std::nullopt;
}

std::vector<JoinTokenRow> JoinTokens::list() const {
  std::vector<JoinTokenRow> all;
  for (const auto& [id, token] : rows_) all.push_back(token);
  return all;
}

TokenJson JoinTokens::to_rows() const {
  TokenJson rows = TokenJson::array();
  for (const auto& [id, token] : rows_) {
    rows.push_back({{"id", token.id},
                    {"digest", token.digest},
                    {"hosts", token.hosts},
                    {"used", token.used},
                    {"created_s", token.created_s},
                    {"expires_s", token.expires_s},
                    {"revoked", token.revoked}});
  }
  return rows;
}

void JoinTokens::load(const TokenJson& rows) {
  for (const TokenJson& row : rows) {
    JoinTokenRow token;
    token.id = row_value<std::string>(row, "id", "");
    token.digest = row_value<std::string>(row, "digest", "");
    token.hosts = row_value<std::uint32_t>(row, "hosts", 0);
    token.used = row_value<std::uint32_t>(row, "used", 0);
    token.created_s = row_value<std::int64_t>(row, "created_s", 0);
    token.expires_s = row_value<std::int64_t>(row, "expires_s", 0);
    token.revoked = row_value<bool>(row, "revoked", true);
    rows_[token.id] = token;
  }
}

}  // namespace muster::hosts
