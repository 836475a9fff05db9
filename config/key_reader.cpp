#include "config/key_reader.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "config/cluster_keys.hpp"
#include "config/key_table.hpp"
#include "config/key_values.hpp"
#include "config/renamed_keys.hpp"
#include "config/request_value.hpp"
#include "config/worker_config.hpp"
#include "model/closest_word.hpp"

// Reads any config by its table of keys. Errors are collected with their places instead of returned
// at the first one, and values that are wrong leave the default in place.

namespace muster::config {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDataVariable = "${MUSTER_DATA}";

/// The keys and sections right below a section, without its name.
template <class C>
std::vector<std::string> names_below(const std::vector<KeySpecOf<C>>& keys,
                                     const std::string& section) {
  const std::string prefix = section.empty() ? "" : section + ".";
  std::vector<std::string> names;
  for (const KeySpecOf<C>& key : keys) {
    if (!key.name.starts_with(prefix)) continue;
    std::string name = key.name.substr(prefix.size());
    name.resize(std::min(name.find('.'), name.size()));
    // Keys of a section need not stand one after the other in the table.
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(std::move(name));
    }
  }
  return names;
}

/// Why a file that was not opened cannot be read.
std::string why_not(const fs::path& file) {
  std::error_code error;
  if (fs::is_directory(file, error)) return "it is a folder";
  if (!fs::exists(file, error)) return error ? error.message() : "no such file";
  return "it may not be read";
}

fs::path data_folder() {
  const char* folder = std::getenv("MUSTER_DATA");  // NOLINT(concurrency-mt-unsafe)
  if (folder != nullptr && *folder != '\0') return folder;
  return fs::current_path() / ".." / "shared" / "data";
}

}  // namespace

/// Says what was probably meant: a name of the same section first, else a key of any.
template <class C>
std::string KeyReader<C>::unknown_key(const std::string& section, const std::string& name) const {
  std::vector<std::string> here = names_below(keys_, section);
  std::string what = section.empty() ? "key" : fmt::format("key of [{}]", section);
  if (section.empty()) here.insert(here.end(), source_.tables.begin(), source_.tables.end());
  if (!source_.table.empty()) what = fmt::format("key of {}", source_.table);
  std::string text = unknown_word(what, name, here);
  if (!closest_word(name, here).empty()) return text;
  // A key may be right and its section wrong: all that end so are offered.
  for (const KeySpecOf<C>& key : keys_) {
    if (key.name.ends_with("." + name)) text += fmt::format(" (there is {})", key.name);
  }
  return text;
}

template <class C>
void KeyReader<C>::read_table(const toml::table& table, const std::string& section) {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    const std::string full = section.empty() ? name : section + "." + name;
    // Known keys come first: a name that is still in use is read, whatever it was called.
    if (const KeySpecOf<C>* spec = find_key(keys_, full)) {
      read_key(*spec, node, place_of(node.source()));
    } else if (!new_name_of(full).empty()) {
      errors_.add(place_of(key.source()), source_.prefix + full, renamed_text(full));
      // An old section may hold keys with new names, each of which is told.
    } else if (was_section(full) && node.is_table() && !is_section(keys_, full)) {
      read_table(*node.as_table(), full);
    } else if (!is_section(keys_, full)) {
      errors_.add(place_of(key.source()), source_.prefix + full, unknown_key(section, name));
    } else if (const toml::table* inner = node.as_table()) {
      read_table(*inner, full);
    } else {
      errors_.add(place_of(node.source()), source_.prefix + full,
                  fmt::format("has to be a section, written [{}]", full));
    }
  }
}

template <class C>
void KeyReader<C>::read_key(const KeySpecOf<C>& key, const toml::node& value,
                            const TextPlace& place) {
  // Also when the value is wrong: the key was given, and nothing says that it is missing.
  places_[key.name] = place;
  if (set_value(config_, key, value)) return;
  errors_.add(place, source_.prefix + key.name,
              fmt::format("has to be {}; it is {}", wanted(key), brief(written(value))));
}

template <class C>
void KeyReader<C>::read_override(const std::string& text) {
  read_override(text, text);
}

