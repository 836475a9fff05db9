#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "replay/workload/readers.hpp"

namespace muster::replay {

/// One key of a JSON document that is an object, and what stands there.
struct JsonEntry {
  std::string key;
  std::uint32_t line = 0;
  nlohmann::json value;
  /// On which lines the keys in `value` stand, by their dotted paths ("12.tasks.0.demand"). A
  /// repeated key has the line of its first appearance.
  std::map<std::string, std::uint32_t> lines;
  /// The paths of keys that appear more than once; the first ones.
  std::vector<std::string> repeated;
};

/// Reads a JSON file that is one object, packed or not, and hands on its entries as they come, so
/// that it takes no more memory than one of them. Errors: the file's; where it is no JSON, no
/// object, or nests more deeply than any trace does.
std::optional<Failure<WorkloadError>> each_json_entry(
    const std::filesystem::path& file, const std::function<void(const JsonEntry&)>& take);

}  // namespace muster::replay
