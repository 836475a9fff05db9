#pragma once

#include "model/expected.hpp"
#include "serve/api/backend.hpp"
#include "serve/api/query.hpp"
#include "serve/api/routes.hpp"

namespace muster::api {

/// A request that asks for something to be seen.
struct ViewRequest {
  Operation operation;
  const Match& found;
  const Query& query;
};

/// The view that it asks the backend for. The code of a failure is the status of HTTP that answers
/// it, and its message names the parameter.
Expected<View, int> view_from(const ViewRequest& request);

}  // namespace muster::api
