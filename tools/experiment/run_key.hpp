#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "config/config_keys.hpp"
#include "config/replay_parts.hpp"
#include "model/catalog.hpp"
#include "tools/experiment/plan.hpp"

namespace muster::experiment {

/// Checks runs and gives each its key: a digest of everything that determines what it comes to.
/// Those are the program, every key of the config after the overrides, the contents of the files
/// that it names, the policy with its parameters (and the files among them), and the seed.
class RunKeys {
 public:
  /// `program`: a digest of the program that does the runs. The parts outlive this object.
  RunKeys(const ReplayParts& parts, std::string program)
      : parts_(parts), keys_(config::replay_keys(parts)), program_(std::move(program)) {}

  /// The run's key; an error says what `muster replay` would complain of before it begins.
  Expected<std::string, ExperimentError> key_of(const PlannedRun& planned);

 private:
  /// Of a file or folder; read once, however many runs it is part of. Empty when it is unreadable.
  const std::string& content_of(const std::filesystem::path& path);
  std::string policy_fault_of(const ReplayConfig& config, const std::string& policy);
  std::string text_of(ReplayConfig& config);

  const ReplayParts& parts_;
  std::vector<config::KeySpecOf<ReplayConfig>> keys_;
  std::string program_;
  std::map<std::filesystem::path, std::string> contents_;
  std::map<std::filesystem::path, Catalog> catalogs_;
};

}  // namespace muster::experiment
