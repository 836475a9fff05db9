#include "config/request_body.hpp"

#include <utility>

namespace muster::config {

Expected<RequestValue::Table, ConfigError> members_from_json(std::string_view text,
                                                             const std::string& source) {
  ErrorList errors;
  auto document = parse_json(text, source, errors);
  if (!document) {
    errors.sort_by_line();
    return Failure<ConfigError>{ConfigError::malformed, errors.text(kShownErrors)};
  }
  if (auto* members = std::get_if<RequestValue::Table>(&document->data)) {
    return std::move(*members);
  }
  errors.add(document->place, "", "has to be an object; it is " + written(*document));
  return Failure<ConfigError>{ConfigError::invalid, errors.text(kShownErrors)};
}

}  // namespace muster::config
