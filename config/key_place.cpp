#include "config/key_place.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <memory>

#include "config/error_list.hpp"
#include "config/key_reader.hpp"

namespace muster {
namespace {

/// "FILE:LINE:COLUMN"; empty: the key is not there.
std::string place_in(const toml::table& table, const std::string& file, std::string_view key) {
  const toml::node_view<const toml::node> node = toml::at_path(table, key);
  if (!node) return "";
  const toml::source_position& at = node.node()->source().begin;
  return to_text({file, at.line, at.column});
}

}  // namespace

std::string key_place(const std::filesystem::path& file, const std::vector<std::string>& overrides,
                      std::string_view key) {
  // An override replaces a list as a whole.
  const std::string whole(key.substr(0, key.find('[')));
  const bool is_set = std::ranges::any_of(
      overrides, [&](const std::string& text) { return text.starts_with(whole + "="); });
  if (is_set) return "--set " + whole;
  const auto table = config::read_toml(file);
  const std::string place = table ? place_in(table.value(), file.string(), key) : "";
  return place.empty() ? std::string(key) : fmt::format("{}: {}", place, key);
}

std::function<std::string(std::string_view)> text_places(const std::string& file,
                                                         std::string_view text) {
  auto table = std::make_shared<toml::table>();
  try {
    *table = toml::parse(text, file);
  } catch (const toml::parse_error&) {
    table->clear();
  }
  return [table, file](std::string_view key) { return place_in(*table, file, key); };
}

}  // namespace muster
