#include "config/replay_config.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "config/error_list.hpp"
#include "config/key_table.hpp"
#include "config/key_values.hpp"

namespace muster {
namespace {

using config::KeySpec;
namespace fs = std::filesystem;

constexpr std::string_view kDataVariable = "${MUSTER_DATA}";

/// Fills a config from a file's table and the overrides, and collects what is wrong.
class Loader {
 public:
  explicit Loader(fs::path file) : file_(std::move(file)) { parsed.name = file_.stem().string(); }

  void read_table(const toml::table& table, const std::string& section);
  void read_override(const std::string& text);
  void check_whole();
  void resolve_paths();

  ReplayConfig parsed;
  ErrorList errors;

 private:
  void read_key(const KeySpec& key, const toml::node& value, const TextPlace& place);
  void need(std::string_view key, std::string_view when = "");
  TextPlace place_of(const toml::source_region& source) const {
    return {file_.string(), source.begin.line, source.begin.column};
  }
  TextPlace place_of(const std::string& key) const {
    const auto found = places_.find(key);
    return found == places_.end() ? TextPlace{file_.string()} : found->second;
  }

  fs::path file_;
  std::map<std::string, TextPlace> places_;  ///< where the keys that were given were given
};

/// The keys and sections right below a section, without its name.
std::vector<std::string> names_below(const std::string& section) {
  const std::string prefix = section.empty() ? "" : section + ".";
  std::vector<std::string> names;
  for (const KeySpec& key : config::key_table()) {
    if (!key.name.starts_with(prefix)) continue;
    std::string name = key.name.substr(prefix.size());
    name.resize(std::min(name.find('.'), name.size()));
    if (names.empty() || names.back() != name) names.push_back(std::move(name));
  }
  return names;
}

/// Says what was probably meant: a name of the same section first, else a key of any.
std::string unknown_key(const std::string& section, const std::string& name) {
  const std::string full = section.empty() ? name : section + "." + name;
  const std::vector<std::string> here = names_below(section);
  const std::string what = section.empty() ? "key" : fmt::format("key of [{}]", section);
  std::string text = unknown_word(what, name, here);
  if (!nearest_word(name, here).empty()) return text;
  for (const KeySpec& key : config::key_table()) {
    if (key.name.ends_with("." + name)) text += fmt::format(" (there is {})", key.name);
  }
  return text;
}

void Loader::read_table(const toml::table& table, const std::string& section) {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    const std::string full = section.empty() ? name : section + "." + name;
    if (const KeySpec* spec = config::find_key(full)) {
      read_key(*spec, node, place_of(node.source()));
    } else if (!config::is_section(full)) {
      errors.add(place_of(key.source()), full, unknown_key(section, name));
    } else if (const toml::table* inner = node.as_table()) {
      read_table(*inner, full);
    } else {
      errors.add(place_of(node.source()), full,
                 fmt::format("has to be a section, written [{}]", full));
    }
  }
}

void Loader::read_key(const KeySpec& key, const toml::node& value, const TextPlace& place) {
  places_[key.name] = place;
  if (config::set_value(parsed, key, value)) return;
  errors.add(place, key.name,
             fmt::format("has to be {}; it is {}", config::wanted(key), config::written(value)));
}

void Loader::read_override(const std::string& text) {
  const TextPlace place{fmt::format("--set {}", text)};
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    errors.add(place, "", "an override has to be dotted.key=value");
    return;
  }
  const std::string name = text.substr(0, equals);
  const KeySpec* key = config::find_key(name);
  if (key == nullptr) {
    const std::size_t dot = name.rfind('.');
    const std::string section = dot == std::string::npos ? "" : name.substr(0, dot);
    const bool known = section.empty() || config::is_section(section);
    errors.add(place, name,
               known ? unknown_key(section, name.substr(section.empty() ? 0 : dot + 1))
                     : unknown_key("", name));
    return;
  }
  places_[name] = place;
  const std::string value = text.substr(equals + 1);
  if (config::set_from_text(parsed, *key, value)) return;
  errors.add(place, name, fmt::format("has to be {}; it is {}", config::wanted(*key), value));
}

