#pragma once

#include <toml++/toml.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/error_list.hpp"
#include "config/key_kinds.hpp"
#include "model/expected.hpp"

// Defined for ReplayConfig, ClusterConfig, NodeConfig and WorkerConfig.

namespace muster::config {

/// Input of a KeyReader, and its name in errors.
struct ReaderSource {
  std::filesystem::path file;
  std::uint32_t line = 0;  ///< where what is missing should be; 0: somewhere in the file
  std::uint32_t column = 0;
  std::string prefix = {};               ///< of its keys' names: "node.n0."
  std::string table = {};                ///< "[[node]]" when it reads such a table
  std::vector<std::string> tables = {};  ///< arrays of tables that others read, for suggestions
};

/// Fills a config from a file's table and the overrides, and collects what is wrong.
template <class C>
class KeyReader {
 public:
  /// All but the source outlive the reader.
  KeyReader(ReaderSource source, C& config, ErrorList& errors,
            const std::vector<KeySpecOf<C>>& keys = key_table<C>())
      : source_(std::move(source)), config_(config), errors_(errors), keys_(keys) {}

  void read_table(const toml::table& table, const std::string& section = "");
  /// "dotted.key=value"
  void read_override(const std::string& text);
  /// Likewise, without the prefix; `whole` is the text for errors.
  void read_override(const std::string& text, const std::string& whole);

  /// Says so when the key was not given; `when` says why it had to be.
  void need(std::string_view key, std::string_view when = "");
  void need_required();
  /// Adds an error at the key's place; no key: about the whole table.
  void complain(const std::string& key, std::string_view message);

  /// Makes every path that was given one from the file's folder, with ${MUSTER_DATA} filled in.
  void resolve_paths();

  /// The key was given, be its value right or wrong.
  bool given(std::string_view key) const { return places_.contains(std::string(key)); }
  /// Where it was given, or should have been.
  TextPlace place_of(const std::string& key) const;

 private:
  void read_key(const KeySpecOf<C>& key, const toml::node& value, const TextPlace& place);
  std::string unknown_key(const std::string& section, const std::string& name) const;
  TextPlace place_of(const toml::source_region& source) const {
    return {source_.file.string(), source.begin.line, source.begin.column};
  }

  TextPlace home() const { return {source_.file.string(), source_.line, source_.column}; }

  ReaderSource source_;
  C& config_;
  ErrorList& errors_;
  const std::vector<KeySpecOf<C>>& keys_;
  std::map<std::string, TextPlace> places_;  ///< where the keys that were given were given
};

enum class TomlError : std::uint8_t { unreadable, malformed };

/// The file's content; errors name the place.
Expected<toml::table, TomlError> read_toml(const std::filesystem::path& file);

}  // namespace muster::config
