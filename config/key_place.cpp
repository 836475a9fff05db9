#include "config/key_place.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>

#include "config/error_list.hpp"
#include "config/key_reader.hpp"

namespace muster {

std::string key_place(const std::filesystem::path& file, const std::vector<std::string>& overrides,
                      std::string_view key) {
  // An override replaces a list as a whole.
  const std::string whole(key.substr(0, key.find('[')));
  const bool is_set = std::ranges::any_of(
      overrides, [&](const std::string& text) { return text.starts_with(whole + "="); });
  if (is_set) return "--set " + whole;
  const auto table = config::read_toml(file);
  if (!table) return std::string(key);
  const toml::node_view<const toml::node> node = toml::at_path(table.value(), key);
  if (!node) return std::string(key);
  const toml::source_position& at = node.node()->source().begin;
  return fmt::format("{}: {}", to_text({file.string(), at.line, at.column}), key);
}

}  // namespace muster
