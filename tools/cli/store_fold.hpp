#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "storage/stores/store.hpp"

namespace muster::cli {

/// What replaying a master's store under each policy has come to: a line of text for each, the same
/// as JSON, and what no master could start with.
struct StoreFold {
  std::vector<std::string> lines;
  nlohmann::ordered_json document = nlohmann::ordered_json::array();
  std::vector<std::string> problems;
};

/// Replays the events of the store as a start does, under the policy; under all that are known
/// where none is given. Only for processes without threads of their own.
StoreFold fold_store(const Store& store, const std::string& policy);

}  // namespace muster::cli
