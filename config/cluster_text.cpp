#include <fmt/format.h>

#include <type_traits>

#include "config/cloud_keys.hpp"
#include "config/cluster_config.hpp"
#include "config/cluster_keys.hpp"
#include "config/key_text.hpp"

namespace muster {
namespace {

using config::KeySpecOf;

/// "key = value" for a key that has another value than the default, else nothing.
template <class C>
std::string line_of(C& config, const KeySpecOf<C>& key, std::string_view name) {
  // Keys at their defaults are left out: the file shows what its writer decided.
  C defaults;
  if constexpr (std::is_same_v<C, ClusterConfig>) {
    config::put_defaults_beside(config.cloud.provider, defaults.master);
  }
  const std::string value = config::value_text(config, key);
  if (value.empty() || value == config::value_text(defaults, key)) return "";
  return fmt::format("{} = {}\n", name, value);
}

std::string top_text(ClusterConfig& config) {
  std::string text;
  for (const auto& key : config::key_table<ClusterConfig>()) {
    if (key.name.find('.') == std::string::npos) text += line_of(config, key, key.name);
  }
  return text;
}

std::string node_text(NodeConfig node) {
  std::string text = "\n[[node]]\n";
  for (const auto& key : config::key_table<NodeConfig>()) text += line_of(node, key, key.name);
  return text;
}

/// The provider, where the file has keys of another one: these may stand only beside the name of
/// the one in use, be it the default.
std::string provider_text(ClusterConfig& config, const KeySpecOf<ClusterConfig>& key) {
  for (const auto& module : config::cloud_modules<ClusterConfig>()) {
    if (module.name == config.cloud.provider) continue;
    for (const auto& unread : module.keys) {
      if (line_of(config, unread, unread.name).empty()) continue;
      return fmt::format("provider = {}\n", config::value_text(config, key));
    }
  }
  return line_of(config, key, "provider");
}

std::string section_texts(ClusterConfig& config) {
  std::string text;
  std::string last;
  for (const auto& key : config::key_table<ClusterConfig>()) {
    const std::size_t dot = key.name.find('.');
    if (dot == std::string::npos) continue;
    const std::string line = key.name == "cloud.provider"
                                 ? provider_text(config, key)
                                 : line_of(config, key, key.name.substr(dot + 1));
    if (line.empty()) continue;
    const std::string section = key.name.substr(0, dot);
    if (section != last) text += fmt::format("\n[{}]\n", section);
    text += line;
    last = section;
  }
  return text;
}

/// Paths in the folder of the file go on from there: the folder may be moved.
void shorten_paths(ClusterConfig& config) {
  if (config.file.empty()) return;
  const std::filesystem::path folder = std::filesystem::absolute(config.file).parent_path();
  for (const auto& key : config::key_table<ClusterConfig>()) {
    const auto* kind = std::get_if<config::PathKeyOf<ClusterConfig>>(&key.kind);
    if (kind == nullptr || !kind->at(config).is_absolute()) continue;
    const std::filesystem::path way = kind->at(config).lexically_relative(folder);
    const bool inside = !way.empty() && *way.begin() != ".." && way != ".";
    if (inside) kind->at(config) = way;
  }
}

}  // namespace

std::string cluster_config_text(const ClusterConfig& config) {
  ClusterConfig copy = config;
  // Where it would be without being said: it goes where the state goes.
  if (copy.worker.checkpoints == copy.state / kCheckpointsFolder) copy.worker.checkpoints.clear();
  if (copy.files.folder == copy.state / kFilesFolder) copy.files.folder.clear();
  if (copy.notify.key == copy.state / kNotifyKeyFile) copy.notify.key.clear();
  shorten_paths(copy);
  std::string text = top_text(copy);
  for (const NodeConfig& node : config.nodes) text += node_text(node);
  return text + section_texts(copy);
}

std::vector<KeyInfo> cluster_config_keys() {
  std::vector<KeyInfo> all;
  std::vector<KeyInfo> nodes;
  for (const auto& key : config::key_table<NodeConfig>()) {
    nodes.push_back(config::info_of(key));
    nodes.back().key = "node.NAME." + key.name;
  }
  for (const auto& key : config::key_table<ClusterConfig>()) {
    // In the order of a file: the nodes stand before the first section.
    if (key.name.find('.') != std::string::npos) {
      all.insert(all.end(), nodes.begin(), nodes.end());
      nodes.clear();
    }
    all.push_back(config::info_of(key));
  }
  return all;
}

}  // namespace muster
