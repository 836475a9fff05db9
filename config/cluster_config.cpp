#include "config/cluster_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "config/cloud_keys.hpp"
#include "config/cluster_checks.hpp"
#include "config/cluster_keys.hpp"
#include "config/fleet_check.hpp"
#include "config/key_reader.hpp"
#include "model/check.hpp"

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNodePrefix = "node.";

/// Reads a cluster file's nodes and hands the rest to the reader of its keys.
class Loader {
 public:
  explicit Loader(fs::path file)
      : file_(std::move(file)), reader_({.file = file_, .tables = {"node"}}, parsed_, errors) {
    parsed_.file = file_;
  }

  void read_file(toml::table& table);
  void read_override(const std::string& text);
  /// Everything that was read; only to be used when there are no errors after it.
  ClusterConfig finish();

  ErrorList errors;

 private:
  void read_node(const toml::table& table);
  TextPlace place_of(const toml::node& node) const {
    return {file_.string(), node.source().begin.line, node.source().begin.column};
  }

  fs::path file_;
  ClusterConfig parsed_;
  config::KeyReader<ClusterConfig> reader_;
  std::deque<config::NodeEntry> nodes_;
};

void Loader::read_file(toml::table& table) {
  if (const toml::node* found = table.get("node")) {
    const toml::array* nodes = found->as_array();
    if (nodes == nullptr || !nodes->is_array_of_tables()) {
      errors.add(place_of(*found), "node", "has to be written [[node]], once for each node");
    } else {
      for (const toml::node& node : *nodes) read_node(*node.as_table());
    }
    // Taken out: the reader knows keys and sections, no arrays of tables.
    table.erase("node");
  }
  reader_.read_table(table);
}

void Loader::read_node(const toml::table& table) {
  config::ReaderSource source{.file = file_};
  const TextPlace place = place_of(table);
  source.line = place.line;
  source.column = place.column;
  source.table = "[[node]]";
  // A node whose name is not fit to be shown has its position.
  const auto name = table["name"].value<std::string>();
  source.prefix = name && config::is_name(*name) ? fmt::format("{}{}.", kNodePrefix, *name)
                                                 : fmt::format("node[{}].", nodes_.size() + 1);
  nodes_.emplace_back(std::move(source), errors).reader.read_table(table);
}

void Loader::read_override(const std::string& text) {
  // A node is named in the key, so that the override does not depend on the order of nodes.
  const std::string_view name = std::string_view(text).substr(0, text.find('='));
  if (!name.starts_with(kNodePrefix)) return reader_.read_override(text);
  const std::string_view rest = name.substr(kNodePrefix.size());
  // Names have no dots (is_name), so the first dot ends the node's.
  const std::string node(rest.substr(0, rest.find('.')));
  const auto found = std::find_if(nodes_.begin(), nodes_.end(),
                                  [&](const auto& entry) { return entry.node.name == node; });
  if (found != nodes_.end() && node.size() < rest.size()) {
    const std::size_t skipped = kNodePrefix.size() + node.size() + 1;
    return found->reader.read_override(text.substr(skipped), text);
  }
  const TextPlace place{fmt::format("--set {}", text)};
  if (found != nodes_.end()) {
    errors.add(place, name, "a key of a node has to be node.NAME.key");
    return;
  }
  std::vector<std::string> known;
  for (const config::NodeEntry& entry : nodes_) known.push_back(entry.node.name);
  errors.add(place, name, unknown_word("node", node, known));
}

ClusterConfig Loader::finish() {
  // Before the default of checkpoints, which is built from a path of the file.
  reader_.resolve_paths();
  // Paths are handed on to processes that run in other folders.
  for (const auto& key : config::key_table<ClusterConfig>()) {
    const auto* kind = std::get_if<config::PathKeyOf<ClusterConfig>>(&key.kind);
    if (kind == nullptr || kind->at(parsed_).empty()) continue;
    kind->at(parsed_) = fs::absolute(kind->at(parsed_));
  }
  if (parsed_.worker.checkpoints.empty()) {
    parsed_.worker.checkpoints = parsed_.state / kCheckpointsFolder;
  }
  if (parsed_.files.folder.empty()) parsed_.files.folder = parsed_.state / kFilesFolder;
  if (parsed_.notify.key.empty()) parsed_.notify.key = parsed_.state / kNotifyKeyFile;
  MasterSettings unsaid = parsed_.master;
  config::put_defaults_beside(parsed_.cloud.provider, unsaid);
  if (!reader_.given("master.launch_backoff")) {
    parsed_.master.launch_backoff = unsaid.launch_backoff;
  }
  if (!reader_.given("master.launch_backoff_longest")) {
    parsed_.master.launch_backoff_longest = unsaid.launch_backoff_longest;
  }
  config::read_fleet(parsed_, reader_);
  config::check_cloud(parsed_, reader_);
  config::check_cluster({parsed_, reader_, nodes_});
  for (config::NodeEntry& entry : nodes_) parsed_.nodes.push_back(entry.node);
  return std::move(parsed_);
}

std::vector<const NodeConfig*> nodes_with(const ClusterConfig& config,
                                          std::optional<std::string> NodeConfig::*role) {
  std::vector<const NodeConfig*> nodes;
  for (const NodeConfig& node : config.nodes) {
    if (node.*role) nodes.push_back(&node);
  }
  return nodes;
}

}  // namespace

std::vector<const NodeConfig*> ClusterConfig::sites() const {
  return nodes_with(*this, &NodeConfig::site);
}

std::vector<const NodeConfig*> ClusterConfig::masters() const {
  return nodes_with(*this, &NodeConfig::master);
}

const NodeConfig* ClusterConfig::find(const std::string& node) const {
  const auto found = std::find_if(nodes.begin(), nodes.end(),
                                  [&](const NodeConfig& each) { return each.name == node; });
  return found == nodes.end() ? nullptr : &*found;
}

const NodeConfig& ClusterConfig::cloud_node() const {
  const auto found =
      std::find_if(nodes.begin(), nodes.end(), [](const NodeConfig& node) { return node.cloud; });
  MUSTER_CHECK(found != nodes.end(), "a cluster without a node for the cloud");
  return *found;
}

Expected<ClusterConfig, ConfigError> load_cluster_config(
    const fs::path& file, const std::vector<std::string>& overrides) {
  auto table = config::read_toml(file);
  if (!table) {
    const bool unreadable = table.error().code == config::TomlError::unreadable;
    return Failure<ConfigError>{unreadable ? ConfigError::unreadable : ConfigError::malformed,
                                table.error().message};
  }
  Loader loader(file);
  loader.read_file(table.value());
  const bool file_is_fine = loader.errors.empty();
  // After the file: overrides win, and may name nodes that it has.
  for (const std::string& text : overrides) loader.read_override(text);
  // A file that was wrong before the overrides stays the file's fault.
  const bool bad_override = file_is_fine && !loader.errors.empty();
  ClusterConfig config = loader.finish();
  if (loader.errors.empty()) return config;
  loader.errors.sort_by_line();
  return Failure<ConfigError>{bad_override ? ConfigError::bad_override : ConfigError::invalid,
                              loader.errors.text()};
}

}  // namespace muster
