#pragma once

#include <string>
#include <string_view>

namespace muster::config {

/// The bytes are UTF-8 as Unicode defines it: no overlong forms, no surrogates.
bool is_utf8(std::string_view text);

/// UTF-8 in one line: no control characters.
bool is_one_line(std::string_view text);

/// The name of an environment variable: letters, digits and '_', no digit first.
bool is_variable_name(std::string_view text);

/// The name is one that Muster sets for every task itself.
bool is_own_variable(std::string_view name);

}  // namespace muster::config
