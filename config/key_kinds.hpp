#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "config/endpoint.hpp"
#include "config/numbers.hpp"
#include "model/enum_words.hpp"
#include "model/time.hpp"

// Kinds of keys of a config. A config's table of keys is the one declaration of its tunables:
// reading, checking and documentation are derived from it; defaults are those of the structs. `C`
// is the struct that the keys fill.

namespace muster::config {

/// A whole number in a range.
template <class C>
struct WholeKeyOf {
  std::variant<std::uint32_t& (*)(C&), std::uint64_t& (*)(C&),
               std::optional<std::uint32_t>& (*)(C&)>
      at;
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};
/// A finite number in a range.
template <class C>
struct NumberKeyOf {
  double& (*at)(C&);
  NumberRange range;
};
/// A duration in a range.
template <class C>
struct TimeKeyOf {
  Duration& (*at)(C&);
  Duration low;
  Duration high;
};
/// A file; relative ones are meant from the config's folder.
template <class C>
struct PathKeyOf {
  std::filesystem::path& (*at)(C&);
};
/// At least one text, each not empty.
template <class C>
struct ListKeyOf {
  std::vector<std::string>& (*at)(C&);
};
/// One of a few words; an unset one has the position names.size().
template <class C>
struct ChoiceKeyOf {
  std::vector<std::string> names;
  std::function<std::size_t(C&)> get;
  std::function<void(C&, std::size_t)> set;
};
/// One of an enumeration's words.
template <class C, class At>
ChoiceKeyOf<C> enum_key(At at) {
  using E = std::remove_reference_t<std::invoke_result_t<At, C&>>;
  return {choices_of<E>(), [at](C& c) { return static_cast<std::size_t>(at(c)); },
          [at](C& c, std::size_t i) { at(c) = static_cast<E>(i); }};
}
/// One of some words, kept as the word itself; empty: not given.
template <class C, class At>
ChoiceKeyOf<C> word_key(std::vector<std::string> words, At at) {
  const auto get = [words, at](C& c) {
    return static_cast<std::size_t>(std::find(words.begin(), words.end(), at(c)) - words.begin());
  };
  const auto set = [words, at](C& c, std::size_t i) { at(c) = words[i]; };
  return {std::move(words), get, set};
}
/// Yes or no.
template <class C>
struct FlagKeyOf {
  bool& (*at)(C&);
};
/// A text that is not empty.
template <class C>
struct TextKeyOf {
  std::string& (*at)(C&);
};
/// A name: is_name().
template <class C>
struct NameKeyOf {
  std::variant<std::string& (*)(C&), std::optional<std::string>& (*)(C&)> at;
};
/// Where something listens.
template <class C>
struct EndpointKeyOf {
  std::variant<Endpoint& (*)(C&), std::optional<Endpoint>& (*)(C&)> at;
};
/// Whole numbers in a range, each with a text that is not empty.
template <class C>
struct CountsKeyOf {
  std::map<std::string, std::uint32_t>& (*at)(C&);
  std::uint32_t low = 0;
  std::uint32_t high = 0;
};

/// A key and everything that holds for it.
template <class C>
struct KeySpecOf {
  std::string name;     ///< dotted
  std::string meaning;  ///< one line
  std::variant<WholeKeyOf<C>, NumberKeyOf<C>, TimeKeyOf<C>, PathKeyOf<C>, ListKeyOf<C>,
               ChoiceKeyOf<C>, FlagKeyOf<C>, TextKeyOf<C>, NameKeyOf<C>, EndpointKeyOf<C>,
               CountsKeyOf<C>>
      kind;
  bool required = false;
};

/// Every key of the config, in the order of the documentation.
template <class C>
const std::vector<KeySpecOf<C>>& key_table();

/// The key's declaration; null when there is no such key.
template <class C>
const KeySpecOf<C>* find_key(const std::vector<KeySpecOf<C>>& table, std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const KeySpecOf<C>& key) { return key.name == name; });
  return found == table.end() ? nullptr : &*found;
}

/// The same among all keys of the config.
template <class C>
const KeySpecOf<C>* find_key(std::string_view name) {
  return find_key(key_table<C>(), name);
}

/// Some key's name begins with `name` and a dot.
template <class C>
bool is_section(const std::vector<KeySpecOf<C>>& table, std::string_view name) {
  return std::any_of(table.begin(), table.end(), [&](const KeySpecOf<C>& key) {
    return key.name.size() > name.size() && key.name.starts_with(name) &&
           key.name[name.size()] == '.';
  });
}

/// Something may be called so: 1 to 32 small letters, digits and hyphens.
bool is_name(std::string_view text);

/// "a whole number from 1 to 8": the right form, for error messages.
template <class C>
std::string wanted(const KeySpecOf<C>& key);

}  // namespace muster::config
