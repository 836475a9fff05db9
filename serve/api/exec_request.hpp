#pragma once

#include <string>
#include <string_view>

#include "config/config_error.hpp"
#include "model/exec.hpp"
#include "model/expected.hpp"
#include "serve/api/backend.hpp"

namespace muster::api {

/// The request in the body of one about a command beside a task: to begin it, or to go on with it.
/// The error names the member and what would be right.
Expected<ExecRequest, ConfigError> exec_start_from(std::string_view body);
Expected<ExecRequest, ConfigError> exec_step_from(std::string_view body);

/// The answer as a document, output in base64; its trouble as a refusal.
Answer exec_document(const ExecQuery& query, const ExecAnswer& answer);

/// The command of a body that asks to begin one, as a shell would take it, in one line and cut off
/// where it is long; empty when it has no command.
std::string shown_command(std::string_view body);

}  // namespace muster::api
