#pragma once

#include "serve/node/job_looks.hpp"

namespace muster {

/// Views of services: all of them, those of a name, or the endpoints of one, at once or when their
/// list is another one than the client knows.
void look_at_services(const JobAsks& asks, const api::View& what, api::Reply reply);

/// Goes on with the jobs, unless a service among them has the name of another service of its user
/// that is not over: then that is the answer. A submission that is repeated has its own name.
/// Masters that do not answer are not asked twice.
void check_service_names(const JobAsks& asks, std::vector<Job> jobs, api::Reply reply,
                         std::function<void(std::vector<Job>, api::Reply)> go_on);

}  // namespace muster