template <class C>
void KeyReader<C>::read_override(const std::string& text, const std::string& whole) {
  const TextPlace place{fmt::format("--set {}", whole)};
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    errors_.add(place, "", "an override has to be dotted.key=value");
    return;
  }
  const std::string name = text.substr(0, equals);
  const KeySpecOf<C>* key = find_key(keys_, name);
  if (key == nullptr && !new_name_of(name).empty()) {
    return errors_.add(place, source_.prefix + name, renamed_text(name));
  }
  if (key == nullptr) {
    const std::size_t dot = name.rfind('.');
    const std::string section = dot == std::string::npos ? "" : name.substr(0, dot);
    // A wrong section is named by its whole path, a wrong key in a known one by itself.
    const bool known = section.empty() || is_section(keys_, section);
    errors_.add(place, source_.prefix + name,
                known ? unknown_key(section, name.substr(section.empty() ? 0 : dot + 1))
                      : unknown_key("", name));
    return;
  }
  // Overrides are places too: a check that fails later names the --set that is at fault.
  places_[name] = place;
  const std::string value = text.substr(equals + 1);
  if (set_from_text(config_, *key, value)) return;
  errors_.add(place, source_.prefix + name,
              fmt::format("has to be {}; it is {}", wanted(*key), brief(value)));
}

template <class C>
void KeyReader<C>::need(std::string_view key, std::string_view when) {
  if (given(key)) return;
  errors_.add(home(), source_.prefix + std::string(key),
              fmt::format("is missing{}; it has to be {}", when, wanted(*find_key(keys_, key))));
}

template <class C>
void KeyReader<C>::need_required() {
  for (const KeySpecOf<C>& key : keys_) {
    if (key.required) need(key.name);
  }
}

template <class C>
void KeyReader<C>::complain(const std::string& key, std::string_view message) {
  // The prefix names the node, so that messages about [[node]] tables can be told apart.
  std::string field = source_.prefix + key;
  // Without a key the prefix ends with a dot that leads nowhere.
  if (key.empty() && !field.empty()) field.pop_back();
  errors_.add(place_of(key), field, message);
}

template <class C>
TextPlace KeyReader<C>::place_of(const std::string& key) const {
  const auto found = places_.find(key);
  return found == places_.end() ? home() : found->second;
}

template <class C>
void KeyReader<C>::resolve_paths() {
  for (const KeySpecOf<C>& key : keys_) {
    const auto* kind = std::get_if<PathKeyOf<C>>(&key.kind);
    if (kind == nullptr || kind->at(config_).empty()) continue;
    // Relative to the file and not to the working directory: a config works from everywhere.
    fs::path& path = kind->at(config_);
    std::string text = path.string();
    const bool data = text.starts_with(kDataVariable);
    if (data) text = data_folder().string() + text.substr(kDataVariable.size());
    // Anything else would come out as a folder of that name.
    if (text.find("${") != std::string::npos) {
      complain(key.name, fmt::format("has to be {}, and no other variable; it is \"{}\"",
                                     wanted(key), path.string()));
    }
    path = data ? fs::path(text) : source_.file.parent_path() / text;
    path = path.lexically_normal();
  }
}

Expected<toml::table, TomlError> read_toml(const fs::path& file) {
  // Read whole and parsed from memory: the parser need not know why a file cannot be opened.
  std::ifstream in(file, std::ios::binary);
  std::ostringstream content;
  if (in) content << in.rdbuf();
  if (!in || fs::is_directory(file)) {
    return Failure<TomlError>{TomlError::unreadable,
                              fmt::format("{}: cannot be read: {}", file.string(), why_not(file))};
  }
  const std::string text = std::move(content).str();
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    return Failure<TomlError>{TomlError::malformed,
                              fmt::format("{}: is UTF-16; save it as UTF-8", file.string())};
  }
  try {
    return toml::parse(text, file.string());
  } catch (const toml::parse_error& error) {
    const toml::source_position& at = error.source().begin;
    const TextPlace place{file.string(), at.line, at.column};
    return Failure<TomlError>{
        TomlError::malformed,
        fmt::format("{}: {}", to_text(place), brief(toml_reason(error.description()), 500))};
  }
}

template class KeyReader<ReplayConfig>;
template class KeyReader<ClusterConfig>;
template class KeyReader<NodeConfig>;
template class KeyReader<WorkerConfig>;

}  // namespace muster::config
