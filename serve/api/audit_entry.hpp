#pragma once

#include <string>

#include "serve/api/audit_log.hpp"
#include "serve/api/gate.hpp"

namespace muster::api {

/// The entry of a request, but for how it was answered.
AuditEntry entry_of(const RequestHead& head, const Pass& pass, const std::string& from);

/// Writes into the entry what the body says that it was about, where that is a command.
void add_command(AuditEntry& entry, const Pass& pass, const std::string& body);

/// Writes into the entry what the answer says that it was about, where the path did not: the jobs
/// that were made, the token.
void add_answer(AuditEntry& entry, const Response& response);

}  // namespace muster::api
