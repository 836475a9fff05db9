#pragma once

#include "tools/client/api_client.hpp"
#include "tools/client/job_graph.hpp"

namespace muster::cli {

/// The pipeline of the job, by the lists of its user's jobs. Warns where these are longer than what
/// is looked at.
Expected<client::JobGraph, client::ClientError> find_pipeline(client::ApiClient& api, JobId job);

}  // namespace muster::cli
