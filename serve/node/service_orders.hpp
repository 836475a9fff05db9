#pragma once

#include <functional>
#include <vector>

#include "serve/node/job_looks.hpp"

namespace muster {

/// Whom changes of services ask, and where the job goes that another revision is.
struct ServiceAsks {
  JobAsks of;
  std::function<void(std::vector<Job>, api::Reply)> submit;
};

/// See api::Backend::change_service().
void change_service(const ServiceAsks& asks, api::ServiceChange what, api::Reply reply);

}  // namespace muster
