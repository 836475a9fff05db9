#pragma once

#include <optional>

#include "serve/node/node_roles.hpp"

namespace muster {

/// Makes the cloud of the config over its machines: processes of this computer, machines of one's
/// own that have joined, or both. The role's store is open. Fills `hosts`, `machines`,
/// `own_machines`, `catalogs` and `provider`.
std::optional<Failure<NodeError>> open_provider(const RoleContext& context, CloudRole& role);

}  // namespace muster
