#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/config_error.hpp"
#include "model/expected.hpp"

namespace muster {

/// How a job is to be submitted again.
struct ResubmitRequest {
  bool failed = false;                       ///< only the tasks that did not finish
  std::optional<std::uint32_t> max_fails{};  ///< of the new job; nothing: as the first one's
  std::string token;                         ///< of the new submission
};

/// Reads the body of such a request, in which nothing has to be; every error at once.
Expected<ResubmitRequest, ConfigError> resubmit_request_from_json(std::string_view text,
                                                                  const std::string& source);

}  // namespace muster
