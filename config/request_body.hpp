#pragma once

#include <string>
#include <string_view>

#include "config/config_error.hpp"
#include "config/request_value.hpp"
#include "model/expected.hpp"

namespace muster::config {

/// The members of a request's body, which has to be one JSON object. Their values are the caller's
/// to check.
Expected<RequestValue::Table, ConfigError> members_from_json(std::string_view text,
                                                             const std::string& source);

}  // namespace muster::config
