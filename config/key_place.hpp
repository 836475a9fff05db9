#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// Where a key of a config got its value, to begin a complaint about the value that is found later
/// than the config was read: "--set KEY" of the last override of it, else "FILE:LINE:COLUMN: KEY",
/// else the key alone. `key` may name an element: "policies[1]".
std::string key_place(const std::filesystem::path& file, const std::vector<std::string>& overrides,
                      std::string_view key);

}  // namespace muster
