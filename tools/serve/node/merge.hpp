#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/serve/api/backend.hpp"

// How what several masters and sites say of themselves becomes one answer of the API (docs/api.md).

namespace muster::merge {

using Documents = std::vector<nlohmann::json>;

/// Reads what came; what did not, or is not an object, is left out.
Documents parse(const std::vector<std::optional<std::string>>& answers);

/// The lists called `name` of all documents in one, sorted by the number `key`, the largest first,
/// at most `limit` of them.
nlohmann::json joined(const Documents& parts, const std::string& name, const std::string& key,
                      std::uint32_t limit);

/// The cluster's bill in $: what the masters say in parts and, when it is known, what each rented
/// instance has cost by the cloud's own count.
nlohmann::json cost(const Documents& masters, const std::optional<nlohmann::json>& rented);

/// A node for the listings.
struct NodeLine {
  std::string name;
  std::vector<std::string> roles;
  bool connected = false;
  nlohmann::json load = nlohmann::json::object();
};
nlohmann::json nodes(const std::vector<NodeLine>& lines);

/// `loads` are those of the masters that answered.
nlohmann::json status(const Documents& loads, const Documents& sites, double now_s,
                      const nlohmann::json& nodes);
api::MetricsInput metrics(const Documents& loads, const Documents& sites);

}  // namespace muster::merge
