#pragma once

#include "model/expected.hpp"
#include "serve/api/http.hpp"
#include "serve/api/routes.hpp"
#include "serve/api/token_record.hpp"

namespace muster::api {

/// The head's number of the request and of the try; nothing without such headers. Fails with a
/// message for the client.
Expected<RequestMark, int> mark_of(const RequestHead& head);

/// Whether it orders something of what there is already, and has an answer that may be kept.
bool is_order(const Route& route);

}  // namespace muster::api
