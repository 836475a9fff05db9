#include "config/config_keys.hpp"

#include <fmt/format.h>

#include "config/key_table.hpp"
#include "config/key_text.hpp"
#include "config/replay_parts.hpp"

namespace muster {

std::vector<KeyInfo> known_config_keys(const ReplayParts& parts) {
  std::vector<KeyInfo> all;
  for (const auto& key : config::replay_keys(parts)) all.push_back(config::info_of(key));
  return all;
}

std::string describe_keys(const std::vector<KeyInfo>& keys) {
  std::string text = "| key | type | default | range | meaning |\n|---|---|---|---|---|\n";
  for (const KeyInfo& key : keys) {
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", key.key, key.type, key.default_value,
                        key.range, key.meaning);
  }
  return text;
}

}  // namespace muster
