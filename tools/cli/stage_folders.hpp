#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/job_request.hpp"
#include "tools/client/api_client.hpp"

namespace muster::cli {

/// Makes the folder that a job file names one of the file's own folder, as far as it is relative.
/// `file` as it was given; "-", the standard input, is in the current folder.
void place_stage(const std::string& file, JobRequest& request);

/// Sends the files of each folder that the requests name, once for each folder and user, and puts
/// the ids of their trees in the places of the folders. For each request "12 files (3.4 MiB) of
/// ./code", or an empty text where nothing was staged. Nothing after a complaint.
std::optional<std::vector<std::string>> stage_folders(client::ApiClient& api,
                                                      std::vector<JobRequest>& requests,
                                                      client::Elsewhere elsewhere);

}  // namespace muster::cli
