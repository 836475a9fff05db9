#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/client/answers.hpp"

// Machines of one's own and the tokens by which they join, as the API answers them and as people
// read them.

namespace muster::client {

/// A machine that has joined.
struct HostAnswer {
  std::uint64_t host = 0;
  std::string name;
  std::string type;
  std::string state;
  bool drained = false;
  std::uint64_t cpus = 0, memory_gib = 0, gpus = 0;
  std::map<std::string, std::string> labels;
  std::optional<std::uint64_t> instance;  ///< in use by it
  std::optional<double> heard_s;
  std::string trouble;
  std::optional<bool> own_checkpoints;
};

/// A token by which machines join.
struct JoinTokenAnswer {
  std::string id;
  std::string state;
  std::uint64_t hosts = 0, used = 0;
  double created_s = 0, expires_s = 0;
  std::string secret{};  ///< of one that was made just now
};

/// GET /v1/hosts, and what the orders about one answer.
Parsed<std::vector<HostAnswer>> host_list(const Answer& answer);
Parsed<HostAnswer> host_of(const Answer& answer);
/// GET /v1/join-tokens, and what the other requests about them answer.
Parsed<std::vector<JoinTokenAnswer>> join_token_list(const Answer& answer);
Parsed<JoinTokenAnswer> join_token_of(const Answer& answer);
Parsed<JoinTokenAnswer> issued_join_token(const Answer& answer);

/// Tables of them.
std::string view(const std::vector<HostAnswer>& hosts);
std::string view(const std::vector<JoinTokenAnswer>& tokens);

}  // namespace muster::client
