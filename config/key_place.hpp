#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// Where a key of a config got its value, to begin a complaint about the value that is found later
/// than the config was read: "--set KEY" of the last override of it, else "FILE:LINE:COLUMN: KEY",
/// else the key alone. `key` may name an element: "policies[1]".
std::string key_place(const std::filesystem::path& file, const std::vector<std::string>& overrides,
                      std::string_view key);

/// Where keys stand in the text of a TOML file, as "FILE:LINE:COLUMN"; empty where the key is not
/// there, or the text is not TOML. A key may be a path: "jobs[3].after". The text is read once.
std::function<std::string(std::string_view key)> text_places(const std::string& file,
                                                             std::string_view text);

}  // namespace muster
