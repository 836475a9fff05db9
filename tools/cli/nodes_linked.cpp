#include "tools/cli/nodes_linked.hpp"

#include "tools/client/api_client.hpp"

namespace muster::cli {
namespace {

/// Reads the nodes as the API at this address alone sees them. The obstacle there, or nothing.
std::optional<Missing> look(const client::ClusterContext& context, nlohmann::json& nodes) {
  client::ApiOptions once;
  once.retry_for = Duration::zero();  // the caller's loop is the retry
  client::ApiClient api(context, once);
  auto answer = api.get("/v1/nodes");
  if (!answer) return Missing{"nothing answers yet at " + context.api};
  nodes = answer.value().document;
  std::optional<Missing> missing;
  for (const auto& node : nodes.value("nodes", nlohmann::json::array())) {
    const std::string name = node.value("node", "");
    // Only the last one is named; each round looks at all of them anew.
    if (!node.value("connected", false)) missing = {name + " is not linked yet", name};
  }
  return missing;
}

}  // namespace

std::optional<Missing> look_everywhere(const client::ClusterContext& context,
                                       nlohmann::json& nodes) {
  client::ClusterContext one = context;
  one.others.clear();
  std::optional<Missing> missing = look(one, nodes);
  for (const std::string& other : context.others) {
    if (missing) break;
    one.api = other;
    nlohmann::json alike;
    missing = look(one, alike);
  }
  return missing;
}

}  // namespace muster::cli
