#pragma once

#include <string>
#include <vector>

#include "config/job_request.hpp"

namespace muster::cli {

/// A file that `submit` and `plan` get by name: a job file, or a script that is sent as it is now.
struct JobSource {
  std::string name;  ///< as it was given; "-" is the standard input
  std::string text;
  bool is_script = false;
};

/// Reads it. A script begins with "#!", or may be executed and is not written as job files are; it
/// is called neither *.toml nor *.json.
Expected<JobSource, ConfigError> read_source(const std::string& name);

/// The file as complaints name it.
std::string shown_name(const JobSource& file);

/// Whether it is read as JSON.
bool is_json(const JobSource& file);

/// Whether the text is TOML or JSON as job files are, whatever is in it.
bool is_written_as_job(const JobSource& file);

/// Whether the file of that name is there and would be taken for a script.
bool names_a_script(const std::string& name);

/// The requests that a job file makes: one, or those of a pipeline.
Expected<std::vector<JobRequest>, ConfigError> requests_from(const JobSource& file);

/// The request for a script and its arguments.
JobRequest request_from(const JobSource& script, const std::vector<std::string>& arguments);

}  // namespace muster::cli
