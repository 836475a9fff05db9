#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>

namespace muster::hosts {

/// A member of a row in the file of machines; `otherwise` where it is missing or of another kind.
template <class T>
T row_value(const nlohmann::ordered_json& row, const char* name, T otherwise) {
  const auto found = row.find(name);
  if (found == row.end()) return otherwise;
  if constexpr (std::is_same_v<T, std::string>) {
    return found->is_string() ? found->template get<std::string>() : otherwise;
  } else if constexpr (std::is_same_v<T, bool>) {
    return found->is_boolean() ? found->template get<bool>() : otherwise;
  } else {
    return found->is_number_integer() ? found->template get<T>() : otherwise;
  }
}

}  // namespace muster::hosts
