#pragma once

#include "config/job_request.hpp"
#include "serve/api/exchange.hpp"
#include "serve/api/principal.hpp"

namespace muster::api {

/// The one who asks, the highest priority that he may give, and where a refusal goes.
struct RequestRights {
  const Principal& who;
  int most_priority;
  Exchange& exchange;
};

/// Puts down whose the job of the request is, and whose its submission's token: only an admin's
/// token may act for others, and only admins may give a higher priority. False after a refusal.
bool put_user(const RequestRights& rights, JobRequest& request);

}  // namespace muster::api
