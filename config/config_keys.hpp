#pragma once

#include <string>
#include <vector>

namespace muster {

/// Description of one key of a config.
struct KeyInfo {
  std::string key;  ///< dotted, as --set takes it
  std::string type;
  std::string default_value;  ///< "required" when there is no default
  std::string range;          ///< its valid values
  std::string meaning;
};

struct ReplayParts;

/// Every key that load_replay_config() understands, in the order of the documentation.
std::vector<KeyInfo> known_config_keys(const ReplayParts& parts);

/// Keys as a Markdown table.
std::string describe_keys(const std::vector<KeyInfo>& keys);

}  // namespace muster
