#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model/expected.hpp"
#include "serve/hosts/join_protocol.hpp"

namespace muster::hosts {

inline constexpr std::size_t kMaxJoinTokens = 1000;
inline constexpr std::uint32_t kMaxHostsOfToken = 10'000;

/// A token as it is kept: its secret is not.
struct JoinTokenRow {
  std::string id;
  std::string digest;       ///< SHA-256 of the secret, hexadecimal
  std::uint32_t hosts = 1;  ///< machines that may join by it
  std::uint32_t used = 0;
  std::int64_t created_s = 0;  ///< since 1970
  std::int64_t expires_s = 0;
  bool revoked = false;
};

/// The tokens by which machines join. Its owner locks it and writes it to the disk.
class JoinTokens {
 public:
  /// A token for that many machines; `authority`: SHA-256 of the nodes' authority, which it
  /// carries. Tokens that ended long ago go. The code of a failure is a HostRefusal.
  Expected<JoinToken, int> make(std::uint32_t hosts, std::int64_t lifetime_s,
                                const std::string& authority, std::int64_t now_s);
  Expected<JoinTokenRow, int> revoke(const std::string& id);
  void forget(const std::string& id) { rows_.erase(id); }

  /// The token with that id and that secret; null: there is no such token.
  const JoinTokenRow* find(const std::string& id, const std::string& secret) const;
  /// Why nothing goes by that one any more; nothing: it is valid, or used up.
  static std::optional<Failure<int>> end_of(const JoinTokenRow& token, std::int64_t now_s);
  /// Why no more machines may join by that one; nothing: one may.
  static std::optional<Failure<int>> fault_of(const JoinTokenRow* token, std::int64_t now_s);
  /// One more machine has joined by it.
  void use(const std::string& id) { ++rows_.at(id).used; }

  std::vector<JoinTokenRow> list() const;
  nlohmann::ordered_json to_rows() const;
  void load(const nlohmann::ordered_json& rows);

 private:
  std::map<std::string, JoinTokenRow> rows_;
};

}  // namespace muster::hosts
