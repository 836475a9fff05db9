#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "storage/stores/store.hpp"

namespace muster::cli {

/// Result of replaying a master's store under each policy: a line of text for each, the results as
/// JSON, and faults that no master could start with.
struct StoreFold {
  std::vector<std::string> lines;
  nlohmann::ordered_json document = nlohmann::ordered_json::array();
  std::vector<std::string> problems;
};

/// Replays the events of the store as a start does, under the policy; under all known ones without
/// a given policy. Only for processes without threads of their own.
StoreFold fold_store(const Store& store, const std::string& policy);

}  // namespace muster::cli