void Loader::need(std::string_view key, std::string_view when) {
  if (places_.contains(std::string(key))) return;
  errors.add(
      TextPlace{file_.string()}, key,
      fmt::format("is missing{}; it has to be {}", when, config::wanted(*config::find_key(key))));
}

void Loader::check_whole() {
  for (const KeySpec& key : config::key_table()) {
    if (key.required) need(key.name);
  }
  const bool synthetic = parsed.workload.format == "synthetic";
  if (synthetic) need("workload.synthetic.workloads", ", and the workload is synthetic");
  if (!synthetic && !parsed.workload.format.empty()) {
    need("workload.path", fmt::format(", and the workload is {}", parsed.workload.format));
  }
  if (parsed.world.interference.model == InterferenceModel::pairwise) {
    need("world.interference.matrix", ", and the interference is pairwise");
  }
  const SyntheticWorkload& made = parsed.workload.synthetic;
  if (made.min_duration_h > made.max_duration_h) {
    const std::string key = "workload.synthetic.min_duration_h";
    errors.add(place_of(key), key,
               fmt::format("has to be at most max_duration_h, which is {}; it is {}",
                           made.max_duration_h, made.min_duration_h));
  }
  if (made.log_uniform && made.min_duration_h <= 0) {
    const std::string key = "workload.synthetic.min_duration_h";
    errors.add(place_of(key), key, "has to be > 0 when durations are log-uniform; it is 0");
  }
}

fs::path data_folder() {
  const char* folder = std::getenv("MUSTER_DATA");  // NOLINT(concurrency-mt-unsafe)
  if (folder != nullptr && *folder != '\0') return folder;
  return fs::current_path() / ".." / "shared" / "data";
}

void Loader::resolve_paths() {
  for (const KeySpec& key : config::key_table()) {
    const auto* kind = std::get_if<config::PathKey>(&key.kind);
    if (kind == nullptr || kind->at(parsed).empty()) continue;
    fs::path& path = kind->at(parsed);
    std::string text = path.string();
    const bool data = text.starts_with(kDataVariable);
    if (data) text = data_folder().string() + text.substr(kDataVariable.size());
    if (text.find("${") != std::string::npos) {
      errors.add(place_of(key.name), key.name,
                 fmt::format("has to be {}, and no other variable; it is \"{}\"",
                             config::wanted(key), path.string()));
    }
    path = data ? fs::path(text) : file_.parent_path() / text;
    path = path.lexically_normal();
  }
}

}  // namespace

Expected<ReplayConfig, ConfigError> load_replay_config(const fs::path& file,
                                                       const std::vector<std::string>& overrides) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream content;
  if (in) content << in.rdbuf();
  if (!in || fs::is_directory(file)) {
    return Failure<ConfigError>{ConfigError::unreadable,
                                fmt::format("{}: cannot be read", file.string())};
  }
  Loader loader(file);
  try {
    loader.read_table(toml::parse(std::move(content).str(), file.string()), "");
  } catch (const toml::parse_error& error) {
    const toml::source_position& at = error.source().begin;
    const TextPlace place{file.string(), at.line, at.column};
    return Failure<ConfigError>{ConfigError::malformed,
                                fmt::format("{}: {}", to_text(place), error.description())};
  }
  const bool file_is_fine = loader.errors.empty();
  for (const std::string& text : overrides) loader.read_override(text);
  const bool bad_override = file_is_fine && !loader.errors.empty();
  loader.check_whole();
  loader.resolve_paths();
  if (loader.errors.empty()) return std::move(loader.parsed);
  loader.errors.sort_by_line();
  return Failure<ConfigError>{bad_override ? ConfigError::bad_override : ConfigError::invalid,
                              loader.errors.text()};
}

}  // namespace muster
