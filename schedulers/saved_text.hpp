#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

/// A name as a policy saves it: JSON holds nothing but UTF-8, which names need not be. Other bytes
/// are written as {"hex": "636166e9"}, so that what is read back is the name.
nlohmann::json saved_text(std::string_view name);

/// The name that was saved; nothing when it was not.
std::optional<std::string> loaded_text(const nlohmann::json& saved);

}  // namespace muster
