#include "tools/experiment/run_key.hpp"

#include <fmt/format.h>

#include <system_error>

#include "config/catalog_file.hpp"
#include "config/key_text.hpp"
#include "replay/replay.hpp"
#include "schedulers/policy_spec.hpp"
#include "tools/experiment/digest.hpp"

// The key of a run. The config is taken as it was understood and not as it was written: a comment
// or another order of keys makes no other run, a new default does.

namespace muster::experiment {
namespace {

namespace fs = std::filesystem;
using config::PathKeyOf;

Failure<ExperimentError> invalid(std::string message) {
  return {ExperimentError::invalid, std::move(message)};
}

}  // namespace

const std::string& RunKeys::content_of(const fs::path& path) {
  const auto known = contents_.find(path);
  if (known != contents_.end()) return known->second;
  return contents_[path] = digest_of_path(path).value_or("");
}

std::string RunKeys::policy_fault_of(const ReplayConfig& config, const std::string& policy) {
  if (!catalogs_.contains(config.catalog)) {
    auto catalog = load_catalog(config.catalog);
    if (!catalog) return catalog.error().message;
    catalogs_.emplace(config.catalog, std::move(catalog).value());
  }
  const auto spec = parse_policy(policy);
  if (!spec) return spec.error().message;
  return replay::policy_fault(spec.value(), catalogs_.at(config.catalog));
}

/// Every key with its value; a file by its content, so that it may be moved.
std::string RunKeys::text_of(ReplayConfig& config) {
  std::string text;
  for (const auto& key : keys_) {
    const auto* kind = std::get_if<PathKeyOf<ReplayConfig>>(&key.kind);
    const bool is_file = kind != nullptr && !kind->at(config).empty();
    text += fmt::format("{} = {}\n", key.name,
                        is_file ? content_of(kind->at(config)) : config::value_text(config, key));
  }
  return text;
}

Expected<std::string, ExperimentError> RunKeys::key_of(const PlannedRun& planned) {
  std::vector<std::string> overrides = planned.overrides;
  overrides.emplace_back("trials=1");
  auto config = load_replay_config(parts_, planned.config, overrides);
  if (!config) return invalid(config.error().message);
  config->seed = planned.seed;
  config->policies = {planned.policy};
  if (const std::string fault = policy_fault_of(config.value(), planned.policy); !fault.empty()) {
    return invalid(fault);
  }
  Digest digest;
  digest.add("program " + program_ + "\n" + text_of(config.value()));
  for (const auto& key : keys_) {
    const auto* kind = std::get_if<PathKeyOf<ReplayConfig>>(&key.kind);
    if (kind == nullptr || kind->at(config.value()).empty()) continue;
    const fs::path& path = kind->at(config.value());
    if (content_of(path).empty()) {
      return invalid(fmt::format("{}: {} cannot be read", key.name, path.string()));
    }
  }
  // A parameter may name a file, from the working directory.
  const auto spec = parse_policy(planned.policy);
  for (const auto& [name, value] : spec->params) {
    std::error_code bad;
    if (fs::is_regular_file(value, bad)) digest.add(name + " " + content_of(value) + "\n");
  }
  return digest.hex();
}

}  // namespace muster::experiment
